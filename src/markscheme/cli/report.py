"""`markscheme report`: a run as one HTML file, and its charts and tables for papers."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from markscheme.cli.app import app, console, notes


class Figures(StrEnum):
    """How charts are written."""

    SVG = "svg"
    PNG = "png"
    PDF = "pdf"
    HTML = "html"
    JSON = "json"


@app.command("report")
def report(
    run: Annotated[
        Path, typer.Argument(metavar="RUN", help="A run's folder, as 'markscheme judge' wrote it.")
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="The HTML file. [default: report.html in RUN]"),
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option(help="People's labels: a file. [default: those that came with the answers]"),
    ] = None,
    label_column: Annotated[str | None, typer.Option(help="The column with labels.")] = None,
    positive_from: Annotated[
        float | None,
        typer.Option(help="Grade from which an answer is acceptable, where labels are grades."),
    ] = None,
    compare: Annotated[
        list[Path] | None,
        typer.Option(help="Another run on the same answers, to stand beside; repeatable."),
    ] = None,
    title: Annotated[str | None, typer.Option(help="[default: the folder's name]")] = None,
    figures: Annotated[
        Path | None, typer.Option(help="A folder for the charts too, a file each.")
    ] = None,
    figure_format: Annotated[
        Figures,
        typer.Option(
            help="svg or pdf for papers, png for slides, html interactive, json Vega-Lite."
        ),
    ] = Figures.SVG,
    tables: Annotated[
        Path | None, typer.Option(help="A folder for the tables too, as LaTeX and Markdown.")
    ] = None,
) -> None:
    """Write a run's report: one HTML file with figures and every answer, which opens offline.

    Charts and tables may be written for papers as well (--figures, --tables).
    """
    from markscheme.errors import MarkschemeError
    from markscheme.report import read_material, write_figures, write_report, write_tables
    from markscheme.report.sections import sections

    if label_column is not None and labels is None:
        raise MarkschemeError("--label-column names a column of --labels FILE; give that too")
    material = read_material(
        run,
        labels=labels,
        label_column=label_column,
        positive_from=positive_from,
        compare=compare or [],
        title=title,
    )
    with notes.status("analysing and drawing"):
        path = write_report(material, out or run / "report.html")
    for note in () if material.joined is None else material.joined.notes():
        notes.print(f"note: {note}", markup=False)
    if not material.labelled:
        notes.print("note: no labels, so nothing on agreement with people; --labels FILE adds it")
    size = path.stat().st_size / 1e6
    console.print(
        f"{path} ({size:.1f} MB, {material.answers.height:,} answers); open it in a browser",
        markup=False,
        soft_wrap=True,
    )
    if figures is not None:
        written = write_figures(sections(material), figures, format=figure_format.value)
        console.print(f"{len(written)} figures in {figures}", markup=False)
    if tables is not None:
        written = write_tables(sections(material), tables)
        console.print(f"{len(written)} tables in {tables}", markup=False)
