"""What a ledger of replies holds, by model."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime

from markscheme.models.ledger import failure_reasons, ledger_stats, open_ledger
from markscheme.results import Column, Format, Table, TableResult, columns, flat_frame


def ledger_figures(place: str | None = None) -> TableResult:
    """Replies, tokens and US dollars of each model in a ledger, and why requests failed.

    Args:
        place: path or PostgreSQL URL; None for the default ledger.

    Raises:
        ModelError: there is no ledger, or it cannot be opened.
    """
    opened = open_ledger(place, must_exist=True)
    try:
        stats = list(ledger_stats(opened))
        reasons = list(failure_reasons(opened))
        shown = opened.shown
    finally:
        opened.close()
    records = [asdict(one) for one in stats]
    table = Table.of(
        f"Ledger {shown}",
        (
            "model",
            "revision",
            *columns("count", "replies", "refused", "failures", "tokens in", "tokens out"),
            Column("cost", "cost_usd", "money", missing="n/a"),
            *columns(_DAY, "first", "last"),
        ),
        records,
        (
            "Failures are attempts without an answer; they are sent again by the next run.",
            *(f"{count:,} times: {reason}" for reason, count in reasons),
        ),
    )
    data = {
        "command": "ledger stats",
        "ledger": shown,
        "models": records,
        "failures": [{"reason": reason, "count": count} for reason, count in reasons],
    }
    return TableResult(frame=flat_frame(records), tables=(table,), data=data)


_DAY = Format(lambda moment: datetime.fromtimestamp(moment, UTC).date().isoformat(), numeric=False)
