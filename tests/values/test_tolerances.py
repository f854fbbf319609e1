"""Numbers are compared with the tolerances of one file, each of which something uses."""

import ast
from pathlib import Path

import markscheme
from markscheme.text import Tolerance

SOURCE = Path(markscheme.__file__).parent
READERS = [
    *(SOURCE / "values").glob("*.py"),
    SOURCE / "judges" / "entailment" / "grounding.py",
    SOURCE / "features" / "entailment" / "containment.py",
]
LARGEST = 0.1
"""Shares up to which a constant that a difference is compared with is a tolerance."""


def test_no_reader_of_numbers_has_a_tolerance_of_its_own() -> None:
    own = []
    for path in READERS:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Compare) and not isinstance(node.ops[0], ast.Eq):
                own += [
                    f"{path.name}:{node.lineno}: {inner.value}"
                    for side in (node.left, *node.comparators)
                    for inner in ast.walk(side)
                    if isinstance(inner, ast.Constant)
                    and isinstance(inner.value, float)
                    and 1e-20 < inner.value <= LARGEST
                ]
    assert own == []


def test_every_tolerance_is_used() -> None:
    texts = "\n".join(path.read_text("utf-8") for path in READERS)
    names = [name for name in vars(Tolerance) if name.isupper()]
    assert len(names) > 20
    assert [name for name in names if f"Tolerance.{name}" not in texts] == []
