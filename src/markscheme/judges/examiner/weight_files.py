"""What the examiner reads of an answer, and its weights on disk: trees, calibration, thresholds."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from markscheme.errors import ModelError
from markscheme.features import VALUES, WORDING, compare_rows, value_features, wording_features
from markscheme.features.alignment import FEATURES, FeatureView, Rarity, alignment
from markscheme.judges.examiner.readers import Blend
from markscheme.judges.weight_folder import AlignedWeights
from markscheme.models.local import Trees
from markscheme.text import (
    normalise,
    without_injections,
    without_latex_series,
    written_out_series,
)
from markscheme.values import Comparison

# --- All that the examiner reads of an answer: alignment, typed values and small words ------------


COLUMNS: dict[str, str] = FEATURES | VALUES | WORDING
"""Every column by name, and what it means in one line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Answers as the examiner reads them.

    Attributes:
        texts: `question`, `references` and `answer` as they are read: LaTeX as plain mathematics,
            the answer without what it says to its marker.
        spoke: whether an answer speaks to its marker.
        matrix: shape (rows, len(COLUMNS)), float32, columns in the order of `COLUMNS`.
        view: the alignment behind it, for explanations.
        comparisons: the typed values of each row, compared.
    """

    texts: pl.DataFrame
    spoke: pl.Series
    matrix: npt.NDArray[np.float32]
    view: FeatureView
    comparisons: Sequence[Comparison]


def read_columns(table: pl.DataFrame, rarity: Rarity, most: Sequence[int] | None = None) -> Reading:
    """Read every answer of a table; rows do not influence each other.

    Args:
        table: `question`, `references` and `answer`.
        rarity: how rare words are.
        most: how many pairs of typed values are compared of each row; see `compare_rows`.
    """
    plain = table.select(map(without_latex_series, table["question", "references", "answer"]))
    answers = without_injections(*plain["answer", "question", "references"])
    references = _with_reasons(plain["references"], answers)
    texts = plain.with_columns(answers.alias("answer"), references.alias("references"))
    questions, wanted, given = map(written_out_series, texts)
    aligned, view = alignment(questions, wanted, given, rarity)
    question_texts, reference_texts, answer_texts = (
        column.to_list() for column in (questions, wanted, given)
    )
    compared = compare_rows(question_texts, reference_texts, answer_texts, most)
    nearest = [view.batch.raw[text] for text in view.reference.tolist()]
    values = value_features(compared, reference_texts, answer_texts)
    parts = (aligned, values, wording_features(question_texts, nearest, answer_texts))
    spoke = answers != plain["answer"]
    return Reading(
        texts=texts, spoke=spoke, matrix=np.hstack(parts), view=view, comparisons=compared
    )


_YES_OR_NO = re.compile(r"\s*(?:yes|no)\b\s*[,.;:–—-]+\s*(?=\S)", re.IGNORECASE)


def _with_reasons(references: pl.Series, answers: pl.Series) -> pl.Series:
    """References; where an answer is the reason of a "No, it is a star.", that is one more."""
    led = [
        [text for text in some if _YES_OR_NO.match(text or "")] if some is not None else []
        for some in references
    ]
    if not any(led):
        return references
    found = []
    for some, with_word, answer in zip(references, led, answers, strict=True):
        reasons = (_YES_OR_NO.sub("", text, count=1) for text in with_word)
        same = [text for text in reasons if _plain(text) == _plain(answer)]
        found.append([*some, *same])
    return pl.Series(references.name, found, dtype=references.dtype)


def _plain(text: str) -> str:
    return normalise(re.sub(r"(?<=\w)['’]s\b", " is", text))


# --- A trained examiner on disk: ensembles of trees, word rarities, calibration and thresholds ----


Array = npt.NDArray[Any]

SHIPPED = Path(__file__).parent / "weights"
"""The examiner in the package; docs/examiner.md is its model card."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What `examiner.json` says.

    Attributes:
        trees: Platt map (slope, intercept) of the trees' log-odds.
        english, languages: how the trees and the encoder of each decide together.
        neutral: each column's median, which explanations put in the column's place to see what it
            did.
        low, high: each column's range in all but a thousandth of what was learned.
        trained: what it was trained on, in numbers.
    """

    trees: tuple[float, float]
    english: Blend
    languages: Blend
    neutral: tuple[float, ...]
    low: Array
    high: Array
    trained: dict[str, Any]


def _numbers(values: Any, count: int) -> Any:
    """So many numbers; ValueError where there are others."""
    found = tuple(map(float, values))
    if len(found) != count:
        raise ValueError(f"{len(found)} numbers, not {count}")
    return found


def _blend(content: Mapping[str, Any]) -> Blend:
    trees, encoder, intercept = _numbers(content["blend"], 3)
    return Blend(
        trees=trees,
        encoder=encoder,
        intercept=intercept,
        unsure_from=float(content["unsure_from"]),
        unsure_to=float(content["unsure_to"]),
    )


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
                f"{self.path(self.files[0])} is of another version of markscheme, with other "
                "features; train again with 'markscheme train examiner --data FILE --out FOLDER'"
            )
        english, languages = self.blends
        with self.reading("examiner.json"):
            return Settings(
                trees=_numbers(content["trees"], 2),
                english=english,
                languages=languages,
                neutral=_numbers(content["neutral"], len(COLUMNS)),
                low=np.array(_numbers(content["low"], len(COLUMNS)), np.float32),
                high=np.array(_numbers(content["high"], len(COLUMNS)), np.float32),
                trained=content["trained"],
            )

    @property
    def blends(self) -> tuple[Blend, Blend]:
        """Those for English and for other languages, whatever columns the trees read."""
        content = self.stored
        with self.reading("examiner.json"):
            # Where it has none of its own, that for English is for all.
            return _blend(content), _blend(content.get("languages", content))

    @cached_property
    def trees(self) -> Trees:
        """Log-odds of acceptance from the columns."""
        return Trees(self.path("trees.onnx.zst"))


open_weights = Weights.open
"""The examiner in a folder, the shipped one by default."""


def platt(log_odds: Array, slope_and_intercept: tuple[float, float]) -> Array:
    """Probabilities of log-odds under a Platt map."""
    slope, intercept = slope_and_intercept
    return np.asarray(1.0 / (1.0 + np.exp(-(slope * log_odds + intercept))))
