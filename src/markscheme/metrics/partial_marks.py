"""Partial and bonus marks: from the gap between two statements to credit. Yao & Barbosa 2024.

Section 4 and appendix D of the paper. The gap between a reference and an answer is how much it
takes to deduce one from the other: steps, pieces of outside information, assumptions, or a model's
word on how hard it is. The paper orders answers by it; the map to marks is ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import polars as pl

from markscheme.errors import UnknownNameError

WEIGHTS: Mapping[str, tuple[float, float, float]] = MappingProxyType(
    {"CIA": (10, 3, 5), "C": (10, 0, 0), "IA": (0, 3, 5)}
)
"""Appendix D: what a step, a piece of information and an assumption weigh in each scheme."""

HALVES: Mapping[str, float] = MappingProxyType({"CIA": 40, "C": 30, "IA": 8, "difficulty": 2})
"""The gap that halves the credit (ours): three plain steps; with one piece of information and an
assumption each more; "easy" of the five degrees of difficulty."""

BONUS = 0.05
"""Most that an answer which says more than the reference gains above 1 (ours)."""

PARTIAL = 0.5
"""Marks of an answer that says less than the reference, its gap being unknown (ours)."""


def gap(counts: pl.DataFrame, scheme: str) -> pl.Series:
    """The inference gap: weighted sum of steps, information and assumptions, 0 or more.

    Args:
        counts: columns `steps`, `info`, `assumptions`, null where unknown; and `difficulty`, 1 to
            5, where the scheme is that.
        scheme: `CIA`, `C`, `IA` or `difficulty`.

    Raises:
        UnknownNameError: no such scheme.
    """
    if scheme == "difficulty":
        return counts["difficulty"].cast(pl.Float64).alias("gap")
    _check(scheme)
    weights = zip(("steps", "info", "assumptions"), WEIGHTS[scheme], strict=True)
    total: pl.Expr = sum((pl.col(name) * weight for name, weight in weights), pl.lit(0.0))
    return counts.select(gap=total.cast(pl.Float64))["gap"]


def credit(gaps: pl.Series, scheme: str) -> pl.Series:
    """Credit from 0 to 1 for a gap: 1 for none, halved by every `HALVES[scheme]` of it.

    Raises:
        UnknownNameError: no such scheme.
    """
    _check(scheme)
    return gaps.to_frame("gap").select(credit=0.5 ** (pl.col("gap") / HALVES[scheme]))["credit"]


def marks(relations: pl.Series, credits: pl.Series) -> pl.Series:
    """Marks of each answer: 1 for an equivalent one, 0 for an incorrect one.

    An inferior answer gets its credit, a superior one 1 and `BONUS` times its credit: the closer it
    stays to the reference, the more of what it adds is surely to the point. Null where the relation
    is, or where an inferior or superior answer has no credit.
    """
    table = pl.DataFrame({"relation": relations.cast(pl.String), "credit": credits})
    return table.select(
        marks=pl.when(pl.col("relation") == "equivalent")
        .then(1.0)
        .when(pl.col("relation") == "incorrect")
        .then(0.0)
        .when(pl.col("relation") == "superior")
        .then(1 + BONUS * pl.col("credit"))
        .when(pl.col("relation") == "inferior")
        .then(pl.col("credit"))
    )["marks"]


def expected_marks(entails: pl.Series, entailed: pl.Series) -> pl.Series:
    """Marks where a test gives probabilities: their expectation over the four relations.

    With s the probability that the answer entails a reference and i that a reference entails the
    answer, taken as independent: an equivalent answer (s i) has 1, a superior one (s (1 - i)) has
    1 + `BONUS`, an inferior one ((1 - s) i) `PARTIAL`, an incorrect one nothing. So answers are
    graded within a relation too, incorrect ones among them.

    Args:
        entails: s of each answer, 0 to 1.
        entailed: i of each answer, 0 to 1.
    """
    table = pl.DataFrame({"s": entails, "i": entailed})
    s, i = pl.col("s"), pl.col("i")
    return table.select(marks=s * i + (1 + BONUS) * s * (1 - i) + PARTIAL * (1 - s) * i)["marks"]


def _check(scheme: str) -> None:
    if scheme not in HALVES:
        raise UnknownNameError("scheme of marks", scheme, HALVES, "see docs/entailment.md")


def reward(
    judgment: Mapping[str, Any], by: str, *, wrong: float = 0.0, right: float = 1.0
) -> float | None:
    """What a judgment is worth to a training loop; None where it was not judged.

    Args:
        judgment: with `verdict`, `score` and `marks`.
        by: `marks` (the score where a judge gives none), `score`, or `verdict` (1 or 0).
        wrong, right: what nothing and full marks are worth; bonus marks are worth more.
    """
    value = judgment["verdict"] if by == "verdict" else judgment["score"]
    if by == "marks" and judgment["marks"] is not None:
        value = judgment["marks"]
    return None if value is None else wrong + (right - wrong) * float(value)
