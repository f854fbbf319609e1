"""How marks are spread, and whether people accept the answers with high ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from markscheme.reports.charts import POINTED, WIDTH, altair, light, panels, themed
from markscheme.reports.material import Material
from markscheme.reports.section import Section, pivot_section
from markscheme.results import Column

_BINS = 20
_KINDS = {"people accept": "blue", "people reject": "dark orange", "no label": "grey"}


def marks(material: Material) -> Section | None:
    """A histogram of each judge's marks, split by people's verdict where there is one."""
    known = material.long.filter(pl.col("marks").is_finite())
    if known.is_empty():
        return None
    low, high = float(known["marks"].min()), float(known["marks"].max())  # type: ignore[arg-type]
    low, high = min(low, 0.0), max(high, 1.0)
    edges = np.linspace(low, high, _BINS + 1)
    place = np.clip(
        np.searchsorted(edges, known["marks"].to_numpy(), side="right") - 1, 0, _BINS - 1
    )
    accepted = pl.col("accepted")
    yes, no, none = _KINDS
    kind = (
        pl.when(accepted).then(pl.lit(yes)).when(~accepted).then(pl.lit(no)).otherwise(pl.lit(none))
    )
    counted = (
        known.with_columns(low=edges[place], high=edges[place + 1], people=kind)
        .group_by("judge", "low", "high", "people", maintain_order=True)
        .agg(answers=pl.len())
        .sort("judge", "low", maintain_order=True)
        .with_columns(
            text=pl.format(
                "{}, marks {} to {}, {}: {}",
                "judge",
                *(pl.col(end).round(2) for end in ("low", "high")),
                "people",
                "answers",
            )
        )
    )
    shown = [one for one in _KINDS if one in counted["people"].to_list()]
    return pivot_section(
        key="marks",
        title="How marks are spread",
        caption="Answers by the marks a judge gave them"
        + (", coloured by people's verdict." if material.labelled else "."),
        table="Answers by marks",
        names=("judge", Column("marks", lambda row: f"{row[1]:.2f} to {row[2]:.2f}")),
        rows=list(dict.fromkeys(counted.select("judge", "low", "high").iter_rows())),
        across=shown,
        cells={row[:4]: row[4] for row in counted.iter_rows()},
        missing="0",
        chart=lambda: _histogram(counted, shown),
    )


def _histogram(counted: pl.DataFrame, shown: list[str]) -> Any:
    alt = altair()
    bars = (
        alt.Chart(counted)
        .mark_bar(binSpacing=1)
        .encode(
            x=alt.X("low:Q", bin="binned", title="marks").axis(tickCount=6),
            x2="high:Q",
            y=alt.Y("answers:Q", title="answers").axis(tickCount=5, format=",d"),
            color=alt.Color("people:N", sort=None).scale(
                domain=shown, range=light(*(_KINDS[one] for one in shown))
            ),
            **POINTED,
        )
        .properties(width=WIDTH, height=170)
    )
    return themed(panels(bars, counted["judge"].unique(maintain_order=True).to_list()))
