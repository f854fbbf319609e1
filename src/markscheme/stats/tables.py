"""Tables of counts, a row a question. Equal questions are interchangeable, and computed once."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


def kinds(counts: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], Ints]:
    """The distinct rows of a cluster table, and how many clusters have each."""
    if not counts.size:
        return counts, np.zeros(len(counts), dtype=np.int64)
    # One number a row sorts much faster than rows do; it is exact while it fits.
    bases = counts.max(axis=0) + 1
    if counts.dtype.kind == "i" and np.prod(bases.astype(np.float64)) < 2**62:
        places = np.concatenate([[1], np.cumprod(bases[:-1])])
        _, first, repeats = np.unique(counts @ places, return_index=True, return_counts=True)
        return counts[first], repeats
    distinct, repeats = np.unique(counts, axis=0, return_counts=True)
    return distinct, repeats
