"""The examiner's features: every answer as one row of named numbers.

`FEATURES` names each and says what it means; explanations and the model card print those lines.
All compare the answer with its best reference unless they say otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from markscheme.metrics.alignment.batch import Array, Batch, Rarity
from markscheme.metrics.alignment.claims import claim_features
from markscheme.metrics.alignment.meaning import meaning_features
from markscheme.metrics.alignment.numbers import number_features
from markscheme.metrics.alignment.overlap import View, overlap_features
from markscheme.metrics.alignment.pairs import align
from markscheme.metrics.alignment.place import place_features
from markscheme.metrics.alignment.question import question_features
from markscheme.metrics.alignment.reach import reach_features
from markscheme.metrics.alignment.registry import CLAIMED, FEATURES
from markscheme.metrics.alignment.similar import similar_features
from markscheme.metrics.alignment.slot import slot_features
from markscheme.metrics.alignment.stance import stance_features

Matrix = npt.NDArray[np.float32]
Group = Callable[[View], dict[str, Array]]


def alignment(
    questions: pl.Series, references: pl.Series, answers: pl.Series, rarity: Rarity
) -> tuple[Matrix, View]:
    """Features of every row, shape (rows, len(FEATURES)), columns in the order of `FEATURES`."""
    batch = Batch.of(questions, references, answers, rarity)
    view = View.of(batch, align(batch))
    return _matrix(view, _ALIGNMENT, tuple(FEATURES)), view


def examined(
    questions: pl.Series, references: pl.Series, answers: pl.Series, rarity: Rarity
) -> tuple[Matrix, View]:
    """All that the examiner sees, shape (rows, len(EXAMINED)), columns in that order."""
    matrix, view = alignment(questions, references, answers, rarity)
    return np.hstack([matrix, _matrix(view, _CLAIMS, tuple(CLAIMED))]), view


_ALIGNMENT: tuple[Group, ...] = (
    overlap_features,
    place_features,
    number_features,
    similar_features,
    question_features,
    claim_features,
    reach_features,
)
_CLAIMS: tuple[Group, ...] = (slot_features, meaning_features, stance_features)


def _matrix(view: View, groups: Sequence[Group], names: Sequence[str]) -> Matrix:
    found: dict[str, Array] = {}
    for group in groups:
        found.update(group(view))
    matrix = np.empty((view.rows, len(names)), dtype=np.float32)
    for column, name in enumerate(names):
        matrix[:, column] = found[name]
    return matrix
