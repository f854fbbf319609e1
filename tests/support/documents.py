"""The code blocks of documents: found, run in order, and compared with the output shown.

    python tests/support/documents.py docs/tutorial.md      # writes the output of its commands anew

A ```python block runs as it stands, all blocks of a page in one namespace. The commands of a ```sh
block run as `documents_shell` says: ours in this process, servers beside it, others by bash. A
```console block shows commands (`$ ...`) with their output, which must be what they print; a line
`...` stands for lines left out; a ```text block right below a ```python block shows what that
prints. ```json lines are read as answers. A block whose first line is a comment naming a file
(`# test_answers.py`) is written to that file, for the commands after it; of a workflow the steps
run. Each page has a folder of its own with `examples/` and a copy of the example as
`answers.jsonl`; other files that a page names are made from the example (`documents_files`).

A comment on the line before a block says what is special about it: `<!-- with data -->` that it
reads public data, `<!-- slow -->` that it runs in the slow tests only (also both, `slow, with
data`), `<!-- not run: installs -->` that it cannot run here, for one of the `REASONS`.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from pathlib import Path

from documents_shell import Shell, unfinished
from markscheme.cli.app import console, notes
from markscheme.tables.answers import read_answers

WIDTH = 200
"""Columns of the tables that documents show: as many as on a pipe."""

REASONS = {
    "installs": r"\bpip install \'?\.|\bmake\b",
    "takes minutes": r"\btrain|\bbenchmarks\b",
    "downloads": r"\bdatasets fetch\b",
    "serves until interrupted": r"\bmarkscheme (?:view|serve|annotate)\b",
    "needs labels given by hand": r"\.labels\.jsonl\b|--tags\b|\.annotate\.sqlite\b",
    "needs its tool": r"markscheme\.integrations\.(promptfoo|ragas|deepeval|mlflow|langfuse)\b",
}
"""Why a block may not be run, and what such a block must hold to say so."""

FENCE = re.compile(
    r"(?:^<!-- (?:not run: (?P<reason>[^>]*?)|(?P<marks>[a-z, ]+)) -->\n)?"
    r"^```(?P<language>[a-z]*)\n(?P<text>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)
CODE = ("python", "sh", "bash", "console", "json")
NAMED = re.compile(r"# (\S+\.(?:py|toml|yml|yaml))\n")


@dataclass(frozen=True, kw_only=True)
class Block:
    """A fenced block of a document.

    Attributes:
        language: what stands after the fence.
        text: the lines within.
        reason: why it is not run; None where it is.
        data: whether it reads public data, which are not in the package.
        slow: whether it takes longer than the fast tests may.
        printed: whether it shows what the python block above it prints.
        start, end: the text's place in the document.
        line: its first line's number, from 1.
    """

    language: str
    text: str
    reason: str | None
    data: bool
    slow: bool
    printed: bool
    start: int
    end: int
    line: int

    @property
    def runs(self) -> bool:
        """Whether running it is meant."""
        meant = self.language in CODE or self.file is not None or self.printed
        return self.reason is None and meant

    @property
    def file(self) -> str | None:
        """The file that it is to be written to, if its first line names one."""
        named = NAMED.match(self.text)
        return named[1] if named else None


@dataclass
class Command:
    """A command of a console block ("" for a python block) and the lines shown below it."""

    typed: str
    shown: list[str] = field(default_factory=list)


def blocks(text: str) -> list[Block]:
    """The fenced blocks of a document."""
    found: list[Block] = []
    for fence in FENCE.finditer(text):
        marks = set((fence["marks"] or "").split(", ")) - {""}
        assert marks <= {"slow", "with data"}, f"no such marks: {fence['marks']}"
        found.append(
            Block(
                language=fence["language"],
                text=fence["text"],
                reason=fence["reason"],
                data="with data" in marks,
                slow="slow" in marks,
                printed=fence["language"] == "text"
                and bool(found)
                and found[-1].language == "python"
                and text[found[-1].end : fence.start()].split() == ["```"],
                start=fence.start("text"),
                end=fence.end("text"),
                line=text.count("\n", 0, fence.start("text")) + 1,
            )
        )
    return found


def commands(block: Block) -> list[Command]:
    """The commands of a block, with what a console block shows below each.

    A line that ends with a backslash goes on, and so does one with an open quotation mark.
    """
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
            continue
        else:
            continue
        typed = found[-1].typed
        going_on = line.endswith("\\") or (not typed.startswith("#") and unfinished(typed))
    return [one for one in found if not one.typed.startswith("#")]


def same(shown: list[str], printed: list[str]) -> bool:
    """Whether the lines shown are those printed, but for blank ones; `...` stands for any lines."""
    pattern = "".join(
        r"(?:.*\n)*?" if line.strip() == "..." else re.escape(line) + "\n" for line in shown if line
    )
    return re.fullmatch(pattern, "".join(line + "\n" for line in printed if line)) is not None


def shortened(shown: list[str], printed: list[str]) -> list[str]:
    """The lines printed, with `...` where those shown have it.

    As many lines are kept between as are shown there: the first and the last ones, and of the
    others those most like what was shown.
    """
    parts: list[list[str]] = [[]]
    for line in shown:
        if line.strip() == "...":
            parts.append([])
        else:
            parts[-1].append(line)
    first, *others = parts
    kept, at = printed[: len(first)], len(first)
    for number, part in enumerate(others, 1):
        start = latest = max(at, len(printed) - len(part))
        if number < len(others):
            start = max(range(at, latest + 1), key=lambda place: _likeness(part, printed[place:]))
        kept += ["...", *printed[start : start + len(part)]]
        at = start + len(part)
    return kept


def _likeness(some: list[str], others: list[str]) -> float:
    pairs = zip(some, others, strict=False)
    return sum(SequenceMatcher(None, *pair, autojunk=False).ratio() for pair in pairs)


def run_page(path: Path, *, slow: bool = True, data: bool = True) -> int:
    """Run the blocks of a document in the current folder; how many there were.

    Args:
        path: the document.
        slow: whether those too that take longer than the fast tests may.
        data: whether those too that read public data.

    Raises:
        AssertionError: a command fails, or prints something else than is shown.
        Exception: what a python block raises.
    """
    ran = [
        one
        for one in blocks(path.read_text("utf-8"))
        if one.runs and (slow or not one.slow) and (data or not one.data)
    ]
    with Shell("\n".join(one.text for one in ran)) as shell, judges_of_pages_forgotten():
        for block in ran:
            for command, printed in run_block(block, path, shell):
                assert same(command.shown, printed), (
                    f"{path.name}:{block.line}: {command.typed}\nprints\n" + "\n".join(printed)
                    + "\nwhich is not what is shown; "
                    f"`python tests/support/documents.py {path}` writes it"
                )  # fmt: skip
    return len(ran)


@contextlib.contextmanager
def judges_of_pages_forgotten() -> Iterator[None]:
    """Take judges that a page registers, itself or by a file, out of the register afterwards."""
    from markscheme.contract.registry import JUDGES

    before, path = set(JUDGES.known), list(sys.path)
    try:
        yield
    finally:
        sys.path[:] = path
        for name in set(JUDGES.known) - before:
            module = JUDGES.known[name].judge.__module__
            if module.partition(".")[0] not in ("markscheme", "markscheme_research"):
                del JUDGES.known[name]
                sys.modules.pop(module, None)


def run_block(block: Block, path: Path, shell: Shell) -> list[tuple[Command, list[str]]]:
    """Run a block; what it shows, and beside it what was printed in truth."""
    place = f"{path.name}:{block.line}"
    if block.file is not None:
        shell.write(block.file, block.text)
        if ".github/workflows/" in block.file:
            shell.steps(block.text, place)
        return []
    if block.language == "python":
        code = "\n" * (block.line - 1) + shell.here(block.text)
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(code, str(path), "exec"), shell.names)
        shell.printed = printed.getvalue().splitlines()
        return []
    if block.printed:
        return [(Command("", block.text.splitlines()), shell.printed)]
    if block.language == "json":
        Path("build", "shown.jsonl").write_text(block.text, "utf-8")
        assert read_answers("build/shown.jsonl").height == block.text.count("\n")
        return []
    done = [(one, shell.run(one.typed, place)) for one in commands(block)]
    return done if block.language == "console" else []


def written_anew(path: Path) -> str:
    """The document with what its console blocks' commands print now, as far as they show it."""
    text = path.read_text("utf-8")
    done, at = "", 0
    ran = [one for one in blocks(text) if one.runs]
    with Shell("\n".join(one.text for one in ran)) as shell, judges_of_pages_forgotten():
        for block in ran:
            lines: list[str] = []
            for command, printed in run_block(block, path, shell):
                lines += ["$ " + command.typed] if command.typed else []
                elided = "..." in (line.strip() for line in command.shown)
                if not elided:
                    lines += printed
                elif same(command.shown, printed):
                    lines += command.shown
                else:
                    lines += shortened(command.shown, printed)
            if block.language == "console" or block.printed:
                done += text[at : block.start] + "\n".join(lines) + "\n"
                at = block.end
    return done + text[at:]


