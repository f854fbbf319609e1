"""`markscheme reproduce`: a paper's figures beside ours."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from markscheme.cli.app import app, console, notes

if TYPE_CHECKING:
    from markscheme.papers import Cell, Reproduced


class Format(StrEnum):
    """How results are printed."""

    TABLE = "table"
    MARKDOWN = "markdown"
    JSON = "json"


@app.command("reproduce")
def reproduce(
    what: Annotated[
        str | None,
        typer.Argument(metavar="[PAPER[/TABLE]]", help="A paper, or a table of it; else all."),
    ] = None,
    data_dir: Annotated[
        Path | None,
        typer.Option(
            "--data-dir", help="Folder with the data (else MARKSCHEME_DATA, else your cache)."
        ),
    ] = None,
    output: Annotated[Format, typer.Option("--format", help="How to print it.")] = Format.TABLE,
    names: Annotated[
        bool, typer.Option("--list", help="Name the papers and tables, and stop.")
    ] = False,
) -> None:
    """Compute published figures again and set them beside the paper's.

    Exit code 0: all as printed, or different for a recorded reason. 1: a figure is off by more than
    rounding. 2: data are missing.
    """
    from markscheme.errors import DataError
    from markscheme.papers import PAPERS
    from markscheme.papers import reproduce as compute

    if names:
        for paper in PAPERS.values():
            console.print(f"{paper.name}  {paper.title}", markup=False, style="bold")
            for table in paper.tables:
                extra = f" (needs {table.needs})" if table.needs else ""
                console.print(f"  {paper.name}/{table.name}  {table.title}{extra}", markup=False)
        return
    results = compute(what, data_dir=data_dir)
    computed = [result for result in results if result.cells]
    needed = [result for result in results if result.missing and not result.table.needs]
    if not computed:
        raise DataError(next(result.missing for result in results))
    _print(results, output)
    for reason in dict.fromkeys(result.missing for result in results if result.missing):
        lacking = ", ".join(result.name for result in results if result.missing == reason)
        notes.print(f"not computed: {lacking}\n  {reason}", markup=False, soft_wrap=True)
    off = [f"{result.name} ({len(result.off)})" for result in results if result.off]
    if off:
        notes.print(f"off by more than rounding: {', '.join(off)}", style="bold red")
        raise typer.Exit(1)
    if needed:
        raise DataError(f"data are missing for {', '.join(result.name for result in needed)}")


def _print(results: list[Reproduced], output: Format) -> None:
    import orjson

    from markscheme.results import Table

    if output is Format.JSON:
        entries = [_entry(result) for result in results]
        print(orjson.dumps(entries, option=orjson.OPT_INDENT_2).decode())
        return
    for result in results:
        if not result.cells:
            continue
        table = Table(
            title=f"{result.name}: {result.table.title}",
            header=("row", "figure", "paper", "ours", "difference", "tolerance", "outcome"),
            rows=tuple(_row(cell) for cell in result.cells),
            numeric=frozenset({"paper", "ours", "difference", "tolerance"}),
            notes=(result.summary(),),
        )
        if output is Format.MARKDOWN:
            print(table.markdown())
        else:
            console.print(table.rich())
            console.print(f"{result.name}: {result.summary()}\n", markup=False)


def _row(cell: Cell) -> tuple[str, ...]:
    def shown(value: float | None, sign: str = "") -> str:
        return "-" if value is None else f"{value:{sign},.{cell.digits}f}"

    difference = "0" if cell.difference == 0 else shown(cell.difference, "+")
    outcome = f"{cell.status}: {cell.reason}" if cell.reason and cell.status != "same" else ""
    return (
        cell.row,
        cell.column,
        shown(cell.paper),
        shown(cell.ours),
        difference,
        f"{cell.tolerance:.{cell.digits + 1}f}",
        outcome or cell.status,
    )


def _entry(result: Reproduced) -> dict[str, Any]:
    import dataclasses

    cells = [
        {
            **dataclasses.asdict(cell),
            "difference": cell.difference,
            "tolerance": cell.tolerance,
            "status": cell.status,
        }
        for cell in result.cells
    ]
    return {
        "paper": result.paper.name,
        "table": result.table.name,
        "title": result.table.title,
        "missing": result.missing or None,
        "cells": cells,
    }
