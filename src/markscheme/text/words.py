"""What a word is, and tables of words in TOML files next to the modules that use them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

LETTERS = re.compile(r"[^\W\d_¹²³⁰⁴-⁹½¼¾⅐-⅞]+")
"""A word of letters alone, which figures above the line and fractions are not."""


@cache
def words_of(module: str, name: str | None = None) -> dict[str, Any]:
    """The tables of a module, by its `__file__`: `tokens.toml` next to `tokens.py`.

    `name` is of a file in the same folder that several modules read.
    """
    path = Path(module).with_suffix(".toml")
    path = path if name is None else path.with_stem(name)
    found = tomllib.loads(path.read_text(encoding="utf-8"))
    return {key: _unchanging(table) for key, table in found.items()}


def _unchanging(table: Any) -> Any:
    if isinstance(table, dict):
        return {name: _unchanging(value) for name, value in table.items()}
    return tuple(table) if isinstance(table, list) else table


def by_word(groups: Mapping[str, str]) -> dict[str, str]:
    """Each word of groups of words, with the key of its group; `_` is a space within a word.

    >>> by_word({"12-25": "christmas_day noël"})
    {'christmas day': '12-25', 'noël': '12-25'}
    """
    return {word.replace("_", " "): key for key, words in groups.items() for word in words.split()}


def numbers_by_word(groups: Mapping[str, str]) -> dict[str, float]:
    """The same where the keys are numbers."""
    return {word: float(key) for word, key in by_word(groups).items()}
