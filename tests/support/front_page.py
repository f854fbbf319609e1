"""The table of agreement with people in README.md."""

from __future__ import annotations

import re
from pathlib import Path

README = Path(__file__).parents[2] / "README.md"
ROWS = {
    "examiner": "examiner",
    "entailment": "entailment, embedded",
    "contains": "lexical match (`contains`)",
    "exact_match": "exact match",
    "GPT-3.5": "GPT-3.5, entailment prompts (Yao & Barbosa 2024, Table 2)",
    "a person": "a second person (Yao & Barbosa, Table 1; other answers)",
}
"""What the page calls each judge."""


def agreement(judge: str) -> str:
    """A judge's figure, as it is printed."""
    row = rf"^\| {re.escape(ROWS[judge])} \| (.+) \|$"
    (figure,) = re.findall(row, README.read_text("utf-8"), re.MULTILINE)
    return str(figure)


def answers() -> int:
    """How many answers the figures are of, as it is printed."""
    (count,) = re.findall(r"([\d,]+) answers of five systems", README.read_text("utf-8"))
    return int(count.replace(",", ""))
