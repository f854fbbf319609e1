"""What people would accept of all answers, estimated from those that have a label."""

from __future__ import annotations

from typing import Any

from markscheme.agreement import EstimateResult
from markscheme.reports.charts import dot, dots
from markscheme.reports.material import PEOPLE, Material
from markscheme.reports.section import Section
from markscheme.results import Figure


def people(material: Material) -> Section | None:
    """The table of `estimate`, by system, where only a part of the answers is labelled."""
    found = material.estimated
    if not isinstance(found, EstimateResult):
        return None
    judge, why = material.leading
    return Section(
        key="people",
        title="How many answers people would accept",
        caption=f"Estimated from the labelled answers and from what {judge} says of all"
        + (f" ({why}). " if why else ". ")
        + " ".join(f"{line}." for line in found.lead[:1]),
        table=found.tables[0],
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
