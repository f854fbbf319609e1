"""What a training prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markscheme.cli.app import console, notes

if TYPE_CHECKING:
    from markscheme.results import Tabular


def say(text: str) -> None:
    """A line of what goes on."""
    notes.print(text, soft_wrap=True)


def show_tables(result: Tabular) -> None:
    """The tables of a report that no option formats, such as the held-out figures of a training."""
    for table in result.tables:
        console.print(table.rich())


def show_weights(folder: object, judge: str) -> None:
    """Where weights were written to, and how they are used."""
    notes.print(f"written to {folder}")
    console.print(f'use it: markscheme judge FILE --judge "{judge}"', soft_wrap=True)
