"""Intervals of statistics of counts: shares by their counts, others by leaving out questions.

Accuracy, precision and recall are shares (`stats.share_interval`). Of the others the jackknife over
questions gives the sampling variance (Efron & Stein 1981): F1 gets Wilson's interval at the number
of answers that it is worth, a coefficient (kappa, MCC) a t interval on Fisher's z scale, so that
bounds stay within the statistic's range. AUROC and average precision take theirs from what each
answer does to them, summed by question.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import polars as pl

from markscheme.agreement.verdicts import CELLS, STATISTICS, statistics
from markscheme.results import Figure, share_figure
from markscheme.stats import (
    LEAST_OF_A_LABEL,
    fisher_interval,
    kinds,
    share_evidence,
    t_quantile,
    variance_without_one,
    wilson_interval,
)

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

SHARES = {"accuracy": ((0, 3), (0, 1, 2, 3)), "precision": ((0,), (0, 1)), "recall": ((0,), (0, 2))}
"""The cells (of tp, fp, fn, tn) that are counted, and those that they are a share of."""


def clustered_statistics(counts: Array, confidence: float) -> dict[str, Figure]:
    """The `statistics` of a confusion table with intervals clustered on question.

    Args:
        counts: (questions, 4) the counts of each question: tp, fp, fn, tn.
        confidence: of the intervals.

    A figure that is no share stays without an interval where leaving out questions never moves it,
    and where either label has fewer than `stats.LEAST_OF_A_LABEL` answers.
    """
    totals = counts.sum(axis=0)
    found = statistics(totals)
    tp, fp, fn, tn = totals
    both = min(tp + fn, fp + tn) >= LEAST_OF_A_LABEL
    answers = counts.sum(axis=1)
    if not answers.any():
        return found
    evidence = share_evidence(counts[:, 0] + counts[:, 3], answers)
    # Errors are what moves all these: where they are few, what repeats them is seen in pairs only.
    alike = float(answers.sum()) / evidence.answers
    by_question, by_answer = kinds(counts.astype(np.int64)), (np.eye(4), totals)
    for name, point in found.items():
        if point.value is None:
            continue
        if name in SHARES:
            right, answers = (counts[:, cells].sum(axis=1) for cells in SHARES[name])
            found[name] = share_figure(right, answers, confidence=confidence)
        elif both:
            statistic = STATISTICS[name]
            moved = max(
                variance_without_one(statistic.of, *by_question),
                alike * variance_without_one(statistic.of, *by_answer),
            )
            bounded = _on_z_scale if statistic.lowest else by_variance
            found[name] = bounded(point.value, moved, evidence.freedom, confidence)
    return found


def by_variance(value: float, moved: float, freedom: float, confidence: float) -> Figure:
    """A figure from 0 to 1 with Wilson's interval at the answers that its variance is worth."""
    if moved <= 0 or not 0 < value < 1:
        return Figure(value=value)
    reach = t_quantile(freedom, (1 + confidence) / 2)
    low, high = wilson_interval(value, value * (1 - value) / moved, reach=reach)
    return Figure(value=value, low=low, high=high, method="wilson-t")


def _on_z_scale(value: float, moved: float, freedom: float, confidence: float) -> Figure:
    if moved <= 0 or abs(value) >= 1:
        return Figure(value=value)
    reach = t_quantile(freedom, (1 + confidence) / 2) * math.sqrt(moved)
    low, high = fisher_interval(value, reach)
    return Figure(value=value, low=low, high=high, method="fisher-z")


def numbers_of(clusters: pl.Series) -> Ints:
    """The clusters of rows as numbers from 0, in the order of their values."""
    return (clusters.rank("dense") - 1).cast(pl.Int64).to_numpy()


def cell_table(rows: pl.DataFrame, verdict: str = "verdict") -> Ints:
    """(questions, 6) answers of each question in each of `CELLS`, in the order of the clusters.

    Args:
        rows: a judge's `verdict` (null where not judged), `accepted` by the label, `cluster`.
        verdict: the column of verdicts, where it has another name.
    """
    said, right = pl.col(verdict), pl.col("accepted")
    cells = (
        said & right,
        said & ~right,
        ~said & right,
        ~said & ~right,
        said.is_null() & right,
        said.is_null() & ~right,
    )
    # Where there is no verdict, the first four are null or false, and a sum counts neither.
    counts = [
        cell.sum().cast(pl.Int64).alias(name) for name, cell in zip(CELLS, cells, strict=True)
    ]
    return rows.group_by("cluster").agg(counts).sort("cluster").drop("cluster").to_numpy()
