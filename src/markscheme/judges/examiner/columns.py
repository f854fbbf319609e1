"""All that the examiner reads of an answer: alignment, typed values and small words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from markscheme.features.alignment import EXAMINED, FeatureView, Rarity, compute_features
from markscheme.features.values import VALUES, compare_rows, value_features
from markscheme.features.wording import WORDING, wording_features
from markscheme.text import written_out_series
from markscheme.values import Comparison

COLUMNS: dict[str, str] = EXAMINED | VALUES | WORDING
"""Every column by name, and what it means in one line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Answers as the examiner reads them.

    Attributes:
        matrix: shape (rows, len(COLUMNS)), float32, columns in the order of `COLUMNS`.
        view: the alignment behind it, for embeddings and explanations.
        comparisons: the typed values of each row, compared.
    """

    matrix: npt.NDArray[np.float32]
    view: FeatureView
    comparisons: Sequence[Comparison]


def read_columns(
    questions: pl.Series, references: pl.Series, answers: pl.Series, rarity: Rarity
) -> Reading:
    """Read every answer of a table; rows do not influence each other."""
    questions, references, answers = map(written_out_series, (questions, references, answers))
    aligned, view = compute_features(questions, references, answers, rarity)
    question_texts, answer_texts = questions.to_list(), answers.to_list()
    compared = compare_rows(question_texts, references.to_list(), answer_texts)
    nearest = [view.batch.raw[text] for text in view.reference.tolist()]
    values = value_features(compared, references.to_list(), answer_texts)
    parts = (aligned, values, wording_features(question_texts, nearest, answer_texts))
    return Reading(matrix=np.hstack(parts), view=view, comparisons=compared)
