"""The code blocks of documents: found, run in order, and compared with the output shown.

    python tests/documents.py docs/tutorial.md      # writes the output of its commands anew

A ```python block runs as it stands, all blocks of a page in one namespace. Of a ```sh block every
`markscheme` command runs. A ```console block shows commands (`$ ...`) with their output, which must
be what they print; a line `...` stands for lines left out. Each page has a folder of its own with
`examples/` and a copy of the example as `answers.jsonl`. A block that cannot run here says why in a
comment on the line before it, `<!-- not run: installs -->`; the reasons are `REASONS`. One that
reads public data says `<!-- with data -->`.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from markscheme.cli import run
from markscheme.cli.app import console, notes

WIDTH = 200
"""Columns of the tables that documents show: as many as on a pipe."""

REASONS = {
    "installs": r"\bpip install\b|\bmake\b",
    "asks a language model": r"--model\b|--base-url\b|-m \S|\bhf:|OPENAI_API_KEY",
    "serves until stopped": r"markscheme (annotate|serve)\b|localhost",
    "needs data that are not in the package": r"datasets|reproduce|antique|webglm|evouna|nq301",
    "takes minutes": r"\btrain|\bbenchmarks\b|learned",
    "needs a cluster": r"--engine ray|\bray\b",
    "belongs to another tool": r"import|pytest|assert_answer|on:|inspect|lm_eval|metric_list|trl",
    "needs weights to download": r"nli:|seq2seq:|bertscore|bleurt|bem\b",
    "needs your files": r"answers|FOLDER|labels|FILE|RUN|results|judgments",
}
"""Why a block may not be run, and what such a block must hold to say so."""

FENCE = re.compile(
    r"(?:^<!-- (?:not run: (?P<reason>[^>]*?)|(?P<data>with data)) -->\n)?"
    r"^```(?P<language>[a-z]*)\n(?P<text>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True, kw_only=True)
class Block:
    """A fenced block of a document.

    Attributes:
        language: what stands after the fence.
        text: the lines within.
        reason: why it is not run; None where it is.
        data: whether it reads public data, which are not in the package.
        start, end: the text's place in the document.
        line: its first line's number, from 1.
    """

    language: str
    text: str
    reason: str | None
    data: bool
    start: int
    end: int
    line: int

    @property
    def runs(self) -> bool:
        """Whether running it is meant."""
        return self.reason is None and self.language in ("python", "sh", "bash", "console")


@dataclass
class Command:
    """A command of a console block and the lines shown below it."""

    typed: str
    shown: list[str] = field(default_factory=list)


def blocks(text: str) -> list[Block]:
    """The fenced blocks of a document."""
    return [
        Block(
            language=found["language"],
            text=found["text"],
            reason=found["reason"],
            data=found["data"] is not None,
            start=found.start("text"),
            end=found.end("text"),
            line=text.count("\n", 0, found.start("text")) + 1,
        )
        for found in FENCE.finditer(text)
    ]


def commands(block: Block) -> list[Command]:
    """The commands of a block, with what a console block shows below each."""
    found: list[Command] = []
    prompt = "$ " if block.language == "console" else ""
    going_on = False
    for line in block.text.splitlines():
        if going_on:
            found[-1].typed += "\n" + line
        elif line.startswith(prompt) and (prompt or line.strip()):
            found.append(Command(line.removeprefix(prompt)))
        elif found:
            found[-1].shown.append(line.rstrip())
        going_on = bool(found) and line.endswith("\\")
    return [one for one in found if not one.typed.startswith("#")]


def output(typed: str, place: str) -> list[str]:
    """The lines that a `markscheme` command prints, without spaces at their ends.

    Raises:
        AssertionError: it is no such command, or does not end with the code that it should.
    """
    words = shlex.split(typed.replace("\\\n", " "), comments=True)
    assert words[0] == "markscheme", f"{place}: not a markscheme command: {typed}"
    out, err = io.StringIO(), io.StringIO()
    both = "2>&1" in words
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out if both else err):
        code = run([word for word in words[1:] if word != "2>&1"])
    named = re.search(r"# exits with (\d+)$", typed)
    wanted = int(named[1]) if named else 0
    assert code == wanted, f"{place}: {typed}\nends with {code}: {err.getvalue()}"
    return [line.rstrip() for line in out.getvalue().strip("\n").splitlines()]


def same(shown: list[str], printed: list[str]) -> bool:
    """Whether the lines shown are those printed, but for blank ones; `...` stands for any lines."""
    pattern = "".join(
        r"(?:.*\n)*?" if line.strip() == "..." else re.escape(line) + "\n" for line in shown if line
    )
    return re.fullmatch(pattern, "".join(line + "\n" for line in printed if line)) is not None


def run_page(path: Path) -> int:
    """Run the blocks of a document in the current folder; how many there were.

    Raises:
        AssertionError: a command fails, or prints something else than is shown.
        Exception: what a python block raises.
    """
    namespace: dict[str, object] = {"__name__": path.stem}
    ran = [one for one in blocks(path.read_text("utf-8")) if one.runs]
    for block in ran:
        place = f"{path.name}:{block.line}"
        if block.language == "python":
            code = "\n" * (block.line - 1) + block.text
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(code, str(path), "exec"), namespace)
            continue
        for command in commands(block):
            printed = output(command.typed, place)
            if block.language == "console":
                assert same(command.shown, printed), (
                    f"{place}: {command.typed}\nprints\n" + "\n".join(printed)
                    + f"\nwhich is not what is shown; `python tests/documents.py {path}` writes it"
                )  # fmt: skip
    return len(ran)


def written_anew(path: Path) -> str:
    """The document with what its console blocks' commands print now; elisions are kept whole."""
    text = path.read_text("utf-8")
    namespace: dict[str, object] = {"__name__": path.stem}
    done, at = "", 0
    for block in (one for one in blocks(text) if one.runs):
        if block.language == "python":
            exec(compile(block.text, str(path), "exec"), namespace)
            continue
        lines: list[str] = []
        for command in commands(block):
            printed = output(command.typed, f"{path.name}:{block.line}")
            keep = "..." in (line.strip() for line in command.shown)
            if keep and same(command.shown, printed):
                printed = command.shown
            lines += ["$ " + command.typed, *printed]
        if block.language == "console":
            done += text[at : block.start] + "\n".join(lines) + "\n"
            at = block.end
    return done + text[at:]


@contextlib.contextmanager
def sandbox(root: Path, folder: Path) -> Iterator[None]:
    """A folder with the examples, to run a page in; tables are as wide as documents have them."""
    (folder / "build").mkdir(exist_ok=True)
    shutil.copytree(root / "examples", folder / "examples", dirs_exist_ok=True)
    shutil.copy(root / "examples" / "answers.jsonl", folder / "answers.jsonl")
    widths = console.width, notes.width
    console.width = notes.width = WIDTH
    try:
        with contextlib.chdir(folder):
            yield
    finally:
        console.width, notes.width = widths


def main(names: list[str]) -> None:
    """Write the output shown in documents anew."""
    root = Path(__file__).parents[1]
    os.environ.setdefault("MARKSCHEME_DATA", str(root.parent / "shared" / "data"))
    for path in [Path(name).resolve() for name in names]:
        with tempfile.TemporaryDirectory() as folder, sandbox(root, Path(folder)):
            fresh = written_anew(path)
        if fresh != path.read_text("utf-8"):
            path.write_text(fresh, "utf-8")
            print(f"{path}: written anew")


if __name__ == "__main__":
    main(sys.argv[1:])
