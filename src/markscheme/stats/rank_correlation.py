"""The interval of a rank correlation: which pairs of systems two rankings surely order alike."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from markscheme.stats.evidence import freedom_of, kish
from markscheme.stats.jackknife import jackknife_variance
from markscheme.stats.quantiles import t_quantile

Array = npt.NDArray[np.float64]

TIE_DIGITS = 9
"""Means closer than this many decimals are ties: sums in another order must not break them."""


def tau_interval(
    tau: float, sums: Array, counts: Array, *, confidence: float = 0.95
) -> tuple[float, float]:
    """Bounds of Kendall's tau from the pairs of systems that both rankings distinguish.

    A pair counts as ranked alike or contrariwise where the difference of its means is beyond chance
    on both sides, for all pairs and both sides together (Student's t with the jackknife over
    questions; Bonferroni); every other pair may be either. The percentiles of resampled tau do not
    hold: where systems are near each other a resample's order is worse than the sample's, and their
    interval leaves out a truth of 1.

    Args:
        tau: tau-b of the sample, which is within the bounds.
        sums: (questions, systems, 2) of the answers' values on either side.
        counts: (questions, systems) answers.
        confidence: of the bounds.

    Two systems that answer 100 and 40 of 100 questions rightly, on both sides:

    >>> right = (np.arange(100)[:, None] < [100, 40]).astype(float)
    >>> tau_interval(1.0, np.stack([right, right], axis=2), np.ones((100, 2)))
    (1.0, 1.0)
    """
    left, right = np.triu_indices(counts.shape[1], k=1)
    total, answers = sums.sum(axis=0), counts.sum(axis=0)
    means = total / answers[:, None]
    differences = (means[left] - means[right]).round(TIE_DIGITS)
    without = (total - sums) / (answers - counts)[:, :, None]
    moved = np.apply_along_axis(jackknife_variance, 0, without[:, left] - without[:, right])
    # Where no question moves it, one answer more would: a chance of zero is not known to be one.
    error = np.sqrt(moved + (0.5 / len(counts)) ** 2)
    freedom = freedom_of(kish(counts.sum(axis=1)))
    reach = t_quantile(freedom, 1 - (1 - confidence) / 2 / differences.size)
    signs = np.sign(differences).prod(axis=1)
    sure = (np.abs(differences) > reach * error).all(axis=1)
    alike, open_ = float(signs[sure].sum()), float((~sure).sum())
    low, high = ((alike + side * open_) / len(signs) for side in (-1, 1))
    return min(low, tau), max(high, tau)
