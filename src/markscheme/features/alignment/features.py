"""The examiner's features: every answer as one row of named numbers.

`FEATURES` names each and says what it means; explanations and the model card print those lines.
All compare the answer with its best reference unless they say otherwise.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import polars as pl

from markscheme.features.alignment.batch import Array, Batch, Rarity, align
from markscheme.features.alignment.claims import claim_features
from markscheme.features.alignment.overlap import FeatureView, overlap_features
from markscheme.features.alignment.refusals import refusal_features
from markscheme.features.alignment.registry import FEATURES
from markscheme.features.alignment.similar import similar_features

Matrix = npt.NDArray[np.float32]
Group = Callable[[FeatureView], dict[str, Array]]


def alignment(
    questions: pl.Series, references: pl.Series, answers: pl.Series, rarity: Rarity
) -> tuple[Matrix, FeatureView]:
    """Features of every row, shape (rows, len(FEATURES)), columns in the order of `FEATURES`."""
    batch = Batch.of(questions, references, answers, rarity)
    view = FeatureView.of(batch, align(batch))
    found: dict[str, Array] = {}
    for group in _GROUPS:
        found.update(group(view))
    matrix = np.empty((view.rows, len(FEATURES)), dtype=np.float32)
    for column, name in enumerate(FEATURES):
        matrix[:, column] = found[name]
    return matrix, view


_GROUPS: tuple[Group, ...] = (
    overlap_features,
    similar_features,
    claim_features,
    refusal_features,
)
