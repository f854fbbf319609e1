"""Gradient-boosted trees from an ONNX file: rows of features to log-odds."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from markscheme.errors import reading_weights
from markscheme.models.local.weights import one_at_a_time, open_session

Array = npt.NDArray[Any]
_ROWS_A_PART = 512


class Trees:
    """An ensemble of regression trees whose sum is a log-odds; `.zst` files are decompressed.

    Rows do not influence each other: they are computed in parts on one thread each, and a part's
    sums run over the trees in their order.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._session = one_at_a_time(cache(partial(open_session, path)))

    def __call__(self, features: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
        """Log-odds of every row of a float32 matrix, shape (rows,).

        Raises:
            ModelError: the file cannot be loaded.
        """
        if not len(features):
            return np.zeros(0)
        session = self._session()
        matrix = np.ascontiguousarray(features, dtype=np.float32)
        parts = [matrix[i : i + _ROWS_A_PART] for i in range(0, len(matrix), _ROWS_A_PART)]

        def run(part: npt.NDArray[np.float32]) -> Array:
            with reading_weights(self.path):  # Trees over other features show here.
                return np.asarray(session.run(None, {"features": part})[0]).reshape(len(part))

        if len(parts) == 1:
            return run(parts[0]).astype(np.float64)
        with ThreadPoolExecutor() as pool:
            return np.concatenate(list(pool.map(run, parts))).astype(np.float64)
