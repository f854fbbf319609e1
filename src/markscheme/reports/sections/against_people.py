"""Agreement of every judge with people."""

from __future__ import annotations

from typing import Any

from markscheme.agreement import AgreeOptions, lineage_lines, overview_table, scope_agreement
from markscheme.reports.charts import dot, dots
from markscheme.reports.material import Material
from markscheme.reports.section import Section


def _chart(material: Material) -> Any:
    """The share of answers on which each judge says what people say, by system."""
    found = [
        dot(one.system, one.judge, share, x="agreement")
        for one in material.agreement
        if (share := one.left_out["accuracy"]).value is not None
    ]
    return dots(
        found,
        y="system",
        x="agreement",
        x_title="of labelled answers, judged as people do",
        judges=material.names,
        people=False,
    )


def against_people(material: Material) -> Section | None:
    """Accuracy, F1, kappa and AUROC of each judge, over all systems' answers."""
    joined = material.joined
    if joined is None:
        return None
    by_scope = scope_agreement(joined, AgreeOptions(positive_from=material.positive_from))
    notes = (*joined.notes(), *lineage_lines(joined, by_scope))
    table = overview_table(material.agreement, joined, [f"{line}." for line in notes])
    return Section(
        key="agreement",
        title="How far each judge agrees with people",
        caption=(
            "Agreement and F1 in percent, each with its 95% interval. "
            "Answers that were not judged are left out and counted."
        ),
        table=table,
        chart=lambda: _chart(material),
        links={
            (place, 1): {"judge": row[0], "verdict": "differs"}
            for place, row in enumerate(table.rows)
        },
    )
