"""`markscheme hierarchy`: a run's answer hierarchy, tested against people, as Yao & Barbosa do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from markscheme.cli.app import app, notes
from markscheme.cli.output import (
    Answers,
    Columns,
    Format,
    Judges,
    Judgments,
    Out,
    PositiveFrom,
    Printed,
    emit,
    read_both,
    read_judged,
    split,
)

if TYPE_CHECKING:
    import polars as pl


@app.command("hierarchy")
def hierarchy(
    judgments: Judgments,
    labels: Annotated[
        str | None,
        typer.Option(help="People's labels: a file with a label column. [default: the same file]"),
    ] = None,
    label_column: Annotated[str | None, typer.Option(help="The column with labels.")] = None,
    judges: Judges = "",
    without: Annotated[
        str,
        typer.Option(
            help="Systems to leave out of the tests of order, by comma; the paper leaves out "
            "DPR+FiD, whose answers are spans."
        ),
    ] = "",
    roc: Annotated[
        bool, typer.Option("--roc", help="Draw the ROC curve of the marks in letters.")
    ] = False,
    columns: Columns = "",
    answers: Answers = None,
    positive_from: PositiveFrom = None,
    output: Printed = Format.TABLE,
    out: Out = None,
) -> None:
    """Which sets the answers fall into, and whether people accept more of the higher ones.

    Counts of the four sets, one-tailed Fisher tests between neighbours, F1 and accuracy under every
    policy of what counts as right, AUROC and Brunner-Munzel test of the marks under every scheme
    that the run knows of, and what was not judged. Without labels, the counts alone. JSON output
    (--format json, or --out FILE.json) has the ROC curve as data.
    """
    import polars as pl

    from markscheme.agreement import as_binary, join_labels
    from markscheme.cli.hierarchy_tables import findings, roc_picture, tables_of
    from markscheme.errors import AgreementError, DataError
    from markscheme.results import plain

    kept: dict[str, Any] = {"judges": judges, "columns": columns, "answers": answers}
    accepted: pl.Series | None = None
    said: list[str] = []
    try:
        rows, known = read_both(judgments, labels, threshold=0.5, label_column=label_column, **kept)
    except DataError:
        if labels is not None or label_column is not None:
            raise
        rows = read_judged(judgments, threshold=0.5, **kept)
        notes.print("no labels in this file, so the sets are counted only; give some by --labels")
    else:
        joined = join_labels(rows, known)
        rows, said = joined.rows, joined.notes()
        accepted = pl.Series("accepted", as_binary(rows["label"], positive_from=positive_from))
    if "relation" not in rows.columns or not rows["relation"].count():
        raise AgreementError(
            "no judge here gives relations; 'markscheme judge FILE --judge entailment' does"
        )
    found: dict[str, Any] = {}
    for judge in rows["judge"].unique(maintain_order=True):
        own = rows["judge"] == judge
        part = rows.filter(own)
        if part["relation"].count():
            found[judge] = findings(
                part, None if accepted is None else accepted.filter(own), without=split(without)
            )
    data = {"command": "hierarchy", "matched": said, "judges": plain(found)}
    emit(tables_of(found, said), data, output=output, out=out)
    if roc and output is Format.TABLE:
        for judge, one in found.items():
            if "roc" in one:
                print(roc_picture(one["roc"], title=f"ROC curve of the marks of {judge}"))
