"""Why exact match rejects answers that people accept, and who else does (Kamalloo, section 5)."""

from __future__ import annotations

from typing import Any

import polars as pl

from markscheme.analysis import GROUPS, MODES
from markscheme.reports.charts import (
    POINTED,
    WIDTH,
    address,
    altair,
    dots,
    light,
    themed,
    with_links,
)
from markscheme.reports.material import Material
from markscheme.reports.section import Section, pivot_section
from markscheme.results import Column, Table, percent

_COLOURS = dict(
    zip(GROUPS, ("blue", "teal", "ochre", "green", "purple", "red", "grey"), strict=True)
)


def label(mode: str) -> str:
    """A mode's name as people read it."""
    return mode.replace("_", " ").replace("em in ", "EM in ")


def modes(material: Material) -> Section | None:
    """How many answers fail in each mode (Figure 3)."""
    if not material.labelled or material.modes.is_empty():
        return None
    total = material.modes.height
    counts = dict(material.modes.group_by("mode").len().iter_rows())
    shown = [
        mode for group in GROUPS for mode in MODES if MODES[mode].group == group and mode in counts
    ]
    return Section(
        key="modes",
        title="Why exact match rejects right answers",
        caption=(
            f"Failure modes of the {total:,} answers that people accept and exact match rejects "
            "(Kamalloo et al. 2023, section 5). Rules tag them; the evidence for a tag "
            "is listed with its answer."
        ),
        table=Table.of(
            "Failure modes of exact match",
            (
                Column("group", lambda mode: MODES[mode].group),
                Column("mode", label),
                Column("answer and reference differ in", lambda mode: MODES[mode].meaning),
                Column("answers", counts.get, "count"),
                Column("percent", lambda mode: counts[mode] / total, "share"),
            ),
            shown,
        ),
        chart=lambda: _bars(shown, counts, total),
        links={(place, 3): {"mode": mode} for place, mode in enumerate(shown)},
    )


def _bars(shown: list[str], counts: dict[str, int], total: int) -> Any:
    alt = altair()
    table = pl.DataFrame(
        {
            "mode": [label(mode) for mode in shown],
            "group": [MODES[mode].group for mode in shown],
            "share": [counts[mode] / total for mode in shown],
            "percent": [f"{percent(counts[mode] / total)}%" for mode in shown],
            "text": [
                f"{label(mode)}: {counts[mode]:,} answers, {percent(counts[mode] / total)}%"
                for mode in shown
            ],
            "link": [address({"mode": mode}) for mode in shown],
        }
    )
    groups = table["group"].unique(maintain_order=True).to_list()
    colours = light(*(_COLOURS[group] for group in groups))
    base = alt.Chart(table).encode(y=alt.Y("mode:N", sort=None, title=None))
    bars = base.mark_bar(height={"band": 0.72}).encode(
        x=alt.X("share:Q", title="of these answers").axis(format="%", tickCount=5),
        color=alt.Color("group:N", sort=None).scale(domain=groups, range=colours),
        href="link:N",
        **POINTED,
    )
    ink = light("ink")[0]
    text = base.mark_text(align="left", dx=4, fontSize=11, color=ink).encode(
        x="share:Q", text="percent:N"
    )
    return themed((bars + text).properties(width=WIDTH, height=alt.Step(24)))


def mode_errors(material: Material) -> Section | None:
    """How often each judge rejects the answers of each group (Figure 4)."""
    if not material.labelled or material.modes.is_empty():
        return None
    rates = (
        material.mode_rates.group_by("judge", "group", maintain_order=True)
        .agg(pl.col("answers").sum(), pl.col("rejected").sum())
        .with_columns(
            rate=pl.when(pl.col("answers") > 0).then(pl.col("rejected") / pl.col("answers"))
        )
    )
    cells = {row[:2]: row[2] for row in rates.select("judge", "group", "rate").iter_rows()}
    groups = [group for group in GROUPS if any(group == key[1] for key in cells)]
    order = {group: place for place, group in enumerate(groups)}
    known = rates.drop_nulls("rate").sort(pl.col("group").replace_strict(order))
    table = known.with_columns(
        pl.Series(
            "text",
            [
                f"{judge}, {group}: {percent(rate)}%"
                for judge, group, rate in known.select("judge", "group", "rate").iter_rows()
            ],
        )
    )

    def link(judge: str, group: str) -> dict[str, str]:
        return {"judge": judge, "verdict": "rejects", "mode": f"group:{group}"}

    return pivot_section(
        key="mode-errors",
        title="Which of these right answers each judge rejects too",
        caption=(
            "Share of each group's answers that a judge rejects although people accept them; "
            "farther left is better. Exact match is at 100% by definition."
        ),
        table="Accepted answers that judges reject, in percent of a group",
        names=("judge",),
        rows=[(name,) for name in material.names],
        across=groups,
        cells=cells,
        form="share",
        missing="n/a",
        link=link,
        chart=lambda: dots(
            with_links(table, link, "judge", "group"),
            y="group",
            x="rate",
            x_title="rejected",
            judges=material.names,
            people=False,
        ),
    )
