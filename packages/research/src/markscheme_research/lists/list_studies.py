"""Studies of judges by graded lists: make-up of the list, shots, draws, its order, and cost.

After Yang et al. 2024: Table 6 (composition), Tables 7 and 8 (shots), Tables 9 and 10 (draws),
sections 3.1 and 4.2.1 (cost and position).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, get_args

import polars as pl

from markscheme.contract import Judge, judge_name, needs_of
from markscheme.engine import apply
from markscheme.errors import AgreementError, JudgeError
from markscheme.judges.listwise import Order
from markscheme.judges.prompted import REPAIR_MARK
from markscheme.models import Models
from markscheme_research.lists import (
    Draw,
    DrawnCorrelations,
    Protocol,
    averaged_over_draws,
    best_and_worst,
)
from markscheme_research.lists.list_material import Material
from markscheme_research.lists.written_lists import solved_examples

ITEM = ("question", "references", "reference_grades", "answer")
"""Columns that distinguish candidates, each of which is judged once."""

SIDES = ("answer_first", "answer_last")


@dataclass(frozen=True, kw_only=True)
class Marked:
    """One judge on one table of candidates.

    Attributes:
        table: `question`, `answer`, `score` (null where not judged), `grade`, `draw`.
        calls: requests to a language model, repairs and those that a ledger answered included.
        repairs: how many of them were repeated because a reply could not be read.
        tokens_in, tokens_out: as the replies say; 0 where they do not.
        cost_usd: as the replies say; None where calls have no price.
        seconds: that the judge took here.
    """

    table: pl.DataFrame
    calls: int
    repairs: int
    tokens_in: float
    tokens_out: float
    cost_usd: float | None
    seconds: float

    @property
    def not_judged(self) -> int:
        """Candidates without a score."""
        return self.table["score"].null_count()

    def by_draw(self) -> list[Marked]:
        """The table of each draw; the counts of all are left as they are."""
        parts = self.table.partition_by("draw", maintain_order=True)
        return [dataclasses.replace(self, table=part) for part in parts]


def mark(judge: Judge, table: pl.DataFrame, models: Models, *, draw: int | pl.Series = 0) -> Marked:
    """Judge a table of candidates and count what that takes; `draw` names the draw of each."""
    before, began = models.budget.spending, perf_counter()
    said = apply(judge, table, models)
    after, seconds = models.budget.spending, perf_counter() - began
    calls = after.calls + after.known - before.calls - before.known
    different = [name for name in ITEM if name in table.columns]
    replies = table.select(different).with_columns(said["raw"]).unique(different)["raw"]
    repairs = replies.str.count_matches(REPAIR_MARK, literal=True).sum()
    priced = said["cost_usd"].null_count() < said.height

    def total(name: str) -> float:
        return float(said[name].sum() or 0)

    return Marked(
        table=table.select(
            "question", "answer", score=said["score"], grade="label",
            draw=pl.lit(draw) if isinstance(draw, int) else draw
        ),
        calls=calls, repairs=int(repairs), seconds=seconds,
        tokens_in=total("tokens_in"), tokens_out=total("tokens_out"),
        cost_usd=total("cost_usd") if priced or not calls else None,
    )  # fmt: skip


def together(runs: Sequence[Marked]) -> Marked:
    """Several runs as one; their tables one under the other."""
    prices = [run.cost_usd for run in runs if run.cost_usd is not None]
    sums: dict[str, Any] = {
        name: sum(getattr(run, name) for run in runs)
        for name in ("calls", "repairs", "tokens_in", "tokens_out", "seconds")
    }
    table = pl.concat([run.table for run in runs])
    return Marked(table=table, cost_usd=sum(prices) if prices else None, **sums)


def correlations(run: Marked) -> DrawnCorrelations | None:
    """Correlations a question, averaged over questions and draws; None where nothing varies."""
    try:
        return averaged_over_draws(run.table)
    except AgreementError:
        return None


def finds(run: Marked) -> tuple[float, float]:
    """Acc(b) and Acc(b+w), averaged over draws."""
    found = [best_and_worst(part) for part in run.table.partition_by("draw")]
    return sum(best for best, _ in found) / len(found), sum(w for _, w in found) / len(found)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What every study needs to know.

    Attributes:
        seeds: draws of references.
        protocol: whether drawn references leave the candidates.
        per_question: candidates of each question; all if none.
    """

    seeds: int = 3
    protocol: Protocol = "rest"
    per_question: int | None = None

    def tables(
        self, material: Material, composition: str, *, apart: Sequence[str] = ()
    ) -> list[pl.DataFrame]:
        """One table of candidates a draw; those that name the same compositions are the same."""
        draws = (
            Draw(composition=composition, seed=seed, protocol=self.protocol, apart=tuple(apart))
            for seed in range(self.seeds)
        )
        return [material.table(draw, per_question=self.per_question) for draw in draws]


