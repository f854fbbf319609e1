"""Threads whose calls end together. Free of the event loop, which few runs need."""

from __future__ import annotations

import concurrent.futures
import threading
from typing import Any, TypeVar

T = TypeVar("T")

_thread = threading.local()


class CallGroup:
    """Threads whose calls end together: what they wait for is cancelled when the group is."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waited_for: set[concurrent.futures.Future[Any]] = set()
        self._cancelled = False

    def enter(self) -> None:
        """Make this thread one of the group."""
        _thread.group = self

    def cancel(self) -> None:
        """End what the group's threads wait for, and whatever they are to wait for from now on."""
        with self._lock:
            self._cancelled = True
            waited_for = list(self._waited_for)
        for one in waited_for:
            one.cancel()

    def wait(self, future: concurrent.futures.Future[T]) -> T:
        """The result of a future, unless the group is cancelled.

        Raises:
            CancelledError: it is.
        """
        with self._lock:
            self._waited_for.add(future)
            cancelled = self._cancelled
        if cancelled:
            future.cancel()
        try:
            return future.result()
        finally:
            with self._lock:
                self._waited_for.discard(future)


def group_of_thread() -> CallGroup | None:
    """The group that this thread is one of, if any."""
    group: CallGroup | None = getattr(_thread, "group", None)
    return group
