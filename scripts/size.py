"""What each folder of the houses weighs: so that nothing is called smaller that is only denser.

    make size        # or: python scripts/size.py [FOLDER] [--json] [--lower | --raise]

For each folder of src/markscheme, of the research package and of the recipes, and in all: Python
files and lines; Python tokens without comments, docstrings and line ends; the share of public names
(modules, classes, functions, methods) with a docstring; lines of TOML and JSON.

No folder may have more lines or files than its bar in scripts/size_bars.toml (a test compares).
`--lower` lowers the bars of what has shrunk. `--raise` raises those of what has grown; the message
of the commit says why. Both write the table of docs/architecture.md, which has the bars next to the
aims that were set once research and recipes had left the core.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import tokenize
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HOUSES = {
    "core": ROOT / "src" / "markscheme",
    "research": ROOT / "packages" / "research" / "src" / "markscheme_research",
    "recipes": ROOT / "recipes",
}
BARS = Path(__file__).with_name("size_bars.toml")
HEAD = """\
# The most Python lines and files of each folder (scripts/size.py; compared by a test).
# `python scripts/size.py --lower` lowers bars, `--raise` raises them: say why in the commit.
"""
PAGE = ROOT / "docs" / "architecture.md"
MARKS = ("<!-- sizes -->\n", "<!-- end of sizes -->")
# Folders of the core, their lines once the houses were apart (079e647b), and the aim.
AIMS = (
    (("all",), 76_158, 73_200),
    (("agreement",), 8_584, 5_500),
    (("values", "features", "text"), 16_757, 11_000),
    (("service", "web"), 3_348, 3_244),
)
NOT_CODE = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENCODING, tokenize.ENDMARKER,
}  # fmt: skip
DEFINITIONS = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass
class Size:
    """Counts of one folder; two are added with `+`."""

    files: int = 0
    lines: int = 0
    tokens: int = 0
    public: int = 0
    documented: int = 0
    data_lines: int = 0

    def __add__(self, other: Size) -> Size:
        pairs = zip(asdict(self).values(), asdict(other).values(), strict=True)
        return Size(*(a + b for a, b in pairs))


def public_nodes(tree: ast.Module) -> Iterator[ast.AST]:
    """The module and its public classes, functions and methods; not what is inside a function."""
    yield tree
    stack: list[ast.AST] = [tree]
    while stack:
        for node in ast.iter_child_nodes(stack.pop()):
            if isinstance(node, DEFINITIONS) and not node.name.startswith("_"):
                yield node
                if isinstance(node, ast.ClassDef):
                    stack.append(node)


def docstring_lines(tree: ast.Module) -> set[int]:
    """Numbers of the lines on which a docstring begins."""
    bodies = [n.body for n in ast.walk(tree) if isinstance(n, (ast.Module, *DEFINITIONS))]
    return {
        body[0].lineno
        for body in bodies
        if body
        and isinstance(body[0], ast.Expr)
        and isinstance(body[0].value, ast.Constant)
        and isinstance(body[0].value.value, str)
    }


def size_of_source(text: str) -> Size:
    """Counts of one Python file."""
    tree = ast.parse(text)
    documentation = docstring_lines(tree)
    tokens = sum(
        token.type not in NOT_CODE
        and not (token.type == tokenize.STRING and token.start[0] in documentation)
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
    )
    public = list(public_nodes(tree))
    documented = sum(ast.get_docstring(node) is not None for node in public)  # type: ignore[arg-type]
    return Size(1, len(text.splitlines()), tokens, len(public), documented)


def files_by_folder(package: Path) -> Iterator[tuple[str, Path]]:
    """Every file, and the folder directly below `package` that it is in; "." for none."""
    for path in sorted(package.rglob("*")):
        inner = path.relative_to(package)
        yield inner.parts[0] if len(inner.parts) > 1 else ".", path


def size_by_folder(package: Path) -> dict[str, Size]:
    """Counts of each folder directly below `package`; files next to them count as "."."""
    sizes: dict[str, Size] = {}
    for folder, path in files_by_folder(package):
        if path.suffix == ".py":
            size = size_of_source(path.read_text("utf-8"))
        elif path.suffix in (".toml", ".json"):
            size = Size(data_lines=len(path.read_text("utf-8").splitlines()))
        else:
            continue
        sizes[folder] = sizes.get(folder, Size()) + size
    return sizes


def lines_and_files(package: Path) -> dict[str, list[int]]:
    """Python lines and files of each folder directly below `package`, and of `all`."""
    found: dict[str, list[int]] = {"all": [0, 0]}
    for folder, path in files_by_folder(package):
        if path.suffix != ".py":
            continue
        lines = len(path.read_text("utf-8").splitlines())
        for name in (folder, "all"):
            one = found.setdefault(name, [0, 0])
            one[0] += lines
            one[1] += 1
    return found


def bars() -> dict[str, dict[str, list[int]]]:
    """The most lines and files, by house and folder."""
    return tomllib.loads(BARS.read_text("utf-8"))


def above_bars() -> list[str]:
    """A line for each folder that is above its bar, or has none."""
    found, most = [], bars()
    for house, place in HOUSES.items():
        for folder, (lines, files) in lines_and_files(place).items():
            bar = most.get(house, {}).get(folder)
            told = f"{house}/{folder} has {lines} lines in {files} files"
            if bar is None:
                found.append(f"{told}, and no bar")
            elif lines > bar[0] or files > bar[1]:
                found.append(f"{told}, and its bar is {bar[0]} in {bar[1]}")
    return found


def page() -> str:
    """docs/architecture.md with the table of what the bars hold."""
    core = bars()["core"]
    rows = [
        f"| {' and '.join(f'`{name}/`' for name in names) if names != ('all',) else 'the core'} "
        f"| {sum(core[name][0] for name in names):,} | {before:,} | {aim:,} |\n"
        for names, before, aim in AIMS
    ]
    names = "| Python lines of | now | once research and recipes had left | aim |"
    head = f"{names}\n|---|--:|--:|--:|\n"
    before, _, rest = PAGE.read_text("utf-8").partition(MARKS[0])
    _, end, after = rest.partition(MARKS[1])
    return "".join((before, MARKS[0], "\n", head, *rows, "\n", end, after))


def move(choose: Callable[[tuple[int, int]], int]) -> None:
    """Write the bars anew: of a bar and what is there now, `choose` takes one."""
    known = bars() if BARS.exists() else {}
    text = [HEAD]
    for house, place in HOUSES.items():
        text.append(f"\n[{house}]\n")
        for folder, now in lines_and_files(place).items():
            bar = known.get(house, {}).get(folder, now)
            text.append(f'"{folder}" = {[choose(pair) for pair in zip(bar, now, strict=True)]}\n')
    BARS.write_text("".join(text), encoding="utf-8")
    PAGE.write_text(page(), encoding="utf-8")


def main() -> None:
    """Print the tables, or JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, help="a package's folder; else the houses")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--lower", action="store_true", help="lower the bars to what is there")
    parser.add_argument("--raise", dest="higher", action="store_true", help="raise those too low")
    options = parser.parse_args()
    if options.lower or options.higher:
        move(min if options.lower else max)
    places = HOUSES if options.folder is None else {options.folder.name: options.folder}
    houses = {house: size_by_folder(place) for house, place in places.items()}
    for sizes in houses.values():
        sizes["all"] = sum(sizes.values(), Size())
    if options.json:
        print(
            json.dumps(
                {house: {f: asdict(s) for f, s in one.items()} for house, one in houses.items()},
                indent=2,
            )
        )
        return
    most = bars()
    for house, one in houses.items():
        print(
            f"{house:<14}{'files':>6}{'lines':>8}{'bar':>8}{'tokens':>9}{'documented':>12}"
            f"{'TOML, JSON':>12}"
        )
        for folder, size in one.items():
            share = f"{size.documented / size.public:.1%}" if size.public else "-"
            bar = most.get(house, {}).get(folder, [0])[0]
            print(
                f"{folder:<14}{size.files:>6}{size.lines:>8,}{bar:>8,}{size.tokens:>9,}{share:>12}"
                f"{size.data_lines:>12,}"
            )
        print()


if __name__ == "__main__":
    main()
