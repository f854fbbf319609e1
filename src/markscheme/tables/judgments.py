"""The judgments table: what judges produced, one row per answer and judge.

Not judged is a status: never a zero, never a NaN, never a "no". A row whose status is not `judged`
has null `score`, `verdict`, `relation` and `marks`.
"""

from __future__ import annotations

import polars as pl

STATUSES = ("judged", "unparsed", "refused", "failed", "skipped")
"""`judged`; `unparsed`: a reply nobody could read; `refused`: the judge declined; `failed`: the
judge broke (network, time limit); `skipped`: nothing to judge (no answer) or budget spent."""

RELATIONS = ("superior", "equivalent", "inferior", "incorrect")
"""What the answer says compared with the reference: more, the same, less, or something else."""

INSIDE, LEARNED, OUTSIDE = "inside", "learned from", "outside"
NEW, UNKNOWN = "new", "unknown"
"""How the column `scope` begins; after `outside: ` come the reasons."""
FOREIGN = "the texts are in"
"""How the reason begins that texts are in another language than English."""

SCOPES = (INSIDE, LEARNED, OUTSIDE, NEW, UNKNOWN)
"""Every beginning of `scope`."""

UNSURE = r"\(\d\.\d\d, unsure\)"
"""What an explanation has where a judge says that it cannot tell, as a pattern."""

Status = pl.Enum(STATUSES)
Relation = pl.Enum(RELATIONS)

JUDGMENTS_SCHEMA: dict[str, pl.DataType | type[pl.DataType]] = {
    "answer_id": pl.String,
    "judge": pl.String,
    "signature": pl.String,
    "status": Status,
    "score": pl.Float64,
    "verdict": pl.Boolean,
    "relation": Relation,
    "marks": pl.Float64,
    "explanation": pl.String,
    "scope": pl.String,
    "raw": pl.String,
    "cost_usd": pl.Float64,
    "tokens_in": pl.Int64,
    "tokens_out": pl.Int64,
    "seconds": pl.Float64,
}
"""Columns of a judgments table, in order.

`scope` says how an answer relates to what a trained judge learned: `inside` its field, `learned
from` (its question or a near-duplicate was in the training data, so that the judgment flatters the
judge), or `outside` with the reasons. Of judges that know their training questions but no field,
it is `learned from` or `new`; where weights do not say what trained them, `unknown`. It is null
where a judge learned from no questions.
"""

SPENT = ("cost_usd", "tokens_in", "tokens_out", "seconds")
"""What a judgment cost."""

NO_REFERENCE = "no reference to compare with"
"""Why a row without references is `skipped`, by judges and before them."""

NOT_GIVEN = "no answer was given"
"""Why an answer that is null or blank is wrong, before any judge sees it."""

OUTCOME = tuple(
    name for name in JUDGMENTS_SCHEMA if name not in ("answer_id", "judge", "signature")
)
"""What a judge itself fills in; the engine adds the id, the judge's name and its signature."""


def scope_kind() -> pl.Expr:
    """The one of `SCOPES` that each row's `scope` begins with, without the reasons."""
    return pl.col("scope").str.split(":").list.first()


ALL, REST = "all", "rest"
"""All of a judge's answers, and those to questions that did not train it."""


def scope_parts(rows: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Judgments by what their judge learned from.

    Returns:
        `ALL`; `REST`, all but those it learned from, where that is a part of them; and the
        `SCOPES` that occur. `ALL` alone where the judgments do not say what trained their judge.
    """
    if "scope" not in rows.columns:
        return {ALL: rows}
    rest = rows.filter(scope_kind().ne_missing(LEARNED))
    kinds = rows.group_by(scope_kind(), maintain_order=True)
    return {
        ALL: rows,
        **({REST: rest} if 0 < rest.height < rows.height else {}),
        **{str(kind): part for (kind,), part in kinds if kind is not None},
    }


def status_of_results(frame: pl.DataFrame) -> pl.Series:
    """`status`: `judged` where there is a verdict or a score, and `failed` elsewhere."""
    results = [pl.col(name) for name in ("verdict", "score") if name in frame.columns]
    judged = pl.any_horizontal(pl.lit(value=False), *(one.is_not_null() for one in results))
    status = pl.when(judged).then(pl.lit("judged")).otherwise(pl.lit("failed"))
    return frame.with_columns(status.alias("status"))["status"]


def spread(outcomes: pl.DataFrame, places: pl.Series) -> pl.DataFrame:
    """The outcomes of distinct items for all rows; what an item cost is in the first row that has
    it, and null in the others, which cost nothing.

    Args:
        outcomes: with the columns of `SPENT`.
        places: for each row, the place of its item among them.
    """
    first = places.is_first_distinct()
    paid = (pl.when(first).then(pl.col(name)).alias(name) for name in SPENT)
    return outcomes[places].with_columns(paid)


def as_outcomes(frame: pl.DataFrame) -> pl.DataFrame:
    """A judge's output with every outcome column present, typed and in order.

    Missing columns become null; a missing `status` means `judged` where there is a verdict or a
    score and `failed` elsewhere. What the values are is not looked at.
    """
    if "status" not in frame.columns:
        frame = frame.with_columns(status_of_results(frame))
    present = set(frame.columns)
    return frame.select(
        (pl.col(name) if name in present else pl.lit(None)).cast(JUDGMENTS_SCHEMA[name]).alias(name)
        for name in OUTCOME
    )
