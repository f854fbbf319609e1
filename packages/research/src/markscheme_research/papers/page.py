"""A paper as one Markdown page: every table and figure, printed and ours, and what became of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from markscheme_research.papers.cell import Cell, Paper, PaperTable

LEGEND = """\
Each cell: the printed figure, and ours after a slash where it differs; `=` where they are equal as
printed. `(n: ...)` is the value in the authors' own notebooks, where it differs from print. `–`:
ours is not computed; the line below the table says what it would take.
"""


def page_of(paper: Paper, cells: Mapping[str, Sequence[Cell]]) -> str:
    """The page of a paper.

    Args:
        paper: the paper.
        cells: by table; tables without an entry are left out.
    """
    made = f"markscheme research reproduce {paper.name} --page"
    lines = [f"# {paper.title}", "", f"Made by `{made}`.", "", LEGEND]
    lines += [coverage(cells), ""]
    for item, text in paper.items.items():
        lines += [f"## {item}", "", text, ""]
        for table in paper.tables:
            if table.item == item and cells.get(table.name):
                lines += [*_table(paper, table, cells[table.name]), ""]
    return "\n".join(lines).rstrip() + "\n"


def coverage(cells: Mapping[str, Sequence[Cell]]) -> str:
    """How many of the printed figures have one of ours, and what became of them, as a table."""
    printed = [cell for found in cells.values() for cell in found if cell.paper is not None]
    ours = sum(cell.ours is not None for cell in printed)
    counts: dict[str, int] = {}
    for cell in printed:
        counts[cell.status] = counts.get(cell.status, 0) + 1
    alone = sum(cell.paper is None for found in cells.values() for cell in found)
    share = f"{100 * ours / len(printed):.0f}%" if printed else "-"
    lines = [
        f"**{ours} of {len(printed)} printed figures have a computed counterpart ({share}).**",
        "",
        "| outcome | figures |",
        "|---|--:|",
        *(f"| {status} | {count} |" for status, count in sorted(counts.items())),
    ]
    if alone:
        lines.append(f"| ours alone, where the paper prints none | {alone} |")
    return "\n".join(lines)


def outcome(cell: Cell) -> str:
    """The status of a cell, with its reason and the notebooks' value."""
    status = cell.status
    text = f"{status}: {cell.reason}" if cell.reason and status != "same" else status
    if cell.notebook is not None and cell.notebook != cell.paper:
        text += f" (the authors' notebook: {cell.notebook:,.{cell.digits}f})"
    return text


def _table(paper: Paper, table: PaperTable, cells: Sequence[Cell]) -> list[str]:
    """One group of figures as a grid of rows and columns, and the reasons below."""
    columns = list(dict.fromkeys(cell.column for cell in cells))
    rows = list(dict.fromkeys(cell.row for cell in cells))
    found = {(cell.row, cell.column): cell for cell in cells}
    sparse = len(found) * 3 < len(rows) * len(columns)
    alone = all(cell.paper is None for cell in cells)
    note = " Ours alone." if alone else ""
    lines = [f"### {table.title}", "", f"`{paper.name}/{table.name}`.{note}", ""]
    if sparse or len(rows) == len(cells):
        lines += ["| row | figure | printed and ours |", "|---|---|--:|"]
        lines += [f"| {cell.row} | {cell.column} | {_shown(cell, alone=alone)} |" for cell in cells]
    else:
        lines += [
            "| | " + " | ".join(columns) + " |",
            "|---|" + "--:|" * len(columns),
            *(
                f"| {row} | "
                + " | ".join(
                    _shown(found[row, column], alone=alone) if (row, column) in found else ""
                    for column in columns
                )
                + " |"
                for row in rows
            ),
        ]
    reasons: dict[str, list[Cell]] = {}
    for cell in cells:
        if cell.status not in ("same", "no figure"):
            reasons.setdefault(f"{cell.status}: {cell.reason}", []).append(cell)
    if reasons:
        lines.append("")
    for reason, whose in reasons.items():
        names = "; ".join(f"{cell.row}, {cell.column}" for cell in whose)
        which = f" ({names})" if len(whose) <= 4 and len(whose) < len(cells) else ""
        lines.append(f"- {len(whose)} of {len(cells)}{which} {reason}")
    if table.run and any(cell.ours is None for cell in cells):
        lines += ["", f"To compute: `{table.run}`"]
    return lines


def _shown(cell: Cell, *, alone: bool) -> str:
    """A cell of the grid."""

    def text(value: float) -> str:
        return f"{value:,.{cell.digits}f}"

    if cell.paper is None:
        return "" if cell.ours is None else f"{'' if alone else 'ours '}{text(cell.ours)}"
    printed = text(cell.paper)
    if cell.notebook is not None and cell.notebook != cell.paper:
        printed += f" (n: {text(cell.notebook)})"
    if cell.ours is None:
        return f"{printed} / –"
    return f"{printed} =" if cell.status == "same" else f"{printed} / {text(cell.ours)}"
