"""Accuracy by judge and system: exact match, judges and people on one line (Kamalloo Figure 2)."""

from __future__ import annotations

from typing import Any

import polars as pl

from markscheme.engine import ALL_SYSTEMS
from markscheme.report.charts import dots
from markscheme.report.material import PEOPLE, Material
from markscheme.report.section import Section
from markscheme.results import Table, interval, percent

EXACT = "exact_match"


def accuracy(material: Material) -> Section:
    """The headline: what share of each system's answers every judge, and people, accept."""
    names = [one.name for one in material.judges]
    found = {(one["system"], one["judge"]): one for one in material.records}
    systems = [*material.systems, *([ALL_SYSTEMS] if len(material.systems) > 1 else [])]
    people = material.people
    rows: list[tuple[str, ...]] = []
    links: dict[tuple[int, int], dict[str, str]] = {}
    for place, system in enumerate(systems):
        cells = [_cell(found[system, name]) for name in names]
        links |= {(place, 1 + at): _link(system, judge=name, verdict="accepts")
                  for at, name in enumerate(names)}  # fmt: skip
        if people:
            cells.append(_cell(people.get(system)))
            links[place, 1 + len(names)] = _link(system, people="accepts")
        rows.append((system, *cells))
    header = ("system", *names, *([PEOPLE] if people else []))
    table = Table(
        title="Accuracy in percent, with 95% interval",
        header=header,
        rows=tuple(rows),
        numeric=frozenset(header[1:]),
        notes=(
            "Share of answers accepted among those with a verdict; Wilson's interval, clustered "
            "on question.",
        ),
    )
    return Section(
        key="accuracy",
        title="How many answers are right",
        caption=(
            "Share of each system's answers that every judge accepts"
            + (", and people. The farther right the diamond stands of a judge, the more that "
               "judge undercounts" if people else "")
            + ("; exact match is added for comparison." if EXACT not in names else ".")
        ),
        table=table,
        chart=lambda: _chart(material),
        links=links,
    )  # fmt: skip


def _chart(material: Material) -> Any:
    rows = material.long
    if material.labelled:
        rows = rows.filter(pl.col("accepted").is_not_null())
    order = {name: place for place, name in enumerate(material.systems)}
    parts = [rows.select("system", "judge", "verdict")]
    names = [one.name for one in material.judges]
    if EXACT not in names:
        names = [*names, EXACT]
        exact = material.answers.with_columns(verdict=material.matches)
        if material.labelled:
            exact = exact.filter(pl.col("accepted").is_not_null())
        parts.append(exact.select("system", "verdict", judge=pl.lit(EXACT)))
    if material.labelled:
        people = material.answers.filter(pl.col("accepted").is_not_null())
        parts.append(people.select("system", judge=pl.lit(PEOPLE), verdict="accepted"))
    table = (
        pl.concat(parts, how="diagonal")
        .group_by("system", "judge")
        .agg(accuracy=pl.col("verdict").mean())
        .drop_nulls()
        .sort(pl.col("system").replace_strict(order, return_dtype=pl.Int64), "judge")
    )
    return dots(
        table, y="system", x="accuracy", x_title="answers accepted", judges=names,
        people=bool(material.labelled), width=300, step=46,
    )  # fmt: skip


def _cell(record: dict[str, Any] | None) -> str:
    if record is None or record["accuracy"] is None:
        return "n/a"
    bounds = interval(record["accuracy_low"], record["accuracy_high"])
    return f"{percent(record['accuracy'])} ({bounds})"


def _link(system: str, **state: str) -> dict[str, str]:
    return state if system == ALL_SYSTEMS else {"system": system, **state}
