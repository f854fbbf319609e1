"""Answers, questions and graded references laid out flat: every distinct text once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Rows:
    """n answers with their references.

    Attributes:
        texts: every distinct text once (String).
        question, answer: place among the texts of each row's, shape (n,).
        reference: place among the texts, shape (pairs,); pairs of a row are adjacent.
        owner: the row of each pair, ascending.
        level: how good each reference is among its row's, 0 (worst) to 1 (best); 1 for a row whose
            references are all of one grade.
    """

    texts: pl.Series
    question: Integers
    answer: Integers
    reference: Integers
    owner: Integers
    level: Floats

    @classmethod
    def of(
        cls,
        questions: pl.Series,
        answers: pl.Series,
        references: pl.Series,
        grades: pl.Series | None,
    ) -> Rows:
        """Lay out n rows.

        Args:
            questions, answers: String, no nulls.
            references: List(String); an empty or null list is a row without references.
            grades: List(Int64), one a reference, higher is better; without grades (null, or a list
                of another length) every reference is of the best.
        """
        rows = len(questions)
        listed = pl.DataFrame(
            {
                "references": references.cast(pl.List(pl.String)),
                "grades": pl.Series([None] * rows, dtype=pl.List(pl.Int64))
                if grades is None
                else grades.cast(pl.List(pl.Int64)),
            }
        ).with_row_index("row")
        graded = (pl.col("grades").list.len() == pl.col("references").list.len()).fill_null(
            value=False
        )
        pairs = (
            listed.with_columns(
                grades=pl.when(graded)
                .then(pl.col("grades"))
                .otherwise(pl.col("references").list.eval(pl.lit(0, dtype=pl.Int64)))
            )
            .explode("references", "grades", empty_as_null=False, keep_nulls=False)
            .drop_nulls("references")
            .with_columns(pl.col("grades").fill_null(pl.col("grades").min().over("row")))
            .with_columns(
                low=pl.col("grades").min().over("row"), high=pl.col("grades").max().over("row")
            )
            .with_columns(
                level=pl.when(pl.col("high") > pl.col("low"))
                .then((pl.col("grades") - pl.col("low")) / (pl.col("high") - pl.col("low")))
                .otherwise(1.0)
            )
        )
        texts = pl.concat(
            [questions.rename("text"), answers.rename("text"), pairs["references"].rename("text")]
        )
        distinct = texts.unique(maintain_order=True)
        place = (
            texts.to_frame()
            .join(distinct.to_frame().with_row_index("place"), on="text", how="left",
                  maintain_order="left")["place"]
            .to_numpy()
            .astype(np.int64)
        )  # fmt: skip
        return cls(
            texts=distinct,
            question=place[:rows],
            answer=place[rows : 2 * rows],
            reference=place[2 * rows :],
            owner=pairs["row"].to_numpy().astype(np.int64),
            level=pairs["level"].to_numpy().astype(np.float64),
        )

    @property
    def height(self) -> int:
        """Number of rows."""
        return len(self.question)

    def per_row(self, values: Floats, keep: npt.NDArray[np.bool_], *, how: str) -> Floats:
        """The `max`, `min`, `mean` or `sum` of each row's selected pairs; NaN where none is."""
        owner, selected = self.owner[keep], values[keep]
        count = np.bincount(owner, minlength=self.height)
        if how in ("max", "min"):
            out = np.full(self.height, -np.inf if how == "max" else np.inf)
            (np.maximum if how == "max" else np.minimum).at(out, owner, selected)
        else:
            out = np.bincount(owner, selected, minlength=self.height)
            out = out / np.maximum(count, 1) if how == "mean" else out
        return np.where(count > 0, out, np.nan)
