"""The judge."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from markscheme.contract import ModelSource, Needs, check_range, register

NUMBER = r"\d+(?:\.\d+)?"


@register(
    "same_numbers",
    needs=Needs(chat=False, references="required", question="unused"),
    example="same_numbers(share=0.5)",
)
@dataclass(frozen=True, kw_only=True)
class SameNumbers:
    """Accepts an answer that has the numbers of a reference.

    The score is the largest share, over the references, of a reference's numbers that the answer
    has. Rows whose references have no numbers are skipped.

    Attributes:
        share: accept from this share on.
    """

    share: float = 1.0

    def validate(self) -> None:
        """Raises JudgeError if the share is not within 0 and 1."""
        check_range("share", self.share, 0, 1)

    def judge(self, answers: pl.DataFrame, models: ModelSource) -> pl.DataFrame:
        """Score and verdict of every answer, in order."""
        pairs = (
            answers.select("answer", "references")
            .with_row_index("row")
            .explode("references")
            .with_columns(
                wanted=pl.col("references").str.extract_all(NUMBER).list.unique(),
                given=pl.col("answer").str.extract_all(NUMBER).list.unique(),
            )
            .filter(pl.col("wanted").list.len() > 0)
            .with_columns(
                share=pl.col("wanted").list.set_intersection("given").list.len()
                / pl.col("wanted").list.len()
            )
        )
        best = pairs.group_by("row").agg(score=pl.col("share").max())
        rows = pl.DataFrame({"row": range(answers.height)}, schema={"row": pl.get_index_type()})
        found = rows.join(best, on="row", how="left", maintain_order="left")
        none = pl.col("score").is_null()
        return found.select(
            "score",
            verdict=pl.col("score") >= self.share,
            status=pl.when(none).then(pl.lit("skipped")).otherwise(pl.lit("judged")),
            explanation=pl.when(none).then(pl.lit("the references have no numbers")),
        )
