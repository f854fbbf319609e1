"""Two runs side by side: where the judges of both differ, and whether that is luck."""

from __future__ import annotations

from itertools import combinations

import polars as pl

from markscheme.agreement import mcnemar_exact
from markscheme.reports.material import Material
from markscheme.reports.section import Section
from markscheme.results import Table, p_text, percent


def runs(material: Material) -> Section | None:
    """How the verdicts of one judge differ between runs on the same answers."""
    pairs = [
        (one, other)
        for one, other in combinations(material.judges, 2)
        if one.run != other.run and one.judge == other.judge
    ]
    if not pairs:
        return None
    rows: list[tuple[str, ...]] = []
    links: dict[tuple[int, int], dict[str, str]] = {}
    for one, other in pairs:
        first, second = one.rows["verdict"], other.rows["verdict"]
        both = pl.DataFrame({"first": first, "second": second}).drop_nulls()
        only = both.filter(pl.col("first") & ~pl.col("second")).height
        others = both.filter(~pl.col("first") & pl.col("second")).height
        p = mcnemar_exact(only, others)
        links[len(rows), 4] = {"yes": one.name, "no": other.name}
        links[len(rows), 5] = {"yes": other.name, "no": one.name}
        rows.append(
            (one.judge, f"{one.run} → {other.run}", percent(_share(both["first"])),
             percent(_share(both["second"])), f"{only:,}", f"{others:,}", p_text(p.value, p.reason))
        )  # fmt: skip
    header = ("judge", "runs", "first accepts", "second accepts", "only the first",
              "only the second", "p")  # fmt: skip
    return Section(
        key="runs",
        title="What differs between the runs",
        caption="The same judge on the same answers in two runs. Counts lead to the answers; p is "
        "of the exact McNemar test (mcnemar), each answer taken as independent.",
        table=Table(
            title="Verdicts of the same judge in two runs, in percent of answers that both judged",
            header=header, rows=tuple(rows), numeric=frozenset(header[2:]),
            notes=("p: mcnemar",),
        ),
        links=links,
    )  # fmt: skip


def _share(values: pl.Series) -> float | None:
    mean = values.mean()
    return float(mean) if isinstance(mean, int | float) else None
