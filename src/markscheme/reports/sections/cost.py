"""Agreement against cost: what a better judge costs."""

from __future__ import annotations

from typing import Any

import polars as pl

from markscheme.reports.charts import POINTED, altair, by_judge, themed
from markscheme.reports.material import Material
from markscheme.reports.section import Section
from markscheme.results import Column, Table, number, percent


def cost(material: Material) -> Section | None:
    """Agreement with people against dollars or, where prices are unknown, seconds of a model."""
    overall = {
        one.judge: one.left_out["accuracy"] for one in material.agreement if one.system is None
    }
    rows: list[dict[str, Any]] = [
        {
            "judge": one.name,
            "agreement": overall[one.name],
            "cost_usd": _per_thousand(one.rows, "cost_usd"),
            "seconds": _per_thousand(one.rows, "seconds"),
            "asks": any(one.rows[name].count() for name in ("tokens_in", "seconds")),
        }
        for one in material.judges
        if one.name in overall
    ]
    spent = [name for name in ("cost_usd", "seconds") if any(row[name] is not None for row in rows)]
    if not spent:
        return None
    measure = spent[0]
    unit, digits = ("dollars", 4) if measure == "cost_usd" else ("seconds of a model", 1)
    # A judge that asks no model pays nothing; of one that asks, null is a price not known.
    unknown = [row["judge"] for row in rows if row["asks"] and row[measure] is None]
    left_out = f"Not drawn, as its cost is not known: {', '.join(unknown)}. " if unknown else ""
    points = [
        {
            "judge": row["judge"],
            "agreement": share.value,
            "spent": (spent_ := row[measure] or 0.0),
            "text": f"{row['judge']}: {percent(share.value)}%, {spent_:.{digits}f} {unit}",
        }
        for row in rows
        if row["judge"] not in unknown and (share := row["agreement"]).value is not None
    ]
    return Section(
        key="cost",
        title="What agreement costs",
        caption=f"Agreement with people against {unit} for 1,000 answers. Judges that ask no model "
        f"are at zero. {left_out}Up and to the left is better.",
        table=Table.of(
            "Agreement and cost of 1,000 answers",
            (
                "judge",
                Column("agreement", format=number(1, scale=100, words=True)),
                Column("dollars", "cost_usd", 4, missing="–"),
                Column("seconds", format=1, missing="–"),
            ),
            rows,
        ),
        chart=lambda: _points(pl.DataFrame(points), unit, material.names),
    )


def _per_thousand(rows: pl.DataFrame, column: str) -> float | None:
    known = rows[column].drop_nulls()
    return None if known.is_empty() else 1000 * float(known.sum()) / rows.height


def _points(table: pl.DataFrame, unit: str, names: list[str]) -> Any:
    alt = altair()
    chart = (
        alt.Chart(table)
        .mark_point(filled=True, size=140, opacity=1)
        .encode(
            x=alt.X("spent:Q", title=f"{unit} for 1,000 answers").axis(tickCount=5),
            y=alt.Y("agreement:Q", title="agreement with people")
            .scale(zero=False, padding=20)
            .axis(format="%", tickCount=5),
            **POINTED,
            **by_judge(names),
        )
    )
    return themed(chart.properties(width=380, height=240))
