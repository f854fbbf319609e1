"""A run's report with its further files: the public `report`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markscheme.agreement import (
    JudgmentsSource,
    TableSource,
    labelled_table,
    names_of_judged,
    open_run,
)
from markscheme.errors import MarkschemeError, MissingExtraError, lacks_extras
from markscheme.flags import with_keywords
from markscheme.reports.figures import write_figures
from markscheme.reports.html import report_html
from markscheme.reports.material import read_material
from markscheme.reports.options import ReportOptions
from markscheme.reports.section import Section
from markscheme.reports.sections import sections
from markscheme.results import TableResult, check_ending, flat_frame
from markscheme.tables import replace_file

_PAGES = (".html", ".htm")
"""Endings of what a report is written to; a browser prints it as PDF."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ReportResult(TableResult):
    """A report that was written. `frame` has a row per judge and system: counts, accuracy, score.

    Attributes:
        path: the HTML file.
        answers: how many it shows.
        labelled: how many of them have a label.
        figures, tables_written: the files next to it that were requested.
        notes: what was met when labels were matched.
    """

    path: Path
    answers: int
    labelled: int
    figures: tuple[Path, ...]
    tables_written: tuple[Path, ...]
    notes: tuple[str, ...]

    @property
    def megabytes(self) -> float:
        """The size of the HTML file, in MB."""
        return self.path.stat().st_size / 1e6


def report(
    run: JudgmentsSource,
    out: str | Path | None = None,
    options: ReportOptions | None = None,
    *,
    labels: JudgmentsSource | None = None,
    answers: TableSource | None = None,
    compare: Sequence[JudgmentsSource] = (),
    **keywords: Any,
) -> ReportResult:
    """Write a run's report: one HTML file with figures and every answer, which opens offline.

    Args:
        run: a run's folder, what `markscheme.judge` returned, or judgments as a file, a frame or
            rows.
        out: the HTML file; None for `report.html` in the run's folder.
        options: see `ReportOptions`.
        labels: people's labels, likewise; None takes those that came with the answers.
        answers: the judged answers, where these judgments come without them.
        compare: other judgments of the same answers, whose judges are shown as well.
        keywords: single options, which go before those of `options`.

    Raises:
        RunError: the run is not finished, or a judge lacks some of the answers.
        UnknownNameError: there is no judge of the name that was given.
        DataError, AgreementError: a table cannot be read, judgments come without answers, or
            labels do not match or contradict each other.
        MissingExtraError: the extra `report` is not installed.
        MarkschemeError: `out` is missing for judgments in no folder or is no HTML file, or `labels`
            is missing for `label_column`, or for `columns` of a run, which has our names.
    """
    if lacks_extras("report"):
        raise MissingExtraError("the report", "report")
    chosen = with_keywords(ReportOptions, options, keywords)
    names = dict(chosen.columns)
    if labels is not None:
        names = names_of_judged(names, run, labels, answers=answers)
    opened = open_run(run, answers=answers, columns=names)
    nothing_else = answers is None and opened.stored_answers is not None
    if labels is None and (chosen.label_column is not None or (chosen.columns and nothing_else)):
        option = "--columns" if chosen.label_column is None else "--label-column"
        raise MarkschemeError(f"{option} requires --labels FILE (Python: labels=...)")
    if out is not None:
        check_ending(out, _PAGES)
    if out is None and opened.folder is None:
        raise MarkschemeError(
            f"these {opened.table.height:,} rows are in no run's folder; say where the report "
            "goes: --out FILE (Python: out=...)"
        )
    known = None
    if labels is not None:
        known = labelled_table(
            labels,
            column=chosen.label_column,
            columns=chosen.columns,
            positive_from=chosen.positive_from,
        )
    target = Path(out or Path(opened.folder or "") / "report.html")
    if target.is_file():
        with target.open("rb") as stream:
            ours = b"<html" in stream.read(1000).lower()
        if not ours:
            raise MarkschemeError(f"{target} is no report and would be lost; choose another --out")
    material = read_material(
        opened,
        labels=known,
        positive_from=chosen.positive_from,
        compare=compare,
        judge=chosen.judge,
        title=chosen.title
        or (target.stem if opened.folder is None and opened.name == "the table" else None),
    )
    if chosen.without_answers:
        material = material.without_reasons()
    found = sections(material)
    page = report_html(material, answers=not chosen.without_answers, found=found)
    replace_file(target, page.encode())
    figures = (
        write_figures(found, chosen.figures, format=chosen.figure_format)
        if chosen.figures is not None
        else ()
    )
    written = write_tables(found, chosen.tables) if chosen.tables is not None else ()
    data = {
        "command": "report",
        "title": material.title,
        "path": str(target),
        "answers": material.answers.height,
        "labelled": material.labelled,
        "figures": [str(one) for one in figures],
        "tables": [str(one) for one in written],
        "records": material.records,
    }
    return ReportResult(
        frame=flat_frame(
            {**one, "not_judged": sum(one["not_judged"].values())} for one in material.records
        ),
        tables=tuple(section.table for section in found),
        data=data,
        path=target,
        answers=material.answers.height,
        labelled=material.labelled,
        figures=tuple(figures),
        tables_written=tuple(written),
        notes=() if material.joined is None else tuple(material.joined.notes()),
    )


def write_tables(sections: Sequence[Section], folder: str | Path) -> list[Path]:
    """Write every section's numbers as LaTeX and as Markdown, named by the section's key."""
    target = Path(folder)
    written = []
    for section in sections:
        for suffix, text in ((".tex", section.table.latex()), (".md", section.table.markdown())):
            path = target / f"{section.key}{suffix}"
            replace_file(path, text.encode())
            written.append(path)
    return written
