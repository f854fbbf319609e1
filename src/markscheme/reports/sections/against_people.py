"""Agreement of every judge with people."""

from __future__ import annotations

from typing import Any

import polars as pl

from markscheme.agreement import lineage_lines, overview_table
from markscheme.engine import ALL_SYSTEMS
from markscheme.reports.charts import dots
from markscheme.reports.material import Material
from markscheme.reports.section import Section
from markscheme.results import interval


def _chart(material: Material) -> Any:
    """The share of answers on which each judge says what people say, by system."""
    found = [
        {
            "system": one.system or ALL_SYSTEMS, "judge": one.judge, "agreement": share.value,
            "low": share.low, "high": share.high, "interval": interval(share.low, share.high),
        }
        for one in material.agreement
        if (share := one.left_out["accuracy"]).value is not None
    ]  # fmt: skip
    return dots(
        pl.DataFrame(found, infer_schema_length=None), y="system", x="agreement",
        x_title="of labelled answers, judged as people do", judges=material.names, people=False,
    )  # fmt: skip


def against_people(material: Material) -> Section | None:
    """Accuracy, F1, kappa and AUROC of each judge, over all systems' answers."""
    joined = material.joined
    if joined is None:
        return None
    notes = (*joined.notes(), *lineage_lines(joined, material.positive_from))
    table = overview_table(material.agreement, [f"{line}." for line in notes])
    return Section(
        key="agreement",
        title="How far each judge agrees with people",
        caption=(
            "Agreement and F1 in percent, each with its 95% interval, clustered on question. "
            "Answers that were not judged are left out and counted."
        ),
        table=table,
        chart=lambda: _chart(material),
        links={
            (place, 1): {"judge": row[0], "verdict": "differs"}
            for place, row in enumerate(table.rows)
        },
    )
