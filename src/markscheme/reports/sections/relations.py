"""What answers say beside the reference: more, the same, less, or something else."""

from __future__ import annotations

import polars as pl

from markscheme.reports.charts import address, shares
from markscheme.reports.material import Material
from markscheme.reports.section import Section
from markscheme.results import Table, percent
from markscheme.tables import RELATIONS

_COLOURS = dict(zip(RELATIONS, ("green", "blue", "light orange", "dark orange"), strict=True))


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
    found = {(r["judge"], r["system"], r["relation"]): r for r in counted.iter_rows(named=True)}
    names = counted["judge"].unique(maintain_order=True).to_list()
    rows: list[tuple[str, ...]] = []
    links: dict[tuple[int, int], dict[str, str]] = {}
    for name in names:
        for system in material.systems:
            cells = [found.get((name, system, one)) for one in RELATIONS]
            if any(cells):
                for at, one in enumerate(RELATIONS):
                    links[len(rows), 2 + at] = {"judge": name, "system": system, "relation": one}
                rows.append((name, system, *(_cell(cell) for cell in cells)))
    people = " In brackets, the percentage that people accept." if material.labelled else ""
    return Section(
        key="relations",
        title="What answers say beside the reference",
        caption="More than the reference (superior), the same, less, or something else." + people,
        table=Table(
            title="Relations to the reference",
            header=("judge", "system", *RELATIONS),
            rows=tuple(rows),
            numeric=frozenset(RELATIONS),
        ),
        chart=lambda: shares(
            counted.drop("accepted", "labelled").with_columns(
                link=pl.struct("judge", "system", "relation").map_elements(
                    address, return_dtype=pl.String
                )
            ), colour="relation", order=RELATIONS,
            colours=list(_COLOURS.values()), judges=names, systems=material.systems,
        ),
        links=links,
    )  # fmt: skip


def _cell(found: dict[str, int] | None) -> str:
    if found is None:
        return "0"
    if not found["labelled"]:
        return f"{found['answers']:,}"
    return f"{found['answers']:,} ({percent(found['accepted'] / found['labelled'])})"
