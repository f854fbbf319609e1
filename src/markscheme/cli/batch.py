"""`markscheme batch`: have a provider answer overnight, at its batch price."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from markscheme.cli import model_options
from markscheme.cli.app import app, console, notes
from markscheme.cli.ledger import open_ledger

commands = typer.Typer(
    help="Batch files: write what is missing, read the results back.", no_args_is_help=True
)
app.add_typer(commands, name="batch")


@commands.command("write")
def write(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="Answers, as for judge.")],
    judges: Annotated[
        list[str], typer.Option("--judge", "-j", help="A judge that asks a language model.")
    ],
    model: model_options.Model,
    out: Annotated[Path, typer.Option("--out", "-o", help="The batch file to write.")],
    columns: Annotated[
        str, typer.Option(help="Columns with unusual names: question=q,answer=pred.")
    ] = "",
    format: Annotated[
        str | None, typer.Option(help="jsonl, json, csv, tsv or parquet. [default: found out]")
    ] = None,
    reference_separator: Annotated[str, typer.Option(help="As for judge.")] = "auto",
    on_bad_row: Annotated[str, typer.Option(help="error or skip, as for judge.")] = "error",
    clean: Annotated[str | None, typer.Option(help="As for judge.")] = None,
    model_revision: model_options.Revision = "",
    ledger: model_options.LedgerPlace = None,
) -> None:
    """Write the requests that the ledger has no reply to as an OpenAI-style batch file.

    Give the file to the provider, read the results with `markscheme batch read`, then run
    `markscheme judge` with the same judges and model: it finds its replies in the ledger. Where
    replies call for further requests (a repair, a second stage), write and read once more.
    """
    from markscheme.api import run
    from markscheme.cli.reading import read_options
    from markscheme.contract import parse_judge
    from markscheme.models.chat import write_batch
    from markscheme.models.ledger import LedgerEntry
    from markscheme.tables import AnswersReader

    options = read_options(
        columns=columns,
        format=format,
        reference_separator=reference_separator,
        on_bad_row=on_bad_row,
    )
    missing: list[LedgerEntry] = []
    models = model_options.open_models(
        model=model,
        revision=model_revision,
        base_url=None,
        api_key_env="OPENAI_API_KEY",
        ledger=ledger,
        on_missing=missing.append,
        dry_run=True,
    )
    reader = AnswersReader(list(files), options)
    run(reader, [parse_judge(name) for name in judges], out=None, clean=clean, models=models)
    count = write_batch(missing, out, models.ledger())
    spending = models.budget.spending
    models.close()
    notes.print(
        f"{count:,} requests written to {out}; {spending.known:,} were known already", markup=False
    )


@commands.command("read")
def read(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="The provider's results, errors too.")
    ],
    ledger: model_options.LedgerPlace = None,
    prices: model_options.Prices = None,
    price_share: Annotated[
        float, typer.Option(min=0, help="What a batched call costs beside an ordinary one.")
    ] = 0.5,
) -> None:
    """Read a batch's results into the ledger that it was written with."""
    from markscheme.models.chat import price_table, read_batch

    opened = open_ledger(ledger, must_exist=True)
    try:
        for file in files:
            found = read_batch(file, opened, price_table(prices), share=price_share)
            cost = f", ${found.cost_usd:,.4f}" if found.cost_usd else ""
            console.print(
                f"{file}: {found.replies:,} replies{cost}, {found.failed:,} failed", markup=False
            )
            for reason, count in sorted(found.reasons.items()):
                console.print(f"  {count:,} times: {reason}", markup=False)
    finally:
        opened.close()
