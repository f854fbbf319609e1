"""What a person may say of an answer: the scales, and what each choice is worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from markscheme.annotate.options import ACCEPTED, ScaleName


@dataclass(frozen=True, kw_only=True)
class Choice:
    """One thing to say: the key that says it, the value stored, its name and what it means."""

    key: str
    value: float
    name: str
    meaning: str


@dataclass(frozen=True, kw_only=True)
class Scale:
    """A set of choices.

    Attributes:
        name: as on the command line.
        task: what the person should do, in one sentence.
        choices: in the order shown; empty for ranks.
        near: values at most this far apart count as agreement (then their mean is the label).
        adjudicated: whether a third person can settle a disagreement.
    """

    name: ScaleName
    task: str
    choices: tuple[Choice, ...] = ()
    near: float = 0.0
    adjudicated: bool = True

    @property
    def values(self) -> dict[str, float]:
        """What can be chosen, by the text that a form sends for it."""
        return {f"{choice.value:g}": choice.value for choice in self.choices}

    def name_of(self, value: float | None) -> str:
        """The choice's name; a number for what lies between two; `cannot tell` for null."""
        if value is None:
            return "cannot tell"
        for choice in self.choices:
            if choice.value == value:
                return choice.name
        return f"{value:g}"


SCALES: dict[str, Scale] = {
    "verdict": Scale(
        name="verdict",
        task="Is this answer correct?",
        choices=(
            Choice(key="1", value=1.0, name="Correct", meaning="It answers the question rightly."),
            Choice(
                key="2",
                value=0.0,
                name="Not correct",
                meaning="Wrong, evasive or off the point.",
            ),
        ),
    ),
    "relation": Scale(
        name="relation",
        task="What does the answer say, compared with the reference?",
        choices=(
            Choice(key="1", value=3.0, name="Superior", meaning="All of the reference, and more."),
            Choice(key="2", value=2.0, name="Equivalent", meaning="The same as the reference."),
            Choice(key="3", value=1.0, name="Inferior", meaning="Only a part of the reference."),
            Choice(key="4", value=0.0, name="Incorrect", meaning="Something else, or nothing."),
        ),
    ),
    "grade": Scale(
        name="grade",
        task="How good is this answer?",
        choices=(
            Choice(key="1", value=1.0, name="1", meaning="Useless or wrong."),
            Choice(key="2", value=2.0, name="2", meaning="Mostly wrong or missing the point."),
            Choice(key="3", value=3.0, name="3", meaning="Partly right, with real gaps."),
            Choice(key="4", value=4.0, name="4", meaning="Right, with small faults."),
            Choice(key="5", value=5.0, name="5", meaning="Right, complete and clear."),
        ),
        near=1.0,
    ),
    "rank": Scale(
        name="rank",
        task="Put the answers in order, the best first.",
        adjudicated=False,
    ),
}
"""Scales by name."""

RELATION_OF = {3.0: "superior", 2.0: "equivalent", 1.0: "inferior", 0.0: "incorrect"}
"""Values of the scale `relation` in the field's words."""


def verdicts(values: pl.Series, accept: Sequence[str] = ACCEPTED) -> pl.Series:
    """1 where the relation of a value is one of `accept`, else 0; null for null."""
    found = {value: float(name in accept) for value, name in RELATION_OF.items()}
    return values.replace_strict(found, default=None, return_dtype=pl.Float64)
