"""Two statistics that training and figures share; NumPy alone, since a machine may have no more."""

from __future__ import annotations

import math

import numpy as np


def auroc(scores: np.ndarray, labels: np.ndarray) -> float:
    """Area under the ROC curve; ties count half. NaN where all labels are the same."""
    right = labels >= 0.5
    if right.all() or not right.any():
        return float("nan")
    _values, inverse, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    positive, negative = right.sum(), (~right).sum()
    return float((ranks[right].sum() - positive * (positive + 1) / 2) / (positive * negative))


def wilson(hits: int, rows: int, z: float = 1.959964) -> tuple[float, float]:
    """95% interval of a share (Wilson 1927)."""
    share, squared = hits / rows, z * z / rows
    middle = share + squared / 2
    half = z * math.sqrt(share * (1 - share) / rows + squared / (4 * rows))
    return (middle - half) / (1 + squared), (middle + half) / (1 + squared)
