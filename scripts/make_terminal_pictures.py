"""Make the documentation's pictures of a terminal anew, 80 columns wide.

    python scripts/make_terminal_pictures.py [--check]

Runs commands on the example, each in a terminal of its own, and writes what it shows in the end as
docs/pictures/terminal-NAME.svg. `--check` writes nothing, and fails where a picture is not what the
command shows. Needs a system with pseudo-terminals (Linux, macOS).
"""

from __future__ import annotations

import fcntl
import html
import io
import os
import pty
import re
import shlex
import shutil
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
    "failures": "markscheme failures run --rejected --examples 1",
}
WIDTH = 80
GONE = re.compile(
    r"[^\n]*\n?(?:\x1b\[\?25[lh])?\r?\x1b\[1A\r?\x1b\[2K|[^\n]*\r\x1b\[2K|\x1b\[\?25[lh]"
)
"""What was written over again, such as a bar that shows how far a command is."""

DEFAULT_RUN = re.compile(r"(?<=runs/answers-)[0-9a-f]{8}")
"""Digits of a run's own name, which encode the file's place and time."""

# The reader's own font: a page of the documentation fetches nothing.
FORMAT = re.sub(r"@font-face \{\{.*?\}\}\n?", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)


def lay_out(folder: Path) -> None:
    """The example, under the name that the commands read."""
    shutil.copy(ROOT / "examples" / "answers.jsonl", folder / "answers.jsonl")


def pictures(folder: Path) -> Iterator[tuple[str, str, str]]:
    """Name, command and picture of everything that is shown, in an order in which they can run."""
    for name, command in COMMANDS.items():
        yield name, command, picture(name, command, folder)


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
