"""What judging would ask of language models, before it asks anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import polars as pl

from markscheme.contract import Judge, judge_name
from markscheme.engine import reading_for, run_in_memory
from markscheme.flags import CLEANING, Cleaning
from markscheme.models import ModelOptions, Models
from markscheme.models.chat import BYTES_A_TOKEN
from markscheme.results import Column, Table, TableResult, columns, flat_frame
from markscheme.tables import AnswersReader


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CallPlan(TableResult):
    """What each judge would ask. `frame` has a row per judge: calls, tokens, US dollars.

    Attributes:
        notes: how tokens were counted, and whether a price is missing.
    """

    notes: tuple[str, ...]


def plan_calls(
    reader: AnswersReader,
    judges: Sequence[Judge],
    options: ModelOptions | None = None,
    *,
    clean: Cleaning = CLEANING,
) -> CallPlan:
    """What each judge would ask: every step is gone through, and nothing is sent.

    What depends on replies (a repair, the second stage of a cascade) is counted only where the
    ledger has the reply it depends on.

    Args:
        reader: the answers; read into memory.
        judges: who would judge.
        options: which model, ledger and prices; limits do not count.
        clean: as for the run.

    Raises:
        DataError, JudgeError, ModelError: as judging does.
    """
    reader.options = reading_for(reader.options, judges)
    table = pl.concat(list(reader))
    asked = replace(options or ModelOptions(), dry_run=True, max_cost=None, max_calls=None)
    found = []
    for judge in judges:
        models = Models(options=asked)
        try:
            run_in_memory(AnswersReader([table]), [judge], models=models, clean=clean)
            found.append((judge, models.budget.spending))
        finally:
            models.close()
    records = [
        {"judge": judge_name(judge), **asdict(one), "cost_usd": one.cost_usd}
        for judge, one in found
    ]
    shown = Table.of(
        "Planned calls",
        (
            "judge",
            *columns("count", "calls", "known", "tokens in", ("tokens out, at most", "tokens_out")),
            Column("cost, at most", _cost, "money", missing="n/a"),
        ),
        records,
        ("Known: answered by the ledger, at no cost. Repairs and later stages come on top.",),
    )
    notes = []
    if any(one.calls for _, one in found):
        notes.append(f"tokens in: approximate, one token to {BYTES_A_TOKEN} bytes of a request")
    if any(one.unpriced for _, one in found):
        model = asked.model or "MODEL"
        notes.append(
            f"no price is known for {model}: --max-cost assumes the highest price in the model "
            "files; give its own with --models FILE, or for a server that charges nothing "
            f'["{model}"] with input = 0 and output = 0'
        )
    return CallPlan(
        frame=flat_frame(records),
        tables=(shown,),
        data={"command": "dry-run", "model": asked.model, "judges": records},
        notes=tuple(notes),
    )


def _cost(record: Mapping[str, Any]) -> float | None:
    unpriced = record["unpriced"]
    return None if unpriced and unpriced == record["calls"] else record["cost_usd"]
