"""A table made once, shown in the terminal or written as Markdown, LaTeX or CSV text."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from markscheme.results.figures import Form, cell, format_of
from markscheme.text import (
    csv_cell,
    html_text,
    latex_cell,
    markdown_cell,
    markdown_note,
    one_line,
    printable,
)

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.table import Table as RichTable
    from rich.text import Text


Value = str | Callable[[Any], Any]
"""What a column shows: a field's name, or a function of the row."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of `Table.of`.

    Attributes:
        heading: what is above it.
        value: a field's name, or a function of the row; None for the field that is named as the
            heading (with `_` for spaces), or in a row that is a tuple for its part at the column's
            place.
        format: how values are written, and on which side.
        missing: the cell of a row without a value, where the format's own is not meant.
        show: whether it is shown; None for only if some row has a value.
    """

    heading: str
    value: Value | None = None
    format: Form = "text"
    missing: str | None = None
    show: bool | None = True

    def read(self, row: Any, place: int) -> Any:
        """The row's value; the column is at `place` of its table, from 0."""
        if callable(self.value):
            return self.value(row)
        if self.value is None and isinstance(row, tuple):
            return row[place]
        name = self.heading.replace(" ", "_") if self.value is None else self.value
        return row[name] if isinstance(row, Mapping) else getattr(row, name)


def columns(form: Form, *headings: str | tuple[str, Value]) -> tuple[Column, ...]:
    """Columns that are written alike: a heading for each, with the value where it is not its own.

    Example:
        >>> [one.heading for one in columns("count", "answers", ("labels", "labelled"))]
        ['answers', 'labels']
    """
    pairs = ((one, None) if isinstance(one, str) else one for one in headings)
    return tuple(Column(heading, value, form) for heading, value in pairs)


