"""The one thread in which everything asynchronous runs, so that every call of ours can be plain."""

from __future__ import annotations

import asyncio
import atexit
import concurrent.futures
import contextlib
import os
import selectors
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from typing import Any, TypeVar

from markscheme.models.chat.call_group import group_of_thread

T = TypeVar("T")

_LISTEN_SECONDS = 0.1
_STEPS_UNDISTURBED = 8

_lock = threading.Lock()
_shared: LoopThread | None = None


class OneByOne(selectors.DefaultSelector):
    """Tells an event loop of one socket at a time, and of none while work is still to be done.

    A loop commonly reads every socket that has something and only then works on what it read. Here
    a reply is read, parsed and stored before the bytes of the next one leave the kernel, so that
    a killed process has at most one reply that is received but not stored.
    """

    def __init__(self) -> None:
        super().__init__()
        self._ready: deque[tuple[selectors.SelectorKey, int]] = deque()
        self._passed = 0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """One ready file, in turn. A loop asks with timeout 0 if it has work; after a few steps it
        learns of it all the same, so that work without end does not keep it from reading."""
        if timeout == 0 and self._passed < _STEPS_UNDISTURBED:
            self._passed += 1
            return []
        self._passed = 0
        while True:
            while self._ready:
                key, events = self._ready.popleft()
                # One that was closed or changed since is another key; what is ready is seen again.
                if self._known(key):
                    return [(key, events)]
            self._ready.extend(super().select(timeout))
            if not self._ready:
                return []

    def _known(self, key: selectors.SelectorKey) -> bool:
        try:
            return self.get_key(key.fd) is key
        except KeyError:
            return False


class LoopThread:
    """An event loop in a thread of its own."""

    def __init__(self) -> None:
        self._pid = os.getpid()
        self._loop = asyncio.SelectorEventLoop(OneByOne())
        self._closers: list[Callable[[], Awaitable[None]]] = []
        thread = threading.Thread(target=self._loop.run_forever, name="markscheme-io", daemon=True)
        thread.start()
        atexit.register(self._close)

    def usable(self) -> bool:
        """Whether this process started it; a forked child has the object but not the thread."""
        return self._pid == os.getpid()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run to the end and return the result; an interrupt cancels the work and goes on up."""
        group = group_of_thread()
        if group is not None and group.cancelled:
            work.close()
            raise concurrent.futures.CancelledError
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        if group is not None:
            return group.wait(future, self._loop.call_soon_threadsafe)
        try:
            # Waiting in pieces: with Polars' signal handler an interrupt does not end a wait.
            while not future.done():
                concurrent.futures.wait([future], timeout=_LISTEN_SECONDS)
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def at_exit(self, closer: Callable[[], Awaitable[None]]) -> None:
        """Have something closed when the process ends."""
        self._closers.append(closer)

    def _close(self) -> None:
        if not self.usable():
            return

        async def close() -> None:
            for closer in self._closers:
                await closer()

        # The process ends: what does not close in time is closed with it.
        with contextlib.suppress(TimeoutError):
            asyncio.run_coroutine_threadsafe(close(), self._loop).result(timeout=2)


def loop_thread() -> LoopThread:
    """The process's loop thread, started at its first use."""
    global _shared  # noqa: PLW0603
    with _lock:
        if _shared is None or not _shared.usable():
            _shared = LoopThread()
        return _shared


async def for_each(
    items: Iterable[T], work: Callable[[T], Awaitable[None]], *, at_once: int
) -> None:
    """Do `work` on every item, at most `at_once` side by side; the first exception ends it all.

    A fixed crew takes items off one iterator: a task for each of a million items would cost more
    than the items.
    """
    source = iter(items)

    async def worker() -> None:
        for item in source:
            await work(item)

    crew = [asyncio.ensure_future(worker()) for _ in range(at_once)]
    try:
        await asyncio.gather(*crew)
    finally:
        for one in crew:
            one.cancel()
        await asyncio.gather(*crew, return_exceptions=True)