@contextlib.contextmanager
def sandbox(root: Path, folder: Path) -> Iterator[None]:
    """A folder with the examples, to run a page in; tables are as wide as documents have them.

    What a page does to the environment ends with it.
    """
    (folder / "build").mkdir(exist_ok=True)
    # Without the plugin template: its tests, which need it installed, are none of a page's own.
    others = shutil.ignore_patterns("plugin")
    shutil.copytree(root / "examples", folder / "examples", dirs_exist_ok=True, ignore=others)
    shutil.copy(root / "examples" / "answers.jsonl", folder / "answers.jsonl")
    widths = console.width, notes.width
    environment = dict(os.environ)
    console.width = notes.width = WIDTH
    try:
        with contextlib.chdir(folder):
            yield
    finally:
        console.width, notes.width = widths
        os.environ.clear()
        os.environ.update(environment)


def main(names: list[str]) -> None:
    """Write the output shown in documents anew."""
    root = Path(__file__).parents[2]
    os.environ.setdefault("MARKSCHEME_DATA", str(root.parent / "shared" / "data"))
    for path in [Path(name).resolve() for name in names]:
        with tempfile.TemporaryDirectory() as folder, sandbox(root, Path(folder)):
            fresh = written_anew(path)
        if fresh != path.read_text("utf-8"):
            path.write_text(fresh, "utf-8")
            print(f"{path}: written anew")


if __name__ == "__main__":
    main(sys.argv[1:])
