"""What was not judged, and why."""

from __future__ import annotations

import polars as pl

from markscheme.reports.material import Material
from markscheme.reports.section import Section
from markscheme.results import Column, Table

_REASONS = 3
_LONGEST = 160


def unjudged(material: Material) -> Section | None:
    """Statuses of answers without a judgment, with the commonest reasons."""
    rows = material.long.filter(pl.col("status") != "judged")
    if rows.is_empty():
        return None
    order = {one.name: place for place, one in enumerate(material.judges)}
    found = (
        rows.group_by("judge", pl.col("status").cast(pl.String), "explanation", maintain_order=True)
        .agg(answers=pl.len())
        .sort("answers", descending=True, maintain_order=True)
        .group_by("judge", "status", maintain_order=True)
        .agg(
            pl.col("answers").sum(),
            pl.col("explanation").drop_nulls().head(_REASONS).str.head(_LONGEST).str.join("; "),
        )
        .sort(pl.col("judge").replace_strict(order))
    )
    return Section(
        key="unjudged",
        title="What was not judged",
        caption="Not judged is neither right nor wrong: these answers are in none of the figures.",
        table=Table.of(
            "Answers that were not judged",
            (
                "judge",
                "status",
                Column("answers", format="count"),
                Column("commonest reasons", lambda row: row["explanation"] or "no reason given"),
            ),
            found,
        ),
        links={
            (place, 2): {"judge": judge, "status": status}
            for place, (judge, status) in enumerate(found.select("judge", "status").iter_rows())
        },
    )
