"""What each folder of the package weighs: so that nothing is called smaller that is only denser.

    make size                       # or: python scripts/size.py [FOLDER] [--json]

For each folder of src/markscheme, and in all: Python files and lines; Python tokens without
comments, docstrings and line ends; the share of public names (modules, classes, functions, methods)
with a docstring; lines of TOML and JSON.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import tokenize
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "markscheme"
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


def size_by_folder(package: Path) -> dict[str, Size]:
    """Counts of each folder directly below `package`; files beside them count as "."."""
    sizes: dict[str, Size] = {}
    for path in sorted(package.rglob("*")):
        inner = path.relative_to(package)
        folder = inner.parts[0] if len(inner.parts) > 1 else "."
        if path.suffix == ".py":
            size = size_of_source(path.read_text("utf-8"))
        elif path.suffix in (".toml", ".json"):
            size = Size(data_lines=len(path.read_text("utf-8").splitlines()))
        else:
            continue
        sizes[folder] = sizes.get(folder, Size()) + size
    return sizes


def main() -> None:
    """Print the table, or JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, default=PACKAGE, help="a package's folder")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    sizes = size_by_folder(options.folder)
    sizes["all"] = sum(sizes.values(), Size())
    if options.json:
        print(json.dumps({folder: asdict(size) for folder, size in sizes.items()}, indent=2))
        return
    print(
        f"{'folder':<14}{'files':>6}{'lines':>8}{'tokens':>9}{'documented':>12}{'TOML, JSON':>12}"
    )
    for folder, size in sizes.items():
        share = f"{size.documented / size.public:.1%}" if size.public else "-"
        print(
            f"{folder:<14}{size.files:>6}{size.lines:>8,}{size.tokens:>9,}{share:>12}"
            f"{size.data_lines:>12,}"
        )


if __name__ == "__main__":
    main()
