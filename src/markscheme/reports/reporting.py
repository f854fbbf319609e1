"""A run's report with everything beside it: the public `report`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import polars as pl

from markscheme.agreement import labelled_table
from markscheme.errors import MarkschemeError
from markscheme.options import with_keywords
from markscheme.reports.figures import write_figures
from markscheme.reports.html import write_report
from markscheme.reports.material import Material, material_in_memory, read_material
from markscheme.reports.options import ReportOptions
from markscheme.reports.section import Section
from markscheme.reports.sections import sections
from markscheme.results import TableResult, flat_frame
from markscheme.tables import replace_file


class JudgedRun(Protocol):
    """What `markscheme.judge` gives, as far as a report needs it."""

    @property
    def run(self) -> Any:
        """What the run met; its `folder` is None where it was kept in memory."""

    @property
    def judgments(self) -> pl.DataFrame:
        """The judgments table."""

    @property
    def answers(self) -> Any:
        """Gives the answers table."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ReportResult(TableResult):
    """A report that was written. `frame` has a row per judge and system: counts, accuracy, score.

    Attributes:
        path: the HTML file.
        answers: how many it shows.
        labelled: how many of them have a label.
        figures, tables_written: the files beside it that were asked for.
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
    run: str | Path | JudgedRun,
    out: str | Path | None = None,
    options: ReportOptions | None = None,
    *,
    labels: str | Path | None = None,
    compare: Sequence[str | Path] = (),
    **keywords: Any,
) -> ReportResult:
    """Write a run's report: one HTML file with figures and every answer, which opens offline.

    Args:
        run: the folder that `markscheme judge` wrote, or what `markscheme.judge` returned.
        out: the HTML file; None for `report.html` in the run's folder.
        options: see `ReportOptions`.
        labels: people's labels, a file; None takes those that came with the answers.
        compare: folders of other runs on the same answers, whose judges are shown as well.
        keywords: single options, which go before those of `options`.

    Raises:
        RunError: no finished run there, or a run to compare lacks some of the answers.
        DataError, AgreementError: labels cannot be read, do not match, or contradict each other.
        MissingExtraError: the extra `report` is not installed.
        MarkschemeError: `out` is missing for judgments in memory, or `labels` for `label_column`
            or `columns`.
    """
    chosen = with_keywords(ReportOptions, options, keywords)
    if labels is None and (chosen.label_column is not None or chosen.columns):
        option = "--columns" if chosen.label_column is None else "--label-column"
        raise MarkschemeError(f"{option} names a column of --labels FILE; give that too")
    material, place = _material(run, out, chosen, labels=labels, compare=compare)
    if chosen.without_answers:
        material = material.without_reasons()
    path = write_report(material, place, answers=not chosen.without_answers)
    found = sections(material)
    figures = (
        write_figures(found, chosen.figures, format=chosen.figure_format)
        if chosen.figures is not None
        else ()
    )
    written = write_tables(found, chosen.tables) if chosen.tables is not None else ()
    data = {
        "command": "report",
        "title": material.title,
        "path": str(path),
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
        path=path,
        answers=material.answers.height,
        labelled=material.labelled,
        figures=tuple(figures),
        tables_written=tuple(written),
        notes=() if material.joined is None else tuple(material.joined.notes()),
    )


def _material(
    run: str | Path | JudgedRun,
    out: str | Path | None,
    options: ReportOptions,
    *,
    labels: str | Path | None,
    compare: Sequence[str | Path],
) -> tuple[Material, Path]:
    """What a report is made of, and where it is written."""
    folder = run if isinstance(run, str | Path) else run.run.folder
    known = None
    if labels is not None:
        known = labelled_table(labels, column=options.label_column, columns=options.columns)
    if isinstance(run, str | Path) or folder is not None:
        material = read_material(
            folder,
            labels=known,
            positive_from=options.positive_from,
            compare=compare,
            title=options.title,
        )
        return material, Path(out or Path(folder) / "report.html")
    if out is None or compare:
        raise MarkschemeError(
            "these judgments are in no folder; say where the report goes with out=, and compare "
            "runs that are in folders"
        )
    material = material_in_memory(
        run.answers(), run.judgments, labels=known, positive_from=options.positive_from,
        title=options.title or Path(out).stem,
    )  # fmt: skip
    return material, Path(out)


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
