"""The next commands after a finished run, and the answers behind a gate that was missed."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from markscheme.agreement import Gate
from markscheme.engine import ALL_SYSTEMS, RunReport
from markscheme.errors import lacks_extras
from markscheme.results import NO_VALUE
from markscheme.tables import is_binary, scan_parquet

_FIRST_LABELS = 100
"""Answers that a user without labels is advised to label first, at most."""


def next_commands(report: RunReport) -> dict[str, str]:
    """The commands that people want next after judging, and what each says.

    With labels, what these say of the judge comes first; without, how to come by some comes last.
    """
    labels = _labels(report)
    labelled, answers = labels.count(), labels.len()
    grades = labels.drop_nulls().unique().sort().to_list()
    folder, cut, said = shlex.quote(str(report.folder)), "", ""
    if labelled and not is_binary(labels):
        upper = next(one for one in grades if one >= (grades[0] + grades[-1]) / 2)
        cut = f" --positive-from {upper:g}"
        said = f": grades {grades[0]:g} to {grades[-1]:g}, choose from which is right"
    wanted = {}
    if labelled:
        wanted[f"agree {folder}{cut}"] = f"how often the judge agrees with the labels{said}"
    judges = list(dict.fromkeys(record["judge"] for record in report.records))
    one = f" --judge {shlex.quote(judges[0])}" if len(judges) > 1 else ""
    if 0 < labelled < answers:
        wanted[f"estimate {folder}{one}{cut}"] = "the share of all answers that people accept"
    rejected = " --rejected" if labelled else ""
    wanted[f"failures {folder}{rejected}"] = "what was rejected, and why"
    lacks = " (needs the extra 'report')" if lacks_extras("report") else ""
    wanted[f"report {folder}{cut}"] = f"everything on a page to read and share{lacks}"
    if not labelled:
        count = min(_FIRST_LABELS, answers)
        wanted[f"plan-labels {folder}{one} --count {count} --out labels.csv"] = (
            "a random sample of answers to label"
        )
    return wanted


def rejected_at_gates(
    report: RunReport, gates: Sequence[Gate], slices: Sequence[str] = ()
) -> list[str]:
    """The first answers that judges reject within the systems and slices that missed a gate.

    Args:
        report: a finished run.
        gates: what `agreement.gates` found of its figures.
        slices: the columns that a gate's group may name, as in `topic=history`.

    Returns:
        Lines to read; none where every gate was passed.
    """
    from markscheme.analysis.rejections import first_rejected

    missed = [gate for gate in gates if not gate.passed]
    if not missed:
        return []
    answers = scan_parquet(_answers_file(report)).filter(
        pl.any_horizontal(_within(gate.system, slices) for gate in missed)
    )
    judges = list(dict.fromkeys(gate.judge for gate in missed))
    several = len({record["system"] for record in report.records}) > 1
    return first_rejected(report.judgments, answers, judges, by_system=several)


def count_labels(report: RunReport) -> int:
    """How many of a run's answers have a label; 0 where the run is in no folder."""
    return 0 if report.folder is None else _labels(report).count()


def stored_answers(report: RunReport) -> pl.LazyFrame | None:
    """The answers of a run; None where it is in no folder."""
    return None if report.folder is None else scan_parquet(_answers_file(report))


def _labels(report: RunReport) -> pl.Series:
    return scan_parquet(_answers_file(report)).select("label").collect()["label"]


def _answers_file(report: RunReport) -> Path:
    assert report.folder is not None, "a command's run is in a folder"
    return report.folder / "answers.parquet"


def _within(group: str, slices: Sequence[str]) -> pl.Expr:
    name, _, value = group.partition("=")
    if name in slices:
        return pl.col(name).fill_null(NO_VALUE) == value
    return pl.lit(group == ALL_SYSTEMS) | (pl.col("system") == group)
