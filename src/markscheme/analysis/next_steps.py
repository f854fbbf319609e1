"""The next commands after a finished run, and the answers behind a gate that was missed."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

import polars as pl

from markscheme.agreement import Gate
from markscheme.engine import ALL_SYSTEMS, RunReport
from markscheme.errors import lacks_extras
from markscheme.results import NO_VALUE, labels_of
from markscheme.tables import is_binary

_FIRST_LABELS = 100
"""Answers that a user without labels is advised to label first, at most."""

_FIRST_REJECTED = 5
"""Answers that are named where a gate was missed, at most."""


def next_commands(report: RunReport) -> dict[str, str]:
    """The commands that people want next after judging, and what each says.

    With labels, what these say of the judge comes first; without, how to come by some comes last.
    """
    answers = report.answers
    assert answers is not None, "a command's run is in a folder"
    labels = labels_of(answers)
    labelled, whole = labels.count(), labels.len()
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
    if 0 < labelled < whole:
        wanted[f"estimate {folder}{one}{cut}"] = "the share of all answers that people accept"
    rejected = " --rejected" if labelled else ""
    wanted[f"failures {folder}{rejected}"] = "what was rejected, and why"
    lacks = " (needs the extra 'report')" if lacks_extras("report") else ""
    wanted[f"report {folder}{cut}"] = f"everything on a page to read and share{lacks}"
    if not labelled:
        count = min(_FIRST_LABELS, whole)
        wanted[f"plan-labels {folder}{one} --count {count} --out labels.csv"] = (
            "a random sample of answers to label"
        )
    return wanted


def rejected_at_gates(
    report: RunReport, gates: Sequence[Gate], slices: Sequence[str] = ()
) -> list[str]:
    """The first answers that judges reject within the systems and slices where each missed a gate.

    Args:
        report: a finished run.
        gates: what `agreement.gates` found of its figures.
        slices: the columns that a gate's group may name, as in `topic=history`.

    Returns:
        Lines to read; none where every gate was passed, or the run is in memory.
    """
    from markscheme.analysis.rejections import in_a_line, with_rejections

    missed = [gate for gate in gates if not gate.passed]
    answers = report.answers if missed else None
    if answers is None:
        return []
    within = {f"gate {n}": _within(gate.system, slices) for n, gate in enumerate(missed)}
    of_gates = (
        (pl.col("judge") == g.judge) & pl.col(n) for n, g in zip(within, missed, strict=True)
    )
    mine = (
        report.judgments.filter(~pl.col("verdict").fill_null(value=False))
        .join(
            answers.select("answer_id", **within).unique("answer_id"),
            on="answer_id",
            maintain_order="left",
        )
        .filter(pl.any_horizontal(of_gates))
    )
    total = mine.select(pl.len()).collect(engine="streaming").item()
    columns = ("answer_id", "judge", "status", "explanation", "relation")
    first = mine.select(columns).head(_FIRST_REJECTED).collect()
    texts = answers.filter(pl.col("answer_id").is_in(first["answer_id"].to_list())).select(
        "answer_id", "question", "references", "answer", "reference_kind", "system"
    )
    rows = first.join(
        texts.collect().unique("answer_id"), on="answer_id", how="left", maintain_order="left"
    ).with_columns(pl.col("relation", "status").cast(pl.String))
    several = len({record["system"] for record in report.records}) > 1
    lines = [
        f"{'rejected' if row['status'] == 'judged' else row['status']} by {row['judge']}"
        f"{', ' + str(row['system']) if several else ''}: {in_a_line(row)}"
        for row in with_rejections(rows).iter_rows(named=True)
    ]
    more = total - _FIRST_REJECTED
    return [*lines, f"and {more:,} more"] if more > 0 else lines


def count_labels(report: RunReport) -> int:
    """How many of a run's answers have a label; 0 where the run is in no folder here."""
    answers = report.answers
    return 0 if answers is None or report.folder is None else labels_of(answers).count()


def _within(group: str, slices: Sequence[str]) -> pl.Expr:
    name, _, value = group.partition("=")
    if name in slices:
        return pl.col(name).fill_null(NO_VALUE) == value
    return pl.lit(group == ALL_SYSTEMS) | (pl.col("system") == group)
