"""`markscheme report`: a run as one HTML file, and its charts and tables for papers."""

from __future__ import annotations

from typing import Annotated

from markscheme.cli.app import console, notes
from markscheme.cli.options import Judgments, Out, Shown, command
from markscheme.flags import Answers, Default, Fields, Labels, Option
from markscheme.reports import ReportOptions


@command("report", example="markscheme report runs/answers-6dae129e")
def report(
    judgments: Judgments,
    options: ReportOptions,
    shown: Annotated[Shown, Fields(only=("format", "quiet"))],
    out: Annotated[Out, Default("report.html in the run's folder")] = None,
    labels: Annotated[Labels, Default("those that came with the answers")] = None,
    answers: Answers = None,
    compare: Annotated[
        tuple[str, ...],
        Option("Other judgments of the same answers to include; repeatable."),
    ] = (),
) -> None:
    """Write a run's report: one HTML file with figures and every answer, which opens offline.

    --figures and --tables also write charts and tables for papers. --format prints the page's
    figures instead of its path.
    """
    from markscheme.reports import report as write

    with notes.status("analysing and drawing"):
        found = write(judgments, out, options, labels=labels, answers=answers, compare=compare)
    for note in found.notes:
        shown.note(f"note: {note}")
    if not found.labelled:
        shown.note("note: no labels, so nothing on agreement with people; --labels FILE adds it")
    if shown.format != "table":
        shown.show(found)
        return
    console.print(
        f"{found.path} ({found.megabytes:.1f} MB, {found.answers:,} answers); open it in a browser",
        soft_wrap=True,
    )
    if options.figures is not None:
        console.print(f"{len(found.figures)} figures in {options.figures}")
    if options.tables is not None:
        console.print(f"{len(found.tables_written)} tables in {options.tables}")
