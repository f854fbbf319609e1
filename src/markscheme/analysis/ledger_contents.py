"""What a ledger of replies holds, by model."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import UTC, datetime

from markscheme.models.ledger import failure_reasons, ledger_stats, open_ledger
from markscheme.results import Table, TableResult, flat_frame


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LedgerFigures(TableResult):
    """Replies, tokens and money by model, a row each.

    Attributes:
        reasons: why requests failed, and how often.
    """

    reasons: tuple[tuple[str, int], ...]


def ledger_figures(place: str | None = None) -> LedgerFigures:
    """Replies, tokens and US dollars of each model in a ledger, and why requests failed.

    Args:
        place: path or PostgreSQL URL; None for the default ledger.

    Raises:
        ModelError: there is no ledger, or it cannot be opened.
    """
    opened = open_ledger(place, must_exist=True)
    try:
        stats = list(ledger_stats(opened))
        reasons = tuple((reason, count) for reason, count in failure_reasons(opened))
        shown = opened.shown
    finally:
        opened.close()
    rows = tuple(
        (
            one.model,
            one.revision,
            f"{one.replies:,}",
            f"{one.refused:,}",
            f"{one.failures:,}",
            f"{one.tokens_in:,}",
            f"{one.tokens_out:,}",
            "n/a" if one.cost_usd is None else f"${one.cost_usd:,.4f}",
            _day(one.first),
            _day(one.last),
        )
        for one in stats
    )
    header = (
        "model", "revision", "replies", "refused", "failures", "tokens in", "tokens out", "cost",
        "first", "last",
    )  # fmt: skip
    table = Table(
        title=f"Ledger {shown}",
        header=header,
        rows=rows,
        numeric=frozenset(header[2:8]),
        notes=("Failures are attempts without an answer; they are asked again by the next run.",),
    )
    records = [asdict(one) for one in stats]
    data = {
        "command": "ledger stats",
        "ledger": shown,
        "models": records,
        "failures": [{"reason": reason, "count": count} for reason, count in reasons],
    }
    return LedgerFigures(frame=flat_frame(records), tables=(table,), data=data, reasons=reasons)


def _day(moment: float | None) -> str:
    return "" if moment is None else datetime.fromtimestamp(moment, UTC).date().isoformat()
