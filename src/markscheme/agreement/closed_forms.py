"""Statistics of a few lines each, so that a plain install needs no library for them.

Tests hold every one against statsmodels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np
import numpy.typing as npt


def wilson_interval(share: float, size: float, *, confidence: float = 0.95) -> tuple[float, float]:
    """Wilson's score interval for a share of `size` answers, which need not be a whole number."""
    share, size = float(share), float(size)  # NumPy's numbers are no plain ones
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    square = z * z
    centre = share + square / (2 * size)
    spread = z * math.sqrt(share * (1 - share) / size + square / (4 * size * size))
    scale = 1 + square / size
    low, high = (centre - spread) / scale, (centre + spread) / scale
    return 0.0 if share == 0 else max(0.0, low), 1.0 if share == 1 else min(1.0, high)


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm-corrected p-values, in order."""
    corrected = [0.0] * len(p_values)
    largest = 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest = max(largest, (len(p_values) - rank) * p_values[place])
        corrected[place] = min(1.0, largest)
    return corrected


def fleiss(counts: npt.NDArray[np.int64]) -> float:
    """Fleiss' kappa of (items, categories) counts of ratings; NaN where chance is certain."""
    ratings = counts.sum(axis=1)[0]
    shares = counts.sum(axis=0) / counts.sum()
    chance = float((shares**2).sum())
    agreeing = (counts * (counts - 1)).sum(axis=1) / (ratings * (ratings - 1))
    if chance == 1:
        return math.nan
    return float((agreeing.mean() - chance) / (1 - chance))
