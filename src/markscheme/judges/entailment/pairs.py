"""The pairs that entailment tests take, each different one once, and what was found of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from markscheme.judges.prompted import COST, distinct_pairs, placed

OUTCOME: Mapping[str, Any] = {
    "entailed": pl.Boolean, "score": pl.Float64, "status": pl.String, "label": pl.String,
    "reason": pl.String, "raw": pl.String, **COST,
}  # fmt: skip
"""What a test adds to the pairs. `entailed` is null unless `status` is `judged`; `score` is the
probability that the premise entails the hypothesis, null where the test gives none; `label` is
`entailment`, `contradiction` or `neutral` where it says so. The cost of a request is in the
first of equal pairs."""


def pairs_to_test(
    pairs: pl.DataFrame, columns: Sequence[str] = ("premise", "hypothesis")
) -> tuple[list[Any], list[int | None]]:
    """The different rows of some columns, and for each row which it is; see `distinct_pairs`."""
    return distinct_pairs(pairs, columns, "pairs to test")


def tested(
    pairs: pl.DataFrame, rows: Sequence[Mapping[str, Any]], place: Sequence[int | None]
) -> pl.DataFrame:
    """The pairs with their outcomes; see `placed`."""
    lacking = {"status": "skipped", "reason": "no statement to test"}
    return placed(pairs, rows, place, schema=OUTCOME, lacking=lacking)


def with_costs(found: pl.DataFrame) -> pl.DataFrame:
    """What a stage found, with null costs where it counts none."""
    lacking = {name: dtype for name, dtype in COST.items() if name not in found.columns}
    return found.with_columns(pl.lit(None, dtype=dtype).alias(n) for n, dtype in lacking.items())
