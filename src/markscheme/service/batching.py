"""Rows of several requests judged in slices by one thread, each owner getting an equal share."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from markscheme.service.settings import Batching

Key = TypeVar("Key", bound=Hashable)
Row = TypeVar("Row")
Outcome = TypeVar("Outcome")

_SLOWEST = 60.0
_FIRST = 8
"""Rows of the first slice of a key, of which nothing is known yet."""


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
    outcomes: list[Outcome] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class _Piece(Generic[Key, Row, Outcome]):
    """The next rows of a request."""

    of: _Waiting[Key, Row, Outcome]
    rows: Sequence[Row]


class Batcher(Generic[Key, Row, Outcome]):
    """One thread and the queue before it.

    Work is done in slices of at most so many rows and about so many seconds. A slice begins with
    the owner who has used least of the thread's time; other requests with the same key are added
    where they fit. If a slice of several requests fails, each is done alone, so that one client's
    rows cannot break another's. A request whose future is cancelled is dropped, whether it waits
    or is worked on.
    """

    def __init__(
        self,
        work: Callable[[Key, list[Row], Callable[[], bool]], list[Outcome]],
        *,
        batching: Batching,
        queue_rows: int,
        name: str = "judge",
        slice_seconds: float | None = None,
        weigh: Callable[[Row], float] = lambda _row: 1.0,
    ) -> None:
        """Start the thread.

        Args:
            work: gives one outcome per row, in order; may look at the function it is given, which
                says whether nobody waits any more.
            batching: rows of a slice and how long to wait for them.
            queue_rows: rows that may wait or be worked on.
            name: of the thread.
            slice_seconds: how long a slice should take, by the rate of those before; None for any.
            weigh: how much work a row is, relative to others.
        """
        self._work = work
        self._batching = batching
        self._most = queue_rows
        self._slice = slice_seconds
        self._weigh = weigh
        self._waiting: list[_Waiting[Key, Row, Outcome]] = []
        self._used: dict[Hashable, float] = {}
        """Seconds of the thread that owners used; only of those who wait or came last."""
        self._rates: dict[Key, float] = {}
        """Weight that is done in a second, by key."""
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
        """Seconds since the present slice began; 0 between slices."""
        began = self._began
        return 0.0 if began is None else time.monotonic() - began

    @property
    def dead(self) -> bool:
        """Whether the thread has ended, though nobody closed the batcher."""
        return not self._closed and not self._thread.is_alive()

    def submit(self, key: Key, rows: Sequence[Row], owner: Hashable = "") -> Future[list[Outcome]]:
        """Queue rows; the future gives an outcome for each, in order.

        Owners get equal shares: who has sent much waits for itself, not others for it.

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
                self._drop_cancelled()
            if self._rows + len(rows) > self._most:
                seconds = self._rows / self._rate if self._rate else 1.0
                raise Full(round(min(max(seconds, 1.0), _SLOWEST)))
            here = {waiting.owner for waiting in self._waiting}
            if owner not in here:
                # Who was away has no claim to time that others have used meanwhile.
                level = min((self._used.get(who, 0.0) for who in here), default=0.0)
                self._used[owner] = max(self._used.get(owner, 0.0), level)
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
        while pieces := self._next():
            self._do(pieces)

    def _drop_cancelled(self) -> None:
        """Forget requests that were given up. Called with the lock."""
        for one in [one for one in self._waiting if one.future.cancelled()]:
            self._waiting.remove(one)
            self._rows -= len(one.rows)

    def _next(self) -> list[_Piece[Key, Row, Outcome]]:
        """The next slice; none once all is done and nothing more will come."""
        with self._changed:
            while True:
                self._drop_cancelled()
                if self._waiting:
                    break
                if self._closed:
                    return []
                self._changed.wait()
            until = self._waiting[0].since + self._batching.batch_ms / 1e3
            while (
                not self._closed
                and sum(len(one.rows) for one in self._waiting) < self._batching.batch_rows
                and (left := until - time.monotonic()) > 0
            ):
                self._changed.wait(left)
            first = min(self._waiting, key=lambda one: self._used.get(one.owner, 0.0))
            others = (one for one in self._waiting if one is not first and one.key == first.key)
            return self._cut([first, *others])

    def _cut(
        self, requests: Sequence[_Waiting[Key, Row, Outcome]]
    ) -> list[_Piece[Key, Row, Outcome]]:
        """Rows of the first request that make a slice, one at least; others where they fit."""
        room, budget = self._batching.batch_rows, float("inf")
        if self._slice is not None:
            rate = self._rates.get(requests[0].key)
            budget = budget if rate is None else rate * self._slice
            room = min(room, _FIRST) if rate is None else room
        first = requests[0]
        taken: list[Row] = []
        for row in first.rows[len(first.outcomes) :]:
            weight = self._weigh(row)
            if taken and (room < 1 or budget < weight):
                break
            taken.append(row)
            room, budget = room - 1, budget - weight
        pieces = [_Piece(of=first, rows=taken)]
        for one in requests[1:]:
            rest = one.rows[len(one.outcomes) :]
            weight = sum(map(self._weigh, rest))
            if len(rest) <= room and weight <= budget:
                pieces.append(_Piece(of=one, rows=rest))
                room, budget = room - len(rest), budget - weight
        return pieces

    def _do(self, pieces: Sequence[_Piece[Key, Row, Outcome]]) -> None:
        """Work on a slice, and finish the requests that are complete."""
        rows = [row for piece in pieces for row in piece.rows]
        began = self._began = time.monotonic()
        try:
            outcomes = self._work(
                pieces[0].of.key, rows, lambda: all(one.of.future.cancelled() for one in pieces)
            )
        except BaseException as error:  # A panic of native code is no Exception, and must not
            self._began = None  # end the thread that everybody waits for.
            self._charge(pieces, time.monotonic() - began)
            if len(pieces) == 1:
                self._finish(pieces[0].of, error)
                return
            for piece in pieces:
                if not piece.of.future.cancelled():
                    self._do([piece])
            return
        self._began = None
        seconds = max(time.monotonic() - began, 1e-6)
        self._charge(pieces, seconds)
        self._rate = len(rows) / seconds
        self._rates[pieces[0].of.key] = sum(map(self._weigh, rows)) / seconds
        start = 0
        for piece in pieces:
            piece.of.outcomes += outcomes[start : start + len(piece.rows)]
            start += len(piece.rows)
            if len(piece.of.outcomes) == len(piece.of.rows):
                self._finish(piece.of)

    def _charge(self, pieces: Sequence[_Piece[Key, Row, Outcome]], seconds: float) -> None:
        """Put the time of a slice to the account of its owners, by weight."""
        weights = [sum(map(self._weigh, piece.rows)) for piece in pieces]
        whole = sum(weights) or 1.0
        with self._changed:
            for piece, weight in zip(pieces, weights, strict=True):
                who = piece.of.owner
                self._used[who] = self._used.get(who, 0.0) + seconds * weight / whole

    def _finish(self, one: _Waiting[Key, Row, Outcome], error: BaseException | None = None) -> None:
        """Give a request its outcomes, or the error; before that, the queue is shorter."""
        with self._changed:
            if one in self._waiting:
                self._waiting.remove(one)
                self._rows -= len(one.rows)
            here = {waiting.owner for waiting in self._waiting} | {one.owner}
            self._used = {who: used for who, used in self._used.items() if who in here}
        if one.future.set_running_or_notify_cancel():
            if error is not None:
                one.future.set_exception(error)
            else:
                one.future.set_result(one.outcomes)
