"""Figures of a run: per judge and system, with intervals clustered on question."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from markscheme.tables import STATUSES

Z95 = 1.959963984540054
"""Two-sided 95% quantile of the normal distribution."""

ALL_SYSTEMS = "(all)"

CLUSTERS = (pl.col("system").cast(pl.Categorical), pl.col("question").hash())
"""System and question of each answer, the question as a hash: twelve bytes a row."""

_COSTS = ("cost_usd", "tokens_in", "tokens_out")
_Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]


def summarise(judgments: pl.LazyFrame, clusters: pl.DataFrame) -> list[dict[str, Any]]:
    """One record per judge and system, and one over all systems where there are several.

    Args:
        judgments: a judgments table in which every judge has judged the same answers in the same
            order.
        clusters: `CLUSTERS` of those answers.

    Returns:
        Records with `judge`, `signature`, `system`, `rows`, `judged`, `not_judged` (status to
        count), `questions`, `accuracy` (share of true verdicts among those with one, 0 to 1, or
        None), `accuracy_low` and `accuracy_high` (95%, Wilson's score interval at the effective
        sample size that clustering on question leaves), `mean_score` with its normal interval,
        and sums of cost and tokens. Judges and systems stand in order of first appearance.
    """
    judges = (
        judgments.with_row_index("row")
        .group_by("judge", "signature")
        .agg(pl.col("row").min(), pl.col(_COSTS).is_not_null().any())
        .collect(engine="streaming")
        .sort("row")
    )
    groups = _groups(clusters)
    return [
        record
        for judge, signature, _, *known in judges.iter_rows()
        for record in _records_of(
            judgments.filter(pl.col("judge") == judge),
            groups,
            judge,
            signature,
            # Most judges cost nothing: three columns less, of the few that a large run holds.
            costs=[name for name, there in zip(_COSTS, known, strict=True) if there],
        )
    ]


@dataclass(frozen=True, kw_only=True)
class _Group:
    """A system's rows, or all (`rows` None), and the number of each row's question among them.

    `questions` is None where no question occurs twice, so that each row is its own cluster.
    """

    system: str
    rows: _Array | None
    questions: _Array | None
    count: int


def _groups(clusters: pl.DataFrame) -> list[_Group]:
    question = clusters["question"].to_numpy()
    system = clusters["system"].to_physical().to_numpy()
    # Sorted once, not searched once for each system: a file may have as many systems as rows.
    by_system = np.argsort(system, kind="stable")
    borders = np.flatnonzero(np.diff(system[by_system])) + 1
    each = np.split(by_system, borders) if len(system) else []
    groups = []
    for members in sorted(each, key=lambda rows: int(rows[0])):
        rows = None if len(each) == 1 else members
        name = str(clusters["system"][int(members[0])])
        groups.append(_group(name, rows, question if rows is None else question[rows]))
    if len(each) > 1:
        groups.append(_group(ALL_SYSTEMS, None, question))
    return groups


def _group(system: str, rows: _Array | None, question: _Array) -> _Group:
    if pl.Series(question).n_unique() == len(question):
        return _Group(system=system, rows=rows, questions=None, count=len(question))
    distinct, numbers = np.unique(question, return_inverse=True)
    numbers = numbers.astype(np.min_scalar_type(len(distinct)))  # held for every row of a run
    return _Group(system=system, rows=rows, questions=numbers, count=len(distinct))


def _records_of(
    judgments: pl.LazyFrame,
    groups: list[_Group],
    judge: str,
    signature: str,
    costs: list[str],
) -> list[dict[str, Any]]:
    table = judgments.select(
        pl.col("status").to_physical(),
        pl.col("verdict").cast(pl.Float64),
        "score",
        *(pl.col(name).cast(pl.Float64) for name in costs),
    ).collect(engine="streaming")
    values = {name: table[name].to_numpy() for name in table.columns}
    return [
        {"judge": judge, "signature": signature, "system": group.system, **_figures(values, group)}
        for group in groups
    ]


def _figures(values: dict[str, _Array], group: _Group) -> dict[str, Any]:
    def of(name: str) -> _Array:
        return values[name] if group.rows is None else values[name][group.rows]

    def total(name: str) -> float | None:
        return _sum(of(name)) if name in values else None

    statuses = np.bincount(of("status"), minlength=len(STATUSES))
    counts = dict(zip(STATUSES, map(int, statuses), strict=True))
    accuracy, accuracy_variance, verdicts = _mean(of("verdict"), group)
    score, score_variance, _ = _mean(of("score"), group)
    clusters = _questions_of(of("verdict"), group)
    low, high = wilson(accuracy, verdicts, accuracy_variance, clusters=clusters)
    half = Z95 * math.sqrt(score_variance)
    return {
        "rows": int(statuses.sum()),
        "questions": group.count,
        "judged": counts.pop("judged"),
        "not_judged": {status: count for status, count in counts.items() if count},
        "accuracy": accuracy,
        "accuracy_low": low,
        "accuracy_high": high,
        "mean_score": score,
        "mean_score_low": None if score is None else score - half,
        "mean_score_high": None if score is None else score + half,
        "cost_usd": total("cost_usd"),
        "tokens_in": None if (tokens := total("tokens_in")) is None else int(tokens),
        "tokens_out": None if (tokens := total("tokens_out")) is None else int(tokens),
    }


def _sum(values: _Array) -> float | None:
    known = values[~np.isnan(values)]
    return float(known.sum()) if len(known) else None


def _questions_of(values: _Array, group: _Group) -> int:
    """How many questions the values that are there are of."""
    there = ~np.isnan(values)
    if group.questions is None:
        return int(there.sum())
    return int(np.count_nonzero(np.bincount(group.questions[there])))


def _mean(values: _Array, group: _Group) -> tuple[float | None, float, int]:
    """The mean of the values that are there, its variance, and their number.

    The variance is that of a ratio of cluster totals (Cochran 1977, section 6.4), a cluster being
    a question; for single rows it is that of a plain mean.
    """
    there = ~np.isnan(values)
    n = int(there.sum())
    if not n:
        return None, 0.0, 0
    known = values if n == len(values) else values[there]
    mean = float(known.sum()) / n
    away: _Array = known - mean
    if group.questions is not None:
        numbers = group.questions if n == len(values) else group.questions[there]
        away = np.bincount(numbers, weights=away, minlength=group.count)
    return mean, float((away**2).sum()) / n**2, n


def wilson(
    share: float | None, count: int, variance: float | None, *, clusters: int
) -> tuple[float | None, float | None]:
    """Wilson's 95% score interval for a share whose variance clustering has widened.

    The effective sample size is share (1 - share) / variance; without clustering it is `count`.
    With a share of 0 or 1 the variance says nothing, and each of the `clusters` counts once.
    """
    if share is None or not count:
        return None, None
    n = share * (1 - share) / variance if variance and 0 < share < 1 else float(clusters)
    n = min(n, float(count))
    centre = (share + Z95**2 / (2 * n)) / (1 + Z95**2 / n)
    half = Z95 / (1 + Z95**2 / n) * math.sqrt(share * (1 - share) / n + Z95**2 / (4 * n**2))
    return max(0.0, centre - half), min(1.0, centre + half)
