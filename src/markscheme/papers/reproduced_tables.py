"""Reproduced figures as tables and as data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson

from markscheme.papers.cell import Cell
from markscheme.papers.reproduction import Reproduced, reproduce
from markscheme.results import Table, TableResult, flat_frame, plain


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ReproductionResult(TableResult):
    """Published figures and ours. `frame` has a row per figure.

    Attributes:
        results: one per table, also those that lack data.
    """

    results: Sequence[Reproduced]

    def to_json(self) -> str:
        """A list with an entry per table of a paper."""
        entries = plain(self.data["tables"])
        return orjson.dumps(entries, option=orjson.OPT_INDENT_2).decode() + "\n"


def reproduce_tables(
    what: str | None = None, *, data_dir: str | Path | None = None
) -> ReproductionResult:
    """Compute published figures again, against the papers' own.

    Args:
        what: a paper, or `PAPER/TABLE`; None for all.
        data_dir: folder with the data.

    Raises:
        UnknownNameError: there is no such paper or table.
    """
    results = reproduce(what, data_dir=data_dir)
    entries = [_entry(result) for result in results]
    records = [
        {"paper": entry["paper"], "table": entry["table"], **cell}
        for entry in entries
        for cell in entry["cells"]
    ]
    tables = tuple(_table(result) for result in results if result.cells)
    return ReproductionResult(
        frame=flat_frame(records), tables=tables, data={"tables": entries}, results=results
    )


def _table(result: Reproduced) -> Table:
    return Table(
        title=f"{result.name}: {result.table.title}",
        header=("row", "figure", "paper", "ours", "difference", "tolerance", "outcome"),
        rows=tuple(_row(cell) for cell in result.cells),
        numeric=frozenset({"paper", "ours", "difference", "tolerance"}),
        notes=(result.summary(),),
    )


def _row(cell: Cell) -> tuple[str, ...]:
    def shown(value: float | None, sign: str = "") -> str:
        return "-" if value is None else f"{value:{sign},.{cell.digits}f}"

    difference = "0" if cell.difference == 0 else shown(cell.difference, "+")
    outcome = f"{cell.status}: {cell.reason}" if cell.reason and cell.status != "same" else ""
    return (
        cell.row,
        cell.column,
        shown(cell.paper),
        shown(cell.ours),
        difference,
        f"{cell.tolerance:.{cell.digits + 1}f}",
        outcome or cell.status,
    )


def _entry(result: Reproduced) -> dict[str, Any]:
    cells = [
        {
            **asdict(cell),
            "difference": cell.difference,
            "tolerance": cell.tolerance,
            "status": cell.status,
        }
        for cell in result.cells
    ]
    return {
        "paper": result.paper.name,
        "table": result.table.name,
        "title": result.table.title,
        "missing": result.missing or None,
        "cells": cells,
    }