def marked_over_draws(judge: Judge, tables: Sequence[pl.DataFrame], models: Models) -> Marked:
    """A judge on every draw.

    Draws share most candidates and many references. A judge without a chat model gets all draws as
    one table, a question's rows one after the other, so that it encodes each text once.
    """
    if len(tables) == 1 or needs_of(judge).may_ask_chat:
        return together([mark(judge, one, models, draw=seed) for seed, one in enumerate(tables)])
    every = pl.concat(
        [one.with_columns(draw=pl.lit(seed)) for seed, one in enumerate(tables)]
    ).with_row_index("place")
    by_question = every.sort("question", maintain_order=True)
    found = mark(judge, by_question.drop("draw", "place"), models, draw=by_question["draw"])
    as_before = found.table.with_columns(by_question["place"]).sort("place").drop("place")
    return dataclasses.replace(found, table=as_before)


def by_shots(
    judge: Judge,
    tables: Sequence[pl.DataFrame],
    models: Models,
    *,
    shots: Sequence[int],
    folder: Path,
) -> dict[int, Marked]:
    """A judge with more and more solved examples, on the same candidates.

    Examples come from questions that nobody is judged on: as many questions as the most shots
    leave every table, those of 0 shots too.

    Args:
        judge: one with the parameters `examples` and `shown`.
        tables: one a draw; each gets examples of its own.
        models: that the judge asks.
        shots: numbers of examples; 0 for none.
        folder: where files of examples are put.

    Raises:
        JudgeError: the judge takes no examples, or there are fewer questions than shots.
    """
    if not {"examples", "shown"} <= {field.name for field in dataclasses.fields(judge)}:  # type: ignore[arg-type]
        raise JudgeError(f"{judge_name(judge)} takes no solved examples; listwise does")
    most = max(shots)
    found: dict[int, list[Marked]] = {count: [] for count in shots}
    for seed, table in enumerate(tables):
        path, left = folder / f"shots-{seed}.jsonl", table
        if most:
            chosen = solved_examples(table, count=most, seed=seed)
            chosen.write_ndjson(path)
            left = table.filter(~pl.col("question").is_in(chosen["question"].implode()))
        if left.is_empty():
            raise JudgeError(f"{most} examples leave no question to judge; take fewer shots")
        for count in shots:
            made: Any = {"examples": str(path) if count else None, "shown": count or None}
            found[count].append(mark(dataclasses.replace(judge, **made), left, models, draw=seed))  # type: ignore[type-var]
    return {count: together(runs) for count, runs in found.items()}


def orders_of(judge: Judge) -> Mapping[str, tuple[Judge, str]]:
    """Ways to lay out the same list for a judge: name to the judge, and how its table is turned.

    A judge that shows the list (`order`) receives its order; one that sets pairs side by side
    (`positions`) is shown the answer first, then last; for any other the columns of references are
    turned, which should change nothing.
    """
    names = {field.name for field in dataclasses.fields(judge)}  # type: ignore[arg-type]
    if "order" in names:
        ways = get_args(Order)
        return {way: (_with(judge, order=way), "as_is") for way in ways}
    if "positions" in names:
        return {way: (_with(judge, positions=way), "as_is") for way in SIDES}
    return {"best_first": (judge, "as_is"), "worst_first": (judge, "turned"),
            "shuffled": (judge, "shuffled")}  # fmt: skip


def _with(judge: Judge, **values: Any) -> Judge:
    made: Judge = dataclasses.replace(judge, **values)  # type: ignore[type-var]
    return made


def turned(table: pl.DataFrame, how: str, *, seed: int = 0) -> pl.DataFrame:
    """The table with its lists of references as they are, `turned` round, or `shuffled`."""
    lists = ("references", "reference_grades")
    if how == "turned":
        return table.with_columns(pl.col(name).list.reverse() for name in lists)
    if how == "shuffled":
        # The same seed shuffles lists of equal length alike, so texts keep their grades.
        return table.with_columns(
            pl.col(name).list.sample(fraction=1.0, shuffle=True, seed=seed) for name in lists
        )
    return table


@dataclass(frozen=True, kw_only=True)
class Shift:
    """What laying the list out otherwise did to the same answers.

    Attributes:
        run: the judge on the list so laid out.
        mean_score: over judged answers.
        compared: answers judged here and with the first layout.
        changed: share of these whose score differs.
        moved: mean absolute difference of scores.
        raised: mean difference of scores, which a bias of position makes differ from 0.
    """

    run: Marked
    mean_score: float | None
    compared: int
    changed: float | None
    moved: float | None
    raised: float | None


def by_order(judge: Judge, tables: Sequence[pl.DataFrame], models: Models) -> dict[str, Shift]:
    """The same answers with the list laid out in several ways; the first is the base."""
    found: dict[str, Shift] = {}
    base: pl.Series | None = None
    for name, (one, how) in orders_of(judge).items():
        run = together(
            [
                mark(one, turned(table, how, seed=seed), models, draw=seed)
                for seed, table in enumerate(tables)
            ]
        )
        score = run.table["score"]
        base = score if base is None else base
        change = (score - base).drop_nulls()
        known = change.len() > 0
        found[name] = Shift(
            run=run, mean_score=_mean(score), compared=change.len(),
            changed=_mean((change != 0).cast(pl.Float64)) if known else None,
            moved=_mean(change.abs()) if known else None, raised=_mean(change) if known else None,
        )  # fmt: skip
    return found


def _mean(values: pl.Series) -> float | None:
    found = values.mean()
    return float(found) if isinstance(found, float) else None
