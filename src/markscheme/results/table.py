"""A table made once, shown in the terminal or written as Markdown, LaTeX or CSV text."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

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
    from rich.table import Table as RichTable


@dataclass(frozen=True, kw_only=True)
class Table:
    """Text cells under headings. Columns in `numeric` are aligned to the right."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()

    def rich(self) -> RichTable:
        """For the terminal; cells are text, never markup."""
        from rich import box
        from rich.table import Table as RichTable
        from rich.text import Text

        table = RichTable(
            title=Text(printable(self.title)), title_justify="left", box=box.SIMPLE_HEAD
        )
        for name in self.header:
            table.add_column(
                Text(printable(name)),
                justify="right" if name in self.numeric else "left",
                overflow="fold",  # else a narrow terminal has 'exac…' for 'exact_match'
            )
        for row in self.rows:
            table.add_row(*(Text(printable(cell)) for cell in row))
        return table

    def markdown(self) -> str:
        """As a Markdown table under its title, with the notes below."""

        def line(cells: tuple[str, ...]) -> str:
            return "| " + " | ".join(map(markdown_cell, cells)) + " |"

        rule = tuple("--:" if name in self.numeric else "---" for name in self.header)
        lines = [f"### {markdown_note(one_line(self.title))}", "", line(self.header), line(rule)]
        lines += [line(row) for row in self.rows]
        return "\n".join([*lines, *("\n" + markdown_note(note) for note in self.notes)]) + "\n"

    def latex(self) -> str:
        """As a LaTeX tabular with booktabs rules."""

        def line(cells: tuple[str, ...]) -> str:
            return " & ".join(map(latex_cell, cells)) + r" \\"

        spec = "".join("r" if name in self.numeric else "l" for name in self.header)
        return "\n".join([
            f"% {one_line(self.title)}", rf"\begin{{tabular}}{{{spec}}}", r"\toprule",
            line(self.header), r"\midrule", *(line(row) for row in self.rows),
            r"\bottomrule", r"\end{tabular}", "",
        ])  # fmt: skip

    def html(self) -> str:
        """As an HTML table with a caption, with the notes below; all text is escaped."""

        def line(cells: tuple[str, ...], tag: str) -> str:
            shown = (
                f'<{tag} style="text-align: {"right" if name in self.numeric else "left"}">'
                f"{html_text(cell)}</{tag}>"
                for name, cell in zip(self.header, cells, strict=True)
            )
            return f"<tr>{''.join(shown)}</tr>"

        return "\n".join([
            "<table>", f"<caption>{html_text(self.title)}</caption>",
            f"<thead>{line(self.header, 'th')}</thead>", "<tbody>",
            *(line(row, "td") for row in self.rows), "</tbody>", "</table>",
            *(f"<p>{html_text(note)}</p>" for note in self.notes),
        ])  # fmt: skip

    def csv(self) -> str:
        """As comma-separated text with a header; no cell is a formula to a spreadsheet."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerows(
            [csv_cell(printable(cell)) for cell in row] for row in (self.header, *self.rows)
        )
        return out.getvalue()
