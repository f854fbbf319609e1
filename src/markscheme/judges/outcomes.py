"""What judges share: outcomes from scores by a threshold, reasons, files that parameters name."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from markscheme.contract import Needs, check_range
from markscheme.errors import JudgeError
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


def read_file(path: str, what: str, written_by: str) -> bytes:
    """The content of a file that a judge's parameter names.

    Args:
        path: the file.
        what: what is in it, for the message.
        written_by: the command that writes such a file.

    Raises:
        JudgeError: it cannot be read.
    """
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise JudgeError(
            f"{what} {path!r} cannot be read ({error.strerror}); '{written_by}' writes such a file"
        ) from None
