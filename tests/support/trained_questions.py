"""Questions from which the shipped examiner learned, without public data."""

from __future__ import annotations

import json
from pathlib import Path

import zstandard

WRITTEN = Path(__file__).parents[2] / "recipes" / "training-data" / "contrast-fifth.jsonl.zst"
"""Rows that all trained it."""


def trained_questions(count: int) -> list[str]:
    """The first English ones in the file that fit into a message, each once."""
    with zstandard.open(WRITTEN, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    known = dict.fromkeys(row["question"] for row in rows if row["language"] == "en")
    return [question for question in known if len(question) < 60][:count]
