"""`markscheme reproduce`: a paper's figures beside ours."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from markscheme.cli.app import console, notes
from markscheme.cli.models import AskedModels, opened
from markscheme.cli.options import Shown, command
from markscheme.cli.output import Format
from markscheme.options import Argument, DataDir, FirstQuestions, Option


@command("reproduce")
def reproduce(
    shown: Shown,
    models: AskedModels,
    what: Annotated[
        str | None, Argument("A paper, or a table of it; else all.", metavar="[PAPER[/TABLE]]")
    ] = None,
    data_dir: DataDir = None,
    predictions: Annotated[
        Path | None,
        Option(
            "Answers of any systems, for figures whose own answers were not released.",
            ("--system-answers",),
        ),
    ] = None,
    questions: FirstQuestions = None,
    page: Annotated[
        bool, Option("Print a page: every table and figure, printed and ours, as Markdown.")
    ] = False,
    names: Annotated[bool, Option("Name the papers and tables, and stop.", ("--list",))] = False,
) -> None:
    """Compute published figures again and set them beside the paper's.

    Rows of language models need --model NAME, which asks that model by the paper's own prompts; its
    figures are not the paper's model's.

    Exit code 0: all as printed, or different for a recorded reason. 1: a figure is off by more than
    rounding. 2: data are missing.
    """
    from markscheme.errors import DataError
    from markscheme.papers import PAPERS, reproduce_tables

    if names:
        for paper in PAPERS.values():
            console.print(f"{paper.name}  {paper.title}", markup=False, style="bold")
            for table in paper.tables:
                extra = f" (needs {table.needs})" if table.needs else ""
                console.print(f"  {paper.name}/{table.name}  {table.title}{extra}", markup=False)
        return
    with opened(models) as asked:
        found = reproduce_tables(
            what,
            data_dir=data_dir,
            models=None if models.model is None else asked,
            predictions=predictions,
            questions=questions,
        )
    results = found.results
    computed = [result for result in results if result.cells]
    needed = [result for result in results if result.missing and not result.table.needs]
    if not computed:
        raise DataError(next(result.missing for result in results))
    if page:
        console.file.write(found.page())
        if shown.out is not None:
            shown.write(found)
    elif shown.format is Format.TABLE:
        for made, result in zip(found.tables, computed, strict=True):
            console.print(made.rich())
            console.print(f"{result.name}: {result.summary()}\n", markup=False)
        shown.write(found)
    else:
        shown.show(found)
    for reason in dict.fromkeys(result.missing for result in results if result.missing):
        lacking = ", ".join(result.name for result in results if result.missing == reason)
        notes.print(f"not computed: {lacking}\n  {reason}", markup=False, soft_wrap=True)
    off = [f"{result.name} ({len(result.off)})" for result in results if result.off]
    if off:
        notes.print(f"off by more than rounding: {', '.join(off)}", style="bold red")
        raise typer.Exit(1)
    if needed:
        raise DataError(f"data are missing for {', '.join(result.name for result in needed)}")
