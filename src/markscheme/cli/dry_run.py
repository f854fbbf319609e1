"""What a run would ask and cost, before it asks anything."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from markscheme.cli.app import console, notes

if TYPE_CHECKING:
    from markscheme.contract import Judge
    from markscheme.models import Models
    from markscheme.models.chat import Spending
    from markscheme.tables import AnswersReader


def plan_calls(
    reader: AnswersReader,
    judges: Sequence[Judge],
    *,
    clean: str | None,
    models: Callable[[], Models],
) -> list[tuple[Judge, Spending]]:
    """What each judge would ask: every step is gone through, and nothing is sent.

    What depends on replies (a repair, the second stage of a cascade) is counted only where the
    ledger has the reply it depends on.

    Args:
        reader: the answers; read into memory.
        judges: who would judge.
        clean: as for the run.
        models: makes models for a dry run, one budget a judge.
    """
    import polars as pl

    from markscheme.api import run
    from markscheme.tables import AnswersReader

    table = pl.concat(list(reader))
    found = []
    for judge in judges:
        own = models()
        run(AnswersReader([table]), [judge], out=None, clean=clean, models=own)
        found.append((judge, own.budget.spending))
        own.close()
    return found


def print_plan(planned: Sequence[tuple[Judge, Spending]], model: str | None) -> None:
    """The plan as a table, and how it was counted."""
    from markscheme.contract import judge_name
    from markscheme.models.chat import how_counted
    from markscheme.results import Table

    rows = [
        (
            judge_name(judge),
            f"{one.calls:,}",
            f"{one.known:,}",
            f"{one.tokens_in:,}",
            f"{one.tokens_out:,}",
            _money(one),
        )
        for judge, one in planned
    ]
    header = ("judge", "calls", "known", "tokens in", "tokens out, at most", "cost, at most")
    table = Table(
        title="What would be asked",
        header=header,
        rows=tuple(rows),
        numeric=frozenset(header[1:]),
        notes=("Known: answered by the ledger, at no cost. Repairs and later stages come on top.",),
    )
    console.print(table.rich())
    if model is not None:
        notes.print(f"tokens in: {how_counted(model)}", markup=False)
    if any(one.unpriced for _, one in planned):
        notes.print(
            f"no price is known for {model or 'the model'}; give one with --prices FILE",
            markup=False,
        )


def _money(one: Spending) -> str:
    if one.unpriced and one.unpriced == one.calls:
        return "n/a"
    return f"${one.cost_usd:,.4f}"
