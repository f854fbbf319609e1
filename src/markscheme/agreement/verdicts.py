"""How well verdicts agree with labels: counts, every statistic of them, and their intervals.

Counts are in six cells, always in the order of `CELLS`. What a judge did not judge has cells
of its own, so that it can be left out or counted as errors without touching the answers again.

A function with `@statistic` computes one from a table's counts or from whole arrays of them, such
as the tables without each question; tests compare them with scikit-learn.

Accuracy, precision and recall are shares, with `stats.share_interval`. Of the others the jackknife
over questions gives the sampling variance (Efron & Stein 1981): F1 gets Wilson's interval at the
number of answers that it is worth, a coefficient (kappa, MCC) a t interval on Fisher's z scale, so
that bounds stay within the statistic's range. AUROC and average precision take theirs from what
each answer does to them, summed by question.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from markscheme.agreement.options import Unjudged
from markscheme.results import Figure, figure, share_figure
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

CELLS = (
    "true_positive",
    "false_positive",
    "false_negative",
    "true_negative",
    "unjudged_positive",
    "unjudged_negative",
)
"""A positive is an answer that the label accepts; true and false say whether the judge agrees."""


@dataclass(frozen=True, kw_only=True)
class Statistic:
    """A statistic of a confusion table.

    Attributes:
        heading: as tables show it.
        undefined: why it may be undefined.
        of: from an array of four-cell counts (..., 4); NaN where undefined.
        lowest: 0 of a share, which tables show in per cent; -1 of a coefficient. The highest is 1.
        chooses: whether a threshold may be chosen by it. Recall may not: it accepts everything.
    """

    heading: str
    undefined: str
    of: Callable[[Array], Array]
    lowest: float = 0.0
    chooses: bool = True


STATISTICS: dict[str, Statistic] = {}
"""Every statistic of a confusion table by name, in the order of tables and of choices."""


def statistic(
    name: str, *, heading: str, undefined: str, lowest: float = 0.0, chooses: bool = True
) -> Callable[[Callable[[Array], Array]], Callable[[Array], Array]]:
    """Decorator: gives `agree`, `compare` and `calibrate` a function of counts (tp, fp, fn, tn).

    Args:
        name: as options and columns name it.
        heading, undefined, lowest, chooses: as the attributes of `Statistic`.
    """

    def add(of: Callable[[Array], Array]) -> Callable[[Array], Array]:
        STATISTICS[name] = Statistic(
            heading=heading, undefined=undefined, of=of, lowest=lowest, chooses=chooses
        )
        return of

    return add


def four_cells(counts: npt.ArrayLike, unjudged: Unjudged) -> Array:
    """Six-cell counts (..., 6) as four (..., 4): tp, fp, fn, tn under a policy for not judged."""
    six = np.asarray(counts, dtype=np.float64)
    four = six[..., :4].copy()
    if unjudged == "errors":
        four[..., 2] += six[..., 4]
        four[..., 1] += six[..., 5]
    return four


def statistics(counts: npt.ArrayLike) -> dict[str, Figure]:
    """Every statistic of one four-cell table (tp, fp, fn, tn).

    All lie from 0 to 1, kappa and MCC from -1 to 1. Undefined ones are figures with a reason.
    """
    cells = np.asarray(counts, dtype=np.float64)
    empty = None if cells.any() else STATISTICS["accuracy"].undefined
    return {
        name: figure(float(one.of(cells)), empty or one.undefined)
        for name, one in STATISTICS.items()
    }


def _divided(top: Array, bottom: Array) -> Array:
    """The quotient, NaN where the denominator is zero."""
    quotient = np.full(np.broadcast(top, bottom).shape, np.nan)
    np.divide(top, bottom, out=quotient, where=bottom != 0)
    return quotient


@statistic("accuracy", heading="accuracy", undefined="nothing was judged")
def _accuracy(c: Array) -> Array:
    return _divided(c[..., 0] + c[..., 3], c.sum(axis=-1))


@statistic("precision", heading="precision", undefined="the judge accepted nothing", chooses=False)
def _precision(c: Array) -> Array:
    return _divided(c[..., 0], c[..., 0] + c[..., 1])


@statistic("recall", heading="recall", undefined="no answer is labelled acceptable", chooses=False)
def _recall(c: Array) -> Array:
    return _divided(c[..., 0], c[..., 0] + c[..., 2])


@statistic(
    "f1_positive", heading="F1 (accepted)", undefined="neither judge nor labels accept anything"
)
def _f1_positive(c: Array) -> Array:
    """F1 of the accepted class, which EVOUNA calls F1."""
    return _divided(2 * c[..., 0], 2 * c[..., 0] + c[..., 1] + c[..., 2])


@statistic("f1_macro", heading="F1 (macro)", undefined="judge and labels know only one class")
def _f1_macro(c: Array) -> Array:
    """The mean of both classes' F1."""
    negative = _divided(2 * c[..., 3], 2 * c[..., 3] + c[..., 1] + c[..., 2])
    return np.asarray((_f1_positive(c) + negative) / 2)


@statistic(
    "kappa", heading="Cohen's kappa", undefined="the labels have only one class", lowest=-1.0
)
def _kappa(c: Array) -> Array:
    """0 of a judge that always says the same; NaN where labels do, as no judge could be better."""
    tp, fp, fn, tn = np.moveaxis(c, -1, 0)
    by_chance = (tp + fp) * (fp + tn) + (tp + fn) * (fn + tn)
    two_classes = (tp + fn > 0) & (fp + tn > 0)
    return _divided(2 * (tp * tn - fp * fn), np.where(two_classes, by_chance, 0.0))


@statistic(
    "mcc", heading="MCC", undefined="the judge or the labels have only one class", lowest=-1.0
)
def _mcc(c: Array) -> Array:
    tp, fp, fn, tn = np.moveaxis(c, -1, 0)
    return _divided(
        tp * tn - fp * fn,
        np.sqrt(tp + fp) * np.sqrt(tp + fn) * np.sqrt(tn + fp) * np.sqrt(tn + fn),
    )


FROM_COUNTS = {name: one.of for name, one in STATISTICS.items()}
"""Each one's function of an array of four-cell counts (..., 4)."""


def enough_of_both(totals: Array) -> bool:
    """Whether (tp, fp, fn, tn) has `stats.LEAST_OF_A_LABEL` answers of either label."""
    tp, fp, fn, tn = totals
    return bool(min(tp + fn, fp + tn) >= LEAST_OF_A_LABEL)


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
    both = enough_of_both(totals)
    answers = counts.sum(axis=1)
    if not answers.any():
        return found
    evidence = share_evidence(counts[:, 0] + counts[:, 3], answers)
    judged = float(answers.sum())
    by_question, by_answer = kinds(counts.astype(np.int64)), (np.eye(4), totals)
    for name, point in found.items():
        if point.value is None:
            continue
        if name in SHARES:
            right, answers = (counts[:, cells].sum(axis=1) for cells in SHARES[name])
            found[name] = share_figure(right, answers, confidence=confidence)
        elif both:
            statistic = STATISTICS[name]
            moved = evidence.variance(
                variance_without_one(statistic.of, *by_question),
                variance_without_one(statistic.of, *by_answer),
                judged,
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
    low, high = fisher_interval(value, moved, freedom, confidence)
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
