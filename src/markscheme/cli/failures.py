"""`markscheme failures`: why accepted answers fail exact match, and why judges err."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from markscheme.cli.app import app, notes
from markscheme.cli.output import (
    Answers,
    Columns,
    Format,
    Judges,
    Out,
    PositiveFrom,
    Printed,
    Threshold,
    emit,
)

if TYPE_CHECKING:
    import polars as pl


@app.command("failures")
def failures(
    judged: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="Labelled answers, or judgments: a file, ours or another tool's, or a run's "
            "folder.",
        ),
    ],
    labels: Annotated[
        str | None, typer.Option(help="People's labels. [default: those in FILE]")
    ] = None,
    label_column: Annotated[str | None, typer.Option(help="The column with labels.")] = None,
    trusted: Annotated[
        str | None,
        typer.Option(help="Take this judge's verdicts in place of people's, where none labelled."),
    ] = None,
    judges: Judges = "",
    columns: Columns = "",
    answers: Answers = None,
    threshold: Threshold = 0.5,
    positive_from: PositiveFrom = None,
    judge_errors: Annotated[
        bool,
        typer.Option("--judge-errors", help="Sort each judge's errors too (Wang et al. 2023)."),
    ] = False,
    examples: Annotated[int, typer.Option(min=0, help="Answers to show of every mode.")] = 1,
    details: Annotated[
        Path | None,
        typer.Option(help="Write every tagged answer: .jsonl, .csv or .parquet."),
    ] = None,
    output: Printed = Format.TABLE,
    out: Out = None,
) -> None:
    """Say why answers that people accept fail exact match, mode by mode, and who catches them.

    The modes are those of Kamalloo et al. (2023), section 5; every tag comes with its evidence.
    """
    from markscheme.analysis import error_rates, failure_modes
    from markscheme.analysis import judge_errors as find_errors
    from markscheme.cli import failure_tables as shown
    from markscheme.cli.failure_inputs import read_accepted
    from markscheme.models import Models

    table, verdicts = read_accepted(
        judged,
        labels=labels,
        label_column=label_column,
        trusted=trusted,
        judges=judges,
        columns=columns,
        answers=answers,
        threshold=threshold,
        positive_from=positive_from,
    )
    modes = failure_modes(table, Models())
    tables = [shown.modes_table(modes, examples=examples)]
    data: dict[str, Any] = {"command": "failures", "modes": modes.to_dicts()}
    if verdicts is not None:
        rates = error_rates(verdicts, modes)
        tables.append(shown.rates_table(rates))
        data["error_rates"] = rates.to_dicts()
        if judge_errors:
            errors = find_errors(
                verdicts.join(
                    table.select("answer_id", "question", "references", "answer", "accepted"),
                    on="answer_id",
                )
            )
            tables.append(shown.errors_table(errors, examples=examples))
            data["judge_errors"] = errors.to_dicts()
    elif judge_errors:
        notes.print("note: no judge's verdicts here, so no errors of judges", markup=False)
    if details is not None:
        _write(modes.drop("row"), details)
    emit(tables, data, output=output, out=out)


def _write(table: pl.DataFrame, path: Path) -> None:
    import polars as pl

    from markscheme.errors import MarkschemeError

    flat = table.with_columns(pl.col("references").list.join(" || "))
    match path.suffix.lower():
        case ".jsonl":
            table.write_ndjson(path)
        case ".csv":
            flat.write_csv(path)
        case ".parquet":
            table.write_parquet(path)
        case other:
            raise MarkschemeError(f"--details {path}: .jsonl, .csv or .parquet, not {other!r}")
    notes.print(f"written to {path}", markup=False)
