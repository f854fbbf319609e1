"""A progress bar with count, rate and time left, on standard error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from markscheme.cli.app import notes


@contextmanager
def progress(
    what: str, *, total: int | None, unit: str = "judgments", quiet: bool = False
) -> Iterator[Callable[[int], None]]:
    """Show how a long job gets on; yields a function to call with how many more are done.

    Args:
        what: the job, in a word.
        total: how many there will be, or None where nobody knows.
        unit: what is counted.
        quiet: show nothing.
    """
    from rich.progress import (
        BarColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    if quiet:
        yield lambda _count: None
        return
    columns = [
        TextColumn(what),
        BarColumn(),
        TextColumn("{task.completed:,.0f} " + unit + "{task.fields[rate]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    ]
    with Progress(*columns, console=notes) as bar:
        task = bar.add_task("", total=total, rate="")

        def advance(count: int) -> None:
            elapsed = bar.tasks[task].elapsed or 0.0
            done = bar.tasks[task].completed + count
            rate = f", {done / elapsed:,.0f} a second" if elapsed > 0 else ""
            bar.update(task, advance=count, rate=rate)

        yield advance
        bar.update(task, total=bar.tasks[task].completed)
