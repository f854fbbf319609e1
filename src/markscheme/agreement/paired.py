"""Two sides on the same questions: their difference with one interval, and one test of it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from markscheme.agreement.closed_forms import holm_figures
from markscheme.results import Figure
from markscheme.stats import (
    FOUND,
    detectable_difference,
    difference_evidence,
    difference_interval,
    difference_p,
    jackknife_difference,
    t_quantile,
    t_tail,
)

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

MOST = {"kappa": 2.0, "mcc": 2.0}
"""What a difference of these statistics never exceeds; of the others 1."""
LARGE = 0.1
"""A comparison that detects no smaller difference shows nothing small."""


def _former(name: str, now: str) -> property:
    """The property of 0.1.0, which warns, until 0.3."""

    def read(self: Comparison) -> Any:
        text = f"Comparison.{name} is Comparison.{now} now, and permutes nothing; it goes in 0.3"
        warnings.warn(text, DeprecationWarning, stacklevel=2)
        return getattr(self, now)

    return property(read)


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """One pair.

    Attributes:
        first, second: names of the judges or systems.
        first_value, second_value: the statistic of each, on what both share.
        difference: first minus second. The interval is Tango's of a share (method `tango`), of
            other statistics Student's from the jackknife over questions (`jackknife-t`).
        only_first, only_second: answers (of systems in `compare`: questions) that only one got
            right.
        p: two-sided, of no difference: at most 1 - confidence just where the interval excludes 0.
            Of shares with one answer a question it is McNemar's (1947) test.
        p_holm: the same corrected for the number of pairs by Holm's method.
        detectable: the smallest difference, above 0, that 4 of 5 such comparisons would show
            (before Holm's correction); None where there is none.
        shared: answers (or questions, likewise) compared.
        left_out: those that only one has, or that were not judged.
        questions: clusters of answers.
    """

    first: str
    second: str
    first_value: Figure
    second_value: Figure
    difference: Figure
    only_first: int
    only_second: int
    p: Figure
    p_holm: float | None = None
    detectable: float | None = None
    shared: int
    left_out: int
    questions: int

    permutation = _former("permutation", "p")
    permutation_holm = _former("permutation_holm", "p_holm")


def compare_answers(
    names: tuple[str, str],
    questions: pl.Series,
    first: pl.Series,
    second: pl.Series,
    *,
    confidence: float = 0.95,
) -> Comparison:
    """Two sides answer by answer, by the share of answers that are right.

    Args:
        names: of the two sides.
        questions: (answers,) what each answer is to; answers to one question may be correlated.
        first, second: (answers,) whether each side has it right, or accepted; no nulls.
        confidence: of the interval.
    """
    better, worse = first & ~second, second & ~first
    frame = pl.DataFrame({"question": questions, "worse": worse, "better": better})
    table = frame.group_by("question", maintain_order=True).agg(
        pl.col("worse", "better").sum().cast(pl.Int64), answers=pl.len().cast(pl.Int64)
    )
    return Comparison(
        first=names[0],
        second=names[1],
        first_value=Figure(value=float(first.sum()) / len(first)),
        second_value=Figure(value=float(second.sum()) / len(second)),
        **share_difference(
            *(table[name].to_numpy() for name in ("worse", "better", "answers")),
            confidence=confidence,
        ),
        only_first=int(better.sum()),
        only_second=int(worse.sum()),
        shared=len(first),
        left_out=0,
        questions=table.height,
    )


def share_difference(
    worse: npt.NDArray[Any],
    better: npt.NDArray[Any],
    answers: npt.NDArray[Any],
    *,
    difference: float | None = None,
    confidence: float = 0.95,
) -> dict[str, Any]:
    """`difference`, `p` and `detectable` of a comparison of two shares.

    Args:
        worse: (questions,) pairs of answers to each question of which only the second is right.
        better: (questions,) pairs of which only the first is right.
        answers: (questions,) pairs of answers to each.
        difference: of the shares, where the pairs do not give it exactly.
        confidence: of the interval.
    """
    evidence = difference_evidence(worse, better, answers)
    total = float(answers.sum())
    lost, won = float(worse.sum()) / total, float(better.sum()) / total
    value = won - lost if difference is None else difference
    lost = max(lost + (won - lost - value) / 2, 0.0, -value)
    won = lost + value
    low, high = difference_interval(lost, won, evidence, confidence=confidence)
    p = difference_p(lost, won, evidence)
    return {
        "difference": Figure(value=value, low=low, high=high, method="tango"),
        "p": Figure(value=1.0 if p is None else p, method="tango"),
        "detectable": detectable_difference(lost + won, evidence, confidence=confidence),
    }


def expected_pairs(counts: Ints) -> tuple[Array, Array, Array]:
    """Pairs of answers of two systems of which one alone is right, by question, and all pairs.

    Where a question has several answers of a system, they are no pairs: these are what pairing
    them at random gives on average. A question has as many pairs as its mean share of either
    system's answers is of the mean number of answers.

    Args:
        counts: (questions, 2, 2) right answers and all answers of either system.

    Returns:
        Pairs of which only the second is right, of which only the first is right, and all.
    """
    right, answers = np.moveaxis(counts.astype(np.float64), 2, 0)
    totals = answers.sum(axis=0)
    # Rounded, so that single answers are one pair exactly.
    pairs = np.round(totals.mean() * (answers / totals).mean(axis=1), 9)
    one, two = (right / answers).T
    return pairs * (1 - one) * two, pairs * one * (1 - two), pairs


def statistic_difference(
    name: str,
    counts: npt.NDArray[Any],
    statistic: Callable[[Array], Array],
    values: Sequence[Figure],
    *,
    confidence: float = 0.95,
) -> dict[str, Any]:
    """The values, `difference`, `p` and `detectable` of a comparison by a statistic of counts.

    Args:
        name: of the statistic.
        counts: (questions, 2, width) counts of either side.
        statistic: from (..., width) totals to values, NaN where undefined.
        values: of either side.
        confidence: of the interval.
    """
    one, two = values
    sides: dict[str, Any] = {"first_value": one, "second_value": two, "detectable": None}
    if one.value is None or two.value is None:
        none = Figure(reason=one.reason or two.reason)
        return {**sides, "difference": none, "p": none}
    value = one.value - two.value
    error, freedom = jackknife_difference(counts, statistic, value)
    if not error:
        reason = "no question moves the difference"
        p = Figure(reason=reason) if value else Figure(value=1.0, method="jackknife-t")
        return {**sides, "difference": Figure(value=value), "p": p}
    reach, most = t_quantile(freedom, (1 + confidence) / 2), MOST.get(name, 1.0)
    low, high = max(-most, value - reach * error), min(most, value + reach * error)
    least = (reach + FOUND) * error
    return {
        **sides,
        "difference": Figure(value=value, low=low, high=high, method="jackknife-t"),
        "p": Figure(value=2 * t_tail(abs(value) / error, freedom), method="jackknife-t"),
        "detectable": least if least < most else None,
    }


def with_holm(pairs: Sequence[Comparison]) -> list[Comparison]:
    """The comparisons with p-values corrected by Holm's method."""
    corrected = holm_figures([pair.p.value for pair in pairs])
    return [replace(pair, p_holm=p) for pair, p in zip(pairs, corrected, strict=True)]


def mcnemar_exact(only_first: int, only_second: int) -> Figure:
    """Two-sided exact McNemar test of paired outcomes (SciPy's `binomtest` at one half)."""
    from scipy.stats import binomtest

    if not only_first + only_second:
        return Figure(reason="the two never differ")
    result = binomtest(only_first, only_first + only_second)
    return Figure(value=min(1.0, float(result.pvalue)), method="mcnemar")
