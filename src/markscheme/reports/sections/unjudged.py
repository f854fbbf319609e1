"""What was not judged, and why."""

from __future__ import annotations

from markscheme.reports.material import Material
from markscheme.reports.section import Section
from markscheme.results import Column, Table, columns, not_judged, reasons_not_judged


def unjudged(material: Material) -> Section | None:
    """The commonest reasons why each judge did not judge, as `judge` prints them."""
    rows = reasons_not_judged(material.long.lazy())
    if not rows:
        return None
    return Section(
        key="unjudged",
        title="What was not judged",
        caption="Not judged is neither right nor wrong: these answers are in none of the figures.",
        table=Table.of(
            "Answers that were not judged, by each judge's commonest reasons",
            ("judge", Column("status", missing="any"), *columns("count", "answers"), "reason"),
            rows,
            [
                f"{judge}: {not_judged(one['not_judged'])}"
                for judge, one in {one["judge"]: one for one in material.records}.items()
                if one["not_judged"]  # Of a judge's records the one over all systems is the last.
            ],
        ),
        links={
            (place, 2): {"judge": judge, "status": status}
            for place, (judge, status, *_) in enumerate(rows)
            if status is not None
        },
    )
