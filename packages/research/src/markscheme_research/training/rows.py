"""Rows to learn from as numbers, and those of the shipped examiner, stored without their texts.

Recorded rows let somebody else's answers be mixed with the shipped training data without fetching
it. A column keeps 256 values at most, as the trees themselves distinguish no more than 255.
"""

from __future__ import annotations

import io
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import zstandard

from markscheme.errors import DataError

Array = npt.NDArray[Any]

SHIPPED_ROWS = "shipped-rows.npz.zst"
"""Holds what the shipped examiner learned from; written by `recipes.examiner record`."""
_VALUES = 256
_LEVEL = 19


@dataclass(frozen=True, kw_only=True)
class Rows:
    """Rows to learn from: columns, labels, weights and folds.

    Attributes:
        matrix: shape (rows, columns), float32.
        labels: 1 accepted, 0 not; shape (rows,).
        weights: how much each row counts in the trees, shape (rows,).
        unseen: rows that the encoder has not learned from, which weigh it.
        key: a hash of each row's question, which sets its fold; uint64.
        read: the encoder's log-odds of the unseen rows, shape (unseen.sum(),); NaN where no encoder
            reads the language.
        foreign: which of these the encoder for other languages read, of the same shape.
    """

    matrix: Array
    labels: Array
    weights: Array
    unseen: Array
    key: Array
    read: Array
    foreign: Array

    def fold(self, folds: int) -> Array:
        """The fold of each row's question in cross-validation of so many, shape (rows,)."""
        return (self.key % np.uint64(folds)).astype(int)

    def __add__(self, more: Rows) -> Rows:
        """These rows, and after them the others."""
        pairs = {name: (value, getattr(more, name)) for name, value in vars(self).items()}
        return Rows(**{name: np.concatenate(pair) for name, pair in pairs.items()})

    def save(self, path: Path, features: Iterable[str]) -> None:
        """Write them, compressed, with the names of their columns."""
        codes, values = pack(self.matrix)
        arrays = {
            "features": np.array(list(features), dtype=str), "codes": codes, "values": values,
            "labels": self.labels.astype(np.float16), "weights": self.weights.astype(np.float16),
            "unseen": self.unseen, "key": self.key, "read": self.read.astype(np.float16),
            "foreign": self.foreign,
        }  # fmt: skip
        plain = io.BytesIO()
        np.savez(plain, **arrays)  # type: ignore[arg-type]
        path.write_bytes(zstandard.ZstdCompressor(level=_LEVEL).compress(plain.getvalue()))

    @classmethod
    def load(cls, packed: bytes, features: Iterable[str]) -> Self:
        """Read what `save` wrote.

        Raises:
            DataError: it is damaged, or has other columns.
        """
        try:
            plain = zstandard.ZstdDecompressor().decompress(packed)
            with np.load(io.BytesIO(plain), allow_pickle=False) as arrays:
                found = dict(arrays)
            named = found["features"].tolist()
        except (zstandard.ZstdError, ValueError, KeyError, OSError) as error:
            raise DataError(f"the recorded rows are damaged ({error})") from None
        if named != list(features):
            raise DataError("the recorded rows have other columns than this version reads")
        numbers = {name: found[name].astype(float) for name in ("labels", "weights", "read")}
        numbers |= {name: found[name] for name in ("unseen", "key", "foreign")}
        return cls(matrix=unpack(found["codes"], found["values"]), **numbers)


def shipped_rows(features: Iterable[str]) -> Rows:
    """What the shipped examiner learned from.

    Raises:
        DataError: the file in the package is damaged or of another version.
    """
    place = files("markscheme_research.training").joinpath(SHIPPED_ROWS)
    try:
        return Rows.load(place.read_bytes(), features)
    except DataError as error:
        raise DataError(f"{error}; install markscheme again, or train with --alone") from None


def pack(columns: Array) -> tuple[Array, Array]:
    """Columns as one byte a value.

    Args:
        columns: shape (rows, columns).

    Returns:
        The place of each value among its column's values, uint8 of the same shape; and the values,
        float32 of shape (columns, 256), where short lists repeat their last value. A column of more
        than 256 different values keeps quantiles, and each value becomes the nearest of them.
    """
    codes = np.empty(columns.shape, np.uint8)
    values = np.empty((columns.shape[1], _VALUES), np.float32)
    for place, column in enumerate(columns.T.astype(np.float32)):
        kept = np.unique(column)
        if len(kept) > _VALUES:
            kept = np.unique(np.quantile(column, np.linspace(0, 1, _VALUES), method="nearest"))
        middles = (kept[1:] + kept[:-1]) / 2
        codes[:, place] = np.searchsorted(middles, column)
        values[place] = np.pad(kept, (0, _VALUES - len(kept)), mode="edge")
    return codes, values


def unpack(codes: Array, values: Array) -> Array:
    """What `pack` made, as columns again: float32, shape (rows, columns)."""
    return np.take_along_axis(values.T, codes.astype(np.intp), axis=0)
