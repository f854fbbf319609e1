"""Statistics of a few lines each, so that a plain install needs no library for them.

Tests hold every one against statsmodels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from markscheme.stats import wilson_interval

__all__ = ["fleiss", "holm", "holm_figures", "wilson_interval"]


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm-corrected p-values, in order."""
    corrected = [0.0] * len(p_values)
    largest = 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest = max(largest, (len(p_values) - rank) * p_values[place])
        corrected[place] = min(1.0, largest)
    return corrected


def holm_figures(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm-corrected p-values of those tests that gave a p, in order; None for the others."""
    corrected = iter(holm([p for p in p_values if p is not None]))
    return [None if p is None else next(corrected) for p in p_values]


def fleiss(counts: npt.NDArray[np.int64]) -> float:
    """Fleiss' kappa of (items, categories) counts of ratings; NaN where chance is certain.

    Every item has two ratings or more. Where not all have equally many, agreement and the shares of
    the categories are means over the items, each of its own ratings (Fleiss 1971, equations 2 to 4,
    with an item's n for the common n, which is ours).
    """
    ratings = counts.sum(axis=1)
    shares = (counts / ratings[:, None]).mean(axis=0)
    chance = float((shares**2).sum())
    agreeing = (counts * (counts - 1)).sum(axis=1) / (ratings * (ratings - 1))
    if chance == 1:
        return math.nan
    return float((agreeing.mean() - chance) / (1 - chance))
