"""Printing and saving of results that are tables: one place for all statistics commands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from markscheme.cli.app import console, notes

if TYPE_CHECKING:
    import polars as pl

    from markscheme.results import Table, TableResult


class Format(StrEnum):
    """How results are printed."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"
    LATEX = "latex"


Printed = Annotated[Format, typer.Option("--format", help="How results are printed.")]
Out = Annotated[
    Path | None,
    typer.Option("--out", "-o", help="Write results too: .json, .csv, .md, .tex or .txt."),
]
Judges = Annotated[
    str,
    typer.Option(
        "--judges", help="Judges to take, by comma; in a wide table the columns that are judges."
    ),
]
Columns = Annotated[
    str, typer.Option(help="Columns with unusual names: question=q,label=human,system=model.")
]
Answers = Annotated[
    str | None,
    typer.Option(help="The judged file, where judgments lack question, answer or system."),
]
Threshold = Annotated[
    float, typer.Option(help="Accept from this score where a judge gave no verdict.")
]
PositiveFrom = Annotated[
    float | None, typer.Option(help="Grade from which an answer is acceptable.")
]
Seed = Annotated[int, typer.Option(help="Seed of everything random.")]


def read_judged(
    source: str, *, judges: str, columns: str, answers: str | None, threshold: float
) -> pl.DataFrame:
    """Judgments of a file or a run's folder, with questions from the judged file if given."""
    from markscheme.agreement import judged_table

    return judged_table(
        source, judges=judges, columns=columns, answers=answers, threshold=threshold
    )


def read_labelled(source: str, *, column: str | None, columns: str) -> pl.DataFrame:
    """Labels of a file, by the column that holds them."""
    from markscheme.agreement import labelled_table

    return labelled_table(source, column=column, columns=columns)


def answers_beside(source: str) -> str | None:
    """The answers that a run has kept beside its judgments, if `source` is of a run."""
    from markscheme.agreement import answers_of_run

    found = answers_of_run(source)
    return None if found is None else str(found)


def show(result: TableResult, *, output: Format, out: Path | None) -> None:
    """Print a result as a command's `--format` says, and write it to the file of `--out`.

    `--format json` prints exactly what the result's `to_json` gives.
    """
    if out is not None:
        # Before printing: a reader that leaves early (head) must not cost the file.
        result.save(out)
    if output is Format.TABLE:
        for table in result.tables:
            console.print(table.rich())
            for note in table.notes:
                console.print(note, markup=False, soft_wrap=True)
            if table.notes:
                console.print()
    else:
        written: dict[Format, Callable[[], str]] = {
            Format.JSON: result.to_json,
            Format.CSV: result.to_csv,
            Format.MARKDOWN: result.to_markdown,
            Format.LATEX: result.to_latex,
        }
        console.file.write(written[output]())
    if out is not None:
        notes.print(f"written to {out}", markup=False)


def emit(
    tables: Sequence[Table], data: dict[str, Any], *, output: Format, out: Path | None
) -> None:
    """`show` for tables and data that are no result yet."""
    import polars as pl

    from markscheme.results import TableResult

    result = TableResult(frame=pl.DataFrame(), tables=tuple(tables), data=data)
    show(result, output=output, out=out)


def percent(value: float | None, *, signed: bool = False) -> str:
    """A share as a percentage with one decimal."""
    from markscheme.results import share_text

    return share_text(value, signed=signed)
