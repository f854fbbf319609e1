"""`markscheme llm ledger`: what the ledger holds, and how it is shared."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from markscheme.cli.app import group, notes
from markscheme.cli.options import Shown, command
from markscheme.flags import Argument, Fields
from markscheme.models import ModelOptions

group("llm ledger", "The ledger of language models' replies: statistics, export, import.")


LedgerPlace = Annotated[ModelOptions, Fields(only=("ledger",))]
"""Which ledger, of the options for models."""


@command("llm ledger stats", example="markscheme llm ledger stats")
def stats(place: LedgerPlace, shown: Shown) -> None:
    """Count replies, tokens and cost by model, and list why requests failed."""
    from markscheme.analysis import ledger_figures

    shown.show(ledger_figures(place.ledger))


@command("llm ledger export", example="markscheme llm ledger export replies.jsonl")
def export(
    file: Annotated[Path, Argument("File to write, one JSON object per line.")],
    place: LedgerPlace,
) -> None:
    """Write every reply, with the prompt that led to it, to a file that can be shared."""
    from markscheme.models.ledger import export_ledger, open_ledger

    opened = open_ledger(place.ledger, must_exist=True)
    count = export_ledger(opened, file)
    opened.close()
    if opened.changed:
        left_out = f"{len(opened.changed):,} entries are damaged, changed or not signed"
        notes.print(f"warning: {left_out}; left out")
    notes.print(f"{count:,} replies written to {file}")


@command("llm ledger import", example="markscheme llm ledger import replies.jsonl")
def import_(
    file: Annotated[Path, Argument("A file that 'markscheme llm ledger export' wrote.")],
    place: LedgerPlace,
) -> None:
    """Add the replies of an exported file; replies that the ledger already has stay unchanged."""
    from markscheme.models.ledger import import_ledger, open_ledger

    opened = open_ledger(place.ledger, must_exist=False)
    count = import_ledger(opened, file)
    opened.close()
    notes.print(f"{count:,} replies read from {file}")
