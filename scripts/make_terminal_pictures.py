"""Make the documentation's pictures of a terminal anew, 80 columns wide.

    python scripts/make_terminal_pictures.py [--check]

Runs eight commands on the example, then what README.md and docs/tutorial.md have a reader type,
each in a terminal of its own, and writes what it shows in the end as
docs/pictures/terminal-NAME.svg. `--check` writes nothing, and fails where a picture is not what the
command shows. Needs a system with pseudo-terminals (Linux, macOS).
"""

from __future__ import annotations

import fcntl
import html
import io
import json
import os
import pty
import random
import re
import shlex
import struct
import subprocess
import sys
import tempfile
import termios
from collections.abc import Iterator
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "docs" / "pictures"
COMMANDS = {
    "columns": "markscheme columns answers.jsonl --rows 1",
    "judge": "markscheme judge answers.jsonl -q -o run",
    "explain": 'markscheme explain -q "When did it open?" -r "June 1815" -a "In January 1815."',
    "failures": "markscheme failures run --rejected --examples 1",
    "agree": "markscheme agree run",
    "plan-labels": "markscheme plan-labels run --labels 60 --out plan.csv",
    "estimate": "markscheme estimate run --labels labels.jsonl",
    "diff": "markscheme diff yesterday.jsonl today.jsonl --flips 1",
}
WALKS = {"readme": "README.md", "tutorial": "docs/tutorial.md"}
DEMO = "markscheme judge examples/answers.jsonl -j examiner -j exact_match -o runs/demo -q"
"""What `make demo` judges; README.md names its second command in a sentence."""

IN_SENTENCES = {"readme": ("markscheme compare runs/demo --systems --judge examiner",)}
WIDTH = 80
BLOCK = re.compile(
    r"(?:^<!-- (?P<mark>[^>]*) -->\n)?^```(?P<kind>\w+)\n(?P<text>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)
GONE = re.compile(
    r"[^\n]*\n?(?:\x1b\[\?25[lh])?\r?\x1b\[1A\r?\x1b\[2K|[^\n]*\r\x1b\[2K|\x1b\[\?25[lh]"
)
"""What was written over again, such as a bar that shows how far a command is."""

DEFAULT_RUN = re.compile(r"(?<=runs/answers-)[0-9a-f]{8}")
"""Digits of a run's own name, which stand for the file's place and time."""

# The reader's own font: a page of the documentation fetches nothing.
FORMAT = re.sub(r"@font-face \{\{.*?\}\}\n?", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)


def lay_out(folder: Path) -> None:
    """The example, labels of a random part of it, and two versions of a system made of it."""
    rows = (ROOT / "examples" / "answers.jsonl").read_text("utf-8").splitlines(keepends=True)
    (folder / "examples").mkdir()
    for place in (folder, folder / "examples"):
        (place / "answers.jsonl").write_text("".join(rows), "utf-8")
    some = random.Random(0).sample(rows, 80)
    (folder / "labels.jsonl").write_text("".join(some), "utf-8")
    for name, system in (("yesterday", "chatty"), ("today", "hedger")):
        mine = [json.loads(row) | {"system": "mine"} for row in rows]
        kept = [one for one, row in zip(mine, rows, strict=True)
                if json.loads(row)["system"] == system]  # fmt: skip
        text = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in kept)
        (folder / f"{name}.jsonl").write_text(text, "utf-8")


def steps(walk: str) -> list[tuple[str, str]]:
    """What a document has its reader do, in order: ("shown", a command) or ("python", code).

    Blocks with a mark (`not run`, `slow`) are left out, and commands that run until interrupted.
    """
    found = []
    for block in BLOCK.finditer((ROOT / WALKS[walk]).read_text("utf-8")):
        if block["mark"]:
            continue
        lines = block["text"].splitlines()
        if block["kind"] == "console":
            found += [("shown", one.removeprefix("$ ")) for one in lines if one.startswith("$ ")]
        elif walk == "tutorial" and block["kind"] == "sh":
            found += [("shown", one) for one in lines]
        elif walk == "tutorial" and block["kind"] == "python":
            found.append(("python", block["text"]))
    return found + [("shown", one) for one in IN_SENTENCES.get(walk, ())]


def names_of_walks() -> dict[str, str]:
    """Pictures of the walks, in order: their names to the commands."""
    found = {}
    for walk in WALKS:
        shown = [command for kind, command in steps(walk) if kind == "shown"]
        for place, command in enumerate(shown, start=1):
            found[f"{walk}-{place}-{command.split()[1]}"] = command
    return found


def pictures(folder: Path) -> Iterator[tuple[str, str, str]]:
    """Name, command and picture of everything that is shown."""
    for name, command in COMMANDS.items():
        yield name, command, picture(name, command, folder)
    screen(DEMO, folder)
    for walk in WALKS:
        place = 0
        for kind, step in steps(walk):
            if kind == "python":
                subprocess.run([sys.executable, "-c", step], cwd=folder, check=True,
                               stdout=subprocess.DEVNULL)  # fmt: skip
                continue
            place += 1
            name = f"{walk}-{place}-{step.split()[1]}"
            yield name, step, picture(name, step, folder)


def screen(command: str, folder: Path) -> str:
    """What a command writes to a terminal, with its escape sequences.

    Raises:
        SystemExit: it fails.
    """
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, WIDTH, 0, 0))
    kept = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    words = [sys.executable, "-m", *shlex.split(command.removesuffix(" 2>&1"))]
    process = subprocess.Popen(
        words, stdin=theirs, stdout=theirs, stderr=theirs, cwd=folder,
        env=kept | {"TERM": "xterm-256color", "MARKSCHEME_CONFIG": "none"},
    )  # fmt: skip
    os.close(theirs)
    written = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # The terminal is closed.
            break
        if not piece:
            break
        written += piece
    os.close(ours)
    if process.wait():
        raise SystemExit(f"{command} failed:\n{written.decode()}")
    return GONE.sub("", written.decode().replace("\r\n", "\n"))


def picture(name: str, command: str, folder: Path) -> str:
    """The screen as SVG."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), legacy_windows=False)
    console.print(Text(f"$ {command.removesuffix(' 2>&1')}", style="bold green"))
    shown = DEFAULT_RUN.sub("6dae129e", screen(command, folder))
    # The bar of what was done has seconds in it, which differ from run to run.
    lines = [line.rstrip() for line in shown.rstrip().split("\n") if "━━━" not in line]
    console.print(Text.from_ansi("\n".join(lines)))
    return console.export_svg(
        title=command.split(" -", maxsplit=1)[0], unique_id=name, code_format=FORMAT
    )


def words_of(svg: str) -> list[str]:
    """The words that a picture shows, in order."""
    texts = re.findall(r"<text [^>]*>(.*?)</text>", svg, flags=re.DOTALL)
    return html.unescape(" ".join(texts)).replace("\xa0", " ").split()


def main() -> None:
    """Write the pictures, or check them."""
    with tempfile.TemporaryDirectory() as place:
        lay_out(Path(place))
        for name, command, made in pictures(Path(place)):
            file = PICTURES / f"terminal-{name}.svg"
            if "--check" not in sys.argv:
                file.write_text(made + "\n", "utf-8")
            elif words_of(file.read_text("utf-8")) != words_of(made):
                sys.exit(f"{file} is not what {command!r} shows: python {sys.argv[0]}")


if __name__ == "__main__":
    main()
