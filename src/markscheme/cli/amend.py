"""`markscheme amend`: references made better by people's labels."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from markscheme.cli.app import app, notes
from markscheme.cli.output import (
    Columns,
    Format,
    PositiveFrom,
    Printed,
    emit,
    percent,
    read_labelled,
)

if TYPE_CHECKING:
    import polars as pl

    from markscheme.results import Table


@app.command("amend")
def amend(
    answers: Annotated[
        str, typer.Argument(metavar="ANSWERS", help="Questions, references and answers.")
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", help="File to write: .jsonl, .csv, .tsv or .parquet.")
    ],
    labels: Annotated[
        str | None,
        typer.Option(help="Labels of (question, answer). [default: those in ANSWERS]"),
    ] = None,
    label_column: Annotated[str | None, typer.Option(help="The column with labels.")] = None,
    dataset: Annotated[
        bool,
        typer.Option("--dataset", help="Write questions and references only, a row a question."),
    ] = False,
    columns: Columns = "",
    reference_separator: Annotated[
        str, typer.Option(help="What separates references in one text; / for EVOUNA.")
    ] = "auto",
    positive_from: PositiveFrom = None,
    output: Printed = Format.TABLE,
) -> None:
    """Amend references by labels: accepted answers join them, rejected ones leave them.

    The protocol of Kamalloo et al. (2023, section 4.3). Writes the answers with amended references
    and prints what exact match makes of each system before and after.
    """
    import polars as pl

    from markscheme.agreement import amend_references, match_amended
    from markscheme.cli.reading import read_options
    from markscheme.errors import DataError
    from markscheme.metrics import exact_match
    from markscheme.tables import read_answers, write_answers

    def matches(table: pl.DataFrame) -> pl.Series:
        return exact_match(table["answer"], table["references"]) == 1

    table = read_answers(
        answers, read_options(columns=columns, reference_separator=reference_separator)
    )
    apart = labels or (answers if label_column else None)
    known = read_labelled(apart, column=label_column, columns=columns) if apart else table
    if positive_from is not None:
        known = known.with_columns((pl.col("label") >= positive_from).cast(pl.Float64))
    if "question" not in known.columns or "answer" not in known.columns:
        raise DataError("labels that amend references need the columns 'question' and 'answer'")
    if known["label"].null_count() == known.height:
        raise DataError(
            f"{labels or answers} has no labels to amend references by; give --labels FILE, or "
            "name their column with --label-column"
        )
    amended = amend_references(table, known)
    before = matches(table.with_columns(pl.col("answer").fill_null(""))).fill_null(value=False)
    after = match_amended(table, known, matches)
    questions = amended.unique("question", keep="first", maintain_order=True)
    plain_columns = amended.drop("references_added", "references_removed")
    if dataset:
        write_answers(questions.select("question", "references"), out)
    else:
        write_answers(plain_columns, out)
    counts = {
        "questions": questions.height,
        "questions_amended": questions.filter(
            (pl.col("references_added") > 0) | (pl.col("references_removed") > 0)
        ).height,
        "references_added": int(questions["references_added"].sum()),
        "references_removed": int(questions["references_removed"].sum()),
        "labels": known["label"].count(),
        "answers": table.height,
    }
    systems = _by_system(table, before, after)
    data: dict[str, Any] = {"command": "amend", **counts, "systems": systems}
    emit([_table(systems, counts)], data, output=output, out=None)
    notes.print(f"written to {out}", markup=False)


def _by_system(table: pl.DataFrame, before: pl.Series, after: pl.Series) -> list[dict[str, Any]]:
    import polars as pl

    return (
        table.select(pl.col("system").fill_null("(no system)"))
        .with_columns(before.alias("before"), after.alias("after"))
        .group_by("system", maintain_order=True)
        .agg(pl.len().alias("answers"), pl.col("before").mean(), pl.col("after").mean())
        .to_dicts()
    )


def _table(systems: list[dict[str, Any]], counts: dict[str, int]) -> Table:
    from markscheme.results import Table

    rows = tuple(
        (
            row["system"],
            f"{row['answers']:,}",
            percent(row["before"]),
            percent(row["after"]),
            percent(row["after"] - row["before"], signed=True),
        )
        for row in systems
    )
    header = ("system", "answers", "before", "after", "difference")
    return Table(
        title="Exact match in per cent, before and after amending the references",
        header=header,
        rows=rows,
        numeric=frozenset(header[1:]),
        notes=(
            f"{counts['labels']:,} labels amended the references of "
            f"{counts['questions_amended']:,} of {counts['questions']:,} questions: "
            f"{counts['references_added']:,} joined, {counts['references_removed']:,} left "
            "(counted in a question's first row)",
        ),
    )
