"""How well verdicts agree with labels: counts, and every statistic that follows from them.

Counts are in six cells, always in the order of `CELLS`. What a judge did not judge has cells
of its own, so that it can be left out or counted as errors without touching the answers again.

The functions of `FROM_COUNTS` compute a statistic from one table's counts or from whole arrays of
them, for resampling; tests hold them to scikit-learn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

from markscheme.agreement.options import Unjudged
from markscheme.results import Figure, figure

Array = npt.NDArray[np.float64]

CELLS = (
    "true_positive",
    "false_positive",
    "false_negative",
    "true_negative",
    "unjudged_positive",
    "unjudged_negative",
)
"""A positive is an answer that the label accepts; true and false say whether the judge agrees."""

REASONS = {
    "accuracy": "nothing was judged",
    "precision": "the judge accepted nothing",
    "recall": "no answer is labelled acceptable",
    "f1_positive": "neither judge nor labels accept anything",
    "f1_macro": "judge and labels know only one class",
    "kappa": "judge and labels know only one class",
    "mcc": "the judge or the labels know only one class",
}
"""The statistics of a confusion table, and why each may be undefined. `f1_positive` is F1 of the
accepted class (what EVOUNA calls F1); `f1_macro` is the mean of both classes' F1."""


def cell_codes(
    labels: npt.NDArray[np.bool_], verdicts: npt.NDArray[np.bool_], judged: npt.NDArray[np.bool_]
) -> npt.NDArray[np.int64]:
    """The place in `CELLS` of each answer; `verdicts` count only where `judged`."""
    decided = np.where(verdicts, 0, 2) + np.where(labels, 0, 1)
    return np.where(judged, decided, np.where(labels, 4, 5)).astype(np.int64)


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
    reasons = REASONS if cells.any() else dict.fromkeys(REASONS, REASONS["accuracy"])
    return {
        name: figure(float(from_counts(cells)), reasons[name])
        for name, from_counts in FROM_COUNTS.items()
    }


def score_statistics(
    labels: npt.NDArray[np.bool_], scores: npt.NDArray[np.float64]
) -> dict[str, Figure]:
    """AUROC and average precision of scores, by scikit-learn; refused for a single class."""
    from sklearn import metrics

    if not len(labels):
        reason = "no answer has a score"
    elif labels.all() or not labels.any():
        reason = "the labels know only one class"
    else:
        return {
            "auroc": figure(metrics.roc_auc_score(labels, scores), "undefined"),
            "average_precision": figure(
                metrics.average_precision_score(labels, scores), "undefined"
            ),
        }
    return {"auroc": Figure(reason=reason), "average_precision": Figure(reason=reason)}


def _divided(top: Array, bottom: Array) -> Array:
    """The quotient, NaN where the denominator is zero."""
    quotient = np.full(np.broadcast(top, bottom).shape, np.nan)
    np.divide(top, bottom, out=quotient, where=bottom != 0)
    return quotient


def _accuracy(c: Array) -> Array:
    return _divided(c[..., 0] + c[..., 3], c.sum(axis=-1))


def _precision(c: Array) -> Array:
    return _divided(c[..., 0], c[..., 0] + c[..., 1])


def _recall(c: Array) -> Array:
    return _divided(c[..., 0], c[..., 0] + c[..., 2])


def _f1_positive(c: Array) -> Array:
    return _divided(2 * c[..., 0], 2 * c[..., 0] + c[..., 1] + c[..., 2])


def _f1_macro(c: Array) -> Array:
    negative = _divided(2 * c[..., 3], 2 * c[..., 3] + c[..., 1] + c[..., 2])
    return np.asarray((_f1_positive(c) + negative) / 2)


def _kappa(c: Array) -> Array:
    tp, fp, fn, tn = np.moveaxis(c, -1, 0)
    return _divided(2 * (tp * tn - fp * fn), (tp + fp) * (fp + tn) + (tp + fn) * (fn + tn))


def _mcc(c: Array) -> Array:
    tp, fp, fn, tn = np.moveaxis(c, -1, 0)
    return _divided(
        tp * tn - fp * fn,
        np.sqrt(tp + fp) * np.sqrt(tp + fn) * np.sqrt(tn + fp) * np.sqrt(tn + fn),
    )


FROM_COUNTS: Mapping[str, Callable[[Array], Array]] = {
    "accuracy": _accuracy,
    "precision": _precision,
    "recall": _recall,
    "f1_positive": _f1_positive,
    "f1_macro": _f1_macro,
    "kappa": _kappa,
    "mcc": _mcc,
}
"""Each statistic from an array of four-cell counts (..., 4); NaN where undefined."""
