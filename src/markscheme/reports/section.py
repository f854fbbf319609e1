"""A section of a report: what it shows in words, in numbers and, where it helps, in a chart."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from markscheme.results import Column, Form, Table

Link = Mapping[str, str]
"""Answers, as a filter's state."""


@dataclass(frozen=True, kw_only=True)
class Section:
    """One thing a report shows.

    Attributes:
        key: its name in links and file names.
        title: what it answers.
        caption: how to read it, in a sentence or two.
        table: the numbers; also what a reader gets who cannot see the chart.
        chart: makes the Altair chart; None for a table alone.
        links: for cells of the table (row, column), the answers they count, as a filter's state.
    """

    key: str
    title: str
    caption: str
    table: Table
    chart: Callable[[], Any] | None = None
    links: Mapping[tuple[int, int], Link] = field(default_factory=dict)


def pivot_section(
    *,
    table: str,
    names: Sequence[Column | str],
    rows: Sequence[tuple[Any, ...]],
    across: Sequence[str],
    cells: Mapping[tuple[Any, ...], Any],
    form: Form = "count",
    missing: str | None = None,
    after: Sequence[Column] = (),
    notes: Sequence[str] = (),
    link: Callable[..., Link | None] = lambda *_: None,
    **words: Any,
) -> Section:
    """A section of which the table has a cell for each row and each heading of `across`.

    Args:
        table: the table's title.
        names: the columns that name the rows.
        rows: what each row is named by, one part for each of `names`.
        across: headings of the cells.
        cells: by the row's parts and the heading.
        form, missing: how cells are written, and those of which nothing is known.
        after: columns behind the cells, of the row's parts.
        notes: below the table.
        link: the answers that a cell counts, by the row's parts and the heading; None for none.
        words: the section's `key`, `title` and `caption`, and its `chart`.
    """

    def values(heading: str) -> Callable[[tuple[Any, ...]], Any]:
        return lambda row: cells.get((*row, heading))

    counted = (Column(heading, values(heading), form, missing) for heading in across)
    return Section(
        table=Table.of(table, (*names, *counted, *after), rows, notes),
        links={
            (row, len(names) + at): state
            for row, parts in enumerate(rows)
            for at, heading in enumerate(across)
            if (state := link(*parts, heading)) is not None
        },
        **words,
    )
