"""Pairs of two systems' answers, from counts by question."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


def expected_pairs(counts: npt.NDArray[Any]) -> tuple[Array, Array, Array]:
    """Pairs of answers of two systems of which one alone is right, by question, and all pairs.

    Where a question has several answers of a system, they are no pairs: these are what pairing
    them at random gives on average. A question has as many pairs as its mean share of either
    system's answers is of the mean number of answers.

    Args:
        counts: (questions, 2, 2) right answers and all answers of either system.

    Returns:
        Pairs of which only the second is right, of which only the first is right, and all.

    >>> [each.tolist() for each in expected_pairs(np.array([[[2, 2], [1, 2]], [[0, 1], [0, 1]]]))]
    [[0.0, 0.0], [1.0, 0.0], [2.0, 1.0]]
    """
    right, answers = np.moveaxis(counts.astype(np.float64), 2, 0)
    totals = answers.sum(axis=0)
    # Rounded, so that single answers are one pair exactly.
    pairs = np.round(totals.mean() * (answers / totals).mean(axis=1), 9)
    one, two = (right / answers).T
    return pairs * (1 - one) * two, pairs * one * (1 - two), pairs
