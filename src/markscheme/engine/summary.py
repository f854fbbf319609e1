"""Figures of a run: per judge and system, with intervals clustered on question."""

from __future__ import annotations

import math
from typing import Any

import polars as pl

from markscheme.judgments import STATUSES

Z95 = 1.959963984540054
"""Two-sided 95% quantile of the normal distribution."""

ALL_SYSTEMS = "(all)"

_COSTS = ("cost_usd", "tokens_in", "tokens_out")
_UNIT = 2**40


def summarise(judgments: pl.LazyFrame, clusters: pl.DataFrame) -> list[dict[str, Any]]:
    """One record per judge and system, and one over all systems where there are several.

    Args:
        judgments: a judgments table in which every judge has judged the same answers in the same
            order.
        clusters: `system` and `question` of those answers; the question may be a hash.

    Returns:
        Records with `judge`, `signature`, `system`, `rows`, `judged`, `not_judged` (status to
        count), `questions`, `accuracy` (share of true verdicts among those with one, 0 to 1, or
        None), `accuracy_low` and `accuracy_high` (95%, Wilson's score interval at the effective
        sample size that clustering on question leaves), `mean_score` with its normal interval,
        and sums of cost and tokens. Judges and systems stand in order of first appearance.
    """
    judges = judgments.with_row_index("row").group_by("judge", "signature").agg(pl.col("row").min())
    return [
        record
        for judge, signature, _ in judges.collect(engine="streaming").sort("row").iter_rows()
        for record in _records_of(
            judgments.filter(pl.col("judge") == judge), clusters, judge, signature
        )
    ]


def _records_of(
    judgments: pl.LazyFrame, clusters: pl.DataFrame, judge: str, signature: str
) -> list[dict[str, Any]]:
    outcomes = judgments.select("status", "verdict", "score", *_COSTS).collect(engine="streaming")
    rows = pl.concat([outcomes, clusters], how="horizontal").with_row_index("first_row")
    # Sums are of whole numbers, so that no order of adding, and so no number of threads, shows.
    per_question = (
        rows.lazy()
        .group_by("system", "question")
        .agg(
            pl.col("first_row").min(),
            pl.len().alias("rows"),
            *((pl.col("status") == s).sum().alias(s) for s in STATUSES),
            pl.col("verdict").count().alias("verdicts"),
            pl.col("verdict").sum().cast(pl.Int64).alias("verdict"),
            pl.col("score").count().alias("scores"),
            _fixed("score").sum(),
            *(pl.col(name).count().alias(f"{name}_known") for name in _COSTS),
            *(_fixed(name).sum() for name in _COSTS),
        )
        .sort("first_row")
        .collect()
    )
    head = {"judge": judge, "signature": signature}
    records = [
        {**head, "system": system["system"][0], **_figures(system)}
        for system in per_question.partition_by("system", maintain_order=True)
    ]
    if len(records) > 1:
        together = per_question.group_by("question").agg(
            pl.col("first_row").min(), pl.exclude("system", "first_row", "question").sum()
        )
        records.append({**head, "system": ALL_SYSTEMS, **_figures(together.sort("first_row"))})
    return records


def _fixed(name: str) -> pl.Expr:
    """A column as whole multiples of `1 / _UNIT`."""
    return (pl.col(name) * _UNIT).round().cast(pl.Int64)


def _figures(clusters: pl.DataFrame) -> dict[str, Any]:
    """The figures of some answers, from sums per question."""
    accuracy, accuracy_variance = _mean(clusters["verdict"], clusters["verdicts"])
    score, score_variance = _mean(clusters["score"] / _UNIT, clusters["scores"])
    verdicts = int(clusters["verdicts"].sum())
    low, high = wilson(accuracy, verdicts, accuracy_variance)
    half = Z95 * math.sqrt(score_variance)
    costs = {
        name: int(clusters[name].sum()) / _UNIT if clusters[f"{name}_known"].sum() else None
        for name in _COSTS
    }
    return {
        "rows": int(clusters["rows"].sum()),
        "questions": clusters.height,
        "judged": int(clusters["judged"].sum()),
        "not_judged": {s: int(clusters[s].sum()) for s in STATUSES[1:] if clusters[s].sum()},
        "accuracy": accuracy,
        "accuracy_low": low,
        "accuracy_high": high,
        "mean_score": score,
        "mean_score_low": None if score is None else score - half,
        "mean_score_high": None if score is None else score + half,
        **costs,
    }


def _mean(totals: pl.Series, counts: pl.Series) -> tuple[float | None, float]:
    """The mean over all rows and its variance, as a ratio of cluster totals (Cochran 1977, 6.4)."""
    n = counts.to_numpy().astype(float)
    y = totals.to_numpy().astype(float)
    if not n.sum():
        return None, 0.0
    mean = y.sum() / n.sum()
    return float(mean), float(((y - mean * n) ** 2).sum() / n.sum() ** 2)


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
