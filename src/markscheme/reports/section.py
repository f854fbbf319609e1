"""A section of a report: what it shows in words, in numbers and, where it helps, in a chart."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from markscheme.results import Table


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
    links: Mapping[tuple[int, int], Mapping[str, str]] = field(default_factory=dict)