@dataclass(frozen=True, kw_only=True)
class Table:
    """Text cells under headings. Columns in `numeric` are aligned to the right."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        title: str,
        columns: Sequence[Column | str],
        rows: pl.DataFrame | Iterable[Any],
        notes: Sequence[str] = (),
    ) -> Table:
        """A table of the rows of a frame, or of dicts, objects or tuples, by its columns.

        A column that is only a name has text.

        Example:
            >>> columns = ["judge", Column("answers", format="count")]
            >>> Table.of("Judged", columns, [("exact_match", 1200)]).rows
            (('exact_match', '1,200'),)
        """
        records = rows.to_dicts() if isinstance(rows, pl.DataFrame) else list(rows)
        shown: list[tuple[Column, tuple[str, ...]]] = []
        for place, named in enumerate(columns):
            column = Column(named) if isinstance(named, str) else named
            values = [] if column.show is False else [column.read(row, place) for row in records]
            if column.show or any(value is not None for value in values):
                cells = tuple(cell(column.format, value, column.missing) for value in values)
                shown.append((column, cells))
        return cls(
            title=title,
            header=tuple(column.heading for column, _ in shown),
            rows=tuple(zip(*(cells for _, cells in shown), strict=True)),
            numeric=frozenset(one.heading for one, _ in shown if format_of(one.format).numeric),
            notes=tuple(notes),
        )

    def rich(self) -> FittedTable:
        """For the terminal, as wide as that is; cells are text, never markup."""
        return FittedTable(
            Table(
                title=printable(self.title),
                header=tuple(map(printable, self.header)),
                rows=tuple(tuple(map(printable, row)) for row in self.rows),
                numeric=frozenset(map(printable, self.numeric)),
            )
        )

    def markdown(self) -> str:
        """As a Markdown table under its title, with the notes below."""

        def line(cells: tuple[str, ...]) -> str:
            return "| " + " | ".join(map(markdown_cell, cells)) + " |"

        rule = tuple("--:" if name in self.numeric else "---" for name in self.header)
        lines = [f"### {markdown_note(one_line(self.title))}", "", line(self.header), line(rule)]
        lines += [line(row) for row in self.rows]
        return "\n".join([*lines, *("\n" + markdown_note(note) for note in self.notes)]) + "\n"

    def latex(self) -> str:
        """As a LaTeX tabular with booktabs rules; title and notes are comments around it."""

        def line(cells: tuple[str, ...]) -> str:
            return " & ".join(map(latex_cell, cells)) + r" \\"

        spec = "".join("r" if name in self.numeric else "l" for name in self.header)
        lines = [
            f"% {one_line(self.title)}",
            rf"\begin{{tabular}}{{{spec}}}",
            r"\toprule",
            line(self.header),
            r"\midrule",
            *(line(row) for row in self.rows),
            r"\bottomrule",
            r"\end{tabular}",
            *(f"% {one_line(note)}" for note in self.notes),
            "",
        ]
        return "\n".join(lines)

    def html(self) -> str:
        """As an HTML table with a caption, with the notes below; all text is escaped."""

        def line(cells: tuple[str, ...], tag: str) -> str:
            shown = (
                f'<{tag} style="text-align: {"right" if name in self.numeric else "left"}">'
                f"{html_text(cell)}</{tag}>"
                for name, cell in zip(self.header, cells, strict=True)
            )
            return f"<tr>{''.join(shown)}</tr>"

        lines = [
            "<table>",
            f"<caption>{html_text(self.title)}</caption>",
            f"<thead>{line(self.header, 'th')}</thead>",
            "<tbody>",
            *(line(row, "td") for row in self.rows),
            "</tbody>",
            "</table>",
            *(f"<p>{html_text(note)}</p>" for note in self.notes),
        ]
        return "\n".join(lines)

    def csv(self) -> str:
        """As comma-separated text with a header; the notes follow as `csv_remarks`."""
        return _csv_text((self.header, *self.rows)) + csv_remarks(self.notes)


def csv_remarks(notes: Iterable[str]) -> str:
    """Notes as rows of one cell that begins with `# `, to a reader of the table a row like others.

    Example:
        >>> csv_remarks(["95% intervals (wilson), by question", "seed 0"])
        '"# 95% intervals (wilson), by question"\\n# seed 0\\n'
    """
    return _csv_text((f"# {one_line(note)}",) for note in notes)


def _csv_text(rows: Iterable[Sequence[str]]) -> str:
    """Comma-separated text, in which no cell is a formula to a spreadsheet."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerows([csv_cell(printable(cell)) for cell in row] for row in rows)
    return out.getvalue()


@dataclass(frozen=True)
class FittedTable:
    """A table that Rich prints within the terminal's width, without ever breaking a word.

    Text is wrapped between words. Where that is not enough, the columns come in blocks, one below
    the other, each with the columns of names again; and where there are no numbers, or names leave
    no room for them, the rows come one below the other, with a line for each cell.
    """

    table: Table

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """What is printed, by the width there is."""
        made = _beside(self.table, options.max_width)
        if made is not None:
            yield made
            return
        blocks = _blocks(self.table, options.max_width)
        yield from _stacked(self.table, options.max_width) if blocks is None else blocks


_NAME = 30
"""Characters of a cell, up to which it may name its row."""

_LINES = 4
"""A text is wrapped into so many lines, about, before the rows are stacked instead."""


