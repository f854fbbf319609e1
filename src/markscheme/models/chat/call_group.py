"""Threads whose calls end together. Free of the event loop, which few runs need."""

from __future__ import annotations

import concurrent.futures
import threading
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")

_thread = threading.local()


class CallGroup:
    """Threads whose calls end together: what they wait for is cancelled when the group is."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waited_for: dict[concurrent.futures.Future[Any], Callable[..., object]] = {}
        self._cancelled = False

    def enter(self) -> None:
        """Make this thread one of the group."""
        _thread.group = self

    @property
    def cancelled(self) -> bool:
        """Whether nothing is to be begun any more."""
        return self._cancelled

    def cancel(self) -> None:
        """End what the group's threads wait for, and whatever they are to wait for from now on."""
        with self._lock:
            self._cancelled = True
            waited_for = dict(self._waited_for)
        # Together where they run: one that ends alone makes room for the next call, which is paid.
        for soon in set(waited_for.values()):
            soon(_cancel_all, [one for one, where in waited_for.items() if where == soon])

    def wait(self, future: concurrent.futures.Future[T], soon: Callable[..., object]) -> T:
        """The result of a future, unless the group is cancelled.

        Args:
            future: what is waited for.
            soon: has a function called, with its arguments, in the thread that works on it.

        Raises:
            CancelledError: it is.
        """
        with self._lock:
            self._waited_for[future] = soon
            cancelled = self._cancelled
        if cancelled:
            future.cancel()
        try:
            return future.result()
        finally:
            with self._lock:
                del self._waited_for[future]


def _cancel_all(futures: list[concurrent.futures.Future[Any]]) -> None:
    for one in futures:
        one.cancel()


def group_of_thread() -> CallGroup | None:
    """The group that this thread is one of, if any."""
    group: CallGroup | None = getattr(_thread, "group", None)
    return group
