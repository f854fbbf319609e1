"""`reproduce`: compute the figures of a paper, a table of it, or all of them; as a result."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import orjson

from markscheme.contract import ModelSource
from markscheme.errors import DataError, UnknownNameError
from markscheme.results import Table, TableResult, flat_frame, plain
from markscheme_research.papers import kamalloo_2023, wang_2023, yang_2024, yao_2024
from markscheme_research.papers.cell import Asked, Cell, DataDir, Paper, PaperTable
from markscheme_research.papers.page import outcome, page_of

PAPERS: Mapping[str, Paper] = {
    module.PAPER.name: module.PAPER for module in (kamalloo_2023, wang_2023, yang_2024, yao_2024)
}
"""Every paper by name, sorted."""

SEE = "'markscheme research reproduce --list' names all"


@dataclass(frozen=True, kw_only=True)
class Reproduced:
    """One table computed again: its cells, or why its data are missing."""

    paper: Paper
    table: PaperTable
    cells: tuple[Cell, ...] = ()
    missing: str = ""

    @property
    def name(self) -> str:
        """The name by which it is requested: `PAPER/TABLE`."""
        return f"{self.paper.name}/{self.table.name}"

    @property
    def off(self) -> tuple[Cell, ...]:
        """The cells that differ from the paper without a recorded reason."""
        return tuple(cell for cell in self.cells if cell.status == "off")

    @property
    def shown(self) -> tuple[Cell, ...]:
        """The cells; where the data are missing, the printed ones."""
        if self.cells or self.table.printed is None:
            return self.cells
        return tuple(self.table.printed())

    def summary(self) -> str:
        """How many cells came out how, in words."""
        counts = {s: sum(c.status == s for c in self.cells) for s in _WORDS}
        return ", ".join(f"{counts[s]} {word}" for s, word in _WORDS.items() if counts[s])


_WORDS = {
    "same": "same as printed",
    "known": "different for a known reason",
    "other inputs": "by a model or answers of yours",
    "needs a model": "that need a model",
    "needs a GPU": "that need a GPU",
    "needs data": "that need data",
    "not recoverable": "not recoverable",
    "no figure": "without a printed figure",
    "off": "OFF",
}


def reproduce(
    what: str | None = None, *, data_dir: DataDir = None, asked: Asked | None = None
) -> list[Reproduced]:
    """The tables that `what` names, computed from released data.

    Args:
        what: `PAPER`, `PAPER/TABLE`, or None for everything; the beginning of a name will do.
        data_dir: see `markscheme_research.datasets.loading`.
        asked: a language model or answers of the user's, for the tables that can use them.

    Returns:
        One entry a table, in order. A table whose data are missing has no cells and says why,
        unless it was requested by its own name.

    Raises:
        UnknownNameError: no such paper or table.
        DataError: the data of a table that was requested by name are missing, or no table computes
            anything with what `asked` names.
    """
    inputs = replace(asked or Asked(), data_dir=data_dir)
    if not what:
        papers = list(PAPERS.values())
        return [_attempt(paper, table, inputs) for paper in papers for table in paper.tables]
    paper_name, slash, table_name = what.partition("/")
    paper = PAPERS[_resolve("paper", paper_name, PAPERS, SEE)]
    if not slash:
        _check_used(paper, paper.tables, inputs)
        return [_attempt(paper, table, inputs) for table in paper.tables]
    tables = {table.name: table for table in paper.tables}
    see = f"it has {', '.join(tables)}"
    table = tables[_resolve(f"table of {paper.name}", table_name, tables, see)]
    _check_used(paper, [table], inputs)
    return [Reproduced(paper=paper, table=table, cells=tuple(table.cells(inputs)))]


def _check_used(paper: Paper, tables: Sequence[PaperTable], inputs: Asked) -> None:
    """Raises DataError where no table computes anything with what the user named."""
    answers = [one for one in paper.tables if one.by_predictions]
    models = [one for one in paper.tables if one.by_model]
    named = inputs.predictions is not None
    for option, value, able in (
        ("--system-answers", inputs.predictions, answers),
        ("--model", inputs.models, models + answers * named),
    ):
        if value is not None and not any(one in able for one in tables):
            names = ", ".join(f"{paper.name}/{one.name}" for one in able)
            raise DataError(
                f"{option} has no effect: of {paper.name} it computes {names or 'nothing'}"
                + " without --system-answers FILE" * bool(answers and not named)
            )


def _resolve(kind: str, name: str, choices: Iterable[str], see: str) -> str:
    """The choice that `name` is or begins, whatever the case and the dashes in it.

    Raises:
        UnknownNameError: there is none, or several.
    """
    names = list(choices)
    begun = [choice for choice in names if _begins(_words(name), _words(choice))]
    if name in names or len(begun) == 1:
        return name if name in names else begun[0]
    raise UnknownNameError(kind, name, names, see)


def _words(name: str) -> list[str]:
    return re.findall(r"\d+|[^\W\d_]+", name.lower())


def _begins(words: list[str], whole: list[str]) -> bool:
    """Whether the words begin a name; a number is there as a whole, so that 1 does not begin 11."""
    same = len(words) - 1
    if not 0 <= same < len(whole) or words[:same] != whole[:same]:
        return False
    last, there = words[same], whole[same]
    return there == last if last.isdigit() else there.startswith(last)


def _attempt(paper: Paper, table: PaperTable, inputs: Asked) -> Reproduced:
    try:
        cells = tuple(table.cells(inputs))
    except DataError as error:
        return Reproduced(paper=paper, table=table, missing=str(error))
    return Reproduced(paper=paper, table=table, cells=cells)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ReproductionResult(TableResult):
    """Published figures and ours. `frame` has a row per figure.

    Attributes:
        results: one per table, also those that lack data.
    """

    results: Sequence[Reproduced]

    @property
    def computed(self) -> list[Reproduced]:
        """The tables with figures of ours, in the order of `tables`."""
        return [one for one in self.results if one.cells]

    @property
    def missing(self) -> dict[str, list[str]]:
        """Why tables could not be computed, each reason with the names of its tables."""
        reasons: dict[str, list[str]] = {}
        for one in self.results:
            if one.missing:
                reasons.setdefault(one.missing, []).append(one.name)
        return reasons

    @property
    def lacking(self) -> list[str]:
        """The tables without figures though they need nothing but released data."""
        return [one.name for one in self.results if one.missing and not one.table.needs]

    @property
    def off(self) -> dict[str, int]:
        """By table: how many figures differ from the paper's without a recorded reason."""
        return {one.name: len(one.off) for one in self.results if one.off}

    def page(self) -> str:
        """Every table and figure of each paper as Markdown: printed, ours, and the outcome."""
        papers: dict[str, list[Reproduced]] = {}
        for result in self.results:
            papers.setdefault(result.paper.name, []).append(result)
        return "\n".join(
            page_of(own[0].paper, {result.table.name: result.shown for result in own})
            for own in papers.values()
        )

    def to_json(self) -> str:
        """A list with an entry per table of a paper."""
        entries = plain(self.data["tables"])
        return orjson.dumps(entries, option=orjson.OPT_INDENT_2).decode() + "\n"


def reproduce_tables(
    what: str | None = None,
    *,
    data_dir: str | Path | None = None,
    models: ModelSource | None = None,
    predictions: str | Path | None = None,
    questions: int | None = None,
) -> ReproductionResult:
    """Compute published figures again, against the papers' own.

    Args:
        what: a paper, or `PAPER/TABLE`; None for all.
        data_dir: folder with the data.
        models: a language model that computes the rows of language models by the papers' prompts;
            None leaves those rows without figures of ours.
        predictions: a file of answers, for figures whose own answers were not released
            (Kamalloo's Figures 5 and 7).
        questions: ask the model about at most so many questions, the first ones.

    Raises:
        UnknownNameError: there is no such paper or table.
        DataError: its data are missing, or it uses no model or no answers of the user's.
    """
    asked = Asked(models=models, predictions=predictions, questions=questions)
    results = reproduce(what, data_dir=data_dir, asked=asked)
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
    return (
        cell.row,
        cell.column,
        shown(cell.paper),
        shown(cell.ours),
        difference,
        f"{cell.tolerance:.{cell.digits + 1}f}",
        outcome(cell),
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
        "item": result.table.item,
        "run": result.table.run,
        "missing": result.missing or None,
        "cells": cells,
    }
