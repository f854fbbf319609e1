"""The examiner's features: every answer as one row of named numbers.

`FEATURES` names each and says what it means; explanations and the model card print those lines.
All compare the answer with its best reference unless they say otherwise.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from markscheme.metrics.alignment.batch import Array, Batch, Rarity
from markscheme.metrics.alignment.claims import claim_features
from markscheme.metrics.alignment.numbers import number_features
from markscheme.metrics.alignment.overlap import View, overlap_features
from markscheme.metrics.alignment.pairs import align
from markscheme.metrics.alignment.place import place_features
from markscheme.metrics.alignment.question import question_features
from markscheme.metrics.alignment.reach import reach_features
from markscheme.metrics.alignment.registry import FEATURES
from markscheme.metrics.alignment.similar import similar_features

Matrix = npt.NDArray[np.float32]


def alignment(
    questions: pl.Series, references: pl.Series, answers: pl.Series, rarity: Rarity
) -> tuple[Matrix, View]:
    """Features of every row, shape (rows, len(FEATURES)), columns in the order of `FEATURES`."""
    batch = Batch.of(questions, references, answers, rarity)
    view = View.of(batch, align(batch))
    found: dict[str, Array] = {}
    for group in (
        overlap_features,
        place_features,
        number_features,
        similar_features,
        question_features,
        claim_features,
        reach_features,
    ):
        found.update(group(view))
    matrix = np.empty((len(answers), len(FEATURES)), dtype=np.float32)
    for column, name in enumerate(FEATURES):
        matrix[:, column] = found[name]
    return matrix, view
