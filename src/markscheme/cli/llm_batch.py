"""`markscheme llm batch`: have a provider answer overnight, at its batch price."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from markscheme.cli.app import console, group, notes
from markscheme.cli.models import opened
from markscheme.cli.options import Files, OutFile, command
from markscheme.errors import BadRowsError
from markscheme.flags import CLEANING, Argument, Clean, Fields, Judges, Option
from markscheme.models import ModelOptions
from markscheme.tables import FileOptions

if TYPE_CHECKING:
    from rich.console import Console

    from markscheme.models.chat import BatchCounts
    from markscheme.models.ledger import LedgerEntry

group("llm batch", "Batch files: write the missing requests, read the results back.")


@command(
    "llm batch write",
    example="markscheme llm batch write answers.jsonl -j llm_grader -m gpt-4o -o requests.jsonl",
    reads_answers=True,
)
def write(
    files: Files,
    judges: Judges,
    models: Annotated[
        ModelOptions,
        Fields(
            only=("model", "revision", "ledger", "models", "reasoning_effort", "verbosity"),
            required=("model",),
        ),
    ],
    out: OutFile,
    read: FileOptions,
    clean: Clean = CLEANING,
) -> None:
    """Write the requests that the ledger has no reply to as an OpenAI-style batch file.

    Upload the file to the provider, read the results with `markscheme llm batch read`, then run
    `markscheme judge` with the same judges, model and model options: it finds the replies in the
    ledger. If replies lead to further requests (a repair, a second stage), write and read once
    more.
    """
    from markscheme.api import run
    from markscheme.contract import parse_judge
    from markscheme.models.chat import write_batch
    from markscheme.tables import AnswersReader

    missing: list[LedgerEntry] = []
    with opened(replace(models, dry_run=True), on_missing=missing.append) as asked:
        chosen = [parse_judge(name) for name in judges]
        run(AnswersReader(list(files), read.reading()), chosen, out=None, clean=clean, models=asked)
        counts = write_batch(missing, out, asked.ledger(), asked.profile(models.model or ""))
        spending = asked.budget.spending
    notes.print(f"{counts.done:,} requests written to {out}; {spending.known:,} were known already")
    if counts.failed:
        notes.print(f"{counts.failed:,} cannot be sent")
        _print_reasons(notes, counts)


@command("llm batch read", example="markscheme llm batch read replies.jsonl")
def read(
    files: Annotated[
        list[Path],
        Argument("The provider's result files, including error files.", metavar="FILE..."),
    ],
    models: Annotated[ModelOptions, Fields(only=("ledger", "models", "prices"))],
    price_share: Annotated[
        float | None,
        Option(
            "Price of a batched call, as a fraction of an ordinary one's. [default: the model's "
            "own, else 0.5]",
            minimum=0,
        ),
    ] = None,
) -> None:
    """Read a batch's results into the ledger that it was written with."""
    from markscheme.models.chat import model_table, read_batch
    from markscheme.models.ledger import open_ledger

    table = model_table(models.prices, models.models)
    ledger = open_ledger(models.ledger, must_exist=True)
    problems = []
    try:
        for file in files:
            counts = read_batch(file, ledger, table, share=price_share)
            cost = f", ${counts.cost_usd:,.4f}" if counts.cost_usd else ""
            console.print(f"{file}: {counts.done:,} replies{cost}, {counts.failed:,} failed")
            _print_reasons(console, counts)
            problems.extend(counts.problems)
    finally:
        ledger.close()
    if problems:  # After the last file, as each one's replies are stored.
        raise BadRowsError(problems)


def _print_reasons(screen: Console, counts: BatchCounts) -> None:
    for reason, count in sorted(counts.reasons.items()):
        screen.print(f"  {count:,} times: {reason}")
