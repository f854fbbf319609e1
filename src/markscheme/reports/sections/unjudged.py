"""What was not judged, and why."""

from __future__ import annotations

import polars as pl

from markscheme.reports.material import Material
from markscheme.reports.section import Section
from markscheme.results import Table

_REASONS = 3
_LONGEST = 160


def unjudged(material: Material) -> Section | None:
    """Statuses of answers without a judgment, with the commonest reasons."""
    rows = material.long.filter(pl.col("status") != "judged")
    if rows.is_empty():
        return None
    found = (
        rows.group_by("judge", pl.col("status").cast(pl.String), "explanation", maintain_order=True)
        .len()
        .sort("len", descending=True, maintain_order=True)
        .group_by("judge", "status", maintain_order=True)
        .agg(pl.col("len").sum(), pl.col("explanation").drop_nulls().head(_REASONS))
    )
    order = {one.name: place for place, one in enumerate(material.judges)}
    lines: list[tuple[str, ...]] = []
    links: dict[tuple[int, int], dict[str, str]] = {}
    for one in found.sort(pl.col("judge").replace_strict(order)).iter_rows(named=True):
        links[len(lines), 2] = {"judge": one["judge"], "status": one["status"]}
        reasons = "; ".join(text[:_LONGEST] for text in one["explanation"])
        lines.append((one["judge"], one["status"], f"{one['len']:,}", reasons or "no reason given"))
    return Section(
        key="unjudged",
        title="What was not judged",
        caption="Not judged is neither right nor wrong: these answers are in none of the figures.",
        table=Table(
            title="Answers that were not judged",
            header=("judge", "status", "answers", "commonest reasons"),
            rows=tuple(lines),
            numeric=frozenset({"answers"}),
        ),
        links=links,
    )
