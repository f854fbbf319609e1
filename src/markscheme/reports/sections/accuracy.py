"""Shares accepted: exact match, judges and people on one line (Kamalloo Figure 2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from markscheme.engine import ALL_SYSTEMS
from markscheme.reports.charts import address, dot, dots
from markscheme.reports.material import PEOPLE, Material
from markscheme.reports.section import Section, pivot_section
from markscheme.results import accuracy_figure, accuracy_note, scope_notes

EXACT = "exact_match"


def accuracy(material: Material) -> Section:
    """The headline: what share of each system's answers every judge accepts.

    And people, where every answer has a label; of some labels the section `people` estimates it.
    """
    every = material.labelled == material.answers.height
    people = material.people if every else {}
    records = material.records
    systems = [*material.systems, *([ALL_SYSTEMS] if len(material.systems) > 1 else [])]
    cells = {(one["system"], one["judge"]): _cell(one) for one in records}
    cells |= {(system, PEOPLE): _cell(one) for system, one in people.items()}
    return pivot_section(
        key="accuracy",
        title="How many answers are right",
        caption=(
            "Share of each system's answers that every judge accepts"
            + (
                ", and people. The farther right of a judge the diamond is, the more that "
                "judge undercounts"
                if people
                else ""
            )
            + ("; exact match is added for comparison." if EXACT not in material.names else ".")
        ),
        table="Answers accepted, in percent, with 95% interval",
        names=("system",),
        rows=[(system,) for system in systems],
        across=[*material.names, *([PEOPLE] if people else [])],
        cells=cells,
        form="right",
        missing="n/a",
        notes=(
            "Share of answers accepted among those with a verdict.",
            *(f"{line}." for line in accuracy_note(records)),
            *(f"{line}." for line in scope_notes(material.long.lazy(), records)),
        ),
        link=_link,
        chart=lambda: _chart(material, people),
    )


def _chart(material: Material, people: Mapping[str, dict[str, Any]]) -> Any:
    found = [(one["judge"], one) for one in material.records]
    found += [(PEOPLE, one) for one in people.values()]
    names = material.names
    if EXACT not in names:  # for comparison
        names = [*names, EXACT]
        found += [(EXACT, one) for one in material.figures_of(material.matches).values()]
    order = {name: place for place, name in enumerate(material.systems)}
    rows = []
    for judge, one in found:
        if one["system"] in order and one["accuracy"] is not None:
            listed = judge in material.names or judge == PEOPLE
            link = address(_link(one["system"], judge)) if listed else ""
            rows.append(dot(one["system"], judge, accuracy_figure(one), x="accuracy", link=link))
    rows.sort(key=lambda row: (order[row["system"]], row["judge"]))
    return dots(
        rows,
        y="system",
        x="accuracy",
        x_title="answers accepted",
        judges=names,
        people=bool(people),
        width=300,
        step=46,
    )


def _cell(record: dict[str, Any]) -> str | None:
    if record["accuracy"] is None:
        return None
    text = accuracy_figure(record).text(scale=100, digits=1, words=True)
    missing = sum(record.get("not_judged", {}).values())
    return f"{text} of {record['judged']:,}; {missing:,} not judged" if missing else text


def _link(system: str, judge: str) -> dict[str, str]:
    """What a judge, or people, accept of a system's answers."""
    whose = {} if system == ALL_SYSTEMS else {"system": system}
    said = {"people": "accepts"} if judge == PEOPLE else {"judge": judge, "verdict": "accepts"}
    return whose | said
