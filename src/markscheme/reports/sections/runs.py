"""Two runs side by side: where the judges of both differ, and whether that is luck."""

from __future__ import annotations

from itertools import combinations

import polars as pl

from markscheme.agreement import mcnemar_exact
from markscheme.reports.material import Material
from markscheme.reports.section import Section
from markscheme.results import Column, Table, columns


def runs(material: Material) -> Section | None:
    """How the verdicts of one judge differ between runs on the same answers."""
    pairs = [
        (one, other)
        for one, other in combinations(material.judges, 2)
        if one.run != other.run and one.judge == other.judge
    ]
    if not pairs:
        return None
    rows = []
    for one, other in pairs:
        both = pl.DataFrame({"first": one.rows["verdict"], "second": other.rows["verdict"]})
        first, second = both.drop_nulls()
        only, others = int((first & ~second).sum()), int((second & ~first).sum())
        p = mcnemar_exact(only, others)
        rows.append(
            (one.judge, f"{one.run} → {other.run}", first.mean(), second.mean(), only, others, p)
        )
    return Section(
        key="runs",
        title="What differs between the runs",
        caption="The same judge on the same answers in two runs. Counts lead to the answers; p is "
        "of the exact McNemar test (mcnemar), each answer taken as independent.",
        table=Table.of(
            "Verdicts of the same judge in two runs, in percent of answers that both judged",
            (
                "judge",
                "runs",
                Column("first accepts", None, "share", "n/a"),
                Column("second accepts", None, "share", "n/a"),
                *columns("count", "only the first", "only the second"),
                Column("p", format="p"),
            ),
            rows,
            ("p: mcnemar",),
        ),
        links={
            (row, 4 + side): {"yes": accepting.name, "no": rejecting.name}
            for row, (one, other) in enumerate(pairs)
            for side, (accepting, rejecting) in enumerate(((one, other), (other, one)))
        },
    )
