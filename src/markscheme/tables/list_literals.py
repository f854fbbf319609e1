"""JSON with all its digits; lists of references inside one text, as CSV files hold them."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

import orjson

from markscheme.tables.limits import DEPTH, check_depth, values_of_json

_NUMBER = r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?"
_TEXT = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_ITEM = rf"(?:{_TEXT}|{_NUMBER}|None)"
_NUMBERS = re.compile(rf"\s*\[\s*{_NUMBER}\s*(?:,\s*{_NUMBER}\s*)*(?:,\s*)?\]\s*")
_PYTHON = re.compile(rf"\[\s*{_ITEM}\s*(?:,\s*{_ITEM}\s*)*(?:,\s*)?\]", re.DOTALL)
_NUMPY = re.compile(rf"(?:array\(\s*)?\[\s*(?:{_TEXT})(?:\s*(?:{_TEXT}))+\s*\]\)?", re.DOTALL)
_SQUAD = re.compile(
    rf"\{{\s*'text':\s*(?P<list>\[\s*{_ITEM}\s*(?:,\s*{_ITEM}\s*)*\]|array\([^()]*\))\s*"
    r"(?:,\s*'answer_start':[^{}]*)?\}",
    re.DOTALL,
)

_LONG_INTEGER = re.compile(rb"\d{19}")
"""What may be an integer beyond 64 bits."""

_LONGEST = 1_000_000
"""Characters of a list in Python's form: parsing it takes 200 bytes of memory for each."""

PYTHON = "references read as Python lists"
"""The note about lists that are not JSON."""


def parse_json(content: bytes) -> Any:
    """A JSON text as Python values; an integer beyond 64 bits is the text of its digits.

    orjson makes a float of such a number, which rounds it: two ids become one, and the answer of 24
    digits is no longer the reference's.

    Raises:
        orjson.JSONDecodeError: it is no JSON.
        ValueError: lists and objects are nested too deeply (`limits.DEPTH`).
    """
    found = orjson.loads(content)
    if values_of_json(content) > DEPTH:
        check_depth(found)
    if _LONG_INTEGER.search(content) is None:
        return found
    import json

    return json.loads(content, parse_int=_integer)


def _integer(digits: str) -> int | str:
    fits = len(digits) <= 20 and -(2**63) <= int(digits) < 2**63
    return int(digits) if fits else digits


def is_squad_object(value: Mapping[str, Any]) -> bool:
    """Whether an object is SQuAD's list of references: `{"text": [...], "answer_start": [...]}`."""
    return isinstance(value.get("text"), list) and set(value) <= {"text", "answer_start"}


def is_number_list(text: str) -> bool:
    """Whether a text is a list of bare numbers, `[0, 1]`: often one answer, such as an
    interval or the output of a program."""
    return _NUMBERS.fullmatch(text) is not None


def parse_list_literals(text: str, notes: Counter[str]) -> list[Any] | None:
    """The list that a text is, or None where it is plain text.

    It may be in JSON (`["a", "b"]`), as Python prints it (`['a', 'b']`, which is what pandas writes
    to CSV), or inside SQuAD's object (`{"text": ["a"], "answer_start": [7]}`) in either.

    Args:
        text: a cell.
        notes: counts lists in Python's form under `PYTHON`.

    Raises:
        ValueError: it is an array as NumPy prints it, which has no commas, so that items cannot be
            distinguished from parts of one item; or it is too long, or nested too deeply, to be
            parsed.
    """
    bare = text.strip()
    if not bare.startswith(("[", "{", "array(")):
        return None
    try:
        value = parse_json(bare.encode())
    except orjson.JSONDecodeError:
        pass
    else:
        if isinstance(value, Mapping):  # Any other object is no list of references.
            value = value.get("text")
        return value if isinstance(value, list) else None
    if len(bare) > _LONGEST:
        raise ValueError(
            f"the references are a list in Python's form of {len(bare):,} characters; the limit is "
            f"{_LONGEST:,}: write it as JSON"
        )
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
    notes[PYTHON] += 1
    return found