def _widths(table: Table, room: int) -> list[int] | None:
    """The columns' widths if they fit into so many characters, else None.

    A column of numbers is as wide as its widest; another one at least as its longest word.
    """
    from rich.cells import cell_len

    least, most = [], []
    for place, name in enumerate(table.header):
        cells = [row[place] for row in table.rows]
        widest = max(map(cell_len, cells), default=0)
        words = [word for cell in cells for word in cell.split()]
        narrow = max(max(map(cell_len, words), default=0), -(-widest // _LINES))
        heading = max(map(cell_len, name.split()), default=0)
        least.append(max(widest if name in table.numeric else narrow, heading))
        most.append(max(widest, cell_len(name)))
    spare = room - sum(least)
    if spare < 0:
        return None
    wanted = [high - low for low, high in zip(least, most, strict=True)]
    # The room that is left goes first to the columns that lack least.
    for place in sorted(range(len(wanted)), key=lambda one: wanted[one]):
        waiting = sum(1 for one in wanted if one >= wanted[place])
        share = min(wanted[place], spare // max(1, waiting))
        least[place] += share
        spare -= share
        wanted[place] = -1
    return least


def _beside(table: Table, room: int) -> RichTable | None:
    """All columns side by side, at a distance or closer together; None where they do not fit."""
    columns = len(table.header)
    for airy, gaps in ((True, 3 * columns + 1), (False, 2 * columns)):
        widths = _widths(table, room - gaps)
        if widths is not None:
            return _side_by_side(table, widths, airy=airy)
    return None


def _blocks(table: Table, room: int) -> list[RichTable] | None:
    """The columns in as many blocks as are needed; None where not one fits next to the names."""
    columns = range(len(table.header))
    first = next((place for place in columns if table.header[place] in table.numeric), None)
    if first is None or len(columns) < 2:
        return None
    names = list(range(max(first, 1)))
    made: list[RichTable] = []
    waiting = list(columns[len(names) :])
    while waiting:
        fitting = None
        for count in range(len(waiting), 0, -1):
            part = _part(table, names, waiting[:count], first=not made)
            fitting = _beside(part, room)
            if fitting is not None:
                made.append(fitting)
                del waiting[:count]
                break
        if fitting is None:
            return None
        names = _telling(table, names)
        waiting = [place for place in waiting if place not in names]
    return made


def _telling(table: Table, names: list[int]) -> list[int]:
    """The columns of names, and others without numbers that are needed to tell the rows apart."""

    def kinds(places: list[int]) -> int:
        return len({tuple(row[place] for place in places) for row in table.rows})

    found = list(names)
    for place, name in enumerate(table.header):
        more = [*found, place]
        short = all(len(row[place]) <= _NAME for row in table.rows)
        if name not in table.numeric and short and kinds(more) > kinds(found):
            found = more
    return found


def _part(table: Table, names: list[int], others: list[int], *, first: bool) -> Table:
    """Some columns; after the first block without the rows that have nothing in them but names."""
    rows = [row for row in table.rows if first or any(row[place] for place in others)]
    chosen = [place for place in names if any(row[place] for row in rows)] + others
    return Table(
        title=table.title if first else "",
        header=tuple(table.header[place] for place in chosen),
        rows=tuple(tuple(row[place] for place in chosen) for row in rows),
        numeric=table.numeric,
    )


def _side_by_side(table: Table, widths: Sequence[int], *, airy: bool) -> RichTable:
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    made = RichTable(
        title=Text(table.title) if table.title else None,
        title_justify="left",
        box=box.SIMPLE_HEAD,
        show_edge=airy,
        pad_edge=airy,
        collapse_padding=not airy,
    )
    for name, width in zip(table.header, widths, strict=True):
        side: Literal["left", "right"] = "right" if name in table.numeric else "left"
        made.add_column(Text(name), justify=side, width=width, overflow="fold")
    for row in table.rows:
        made.add_row(*(Text(cell) for cell in row))
    return made


def _stacked(table: Table, room: int) -> Iterator[Text | RichTable]:
    from rich.table import Table as RichTable
    from rich.text import Text

    yield Text(table.title, style="italic")
    if room < 2 * max(map(len, table.header), default=0) + 4:  # no room for two columns at all
        for row in table.rows:
            for name, cell in zip(table.header, row, strict=True):
                yield Text(f"{name}: {cell}", overflow="fold")
        return
    for row in table.rows:
        yield Text("")
        made = RichTable.grid(padding=(0, 2, 0, 0))
        made.add_column(no_wrap=True)
        made.add_column(overflow="fold")
        for place, (name, cell) in enumerate(zip(table.header, row, strict=True)):
            if cell or not place:
                style = "" if place else "bold"
                made.add_row(Text(f"  {name}", style=style), Text(cell, style=style))
        yield made
    yield Text("")
