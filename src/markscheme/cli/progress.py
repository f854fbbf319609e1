"""A progress bar with count, rate and time left, on standard error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

from markscheme.cli.app import notes

_NOTES_A_SECOND = 5.0


class Advance:
    """Called with how many more are done; `note` shows a few words beside the bar."""

    def __init__(
        self, advance: Callable[[int], None], show: Callable[[str], None] | None = None
    ) -> None:
        self._advance = advance
        self._show = show
        self._shown = 0.0
        self.latest = ""

    def __call__(self, count: int) -> None:
        self._advance(count)

    def note(self, text: str) -> None:
        """Show `text`, but not more often than an eye can follow."""
        self.latest = text
        now = monotonic()
        if self._show is not None and now - self._shown > 1 / _NOTES_A_SECOND:
            self._shown = now
            self._show(text)


@contextmanager
def progress(
    what: str, *, total: int | None, unit: str = "judgments", quiet: bool = False
) -> Iterator[Advance]:
    """Show how a long job gets on; yields a function to call with how many more are done.

    Args:
        what: the job, in a word.
        total: how many there will be, or None where nobody knows.
        unit: what is counted.
        quiet: show nothing.
    """
    if quiet:
        yield Advance(lambda _count: None)
        return
    from rich.progress import (
        BarColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = [
        TextColumn(what),
        BarColumn(),
        TextColumn("{task.completed:,.0f} " + unit + "{task.fields[rate]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
    ]
    with Progress(*columns, console=notes) as bar:
        task = bar.add_task("", total=total, rate="", note="")

        def advance(count: int) -> None:
            elapsed = bar.tasks[task].elapsed or 0.0
            done = bar.tasks[task].completed + count
            rate = f", {done / elapsed:,.0f} a second" if elapsed > 0 else ""
            bar.update(task, advance=count, rate=rate)

        told = Advance(advance, lambda text: bar.update(task, note=text))
        yield told
        bar.update(task, total=bar.tasks[task].completed, note=told.latest)
