"""Printed figures that nothing released can compute: read from the files in `printed/`.

Each file holds a paper's items (tables, figures, sections) in order, and groups of figures as
grids of rows and columns, with what computing them would need.
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Callable, Mapping
from importlib.resources import files
from typing import Any

from markscheme_research.papers.cell import Asked, Cell, DataDir, PaperTable


@functools.cache
def _file(paper: str) -> Mapping[str, Any]:
    text = (
        files("markscheme_research.papers").joinpath("printed", f"{paper}.toml").read_text("utf-8")
    )
    return tomllib.loads(text)


def items(paper: str) -> dict[str, str]:
    """Every table, figure and section of a paper with figures, in order, and a word on each."""
    return {item["name"]: item["text"] for item in _file(paper)["item"]}


def printed_cells(paper: str, name: str) -> list[Cell]:
    """The cells of one group, without figures of ours."""
    (group,) = (one for one in _file(paper)["group"] if one["name"] == name)
    notebook = group.get("notebook", {})
    cells = []
    for row, figures in group["rows"].items():
        others = notebook.get(row, [None] * len(figures))
        for column, figure, other in zip(group["columns"], figures, others, strict=True):
            if figure == "":
                continue
            digits = group.get("digits", 1)
            if isinstance(digits, dict):
                digits = digits.get(row, 1)
            cells.append(
                Cell(
                    row=row,
                    column=column,
                    paper=float(figure),
                    ours=None,
                    digits=digits,
                    needs=group.get("needs", ""),
                    reason=group["reason"],
                    notebook=other,
                )
            )
    return cells


def printed_tables(
    paper: str,
    by_model: Mapping[str, Callable[[Asked], list[Cell]]] | None = None,
    by_predictions: Mapping[str, Callable[[Asked], list[Cell]]] | None = None,
) -> tuple[PaperTable, ...]:
    """A table for each group of a paper's file.

    Args:
        paper: its name.
        by_model: by group, what computes it with a language model that the user names.
        by_predictions: likewise with answers that the user names.
    """

    def compute(name: str) -> Callable[[DataDir], list[Cell]]:
        return lambda _data_dir: printed_cells(paper, name)

    return tuple(
        PaperTable(
            name=group["name"],
            title=group["title"],
            item=group["item"],
            compute=compute(group["name"]),
            run=group.get("run", ""),
            by_model=(by_model or {}).get(group["name"]),
            by_predictions=(by_predictions or {}).get(group["name"]),
        )
        for group in _file(paper)["group"]
    )
