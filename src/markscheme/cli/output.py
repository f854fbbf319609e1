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
Judgments = Annotated[
    str,
    typer.Argument(
        metavar="JUDGMENTS",
        help="Judgments: a file (CSV, JSONL, Parquet, ...), ours or another tool's, or the folder "
        "of a run.",
    ),
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
Confidence = Annotated[float, typer.Option(help="Of the intervals.", min=0.5, max=0.9999)]


def read_judged(
    source: str | pl.DataFrame, *, judges: str, columns: str, answers: str | None, threshold: float
) -> pl.DataFrame:
    """Judgments of a file or a run's folder, with questions from the judged file if given."""
    from markscheme.agreement import read_judgments
    from markscheme.options import parse_columns
    from markscheme.tables import judgments_file, read_answers, with_answers

    if answers is None and isinstance(source, str):
        answers = answers_beside(source)
    found = read_judgments(
        judgments_file(source) if isinstance(source, str) else source,
        judges=split(judges) or None,
        threshold=threshold,
        names={k: v for k, v in parse_columns(columns).items() if k != "label"},
    )
    return with_answers(found, read_answers(answers)) if answers else found


def read_labelled(source: str | pl.DataFrame, *, column: str | None, columns: str) -> pl.DataFrame:
    """Labels of a file, by the column that holds them."""
    from markscheme.agreement import read_labels
    from markscheme.options import parse_columns
    from markscheme.tables import KEYS, read_table

    table = read_table(source)
    known = {
        ours: theirs
        for ours, theirs in parse_columns(columns).items()
        if ours in (*KEYS, "label") and theirs in table.columns
    }
    return read_labels(table, column=column, names=known)


def read_both(
    judgments: str,
    labels: str | None,
    *,
    judges: str,
    columns: str,
    answers: str | None,
    threshold: float,
    label_column: str | None,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Judgments and labels, of two files or, where `labels` is None, of one or of a run."""
    from markscheme.options import parse_columns
    from markscheme.tables import judgments_file, numbered, read_table, renamed

    if labels is None and label_column is None:
        labels = answers_beside(judgments)  # A run keeps the labels that came with its answers.
    one = labels is None or labels == judgments
    judged: str | pl.DataFrame = judgments
    if one:
        table = numbered(read_table(judgments_file(judgments)))
        named = label_column or parse_columns(columns).get("label")
        # The label is found first, lest a column such as 'correct' be taken for a verdict too.
        judged = renamed(table, {"label": named} if named else {}, ("label",), keep=split(judges))
        label_column = None
    rows = read_judged(judged, judges=judges, columns=columns, answers=answers, threshold=threshold)
    labelled = judged if one or labels is None else labels
    return rows, read_labelled(labelled, column=label_column, columns=columns)


def answers_beside(source: str) -> str | None:
    """The answers that a run has kept beside its judgments, if `source` is of a run."""
    path = Path(source)
    run = path if path.is_dir() else path.parent if path.name == "judgments.parquet" else None
    answers = None if run is None else run / "answers.parquet"
    return str(answers) if answers is not None and answers.exists() else None


def split(text: str) -> list[str]:
    """`a, b` as a list; commas inside brackets belong to a judge's name."""
    parts, depth, start = [], 0, 0
    for place, character in enumerate(text):
        depth += (character in "([") - (character in ")]")
        if character == "," and not depth:
            parts.append(text[start:place])
            start = place + 1
    parts.append(text[start:])
    return [part.strip() for part in parts if part.strip()]


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
    if value is None:
        return "-"
    return f"{100 * value:+.1f}" if signed else f"{100 * value:.1f}"


def p_text(value: float | None, reason: str | None = None) -> str:
    """A p-value as papers print it."""
    if value is None:
        return f"n/a ({reason})" if reason else "-"
    if not value:
        return "<1e-300"
    return f"{value:.1e}" if value < 0.001 else f"{value:.3f}"
