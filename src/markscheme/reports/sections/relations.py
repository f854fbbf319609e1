"""What answers say compared with the reference: more, the same, less, or something else."""

from __future__ import annotations

import polars as pl

from markscheme.reports.charts import shares, with_links
from markscheme.reports.material import Material
from markscheme.reports.section import Section, pivot_section
from markscheme.results import percent
from markscheme.tables import RELATIONS

_COLOURS = ("green", "blue", "light orange", "dark orange")


def relations(material: Material) -> Section | None:
    """How each system's answers relate to the reference, for judges that say so."""
    known = material.long.filter(pl.col("relation").is_not_null())
    if known.is_empty():
        return None
    counted = known.group_by(
        "judge", "system", pl.col("relation").cast(pl.String), maintain_order=True
    ).agg(
        answers=pl.len(),
        accepted=pl.col("accepted").sum(),
        labelled=pl.col("accepted").count(),
    )
    names = counted["judge"].unique(maintain_order=True).to_list()
    there = set(counted.select("judge", "system").iter_rows())
    people = " In brackets, the percentage that people accept." if material.labelled else ""

    def link(judge: str, system: str, relation: str) -> dict[str, str]:
        return {"judge": judge, "system": system, "relation": relation}

    return pivot_section(
        key="relations",
        title="What answers say compared with the reference",
        caption="More than the reference (superior), the same, less, or something else." + people,
        table="Relations to the reference",
        names=("judge", "system"),
        rows=[
            (name, system)
            for name in names
            for system in material.systems
            if (name, system) in there
        ],
        across=RELATIONS,
        cells={row[:3]: _cell(*row[3:]) for row in counted.iter_rows()},
        form="right",
        missing="0",
        link=link,
        chart=lambda: shares(
            with_links(counted.drop("accepted", "labelled"), link, "judge", "system", "relation"),
            colour="relation",
            order=RELATIONS,
            colours=_COLOURS,
            judges=names,
            systems=material.systems,
        ),
    )


def _cell(answers: int, accepted: int, labelled: int) -> str:
    return f"{answers:,} ({percent(accepted / labelled)})" if labelled else f"{answers:,}"
