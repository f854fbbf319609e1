"""`markscheme research reproduce`: a paper's figures next to ours."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from markscheme.cli import AskedModels, Shown, command, console, notes, opened
from markscheme.flags import Argument, Option
from markscheme_research.options import DataDir, FirstQuestions


@command("research reproduce", example="markscheme research reproduce kamalloo-2023/figure-3")
def reproduce(
    shown: Shown,
    models: AskedModels,
    what: Annotated[
        str | None,
        Argument("A paper, or one of its tables. [default: all]", metavar="[PAPER[/TABLE]]"),
    ] = None,
    data_dir: DataDir = None,
    predictions: Annotated[
        Path | None,
        Option(
            "File of any systems' answers, for figures whose own answers were not released.",
            ("--system-answers",),
        ),
    ] = None,
    questions: FirstQuestions = None,
    page: Annotated[
        bool, Option("Print a Markdown page with every table and figure, the paper's and ours.")
    ] = False,
    names: Annotated[bool, Option("List the papers and tables, and stop.", ("--list",))] = False,
) -> None:
    """Recompute published figures and compare them with the paper's.

    Rows of language models need --model NAME, which runs that model with the paper's own prompts;
    its figures are not those of the paper's model.

    Exit code 0: all figures match, or differ for a recorded reason. 1: a figure differs by more
    than rounding. 2: data are missing.
    """
    from markscheme.errors import DataError
    from markscheme_research.papers import PAPERS, reproduce_tables

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
    if not found.computed:
        raise DataError(next(iter(found.missing)))

    def own() -> None:
        if page:
            console.file.write(found.page())
            return
        for made, result in zip(found.tables, found.computed, strict=True):
            console.print(made.rich())
            console.print(f"{result.name}: {result.summary()}\n", markup=False)

    (replace(shown, format="table") if page else shown).show(found, own)
    for reason, without in found.missing.items():
        said = f"not computed: {', '.join(without)}\n  {reason}"
        notes.print(said, markup=False, soft_wrap=True)
    if found.off:
        off = ", ".join(f"{name} ({count})" for name, count in found.off.items())
        notes.print(f"off by more than rounding: {off}", style="bold red")
        raise typer.Exit(1)
    if found.lacking:
        raise DataError(f"data are missing for {', '.join(found.lacking)}")
