"""The jackknife (Efron & Stein 1981): a sampling variance from values without one unit each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

_UNMOVED = 1e-12
"""Smaller changes are rounding."""


def jackknife_variance(without: Array, repeats: npt.NDArray[Any] | None = None) -> float:
    """The sampling variance of a statistic; 0 where leaving out a unit never moves it.

    Args:
        without: (kinds,) the statistic without a unit of each kind, such as a question; NaN where
            it is undefined then, which moves nothing.
        repeats: (kinds,) units of each kind; one each if None.

    >>> jackknife_variance(np.array([0.5, 0.5, 0.75, 0.25]))
    0.09375
    """
    each = np.ones(len(without)) if repeats is None else repeats
    known, units = ~np.isnan(without), float(each.sum())
    if not known.any():
        return 0.0
    away = np.where(known, without - float(np.average(without[known], weights=each[known])), 0.0)
    away[np.abs(away) < _UNMOVED] = 0.0
    return float(each @ away**2) * (units - 1) / units


def variance_without_one(
    statistic: Callable[[Array], Array], distinct: npt.NDArray[Any], repeats: npt.NDArray[Any]
) -> float:
    """The jackknife's sampling variance of a statistic of total counts.

    Args:
        statistic: from (..., width) totals to values, NaN where undefined.
        distinct: (kinds, width) the counts of a unit of each kind, such as a question.
        repeats: (kinds,) units of each kind.

    >>> distinct, repeats = np.array([[0, 1], [1, 1]]), np.array([1, 3])
    >>> share = lambda totals: totals[..., 0] / totals[..., 1]
    >>> round(variance_without_one(share, distinct, repeats), 6)
    0.0625
    """
    here = repeats > 0
    counts, repeats = distinct[here].astype(np.float64), repeats[here]
    return jackknife_variance(statistic(repeats @ counts - counts), repeats)


def auroc_influences(labels: npt.NDArray[np.bool_], scores: Array) -> tuple[float, Array]:
    """AUROC and each answer's influence on it (DeLong et al. 1988; clustered: Obuchowski 1997).

    An accepted answer pulls by the share of rejected ones that it beats, less AUROC; a rejected one
    likewise.

    Args:
        labels: (answers,) whether each is accepted; both occur.
        scores: (answers,) of each; equal ones count by half.

    Returns:
        AUROC, from 0 to 1, and the influences (answers,).

    >>> labels, scores = np.array([True, True, False, False]), np.array([0.9, 0.4, 0.5, 0.1])
    >>> area, influences = auroc_influences(labels, scores)
    >>> area, influences.tolist()
    (0.75, [0.125, -0.125, -0.125, 0.125])
    """
    from scipy.stats import rankdata

    yes, no = int(labels.sum()), int((~labels).sum())
    everywhere = rankdata(scores)
    pull = np.empty(len(scores))
    pull[labels] = (everywhere[labels] - rankdata(scores[labels])) / no
    pull[~labels] = 1 - (everywhere[~labels] - rankdata(scores[~labels])) / yes
    area = float(pull[labels].mean())
    return area, np.asarray((pull - area) / np.where(labels, yes, no))


def precision_influences(labels: npt.NDArray[np.bool_], scores: Array) -> tuple[float, Array]:
    """Average precision, and by how much it is more than without each answer.

    Args:
        labels: (answers,) whether each is accepted; some are.
        scores: (answers,) of each.

    Returns:
        Average precision, from 0 to 1, and the influences (answers,).

    >>> labels, scores = np.array([True, True, False, False]), np.array([0.9, 0.4, 0.5, 0.1])
    >>> precision, influences = precision_influences(labels, scores)
    >>> round(precision, 3), influences.round(3).tolist()
    (0.833, [0.333, -0.167, -0.167, 0.0])
    """
    _, places = np.unique(-scores, return_inverse=True)
    yes = np.bincount(places, labels)
    above = np.cumsum(np.bincount(places)).astype(np.float64)
    right = np.cumsum(yes)
    precision, fewer = right / above, np.maximum(above - 1, 1)
    # How precision at an accepted answer moves without an accepted, a rejected one ranked as high.
    lowered, raised = (right - above) / above / fewer, precision / fewer
    below, behind = (np.cumsum((yes * each)[::-1])[::-1] for each in (lowered, raised))
    moved = np.where(labels, (below - lowered - precision)[places], behind[places])
    total = float(yes @ precision)
    value = total / float(right[-1])
    return value, np.asarray(value - (total + moved) / np.maximum(right[-1] - labels, 1))
