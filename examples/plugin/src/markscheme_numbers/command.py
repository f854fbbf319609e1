"""The command `markscheme count-numbers`: how many answers of a file hold a number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import polars as pl

from markscheme.cli import Files, Shown, command
from markscheme.flags import Option
from markscheme.results import Table, TableResult
from markscheme.tables import ReadOptions, read_answers

NUMBER = r"\d+(?:\.\d+)?"


@dataclass(frozen=True, kw_only=True)
class CountOptions:
    """What counts: each field is an option of the command."""

    least: Annotated[int, Option("How many numbers an answer must hold.", minimum=1)] = 1


def count_numbers(
    files: list[str], options: CountOptions | None = None, read: ReadOptions | None = None
) -> TableResult:
    """How many answers of each system hold a number. What the command prints, for Python.

    Raises:
        DataError: the files cannot be read.
    """
    least = (options or CountOptions()).least
    numbers = pl.col("answer").fill_null("").str.count_matches(NUMBER)
    counts = (
        read_answers(files, read)
        .group_by("system", maintain_order=True)
        .agg(answers=pl.len(), with_numbers=(numbers >= least).sum())
    )
    table = Table(
        title="Answers with numbers",
        header=("system", "answers", "with numbers"),
        rows=tuple(tuple(map(str, row)) for row in counts.iter_rows()),
        numeric=frozenset({"answers", "with numbers"}),
    )
    data = {"command": "count-numbers", "least": least, "systems": counts.to_dicts()}
    return TableResult(frame=counts, tables=(table,), data=data)


@command(
    "count-numbers", example="markscheme count-numbers answers.jsonl --least 2", reads_answers=True
)
def count_numbers_command(
    files: Files, options: CountOptions, read: ReadOptions, shown: Shown
) -> None:
    """Count the answers of each system that hold a number."""
    shown.show(count_numbers(files, options, read))
