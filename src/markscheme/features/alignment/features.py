"""The examiner's features: every answer as one row of named numbers.

`FEATURES` names each and says what it means; explanations and the model card print those lines.
All compare the answer with its best reference unless they say otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from markscheme.features.alignment.batch import Array, Batch, Rarity, align
from markscheme.features.alignment.claims import claim_features
from markscheme.features.alignment.numbers import number_features
from markscheme.features.alignment.overlap import FeatureView, overlap_features, reach_features
from markscheme.features.alignment.place import place_features
from markscheme.features.alignment.registry import CLAIMED, FEATURES
from markscheme.features.alignment.similar import meaning_features, similar_features
from markscheme.features.alignment.slot import question_features, slot_features
from markscheme.features.alignment.stance import stance_features

Matrix = npt.NDArray[np.float32]
Group = Callable[[FeatureView], dict[str, Array]]


def alignment(
    questions: pl.Series, references: pl.Series, answers: pl.Series, rarity: Rarity
) -> tuple[Matrix, FeatureView]:
    """Features of every row, shape (rows, len(FEATURES)), columns in the order of `FEATURES`."""
    batch = Batch.of(questions, references, answers, rarity)
    view = FeatureView.of(batch, align(batch))
    return _matrix(view, _ALIGNMENT, tuple(FEATURES)), view


def compute_features(
    questions: pl.Series, references: pl.Series, answers: pl.Series, rarity: Rarity
) -> tuple[Matrix, FeatureView]:
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


def _matrix(view: FeatureView, groups: Sequence[Group], names: Sequence[str]) -> Matrix:
    found: dict[str, Array] = {}
    for group in groups:
        found.update(group(view))
    matrix = np.empty((view.rows, len(names)), dtype=np.float32)
    for column, name in enumerate(names):
        matrix[:, column] = found[name]
    return matrix
