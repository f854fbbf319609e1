"""Figures of a run: per judge and system, with intervals clustered on question."""

from __future__ import annotations

import math
from typing import Any

import polars as pl

from markscheme.judgments import STATUSES

Z95 = 1.959963984540054
"""Two-sided 95% quantile of the normal distribution."""

ALL_SYSTEMS = "(all)"


def summarise(judgments: pl.LazyFrame | pl.DataFrame) -> list[dict[str, Any]]:
    """One record per judge and system, and one over all systems where there are several.

    Args:
        judgments: a judgments table with the extra columns `system` and `question`.

    Returns:
        Records with `judge`, `signature`, `system`, `rows`, `judged`, `not_judged` (status to
        count), `questions`, `accuracy` (share of true verdicts among those with one, 0 to 1, or
        None), `accuracy_low` and `accuracy_high` (95%, Wilson's score interval at the effective
        sample size that clustering on question leaves), `mean_score` with its normal interval,
        and sums of cost and tokens. Judges and systems stand in order of first appearance.
    """
    per_question = (
        judgments.lazy()
        .with_row_index("_row")
        .group_by("judge", "signature", "system", "question")
        .agg(
            pl.len().alias("rows"),
            pl.col("_row").min(),
            *((pl.col("status") == s).sum().alias(f"status_{s}") for s in STATUSES),
            pl.col("verdict").count().alias("n_verdict"),
            pl.col("verdict").sum().cast(pl.Float64).alias("y_verdict"),
            pl.col("score").count().alias("n_score"),
            pl.col("score").sum().alias("y_score"),
            *(_sum_or_null(name) for name in ("cost_usd", "tokens_in", "tokens_out")),
        )
        .collect(engine="streaming")
    )
    systems = per_question.group_by("judge", "signature", "system").agg(_figures())
    counts = systems.group_by("judge").len().filter(pl.col("len") > 1)
    several = (
        per_question.join(counts, on="judge", how="semi")
        .group_by("judge", "signature", "question")
        .agg(
            pl.exclude("system", "_row", "cost_usd", "tokens_in", "tokens_out").sum(),
            pl.col("_row").max() + 1,
            *(_sum_or_null(name) for name in ("cost_usd", "tokens_in", "tokens_out")),
        )
        .group_by("judge", "signature")
        .agg(_figures(last=True))
        .with_columns(pl.lit(ALL_SYSTEMS).alias("system"))
    )
    order = systems.group_by("judge").agg(pl.col("_row").min().alias("_judge"))
    table = (
        pl.concat([systems, several.select(systems.columns)])
        .join(order, on="judge")
        .sort("_judge", "_row")
    )
    return [_record(row) for row in table.iter_rows(named=True)]


def _sum_or_null(name: str) -> pl.Expr:
    column = pl.col(name)
    return pl.when(column.count() > 0).then(column.sum()).alias(name)


def _figures(*, last: bool = False) -> list[pl.Expr]:
    """Totals over questions, and the variance of each mean as a ratio of cluster totals."""
    found = [pl.col("_row").max() if last else pl.col("_row").min(), pl.len().alias("questions")]
    found += [pl.col("rows").sum(), *(pl.col(f"status_{s}").sum() for s in STATUSES)]
    for kind in ("verdict", "score"):
        n, y = pl.col(f"n_{kind}"), pl.col(f"y_{kind}")
        mean = y.sum() / n.sum()
        found += [
            n.sum(),
            mean.alias(f"mean_{kind}"),
            (((y - mean * n) ** 2).sum() / n.sum() ** 2).alias(f"var_{kind}"),
        ]
    return found + [_sum_or_null(name) for name in ("cost_usd", "tokens_in", "tokens_out")]


def _record(row: dict[str, Any]) -> dict[str, Any]:
    accuracy = row["mean_verdict"] if row["n_verdict"] else None
    score = row["mean_score"] if row["n_score"] else None
    low, high = wilson(accuracy, row["n_verdict"], row["var_verdict"])
    half = Z95 * math.sqrt(row["var_score"]) if score is not None else None
    return {
        "judge": row["judge"],
        "signature": row["signature"],
        "system": row["system"],
        "rows": row["rows"],
        "questions": row["questions"],
        "judged": row["status_judged"],
        "not_judged": {s: row[f"status_{s}"] for s in STATUSES[1:] if row[f"status_{s}"]},
        "accuracy": accuracy,
        "accuracy_low": low,
        "accuracy_high": high,
        "mean_score": score,
        "mean_score_low": None if score is None or half is None else score - half,
        "mean_score_high": None if score is None or half is None else score + half,
        "cost_usd": row["cost_usd"],
        "tokens_in": row["tokens_in"],
        "tokens_out": row["tokens_out"],
    }


def wilson(
    share: float | None, count: int, variance: float | None
) -> tuple[float | None, float | None]:
    """Wilson's 95% score interval for a share whose variance clustering has widened.

    The effective sample size is share (1 - share) / variance; without clustering it is `count`.
    With a share of 0 or 1 the variance says nothing, and `count` is used.
    """
    if share is None or not count:
        return None, None
    n = share * (1 - share) / variance if variance and 0 < share < 1 else float(count)
    n = min(n, float(count))
    centre = (share + Z95**2 / (2 * n)) / (1 + Z95**2 / n)
    half = Z95 / (1 + Z95**2 / n) * math.sqrt(share * (1 - share) / n + Z95**2 / (4 * n**2))
    return max(0.0, centre - half), min(1.0, centre + half)
