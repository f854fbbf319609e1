"""`markscheme ledger`: what the ledger holds, and how it is shared."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from markscheme.cli.app import app, console, notes
from markscheme.cli.model_options import LedgerPlace

if TYPE_CHECKING:
    from markscheme.models.ledger import Ledger

commands = typer.Typer(
    help="The ledger of language models' replies: look, export, import.", no_args_is_help=True
)
app.add_typer(commands, name="ledger")


def open_ledger(place: str | None, *, must_exist: bool) -> Ledger:
    """The ledger that an option names, or the default one.

    Raises:
        ModelError: it cannot be opened, or must exist and does not.
    """
    from markscheme.errors import ModelError
    from markscheme.models import default_ledger
    from markscheme.models.ledger import Ledger
    from markscheme.storage import is_postgres

    where = place or default_ledger()
    if must_exist and not is_postgres(where) and not Path(where).is_file():
        raise ModelError(
            f"there is no ledger {where}; a run with a language model makes one, --ledger names "
            "another"
        )
    return Ledger(where)


@commands.command("stats")
def stats(ledger: LedgerPlace = None) -> None:
    """Replies, tokens and money by model, and why requests failed."""
    from datetime import UTC, datetime

    from markscheme.models.ledger import failure_reasons, ledger_stats
    from markscheme.results import Table

    def day(moment: float | None) -> str:
        return "" if moment is None else datetime.fromtimestamp(moment, UTC).date().isoformat()

    opened = open_ledger(ledger, must_exist=True)
    rows = [
        (
            one.model,
            one.revision,
            f"{one.replies:,}",
            f"{one.refused:,}",
            f"{one.failures:,}",
            f"{one.tokens_in:,}",
            f"{one.tokens_out:,}",
            "n/a" if one.cost_usd is None else f"${one.cost_usd:,.4f}",
            day(one.first),
            day(one.last),
        )
        for one in ledger_stats(opened)
    ]
    reasons = failure_reasons(opened)
    header = (
        "model", "revision", "replies", "refused", "failures", "tokens in", "tokens out", "cost",
        "first", "last",
    )  # fmt: skip
    table = Table(
        title=f"Ledger {opened.shown}",
        header=header,
        rows=tuple(rows),
        numeric=frozenset(header[2:8]),
        notes=("Failures are attempts without an answer; they are asked again by the next run.",),
    )
    opened.close()
    console.print(table.rich())
    for reason, count in reasons:
        console.print(f"{count:,} times: {reason}", markup=False)


@commands.command("export")
def export(
    file: Annotated[Path, typer.Argument(help="The file to write, JSON a line.")],
    ledger: LedgerPlace = None,
) -> None:
    """Write every reply, with the prompt that led to it, to a file that can be shared."""
    from markscheme.models.ledger import export_ledger

    opened = open_ledger(ledger, must_exist=True)
    count = export_ledger(opened, file)
    opened.close()
    notes.print(f"{count:,} replies written to {file}", markup=False)


@commands.command("import")
def import_(
    file: Annotated[Path, typer.Argument(help="A file that 'markscheme ledger export' wrote.")],
    ledger: LedgerPlace = None,
) -> None:
    """Add the replies of an exported file; those that are there already stay."""
    from markscheme.models.ledger import import_ledger

    opened = open_ledger(ledger, must_exist=False)
    count = import_ledger(opened, file)
    opened.close()
    notes.print(f"{count:,} replies read from {file}", markup=False)
