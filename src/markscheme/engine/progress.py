"""Progress: how many judgments of a run are finished."""

from __future__ import annotations

from collections.abc import Callable

OnProgress = Callable[[int], None]
"""Called with how many more judgments are finished."""


class ProgressTracker:
    """Tells of one judge's progress in a batch: judged items stand for their share of its rows."""

    def __init__(self, on_progress: OnProgress | None, *, rows: int, items: int) -> None:
        self._on_progress = on_progress
        self._rows = rows
        self._items = items
        self._judged = 0
        self._told = 0

    def items(self, count: int) -> None:
        """So many more items are judged."""
        self._judged += count
        self._tell(self._rows * self._judged // max(1, self._items))

    def all(self) -> None:
        """The batch is done."""
        self._tell(self._rows)

    def _tell(self, rows: int) -> None:
        if self._on_progress is not None and rows > self._told:
            self._on_progress(rows - self._told)
        self._told = rows
