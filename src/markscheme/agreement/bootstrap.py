"""Counts of whole questions, and their resampling.

Answers to one question are not independent, so questions, not answers, are drawn with
replacement.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
CHUNK_CELLS = 4_000_000
"""Draws held at once: 32 MB."""


def numbers_of(clusters: pl.Series) -> Ints:
    """The clusters of rows as numbers from 0, in the order of their values."""
    return (clusters.rank("dense") - 1).cast(pl.Int64).to_numpy()


def cluster_counts(clusters: Ints, cells: Ints, width: int) -> Ints:
    """(clusters, width) table: how many of a cluster's rows fall into each cell.

    Args:
        clusters: each row's cluster, 0 to n-1.
        cells: each row's cell, 0 to width-1.
        width: how many cells there are.
    """
    size = (int(clusters.max()) + 1) * width if len(clusters) else 0
    return np.bincount(clusters * width + cells, minlength=size).reshape(-1, width)


def cluster_draws(clusters: int, size: int, rng: np.random.Generator) -> Ints:
    """(size, clusters) how often each cluster is drawn in each resample, each separately."""
    drawn = (rng.integers(clusters, size=clusters) for _ in range(size))
    return np.stack([np.bincount(places, minlength=clusters) for places in drawn])


def resample_ranked(
    labels: npt.NDArray[np.bool_],
    scores: Array,
    clusters: Ints,
    *,
    resamples: int,
    seed: int,
) -> Array:
    """Average precision in each of `resamples` resamples of clusters; NaN: one class.

    Unlike counts, ranked scores must be gone through again in every resample, so time grows with
    rows times resamples.
    """
    order = np.argsort(-scores, kind="stable")
    positive = labels[order]
    member = clusters[order]
    starts = np.flatnonzero(np.r_[True, np.diff(scores[order]) != 0])
    total = int(clusters.max()) + 1
    rng = np.random.default_rng(seed)
    step = max(1, CHUNK_CELLS // max(total, len(labels)))
    precision = []
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        weights = cluster_draws(total, size, rng)[:, member]
        pos = np.add.reduceat(weights * positive, starts, axis=1).astype(np.float64)
        neg = np.add.reduceat(weights * ~positive, starts, axis=1).astype(np.float64)
        above = np.cumsum(pos, axis=1)
        beside = np.cumsum(neg, axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            here = np.where(pos > 0, above / (above + beside), 0.0)
            found = (pos * here).sum(axis=1) / above[:, -1]
        precision.append(np.where(beside[:, -1] > 0, found, np.nan))
    return np.concatenate(precision)
