"""Figures of a finished run by slice, and the answers behind a gate that was missed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from markscheme.engine import ALL_SYSTEMS, RunReport
from markscheme.results import NO_VALUE, slice_records
from markscheme.tables import scan_parquet


def slice_figures(report: RunReport, slices: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
    """By slice column: one record per judge and value, as `summarise` gives them for systems."""
    answers = scan_parquet(_answers_file(report)) if slices else pl.LazyFrame()
    return {name: slice_records(report.judgments, answers, name) for name in slices}


def has_labels(report: RunReport) -> bool:
    """Whether some answer of a run has a person's label."""
    labels = scan_parquet(_answers_file(report)).select(pl.col("label").count())
    return bool(labels.collect().item())


def rejected_in_groups(
    report: RunReport, groups: Sequence[str], judges: Sequence[str], slices: Sequence[str]
) -> list[str]:
    """The first answers that judges reject within systems and slices, as lines.

    Args:
        report: a finished run.
        groups: systems, or slices such as `topic=history`.
        judges: whose verdicts count.
        slices: the columns that slices may name.
    """
    from markscheme.analysis.rejections import first_rejected

    answers = scan_parquet(_answers_file(report)).filter(
        pl.any_horizontal(_within(group, slices) for group in groups)
    )
    return first_rejected(report.judgments, answers, judges)


def _answers_file(report: RunReport) -> Path:
    assert report.folder is not None, "a command's run is in a folder"
    return report.folder / "answers.parquet"


def _within(group: str, slices: Sequence[str]) -> pl.Expr:
    name, _, value = group.partition("=")
    if name in slices:
        return pl.col(name).fill_null(NO_VALUE) == value
    return pl.lit(group == ALL_SYSTEMS) | (pl.col("system") == group)
