"""Answers and graded references laid out flat, and the place of an answer among them."""

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
        numbered = distinct.to_frame().with_row_index("place")
        joined = texts.to_frame().join(numbered, on="text", how="left", maintain_order="left")
        place = joined["place"].to_numpy().astype(np.int64)
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
        """The `max`, `min` or `mean` of each row's selected pairs; NaN where none is."""
        owner, selected = self.owner[keep], values[keep]
        count = np.bincount(owner, minlength=self.height)
        if how in ("max", "min"):
            out = np.full(self.height, -np.inf if how == "max" else np.inf)
            (np.maximum if how == "max" else np.minimum).at(out, owner, selected)
        else:
            out = np.bincount(owner, selected, minlength=self.height) / np.maximum(count, 1)
        return np.where(count > 0, out, np.nan)


# --- The place of an answer among its references --------------------------------------------------
# Used by every family of features. What a row has not (no worse references, say) is `MISSING`.


Matrix = npt.NDArray[np.float32]

MISSING = -2.0
_DECIMALS = 3
_QUARTERS = ((-0.01, 0.2), (0.2, 0.5), (0.5, 0.8), (0.8, 1.01))


def by_level(rows: Rows, name: str, pair: Floats) -> dict[str, Floats]:
    """Likeness to references of each quarter of the levels, and of the better and the worse."""
    level = rows.level
    everyone = level < 2
    better, worse = level >= 0.5, level < 0.5
    found = {
        f"{name}_max": rows.per_row(pair, everyone, how="max"),
        f"{name}_mean": rows.per_row(pair, everyone, how="mean"),
        f"{name}_max_better": rows.per_row(pair, better, how="max"),
        f"{name}_max_worse": rows.per_row(pair, worse, how="max"),
        f"{name}_mean_better": rows.per_row(pair, better, how="mean"),
        f"{name}_mean_worse": rows.per_row(pair, worse, how="mean"),
    }
    for place, (low, high) in enumerate(_QUARTERS):
        inside = (level > low) & (level <= high)
        found[f"{name}_quarter{place}"] = rows.per_row(pair, inside, how="mean")
    found[f"{name}_gap_max"] = found[f"{name}_max_better"] - found[f"{name}_max_worse"]
    found[f"{name}_gap_mean"] = found[f"{name}_mean_better"] - found[f"{name}_mean_worse"]
    found[f"{name}_gap_ends"] = found[f"{name}_quarter3"] - found[f"{name}_quarter0"]
    count = np.bincount(rows.owner, minlength=rows.height)
    centred = (
        level - (np.bincount(rows.owner, level, rows.height) / np.maximum(count, 1))[rows.owner]
    )
    slope = np.bincount(rows.owner, centred * pair, minlength=rows.height)
    spread = np.bincount(rows.owner, centred**2, minlength=rows.height)
    found[f"{name}_slope"] = np.where(spread > 1e-9, slope / np.maximum(spread, 1e-9), np.nan)
    return found


def kernel(rows: Rows, name: str, pair: Floats, widths: tuple[float, ...]) -> dict[str, Floats]:
    """Mean level of the references, those weighing more that the answer is more like."""
    found = {}
    for place, width in enumerate(widths):
        weight = np.exp(np.clip(pair / width, -30, 30))
        total = np.bincount(rows.owner, weight, minlength=rows.height)
        level = np.bincount(rows.owner, weight * rows.level, minlength=rows.height)
        found[f"{name}_level{place}"] = np.where(
            total > 0, level / np.maximum(total, 1e-30), np.nan
        )
    return found


def compared(
    rows: Rows, name: str, own: Floats, theirs: Floats, *, width: float
) -> dict[str, Floats]:
    """Where a value of the answer lies among the same values of its references."""
    better, worse = rows.level >= 0.5, rows.level < 0.5
    mean_better = rows.per_row(theirs, better, how="mean")
    mean_worse = rows.per_row(theirs, worse, how="mean")
    apart = np.abs(own[rows.owner] - theirs)
    return {
        f"{name}_less_better": own - mean_better,
        f"{name}_less_worse": own - mean_worse,
        f"{name}_less_all": own - rows.per_row(theirs, rows.level < 2, how="mean"),
        f"{name}_above": rows.per_row(
            (own[rows.owner] > theirs).astype(np.float64), rows.level < 2, how="mean"
        ),
        **kernel(rows, f"{name}_near", -apart, (width,)),
    }


def matrix(found: dict[str, Floats]) -> tuple[list[str], Matrix]:
    """Rounded, so that a row's values cannot depend on the rows judged with it."""
    stacked = np.stack(list(found.values()), axis=1)
    filled = np.where(np.isnan(stacked), MISSING, np.round(stacked, _DECIMALS))
    return list(found), filled.astype(np.float32)
