"""Make the documentation's pictures of a terminal anew, 80 columns wide.

    python scripts/make_terminal_pictures.py [--check]

Runs each command on the example in a terminal of its own, and writes what it showed as
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
WIDTH = 80
# The reader's own font: a page of the documentation fetches nothing.
FORMAT = re.sub(r"@font-face \{\{.*?\}\}\n?", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)


def lay_out(folder: Path) -> None:
    """The example, labels of a random part of it, and two versions of a system made of it."""
    rows = (ROOT / "examples" / "answers.jsonl").read_text("utf-8").splitlines(keepends=True)
    (folder / "answers.jsonl").write_text("".join(rows), "utf-8")
    some = random.Random(0).sample(rows, 80)
    (folder / "labels.jsonl").write_text("".join(some), "utf-8")
    for name, system in (("yesterday", "chatty"), ("today", "hedger")):
        mine = [json.loads(row) | {"system": "mine"} for row in rows]
        kept = [one for one, row in zip(mine, rows, strict=True)
                if json.loads(row)["system"] == system]  # fmt: skip
        text = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in kept)
        (folder / f"{name}.jsonl").write_text(text, "utf-8")


def screen(command: str, folder: Path) -> str:
    """What a command writes to a terminal, with its escape sequences.

    Raises:
        SystemExit: it fails.
    """
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, WIDTH, 0, 0))
    kept = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    words = [sys.executable, "-m", *shlex.split(command)]
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
    return written.decode().replace("\r\n", "\n")


def picture(name: str, command: str, folder: Path) -> str:
    """The screen as SVG."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), legacy_windows=False)
    console.print(Text(f"$ {command}", style="bold green"))
    lines = [line.rstrip() for line in screen(command, folder).rstrip().split("\n")]
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
        for name, command in COMMANDS.items():
            made = picture(name, command, Path(place))
            file = PICTURES / f"terminal-{name}.svg"
            if "--check" not in sys.argv:
                file.write_text(made + "\n", "utf-8")
            elif words_of(file.read_text("utf-8")) != words_of(made):
                sys.exit(f"{file} is not what {command!r} shows: python {sys.argv[0]}")


if __name__ == "__main__":
    main()
