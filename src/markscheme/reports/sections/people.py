"""What people would accept of all answers, estimated from those that have a label."""

from __future__ import annotations

from typing import Any

from markscheme.agreement import EstimateResult
from markscheme.engine import ALL_SYSTEMS
from markscheme.reports.charts import dot, dots
from markscheme.reports.material import PEOPLE, Material
from markscheme.reports.section import Section
from markscheme.results import Column, Figure, Table, interval_note, number, out_of


def people(material: Material) -> Section | None:
    """The estimate of human accuracy, as `estimate` gives it; where only a part is labelled."""
    found = material.estimated
    if not isinstance(found, EstimateResult):
        return None
    judge, why = material.leading
    refusals = [f"{one.system}: {one.refusal}" for one in found.estimates if one.refusal]
    figures = [("", one.figure) for one in found.estimates if one.figure is not None]
    return Section(
        key="people",
        title="How many answers people would accept",
        caption=f"Estimated from the labelled answers and from what {judge} says of all"
        + (f" ({why}). " if why else ". ")
        + " ".join(f"{line}." for line in found.lead[:1]),
        table=Table.of(
            "Answers that people would accept, in percent, with 95% interval",
            (
                Column("system", missing=ALL_SYSTEMS),
                Column("people would accept", "figure", number(1, scale=100, words=True), "n/a"),
                Column(f"{judge} alone", "judge_mean", "share", "n/a"),
                Column("labelled", lambda one: out_of(one.labelled, one.answers), "right"),
            ),
            found.estimates,
            (*interval_note(figures, found.estimates[0].population), *refusals),
        ),
        chart=lambda: _chart(found, judge),
    )


def _chart(found: EstimateResult, judge: str) -> Any:
    alone = [
        dot(one.system, judge, Figure(value=one.judge_mean), x="accepted")
        for one in found.estimates
        if one.judge_mean is not None
    ]
    known = [
        dot(one.system, PEOPLE, one.figure, x="accepted")
        for one in found.estimates
        if one.figure is not None
    ]
    return dots(
        [*alone, *known],
        y="system",
        x="accepted",
        x_title="answers accepted",
        judges=[judge],
        people=True,
    )
