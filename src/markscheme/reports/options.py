"""Options of reports; their help texts are the command line's."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from markscheme.flags import Columns, Judge, LabelColumn, Option, PositiveFrom, Title

FigureFormat: TypeAlias = Literal["svg", "png", "pdf", "html", "json"]


@dataclass(frozen=True, kw_only=True)
class ReportOptions:
    """What a report has, and what is written with it.

    Attributes:
        label_column: the column with labels, in the file of labels.
        columns: our names of columns to those of the files of judgments, answers and labels.
        positive_from: the grade from which an answer is acceptable; None for labels of 0 and 1.
        judge: whose verdicts the page leads with; None for the one that agrees best with the labels
            (kappa; of equal ones the first), and without labels for the first.
        title: None for the folder's name.
        without_answers: the page has figures only: no question, reference, answer, reason or reply.
        figures: a folder for the charts too, a file each.
        figure_format: of these.
        tables: a folder for the tables too, as LaTeX and Markdown.
    """

    label_column: LabelColumn = None
    columns: Columns = field(default_factory=dict)
    positive_from: PositiveFrom = None
    judge: Judge = None
    title: Title = None
    without_answers: Annotated[
        bool,
        Option(
            "Figures only: leave out questions, references, answers and reasons, for data that "
            "may not be shared."
        ),
    ] = False
    figures: Annotated[
        str | Path | None, Option("Also write the charts to this folder, one file each.")
    ] = None
    figure_format: Annotated[
        FigureFormat,
        Option(
            "svg or pdf for papers, png for slides, html interactive, json Vega-Lite.", rare=True
        ),
    ] = "svg"
    tables: Annotated[
        str | Path | None, Option("Also write the tables to this folder, as LaTeX and Markdown.")
    ] = None
