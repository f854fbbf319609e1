"""The pairs that entailment tests take, each different one once, and what was found of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from markscheme.errors import JudgeError

OUTCOME: Mapping[str, Any] = {
    "entailed": pl.Boolean, "score": pl.Float64, "status": pl.String, "label": pl.String,
    "reason": pl.String, "raw": pl.String, "cost_usd": pl.Float64, "tokens_in": pl.Int64,
    "tokens_out": pl.Int64, "seconds": pl.Float64,
}  # fmt: skip
"""What a test adds to the pairs. `entailed` is null unless `status` is `judged`; `score` is the
probability that the premise entails the hypothesis, null where the test gives none; `label` is
`entailment`, `contradiction` or `neutral` where it says so. What a request cost stands in the
first of equal pairs."""

SPENT = ("cost_usd", "tokens_in", "tokens_out", "seconds")
"""What a request cost."""


def distinct_pairs(
    pairs: pl.DataFrame, columns: Sequence[str]
) -> tuple[list[Any], list[int | None]]:
    """The different rows of some columns, and for each row which it is.

    None stands for rows that lack premise or hypothesis, the last two columns.

    Raises:
        JudgeError: a column is missing.
    """
    missing = [name for name in columns if name not in pairs.columns]
    if missing:
        raise JudgeError(f"pairs to test need the columns {', '.join(columns)}; {missing} missing")
    known: dict[Any, int] = {}
    place: list[int | None] = [
        known.setdefault(row, len(known))
        if all(text and text.strip() for text in row[-2:])
        else None
        for row in pairs.select(columns).iter_rows()
    ]
    return list(known), place


def placed(
    pairs: pl.DataFrame, rows: Sequence[Mapping[str, Any]], place: Sequence[int | None]
) -> pl.DataFrame:
    """The pairs with their outcomes; what a row cost stands where it is first used."""
    table = pl.DataFrame(
        [{**dict.fromkeys(OUTCOME), **row} for row in rows]
        + [dict.fromkeys(OUTCOME) | {"status": "skipped", "reason": "no statement to test"}],
        schema=dict(OUTCOME),
    )
    index = pl.Series([len(rows) if one is None else one for one in place], dtype=pl.UInt32)
    found = table[index].with_columns(
        pl.when(index.is_first_distinct()).then(pl.col(name)).alias(name) for name in SPENT
    )
    return pairs.drop(OUTCOME, strict=False).hstack(found)
