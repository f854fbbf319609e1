"""The listwise examiner: marks answers that are no mere fact, without a language model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from markscheme.contract import Lineage, ModelSource, Needs, register
from markscheme.features.nonfactoid import (
    Matrix,
    Rarity,
    Rows,
    meaning_features,
    style_inputs,
    token_weights,
    word_features,
)
from markscheme.judges.outcomes import (
    PATTERNS,
    Thresholded,
    has_patterns,
    judged_rows,
    noting_references,
    with_nearest_references,
)
from markscheme.judges.weight_folder import WeightFolder
from markscheme.manifests import revision
from markscheme.models.local import MINILM, Trees, token_encoder

Floats = npt.NDArray[np.float64]

SHIPPED = Path(__file__).parent / "weights"
"""The listwise examiner in the package."""


class ListwiseWeights(WeightFolder):
    """The parts of a folder, each loaded when first used."""

    files = (
        "listwise.json",
        "listwise_rarity.npz",
        "listwise_style.npz",
        "listwise_trees.onnx.zst",
        "listwise_words.onnx.zst",
    )
    command = "markscheme research train listwise"
    shipped = SHIPPED

    def names(self, *, encoded: bool) -> list[str]:
        """The features that the trees were grown on."""
        with self.reading("listwise.json"):
            return [str(name) for name in self.stored["encoded" if encoded else "words"]]

    def calibration(self, *, encoded: bool) -> tuple[float, float]:
        """Slope and intercept from the trees' sum to log-odds."""
        with self.reading("listwise.json"):
            slope, intercept = self.stored["encoded_platt" if encoded else "words_platt"]
            return float(slope), float(intercept)

    @cached_property
    def rarity(self) -> Rarity:
        """Word rarities."""
        with self.arrays("listwise_rarity.npz") as stored:
            return Rarity(table=stored["table"].astype(np.float64))

    @cached_property
    def style(self) -> Floats:
        """What each of `meaning.style_inputs` adds to the trees over embeddings."""
        with self.arrays("listwise_style.npz") as stored:
            return np.asarray(stored["weights"], dtype=np.float64)

    @cached_property
    def pieces(self) -> Floats:
        """How much each word piece of the shipped encoder counts in late interaction."""
        return token_weights(token_encoder().vocabulary(), self.rarity)

    @cached_property
    def encoded(self) -> Trees:
        """Trees over words and embeddings."""
        return Trees(self.path("listwise_trees.onnx.zst"))

    @cached_property
    def words(self) -> Trees:
        """Trees over words alone."""
        return Trees(self.path("listwise_words.onnx.zst"))


MOST_GRADED = 32
"""References of a row that are read: of 91 on average (TREC DL) the nearest 32 order answers as
well as all do (Spearman .605 and .593); an encoder reads hundreds for seconds."""
_ROWS_AT_ONCE = 1_024
_REFERENCES_AT_ONCE = 4_096
"""Beyond those of one row: the token vectors of each take up to 100 kB."""
_DECIMALS = 4
"""Scores are rounded, so that a row's score cannot depend on the other rows of its batch."""


