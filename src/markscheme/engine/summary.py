"""Figures of a run: per judge and system, with intervals clustered on question."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from markscheme.stats import (
    mean_evidence,
    share_evidence,
    share_interval,
    single_answers,
    variance_of_sum,
)
from markscheme.tables import LEARNED, OUTSIDE, SCOPES, STATUSES, UNKNOWN, UNSURE, scope_kind

ALL_SYSTEMS = "(all)"

CLUSTERS = (pl.col("system").cast(pl.Categorical), pl.col("question").hash())
"""System and question of each answer, the question as a hash: twelve bytes a row."""

_COSTS = ("cost_usd", "tokens_in", "tokens_out")
_NO_SCOPE = len(SCOPES)
_BLOCK = 65_536
_Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]


def summarise(judgments: pl.LazyFrame, clusters: pl.DataFrame) -> list[dict[str, Any]]:
    """One record per judge and system, and one over all systems where there are several.

    Args:
        judgments: a judgments table in which every judge has judged the same answers in the same
            order.
        clusters: `CLUSTERS` of those answers.

    Returns:
        Records with `judge`, `signature`, `system`, `rows`, `judged`, `not_judged` (status to
        count), `verdicts` (only where some of the judged have a score and no verdict),
        `questions`, `accuracy` (share of true verdicts among those with one, 0 to 1, or None),
        `accuracy_low` and `accuracy_high` (95%) and the `interval` that they are (`wilson`, or
        `wilson-t` where questions have several answers: `stats.share_interval`),
        `effective_answers` and `independent_answers` (`stats.Evidence`), from which a gate makes
        its bound,
        `mean_score` with its interval and `mean_score_interval` (how that is made), and sums of
        cost and tokens. Of judges that learned from
        questions also `unsure`, the answers of which the judge says that it cannot tell; `outside`,
        those outside its field; `learned_answers` and `learned_questions`, which trained it (null
        where its weights do not say); and of all others `rest_judged`, `rest_accuracy` and its
        interval. Judges and systems are in order of first appearance.
    """
    judges = (
        judgments.with_row_index("row")
        .group_by("judge", "signature")
        .agg(pl.col("row").min(), pl.col(*_COSTS, "scope").is_not_null().any())
        .collect(engine="streaming")
        .sort("row")
    )
    groups = _groups(clusters)
    return [
        record
        for judge, signature, _, *known, has_scope in judges.iter_rows()
        for record in _records_of(
            judgments.filter(pl.col("judge") == judge),
            groups,
            judge,
            signature,
            # Most judges cost nothing: three columns less, of the few that a large run holds.
            costs=[name for name, there in zip(_COSTS, known, strict=True) if there],
            scoped=has_scope,
        )
    ]


def verdict_figures(verdicts: pl.Series, clusters: pl.DataFrame) -> list[dict[str, Any]]:
    """Figures of plain verdicts, such as people's: a record per system, as `summarise` orders them.

    Args:
        verdicts: Boolean, null where there is none.
        clusters: `CLUSTERS` of those answers.

    Returns:
        Records with `system`, `judged`, and `accuracy` with what `summarise` gives with it.
    """
    values = verdicts.cast(pl.Float32).to_numpy()
    found = []
    for group in _groups(clusters):
        judged, accuracy = _accuracy(group.of(values), group)
        found.append({"system": group.system, "judged": judged, **accuracy})
    return found


@dataclass(frozen=True, kw_only=True)
class _Group:
    """A system's rows, or all (`rows` None), and the number of each row's question among them.

    `questions` is None where no question occurs twice, so that each row is its own cluster.
    """

    system: str
    rows: _Array | None
    questions: _Array | None
    count: int

    def of(self, values: _Array) -> _Array:
        """The values of these rows."""
        return values if self.rows is None else values[self.rows]


def _groups(clusters: pl.DataFrame) -> list[_Group]:
    question = clusters["question"].to_numpy()
    system = clusters["system"].to_physical().to_numpy()
    if len(system) and (system == system[0]).all():
        return [_group(str(clusters["system"][0]), None, question)]
    # Sorted once, not searched once for each system: a file may have as many systems as rows.
    by_system = np.argsort(system, kind="stable")
    borders = np.flatnonzero(np.diff(system[by_system])) + 1
    each = np.split(by_system, borders) if len(system) else []
    groups = []
    for members in sorted(each, key=lambda rows: int(rows[0])):
        rows = members.astype(np.min_scalar_type(len(system)))  # held for every row of a run
        groups.append(_group(str(clusters["system"][int(rows[0])]), rows, question[rows]))
    if groups:
        groups.append(_group(ALL_SYSTEMS, None, question))
    return groups


def _group(system: str, rows: _Array | None, question: _Array) -> _Group:
    distinct = np.sort(question)
    fresh = distinct[1:] != distinct[:-1]
    if fresh.all():
        return _Group(system=system, rows=rows, questions=None, count=len(question))
    distinct = np.concatenate([distinct[:1], distinct[1:][fresh]])
    numbers = np.empty(len(question), np.min_scalar_type(len(distinct)))
    for start in range(
        0, len(question), _BLOCK
    ):  # A whole table of places would be twice as large.
        part = slice(start, start + _BLOCK)
        numbers[part] = np.searchsorted(distinct, question[part])
    return _Group(system=system, rows=rows, questions=numbers, count=len(distinct))


def _records_of(
    judgments: pl.LazyFrame,
    groups: list[_Group],
    judge: str,
    signature: str,
    *,
    costs: list[str],
    scoped: bool,
) -> list[dict[str, Any]]:
    kind = scope_kind().cast(pl.Enum(SCOPES)).to_physical().fill_null(_NO_SCOPE)
    unsure = pl.col("explanation").str.contains(UNSURE).fill_null(value=False)
    table = judgments.select(
        pl.col("status").to_physical(),
        pl.col("verdict").cast(pl.Float32),
        "score",
        *(pl.col(name).cast(pl.Float64) for name in costs),
        *((kind, unsure.alias("unsure")) if scoped else ()),
    ).collect(engine="streaming")
    values = {name: _smallest(table.drop_in_place(name).to_numpy()) for name in table.columns}
    return [
        {"judge": judge, "signature": signature, "system": group.system, **_figures(values, group)}
        for group in groups
    ]


def _figures(values: dict[str, _Array], group: _Group) -> dict[str, Any]:
    totals = {name: _sum(group.of(values[name])) for name in _COSTS if name in values}
    tokens = {
        name: None if (total := totals.get(name)) is None else int(total) for name in _COSTS[1:]
    }
    statuses = np.bincount(group.of(values["status"]), minlength=len(STATUSES))
    counts = dict(zip(STATUSES, map(int, statuses), strict=True))
    judged = counts.pop("judged")
    verdicts, accuracy = _accuracy(group.of(values["verdict"]), group)
    score = _score(group.of(values["score"]), group)
    return {
        "rows": int(statuses.sum()),
        "questions": group.count,
        "judged": judged,
        "not_judged": {status: count for status, count in counts.items() if count},
        **({} if verdicts == judged else {"verdicts": verdicts}),
        **accuracy,
        **score,
        "cost_usd": totals.get("cost_usd"),
        **tokens,
        **(_learned(values, group) if "scope" in values else {}),
    }


def _accuracy(verdicts: _Array, group: _Group) -> tuple[int, dict[str, Any]]:
    """How many answers have a verdict, and the share of true ones; see `summarise`."""
    known, numbers = _known(verdicts, group)
    count, share, low, high, evidence = len(known), None, None, None, None
    if count:
        share = float(known.sum(dtype=np.float64)) / count
        evidence = single_answers(count)
        if numbers is not None:
            answers = np.bincount(numbers, minlength=group.count)
            evidence = share_evidence(
                np.bincount(numbers[known > 0], minlength=group.count), answers
            )
        low, high = share_interval(share, evidence)
    return count, {
        "accuracy": share,
        "accuracy_low": low,
        "accuracy_high": high,
        "interval": evidence.method if evidence else "wilson",
        "effective_answers": evidence.answers if evidence else None,
        "independent_answers": evidence.independent if evidence else None,
    }


def _score(scores: _Array, group: _Group) -> dict[str, Any]:
    """The mean score with its interval; none where nothing was judged, or it is no share."""
    known, numbers = _known(scores, group)
    mean, low, high = None, None, None
    if len(known):
        mean = float(known.sum(dtype=np.float64)) / len(known)
    if mean is not None and 0 <= mean <= 1:
        away, answers = np.subtract(known, mean, dtype=np.float64), np.broadcast_to(1, len(known))
        if numbers is not None:
            away = np.bincount(numbers, weights=away, minlength=group.count)
            answers = np.bincount(numbers, minlength=group.count)
        evidence = mean_evidence(mean, variance_of_sum(away, answers), answers)
        low, high = share_interval(mean, evidence)
    return {
        "mean_score": mean,
        "mean_score_low": low,
        "mean_score_high": high,
        "mean_score_interval": None if low is None else "wilson-t",
    }


def _known(values: _Array, group: _Group) -> tuple[_Array, _Array | None]:
    """The values that are there, and the numbers of their questions; None where none repeats."""
    there = ~np.isnan(values)
    if there.all():
        return values, group.questions
    return values[there], None if group.questions is None else group.questions[there]


def _learned(values: dict[str, _Array], group: _Group) -> dict[str, Any]:
    """What the judge learned from, and accuracy without it; see `summarise`."""
    scope, unsure, verdict = (group.of(values[name]) for name in ("scope", "unsure", "verdict"))
    counts = np.bincount(scope, minlength=_NO_SCOPE + 1)
    learned = scope == SCOPES.index(LEARNED)
    numbers = np.arange(group.count) if group.questions is None else group.questions
    others = None if group.questions is None else numbers[~learned]
    rest = replace(group, rows=None, questions=others)
    judged, shares = _accuracy(verdict[~learned], rest)
    return {
        "unsure": int(unsure.sum()),
        "outside": int(counts[SCOPES.index(OUTSIDE)]),
        "learned_answers": int(counts[SCOPES.index(LEARNED)]),
        "learned_questions": None
        if counts[SCOPES.index(UNKNOWN)]
        else len(np.unique(numbers[learned])),
        "rest_judged": judged,
        **{f"rest_{name}": shares[name] for name in ("accuracy", "accuracy_low", "accuracy_high")},
    }


def _smallest(values: _Array) -> _Array:
    """The same numbers in half the bytes, where none loses a digit by it."""
    if values.dtype != np.float64:
        return values
    with np.errstate(over="ignore"):
        small = values.astype(np.float32)
    return small if np.array_equal(small, values, equal_nan=True) else values


def _sum(values: _Array) -> float | None:
    known = values[~np.isnan(values)]
    return float(known.sum(dtype=np.float64)) if len(known) else None
