"""Accuracy by judge and system: exact match, judges and people on one line (Kamalloo Figure 2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from markscheme.engine import ALL_SYSTEMS
from markscheme.reports.charts import address, dots
from markscheme.reports.material import PEOPLE, Material
from markscheme.reports.section import Section
from markscheme.results import Table, accuracy_note, interval, percent, scope_notes

EXACT = "exact_match"


def accuracy(material: Material) -> Section:
    """The headline: what share of each system's answers every judge accepts.

    And people, where every answer has a label; else they stand in `accuracy_of_labelled`.
    """
    every = material.labelled == material.answers.height
    people = material.people if every else {}
    return _card(material, people, key="accuracy", title="How many answers are right", linked=True)


def accuracy_of_labelled(material: Material) -> Section | None:
    """The same of the labelled answers alone, where only some are labelled."""
    if not 0 < material.labelled < material.answers.height:
        return None
    title = f"How many of the {material.labelled:,} labelled answers are right"
    part = material.labelled_part()
    # There is no filter for labelled answers that a judge's figures could lead to.
    return _card(part, part.people, key="accuracy-labelled", title=title, linked=False)


def _card(
    material: Material,
    people: Mapping[str, dict[str, Any]],
    *,
    key: str,
    title: str,
    linked: bool,
) -> Section:
    """Table and chart of the same answers."""
    names = [one.name for one in material.judges]
    found = {(one["system"], one["judge"]): one for one in material.records}
    systems = [*material.systems, *([ALL_SYSTEMS] if len(material.systems) > 1 else [])]
    rows: list[tuple[str, ...]] = []
    links: dict[tuple[int, int], dict[str, str]] = {}
    for place, system in enumerate(systems):
        cells = [_cell(found[system, name]) for name in names]
        if linked:
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
            "Share of answers accepted among those with a verdict.",
            *(f"{line}, clustered on question." for line in accuracy_note([*found.values()])),
            *(f"{line}." for line in scope_notes(material.long.lazy(), material.records)),
        ),
    )
    return Section(
        key=key,
        title=title,
        caption=(
            "Share of each system's answers that every judge accepts"
            + (", and people. The farther right the diamond stands of a judge, the more that "
               "judge undercounts" if people else "")
            + ("; exact match is added for comparison." if EXACT not in names else ".")
        ),
        table=table,
        chart=lambda: _chart(material, people, linked=linked),
        links=links,
    )  # fmt: skip


def _chart(material: Material, people: Mapping[str, dict[str, Any]], *, linked: bool) -> Any:
    names = [one.name for one in material.judges]
    rows = [_dot(one, one["judge"], linked=linked) for one in _records(material)]
    if EXACT not in names:
        names = [*names, EXACT]
    rows += [
        _dot(one, PEOPLE, linked=True) for system, one in people.items() if system != ALL_SYSTEMS
    ]
    order = {name: place for place, name in enumerate(material.systems)}
    known = [one for one in rows if one["accuracy"] is not None]
    table = pl.DataFrame(known, infer_schema_length=None).sort(
        pl.col("system").replace_strict(order, return_dtype=pl.Int64), "judge"
    )
    return dots(
        table, y="system", x="accuracy", x_title="answers accepted", judges=names,
        people=bool(people), width=300, step=46,
    )  # fmt: skip


def _records(material: Material) -> list[dict[str, Any]]:
    """Figures to draw, exact match for comparison."""
    rows = material.long.select("row", "system", "judge", "verdict", "accepted")
    if EXACT not in [one.name for one in material.judges]:
        exact = material.answers.select("system", "accepted").with_row_index("row")
        rows = pl.concat(
            [rows, exact.with_columns(judge=pl.lit(EXACT), verdict=material.matches)],
            how="diagonal_relaxed",
        )
    return material.figures_of(rows)


def _dot(record: dict[str, Any], judge: str, *, linked: bool) -> dict[str, Any]:
    state = {"people": "accepts"} if judge == PEOPLE else {"judge": judge, "verdict": "accepts"}
    return {
        "system": record["system"], "judge": judge, "accuracy": record["accuracy"],
        "low": record["accuracy_low"], "high": record["accuracy_high"],
        "interval": interval(record["accuracy_low"], record["accuracy_high"]),
        "link": "" if judge == EXACT or not linked else address(_link(record["system"], **state)),
    }  # fmt: skip


def _cell(record: dict[str, Any] | None) -> str:
    if record is None or record["accuracy"] is None:
        return "n/a"
    bounds = interval(record["accuracy_low"], record["accuracy_high"])
    text = f"{percent(record['accuracy'])} ({bounds})"
    missing = sum(record["not_judged"].values())
    return f"{text} of {record['judged']:,}; {missing:,} not judged" if missing else text


def _link(system: str, **state: str) -> dict[str, str]:
    return state if system == ALL_SYSTEMS else {"system": system, **state}
