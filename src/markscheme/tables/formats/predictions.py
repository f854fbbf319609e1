"""Answers in a file of their own: one object of ids and answers, as SQuAD's scorers take it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import orjson


def predictions_of(path: str | Path) -> dict[str, str] | None:
    """Ids to answers, or None where a file is anything else. Never raises for its content."""
    file = Path(path)
    if file.suffix.lower() != ".json" or not file.is_file():
        return None
    try:
        found = orjson.loads(file.read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return None
    if not isinstance(found, Mapping) or len(found) < 1:
        return None
    plain = all(isinstance(value, str) for value in found.values())
    return {str(name): value for name, value in found.items()} if plain else None
