"""Printing and saving of results: one place for all commands."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from markscheme.cli.app import console, notes

if TYPE_CHECKING:
    from markscheme.results import Tabular


class Format(StrEnum):
    """How results are printed."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"
    LATEX = "latex"


def show(result: Tabular, *, output: Format, out: Path | None) -> None:
    """Print a result as a command's `--format` says, and write it to the file of `--out`.

    `--format json` prints exactly what the result's `to_json` gives.
    """
    if out is not None:
        # Before printing: a reader that leaves early (head) must not cost the file.
        result.save(out)
    if output is Format.TABLE:
        for sentence in result.lead:
            console.print(sentence, markup=False, soft_wrap=not console.is_terminal)
        if result.lead:
            console.print()
        for table in result.tables:
            console.print(table.rich())
            for note in table.notes:
                console.print(note, markup=False, soft_wrap=not console.is_terminal)
            if table.notes:
                console.print()
    else:
        written: dict[Format, Callable[[], str]] = {
            Format.JSON: result.to_json,
            Format.CSV: result.to_csv,
            Format.MARKDOWN: result.to_markdown,
            Format.LATEX: result.to_latex,
        }
        console.file.write(written[output]())
    if out is not None:
        notes.print(f"written to {out}", markup=False)


def say(text: str) -> None:
    """A line of what goes on."""
    notes.print(text, markup=False, soft_wrap=True)


def show_tables(result: Tabular) -> None:
    """The tables of a report that no option formats, such as the held-out figures of a training."""
    for table in result.tables:
        console.print(table.rich())


def show_weights(folder: object, judge: str) -> None:
    """Where weights were written to, and how they are used."""
    notes.print(f"written to {folder}", markup=False)
    console.print(f'use it: markscheme judge FILE --judge "{judge}"', markup=False, soft_wrap=True)
