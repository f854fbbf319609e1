"""Lists of references inside one text, as spreadsheets and CSV files hold them."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Any

import orjson

_TEXT = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_ITEM = rf"(?:{_TEXT}|-?\d+(?:\.\d+)?|None)"
_PYTHON = re.compile(rf"\[\s*{_ITEM}\s*(?:,\s*{_ITEM}\s*)*(?:,\s*)?\]", re.DOTALL)
_NUMPY = re.compile(rf"(?:array\(\s*)?\[\s*(?:{_TEXT})(?:\s*(?:{_TEXT}))+\s*\]\)?", re.DOTALL)
_SQUAD = re.compile(
    rf"\{{\s*'text':\s*(?P<list>\[\s*{_ITEM}\s*(?:,\s*{_ITEM}\s*)*\]|array\([^()]*\))\s*"
    r"(?:,\s*'answer_start':[^{}]*)?\}",
    re.DOTALL,
)

PYTHON = "references read as Python lists"
"""The note about lists that are not JSON."""


def is_squad_object(value: Mapping[str, Any]) -> bool:
    """Whether an object is SQuAD's list of references: `{"text": [...], "answer_start": [...]}`."""
    return isinstance(value.get("text"), list) and set(value) <= {"text", "answer_start"}


def parse_list_literals(text: str, notes: dict[str, int]) -> list[Any] | None:
    """The list that a text is, or None where it is plain text.

    It may be in JSON (`["a", "b"]`), as Python prints it (`['a', 'b']`, which is what pandas writes
    to CSV), or inside SQuAD's object (`{"text": ["a"], "answer_start": [7]}`) in either.

    Args:
        text: a cell.
        notes: counts lists in Python's form under `PYTHON`.

    Raises:
        ValueError: it is an array as NumPy prints it, which has no commas, so that items cannot be
            distinguished from parts of one item.
    """
    bare = text.strip()
    if not bare.startswith(("[", "{", "array(")):
        return None
    try:
        value = orjson.loads(bare)
    except orjson.JSONDecodeError:
        pass
    else:
        if isinstance(value, Mapping):  # Any other object is no list of references.
            value = value.get("text")
        return value if isinstance(value, list) else None
    squad = _SQUAD.fullmatch(bare)
    inner = squad["list"] if squad else bare
    if inner.startswith("array(") or _NUMPY.fullmatch(inner):
        raise ValueError(
            f"the references are a NumPy array printed as text, {inner[:40]!r}; write them as a "
            "JSON list, or as text with ' | ' between them"
        )
    if not _PYTHON.fullmatch(inner):
        return None
    try:
        found: list[Any] = ast.literal_eval(inner)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None  # Text that only looks like it, such as an escape that is none.
    notes[PYTHON] = notes.get(PYTHON, 0) + 1
    return found