@register(
    "listwise_examiner",
    paper="ours; the task after Yang et al. 2024 (LINKAGE)",
    needs=Needs(chat=False, weights="optional"),
    example="listwise_examiner(encoder=never)",
)
@dataclass(frozen=True, kw_only=True)
class ListwiseExaminer(Thresholded):
    """A trained judge of non-factoid answers: an answer's place among graded references.

    Trees over likeness to better and worse references (words, sentence embeddings, token by
    token), coverage, form and fit to the question, grown to rank graded passages, and a linear
    model of how good answers are written. References without `reference_grades` count
    as the best; without any the question alone decides. The score is the chance that people put
    the answer in the upper half of their scale. An answer that equals a reference has its place.

    Attributes:
        threshold: accept from this score.
        encoder: sentence embeddings `always`, or `never` for words alone, many times faster.
        weights: folder of one trained by `markscheme research train listwise`; none is the shipped.
    """

    encoder: Literal["always", "never"] = "always"
    weights: str | None = None

    def judge(self, answers: pl.DataFrame, models: ModelSource) -> pl.DataFrame:
        """Score, verdict and a sentence for every answer; patterns are `skipped`.

        Raises:
            ModelError: the weights cannot be used.
        """
        why_not = pl.when(has_patterns(answers)).then(pl.lit(PATTERNS))
        read = with_nearest_references(answers, MOST_GRADED)
        outcomes = judged_rows(read, why_not, self._judged, rows_at_once=_ROWS_AT_ONCE)
        return noting_references(outcomes, answers, read)

    def identity(self, models: ModelSource | None) -> Mapping[str, str]:
        """What the signature adds: hashes of the weights."""
        found = {"trained": ListwiseWeights.open(self.weights, anew=True).revision}
        if self.encoder == "always":
            found["embeddings"] = revision(MINILM / "model.onnx")
        return found

    def lineage(self) -> Lineage:
        """The questions that trained it."""
        return self._opened().lineage

    def _opened(self) -> ListwiseWeights:
        return ListwiseWeights.open(self.weights)

    def _meaning(self, rows: Rows, opened: ListwiseWeights) -> tuple[Matrix, Floats]:
        """Features of the encoder, and what the answers' style adds to the trees."""
        encoder, texts = token_encoder(), rows.texts.to_list()
        again = np.unique(np.concatenate([rows.question, rows.reference])).tolist()
        encoded = encoder.details(texts, keep=[texts[place] for place in again])
        style = style_inputs(encoded).astype(np.float64) @ opened.style
        return meaning_features(rows, encoded, opened.pieces)[1], style[rows.answer]

    def _judged(self, answers: pl.DataFrame) -> pl.DataFrame:
        count = pl.col("references").list.len().fill_null(0)
        part = answers.select(count.cum_sum() // _REFERENCES_AT_ONCE).to_series()
        parts = [answers.filter(part == number) for number in part.unique(maintain_order=True)]
        return pl.concat(map(self._outcomes, parts))

    def _outcomes(self, answers: pl.DataFrame) -> pl.DataFrame:
        opened, encoded = self._opened(), self.encoder == "always"
        grades = answers["reference_grades"] if "reference_grades" in answers.columns else None
        rows = Rows.of(answers["question"], answers["answer"], answers["references"], grades)
        _, matrix = word_features(rows, opened.rarity)
        if encoded:
            more, style = self._meaning(rows, opened)
            matrix = np.hstack([matrix, more])
        slope, intercept = opened.calibration(encoded=encoded)
        raw = (opened.encoded(matrix) + style) if encoded else opened.words(matrix)
        scores: Floats = 1 / (1 + np.exp(-(slope * raw + intercept)))
        equal = rows.answer[rows.owner] == rows.reference
        copied = rows.per_row(rows.level, equal, how="max")
        scores = np.where(np.isnan(copied), scores, copied).astype(np.float64).round(_DECIMALS)
        better = np.bincount(rows.owner, rows.level >= 0.5, minlength=rows.height).astype(int)
        total = np.bincount(rows.owner, minlength=rows.height)
        same, many, good = (~np.isnan(copied)).tolist(), total.tolist(), better.tolist()
        return pl.DataFrame(
            {
                "status": ["judged"] * len(scores),
                "score": scores,
                "verdict": scores >= self.threshold,
                "explanation": list(map(_sentence, scores.tolist(), same, many, good)),
            }
        )


def _sentence(score: float, same: bool, many: int, good: int) -> str:
    """What decided, for a reader."""
    if same:
        return f"equals a reference at {score:.2f} of the list's range"
    if not many:
        return f"{score:.2f} by its fit to the question and how it is written, without references"
    if many == 1:
        return f"{score:.2f} by its likeness to the reference"
    of_them = "all of them good ones" if good == many else f"{good} of them better ones"
    return f"{score:.2f} by its likeness to {many} references, {of_them}"
