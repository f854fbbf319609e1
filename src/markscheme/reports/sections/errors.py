"""Errors of judges against people, by Wang et al.'s categories."""

from __future__ import annotations

from markscheme.analysis import CATEGORIES
from markscheme.reports.material import Material
from markscheme.reports.section import Section
from markscheme.reports.sections.modes import label
from markscheme.results import Table


def errors(material: Material) -> Section | None:
    """How many errors of each category every judge makes."""
    if not material.labelled or material.errors.is_empty():
        return None
    counts = {
        (judge, category): count
        for judge, category, count in material.errors.group_by("judge", "category")
        .len()
        .iter_rows()
    }
    names = [one.name for one in material.judges if any(one.name == key[0] for key in counts)]
    shown = [name for name in CATEGORIES if any(name == key[1] for key in counts)]
    rows: list[tuple[str, ...]] = []
    links: dict[tuple[int, int], dict[str, str]] = {}
    for place, category in enumerate(shown):
        cells = [f"{counts[name, category]:,}" if (name, category) in counts else "–"
                 for name in names]  # fmt: skip
        for at, name in enumerate(names):
            if (name, category) in counts:
                links[place, 1 + at] = {"judge": name, "error": category}
        rows.append((label(category), *cells, CATEGORIES[category][1]))
    return Section(
        key="errors",
        title="What kind of errors judges make",
        caption=(
            "Judgments that people contradict, by category (Wang et al. 2023); which categories "
            "a judge can fall into depends on its kind: lexical, neural or language model."
        ),
        table=Table(
            title="Errors of judges against people",
            header=("category", *names, "meaning"),
            rows=tuple(rows),
            numeric=frozenset(names),
        ),
        links=links,
    )
