"""Rows of several requests judged in one call, by one thread, in order of arrival."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from markscheme.service.settings import Batching

Key = TypeVar("Key", bound=Hashable)
Row = TypeVar("Row")
Outcome = TypeVar("Outcome")

_SLOWEST = 60.0


class Full(Exception):
    """The queue has no room; `seconds` until it probably has."""

    def __init__(self, seconds: int) -> None:
        super().__init__(f"the queue is full; try again in {seconds} s")
        self.seconds = seconds


class Closed(Exception):
    """Nothing more is taken."""


@dataclass(kw_only=True, eq=False)
class _Waiting(Generic[Key, Row, Outcome]):
    key: Key
    rows: Sequence[Row]
    since: float
    owner: Hashable = ""
    future: Future[list[Outcome]] = field(default_factory=Future)


class Batcher(Generic[Key, Row, Outcome]):
    """One thread and the queue before it.

    Requests with equal keys that wait at the same time are done in one call; each gets its own
    rows' outcomes. If a call of several fails, each is done alone, so that one client's rows cannot
    break another's.
    """

    def __init__(
        self,
        work: Callable[[Key, list[Row]], list[Outcome]],
        *,
        batching: Batching,
        queue_rows: int,
        name: str = "judge",
    ) -> None:
        """Start the thread.

        Args:
            work: gives one outcome a row, in order.
            batching: rows of a call and how long to wait for them.
            queue_rows: rows that may wait or be worked on.
            name: of the thread.
        """
        self._work = work
        self._batching = batching
        self._most = queue_rows
        self._waiting: deque[_Waiting[Key, Row, Outcome]] = deque()
        self._served: dict[Hashable, float] = {}
        """When owners were last served; only of those who wait or came last."""
        self._began: float | None = None
        self._rows = 0
        self._rate: float | None = None
        self._closed = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._life, name=name, daemon=True)
        self._thread.start()

    @property
    def rows(self) -> int:
        """Rows that wait or are worked on."""
        return self._rows

    @property
    def busy_for(self) -> float:
        """Seconds since the present call began; 0 between calls."""
        began = self._began
        return 0.0 if began is None else time.monotonic() - began

    def submit(self, key: Key, rows: Sequence[Row], owner: Hashable = "") -> Future[list[Outcome]]:
        """Queue rows; the future gives an outcome for each, in order.

        Owners take turns: who has sent much waits for itself, not others for it.

        Raises:
            Full: too many rows wait.
            Closed: the batcher is closed.
        """
        one: _Waiting[Key, Row, Outcome] = _Waiting(
            key=key, rows=rows, since=time.monotonic(), owner=owner
        )
        with self._changed:
            if self._closed:
                raise Closed
            if self._rows + len(rows) > self._most:
                seconds = self._rows / self._rate if self._rate else 1.0
                raise Full(round(min(max(seconds, 1.0), _SLOWEST)))
            self._rows += len(rows)
            self._waiting.append(one)
            self._changed.notify()
        return one.future

    def close(self) -> None:
        """Take nothing more, finish what was taken, and end the thread."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join()

    def _life(self) -> None:
        while batch := self._next():
            live = [one for one in batch if one.future.set_running_or_notify_cancel()]
            self._leave(sum(len(one.rows) for one in batch if one not in live))
            self._do(live)

    def _leave(self, rows: int) -> None:
        """So many rows are no longer here; said before their sender is told."""
        with self._changed:
            self._rows -= rows

    def _next(self) -> list[_Waiting[Key, Row, Outcome]]:
        """The requests of the next call; none once all is done and nothing more will come."""
        with self._changed:
            while not self._waiting:
                if self._closed:
                    return []
                self._changed.wait()
            until = self._waiting[0].since + self._batching.seconds
            while (
                not self._closed
                and sum(len(one.rows) for one in self._waiting) < self._batching.rows
                and (left := until - time.monotonic()) > 0
            ):
                self._changed.wait(left)
            first = min(self._waiting, key=lambda one: self._served.get(one.owner, 0.0))
            self._waiting.remove(first)
            taken, others, rows = [first], [], len(first.rows)
            for one in self._waiting:
                if one.key == first.key and rows + len(one.rows) <= self._batching.rows:
                    taken.append(one)
                    rows += len(one.rows)
                else:
                    others.append(one)
            self._waiting = deque(others)
            here = {one.owner for one in others}
            self._served = {who: when for who, when in self._served.items() if who in here}
            for one in taken:
                self._served[one.owner] = time.monotonic()
            return taken

    def _do(self, batch: list[_Waiting[Key, Row, Outcome]]) -> None:
        rows = [row for one in batch for row in one.rows]
        if not rows:
            return
        began = self._began = time.monotonic()
        try:
            outcomes = self._work(batch[0].key, rows)
        except BaseException as error:  # A panic of native code is no Exception, and must not
            if len(batch) == 1:  # end the thread that everybody waits for.
                self._leave(len(rows))
                batch[0].future.set_exception(error)
                return
            for one in batch:
                self._do([one])
            return
        finally:
            self._began = None
        self._rate = len(rows) / max(time.monotonic() - began, 1e-6)
        self._leave(len(rows))
        start = 0
        for one in batch:
            one.future.set_result(outcomes[start : start + len(one.rows)])
            start += len(one.rows)
