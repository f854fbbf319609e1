"""How a long job gets on, with count, rate and time left, on standard error.

A bar in a terminal; elsewhere (a pipe, the log of a CI job) a line now and then and one at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from time import monotonic

from markscheme.cli.app import notes

_NOTES_A_SECOND = 5.0
_FIRST_LINE = 10.0
_LATER_LINES = 60.0
"""Seconds until the first line where there is no terminal, and between those that follow."""


class Advance:
    """Called with how many more are done; `note` shows a few words next to the bar."""

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


class _Lines:
    """Writes how a job gets on as lines, the first after some seconds."""

    of: Advance

    def __init__(self, what: str, total: int | None, unit: str) -> None:
        self._what = what
        self._total = total
        self._unit = unit
        self._done = 0
        self._began = monotonic()
        self._next = self._began + _FIRST_LINE

    def advance(self, count: int) -> None:
        """So many more are done."""
        self._done += count
        if (now := monotonic()) < self._next:
            return
        self._next = now + _LATER_LINES
        rate = self._done / (now - self._began)
        parts = [f"{self._what}: {self._done:,}"]
        if self._total is not None:
            parts[0] += f" of {max(self._total, self._done):,}"
        parts[0] += f" {self._unit}"
        if self._done:
            parts.append(f"{rate:,.0f} per second" if rate >= 1 else f"{60 * rate:,.1f} per minute")
            if self._total is not None and self._total > self._done:
                left = timedelta(seconds=round((self._total - self._done) / rate))
                parts.append(f"about {left} left")
        self._print(parts)

    def end(self) -> None:
        """All is done."""
        took = timedelta(seconds=int(monotonic() - self._began))
        self._print([f"{self._what}: {self._done:,} {self._unit} in {took}"])

    def _print(self, parts: list[str]) -> None:
        if self.of.latest:
            parts.append(self.of.latest)
        notes.print(", ".join(parts), soft_wrap=True)


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
    if not notes.is_terminal:
        lines = _Lines(what, total, unit)
        progress = Advance(lines.advance, lambda _text: lines.advance(0))
        lines.of = progress
        yield progress
        lines.end()
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
            rate = f", {done / elapsed:,.0f} per second" if elapsed > 0 else ""
            bar.update(task, advance=count, rate=rate)

        progress = Advance(advance, lambda text: bar.update(task, note=text))
        try:
            yield progress
        except BaseException:
            if not bar.tasks[task].completed:
                bar.live.transient = True  # nothing was done: the error says all
            raise
        bar.update(task, total=bar.tasks[task].completed, note=progress.latest)
