"""From scores to outcomes: verdict by a threshold, and a reason where there is nothing to score."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from markscheme.contract import Needs, check_range
from markscheme.tables import NO_REFERENCE

PATTERNS = "the references are regular expressions; the judge 'regex' reads those"

LEXICAL = Needs(chat=False, references="required", question="unused")
"""What judges need that compare an answer with references and look at nothing else."""

COMBINED = Needs(chat=False, references="unused", question="unused")
"""What a judge of other judges needs in addition to what those need."""


@dataclass(frozen=True, kw_only=True)
class Thresholded:
    """What judges share that give a score and accept from a threshold on."""

    threshold: float = 0.5

    def validate(self) -> None:
        """Raises JudgeError if the threshold is not within 0 and 1."""
        check_range("threshold", self.threshold, 0, 1)


def has_patterns(answers: pl.DataFrame) -> pl.Expr:
    """Rows whose references are regular expressions, by the column `reference_kind`."""
    if "reference_kind" not in answers.columns:
        return pl.lit(value=False)
    return (pl.col("reference_kind") == "regex").fill_null(value=False)


def by_threshold(answers: pl.DataFrame, scores: pl.Series, threshold: float) -> pl.DataFrame:
    """Outcomes of a score from 0 to 1 per row: true from `threshold` on.

    Rows whose references are patterns, and rows without a reference (a null score), are `skipped`
    with the reason in `explanation`.
    """
    score = pl.col("score")
    return (
        answers.with_columns(scores.alias("score"), patterns=has_patterns(answers))
        .with_columns(score=pl.when(~pl.col("patterns")).then(score))
        .select(
            score,
            verdict=score >= threshold,
            status=pl.when(score.is_null()).then(pl.lit("skipped")).otherwise(pl.lit("judged")),
            explanation=pl.when(pl.col("patterns"))
            .then(pl.lit(PATTERNS))
            .when(score.is_null())
            .then(pl.lit(NO_REFERENCE)),
        )
    )
