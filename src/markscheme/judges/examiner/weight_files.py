"""What the examiner reads of an answer, and its weights on disk: trees, calibration, thresholds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from markscheme.errors import ModelError
from markscheme.features import VALUES, WORDING, compare_rows, value_features, wording_features
from markscheme.features.alignment import EXAMINED, FeatureView, Rarity, compute_features
from markscheme.judges.weight_folder import AlignedWeights
from markscheme.models.local import Trees
from markscheme.text import written_out_series
from markscheme.values import Comparison

# --- All that the examiner reads of an answer: alignment, typed values and small words ------------


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


# --- A trained examiner on disk: ensembles of trees, word rarities, calibration and thresholds ----


Array = npt.NDArray[Any]

SHIPPED = Path(__file__).parent / "weights"
"""The examiner in the package; docs/examiner.md is its model card."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What `examiner.json` says.

    Attributes:
        trees: Platt map (slope, intercept) of the trees' log-odds.
        blend: weights of the trees' and the cross-encoder's log-odds, and intercept, where both
            run.
        unsure_from, unsure_to: the cross-encoder runs where the trees' score lies between.
        neutral: each column's median, which explanations put in the column's place to see what it
            did.
        low, high: each column's range in all but a thousandth of what was learned.
        trained: what it was trained on, in numbers.
    """

    trees: tuple[float, float]
    blend: tuple[float, float, float]
    unsure_from: float
    unsure_to: float
    neutral: tuple[float, ...]
    low: Array
    high: Array
    trained: dict[str, Any]


class Weights(AlignedWeights):
    """The examiner's parts, each loaded when first used."""

    files = ("examiner.json", "rarity.npz", "trees.onnx.zst")
    command = "markscheme train examiner"
    shipped = SHIPPED

    @cached_property
    def settings(self) -> Settings:
        """What `examiner.json` says; ModelError where it was made for other features."""
        content = self.stored
        if content.get("features") != list(COLUMNS) or "blend" not in content:
            raise ModelError(
                f"{self.folder} was trained by another version of markscheme, with other features; "
                "train again with 'markscheme train examiner --data FILE --out FOLDER'"
            )
        return Settings(
            trees=tuple(content["trees"]),
            blend=tuple(content["blend"]),
            unsure_from=content["unsure_from"],
            unsure_to=content["unsure_to"],
            neutral=tuple(content["neutral"]),
            low=np.array(content["low"], np.float32),
            high=np.array(content["high"], np.float32),
            trained=content["trained"],
        )

    @cached_property
    def trees(self) -> Trees:
        """Log-odds of acceptance from the columns."""
        return Trees(self.path("trees.onnx.zst"))

    @property
    def cross_encoder(self) -> Path:
        """The folder of its cross-encoder: its own, or else the shipped one."""
        own = self.folder / "cross-encoder"
        return own if own.is_dir() else SHIPPED / "cross-encoder"

    @property
    def language_model(self) -> Path:
        """The folder of its language model's adapters, which is there if they were trained."""
        return self.folder / "language-model"


open_weights = Weights.open
"""The examiner in a folder, the shipped one by default."""


def platt(log_odds: Array, slope_and_intercept: tuple[float, float]) -> Array:
    """Probabilities of log-odds under a Platt map."""
    slope, intercept = slope_and_intercept
    return np.asarray(1.0 / (1.0 + np.exp(-(slope * log_odds + intercept))))
