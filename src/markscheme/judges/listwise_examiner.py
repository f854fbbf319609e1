"""The listwise examiner: marks answers that are no mere fact, without a language model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from markscheme.judges.listwise_examiner_weights import ListwiseWeights, open_listwise
from markscheme.judges.outcomes import PATTERNS, Thresholded, has_patterns
from markscheme.metrics.nonfactoid.features import vector_features, word_features
from markscheme.metrics.nonfactoid.rows import Rows
from markscheme.models.encoder import Encoder, MiniLM
from markscheme.registry import register

Floats = npt.NDArray[np.float64]
_ROWS_AT_ONCE = 8_192
_DECIMALS = 4
"""Scores are rounded, so that a row's score cannot depend on the rows beside it."""


@register(
    "listwise_examiner",
    paper="ours; the task after Yang et al. 2024 (LINKAGE)",
    example="listwise_examiner(encoder=never)",
)
@dataclass(frozen=True, kw_only=True)
class ListwiseExaminer(Thresholded):
    """A trained judge of non-factoid answers: where one stands among graded references.

    Trees over likeness to better and worse references, coverage, form and fit to the question,
    grown by a ranking objective on graded passages. References without `reference_grades` count
    as the best; without any the question alone decides. The score is the chance that people put
    the answer in the upper half of their scale. An answer that equals a reference has its place.

    Attributes:
        threshold: accept from this score.
        encoder: sentence embeddings `always`, or `never` for words alone, many times faster.
        weights: folder of one trained by `markscheme train-listwise`; none is the shipped.
    """

    encoder: Literal["always", "never"] = "always"
    weights: str | None = None

    def judge(self, answers: pl.DataFrame, models: Any) -> pl.DataFrame:
        """Score, verdict and a sentence for every answer; patterns are `skipped`.

        Raises:
            ModelError: the weights cannot be used.
        """
        usable = answers.select(~has_patterns(answers)).to_series()
        scores = np.full(answers.height, np.nan)
        reasons: list[str | None] = [PATTERNS] * answers.height
        places = usable.arg_true().to_numpy()
        start = 0
        for part in answers.filter(usable).iter_slices(_ROWS_AT_ONCE):
            found, said = self._scores(part, models)
            inside = places[start : start + part.height]
            scores[inside] = found
            for place, text in zip(inside.tolist(), said, strict=True):
                reasons[place] = text
            start += part.height
        score = pl.Series("score", scores).fill_nan(None)
        return pl.DataFrame({"score": score, "explanation": reasons}).select(
            "score",
            pl.col("explanation").cast(pl.String),
            verdict=pl.col("score") >= self.threshold,
            status=pl.when(pl.col("score").is_null())
            .then(pl.lit("skipped"))
            .otherwise(pl.lit("judged")),
        )

    def identity(self, models: Any) -> Mapping[str, str]:
        """What the signature adds: hashes of the weights."""
        found = {"trained": self._opened().revision}
        if self.encoder == "always":
            encoder = _encoder(models)
            found["embeddings"] = str(getattr(encoder, "revision", type(encoder).__name__))
        return found

    def _opened(self) -> ListwiseWeights:
        return open_listwise(None if self.weights is None else Path(self.weights))

    def _scores(self, answers: pl.DataFrame, models: Any) -> tuple[Floats, list[str]]:
        opened, encoded = self._opened(), self.encoder == "always"
        grades = answers["reference_grades"] if "reference_grades" in answers.columns else None
        rows = Rows.of(answers["question"], answers["answer"], answers["references"], grades)
        _, matrix = word_features(rows, opened.rarity)
        if encoded:
            vectors = _encoder(models).encode(rows.texts.to_list())
            matrix = np.hstack([matrix, vector_features(rows, vectors)[1]])
        slope, intercept = opened.calibration(encoded=encoded)
        raw = (opened.encoded if encoded else opened.words)(matrix)
        scores: Floats = 1 / (1 + np.exp(-(slope * raw + intercept)))
        equal = rows.answer[rows.owner] == rows.reference
        copied = rows.per_row(rows.level, equal, how="max")
        scores = np.where(np.isnan(copied), scores, copied).astype(np.float64).round(_DECIMALS)
        better = np.bincount(rows.owner, rows.level >= 0.5, minlength=rows.height).astype(int)
        total = np.bincount(rows.owner, minlength=rows.height)
        said = [
            f"equals a reference at {score:.2f} of the list's range"
            if same
            else f"{score:.2f} by its likeness to {many} references, {good} of them better ones"
            if many
            else f"{score:.2f} by the question alone, without references"
            for score, same, many, good in zip(
                scores.tolist(), (~np.isnan(copied)).tolist(), total.tolist(), better.tolist(),
                strict=True,
            )
        ]  # fmt: skip
        return scores, said


def _encoder(models: Any) -> Encoder:
    """The run's encoder where it gives one, else the shipped."""
    opener = getattr(models, "encoder", None)
    given = opener() if callable(opener) and not hasattr(opener, "encode") else opener
    encoder: Encoder = MiniLM() if given is None else given
    return encoder
