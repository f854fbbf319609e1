"""Agreement against cost: what a better judge costs."""

from __future__ import annotations

from typing import Any

import polars as pl

from markscheme.reports.charts import altair, by_judge, themed
from markscheme.reports.material import Material
from markscheme.reports.section import Section
from markscheme.results import Column, Table, number

_NOTHING = 0.0
"""A judge that asks no model pays nothing."""


def cost(material: Material) -> Section | None:
    """Agreement with people against dollars or, where prices are unknown, seconds of a model."""
    spent = pl.DataFrame(
        [
            {
                "judge": one.name,
                "cost_usd": _per_thousand(one.rows, "cost_usd"),
                "seconds": _per_thousand(one.rows, "seconds"),
            }
            for one in material.judges
        ],
        schema={"judge": pl.String, "cost_usd": pl.Float64, "seconds": pl.Float64},
    )
    overall = {one.judge: one for one in material.agreement if one.system is None}
    measure = "cost_usd" if spent["cost_usd"].null_count() < spent.height else "seconds"
    if not overall or spent[measure].null_count() == spent.height:
        return None
    table = spent.with_columns(
        agreement=pl.col("judge").map_elements(
            lambda name: overall[name].left_out["accuracy"].value, return_dtype=pl.Float64
        ),
        spent=pl.col(measure).fill_null(_NOTHING),
    )
    unit = "dollars" if measure == "cost_usd" else "seconds of a model"
    return Section(
        key="cost",
        title="What agreement costs",
        caption=f"Agreement with people against {unit} for 1,000 answers. Judges that ask no model "
        "are at zero. Up and to the left is better.",
        table=Table.of(
            "Agreement and cost of 1,000 answers",
            (
                "judge",
                Column(
                    "agreement",
                    lambda row: overall[row["judge"]].left_out["accuracy"],
                    number(1, scale=100, words=True),
                ),
                Column("dollars", "cost_usd", 4, missing="–"),
                Column("seconds", format=1, missing="–"),
            ),
            table,
        ),
        chart=lambda: _points(table.drop_nulls("agreement"), unit, material.names),
    )


def _per_thousand(rows: pl.DataFrame, column: str) -> float | None:
    known = rows[column].drop_nulls()
    return None if known.is_empty() else 1000 * float(known.sum()) / rows.height


def _points(table: pl.DataFrame, unit: str, names: list[str]) -> Any:
    alt = altair()
    chart = alt.Chart(table).mark_point(filled=True, size=140, opacity=1).encode(
        x=alt.X("spent:Q", title=f"{unit} for 1,000 answers").axis(tickCount=5),
        y=alt.Y("agreement:Q", title="agreement with people")
        .scale(zero=False, padding=20).axis(format="%", tickCount=5),
        tooltip=["judge", "spent", alt.Tooltip("agreement:Q", format=".1%")],
        **by_judge(names),
    )  # fmt: skip
    return themed(chart.properties(width=380, height=240))
