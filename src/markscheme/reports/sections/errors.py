"""Errors of judges against people, by Wang et al.'s categories."""

from __future__ import annotations

from markscheme.analysis import CATEGORIES
from markscheme.reports.material import Material
from markscheme.reports.section import Section, pivot_section
from markscheme.reports.sections.modes import label
from markscheme.results import Column


def errors(material: Material) -> Section | None:
    """How many errors of each category every judge makes."""
    if not material.labelled or material.errors.is_empty():
        return None
    counts = {
        (category, judge): count
        for judge, category, count in material.errors.group_by("judge", "category")
        .len()
        .iter_rows()
    }
    categories, judges = ({key[side] for key in counts} for side in (0, 1))
    return pivot_section(
        key="errors",
        title="What kind of errors judges make",
        caption=(
            "Judgments that people contradict, by category (Wang et al. 2023); which categories "
            "a judge can fall into depends on its kind: lexical, neural or language model."
        ),
        table="Errors of judges against people",
        names=(Column("category", lambda row: label(row[0])),),
        rows=[(category,) for category in CATEGORIES if category in categories],
        across=[one.name for one in material.judges if one.name in judges],
        cells=counts,
        missing="–",
        after=(Column("meaning", lambda row: CATEGORIES[row[0]][1]),),
        link=lambda category, judge: (
            {"judge": judge, "error": category} if (category, judge) in counts else None
        ),
    )
