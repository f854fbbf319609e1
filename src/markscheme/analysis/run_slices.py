"""What a finished run has: labels, and the answers behind a gate that was missed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from markscheme.agreement import Gate
from markscheme.engine import ALL_SYSTEMS, RunReport
from markscheme.results import NO_VALUE
from markscheme.tables import scan_parquet


def labelled_part(report: RunReport) -> tuple[int, int, list[float]]:
    """How many answers of a run have a person's label, how many there are, and the grades given.

    The grades are none where the labels say right and wrong.
    """
    labels = scan_parquet(_answers_file(report)).select("label").collect()["label"]
    grades = labels.drop_nulls().unique().sort().to_list()
    return labels.count(), labels.len(), grades if set(grades) - {0.0, 1.0} else []


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
    return first_rejected(report.judgments, answers, judges)


def _answers_file(report: RunReport) -> Path:
    assert report.folder is not None, "a command's run is in a folder"
    return report.folder / "answers.parquet"


def _within(group: str, slices: Sequence[str]) -> pl.Expr:
    name, _, value = group.partition("=")
    if name in slices:
        return pl.col(name).fill_null(NO_VALUE) == value
    return pl.lit(group == ALL_SYSTEMS) | (pl.col("system") == group)
