"""Rows of requests judged in slices by one thread, each owner getting an equal share."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from markscheme.service.problems import Refusal

MOST_ROWS = 256
"""Rows of a slice."""
_WAIT = 2e-3
"""Seconds that rows wait for others, to make one slice."""


@dataclass(kw_only=True, eq=False)
class _Waiting:
    key: Hashable
    rows: Sequence[Any]
    since: float
    owner: Hashable = ""
    future: Future[list[Any]] = field(default_factory=Future)
    outcomes: list[Any] = field(default_factory=list)
    alone: bool = False
    """Whether each row is a slice, since a slice of several was ended or failed."""


_Piece = tuple[_Waiting, Sequence[Any]]
"""A request and its next rows."""


class Batcher:
    """One thread and the queue before it.

    Work is done in slices of at most so many rows, of which it may do the first ones and leave the
    others for another turn. A slice belongs to the owner who has used least of the thread's
    time since the queue was last empty; other requests of this owner with the same key are added
    where they fit. If a slice of several requests fails, or one of several rows takes too long,
    their rows are done one by one, with others' turns between them. A request whose future is
    cancelled is dropped, whether it waits or is worked on.
    """

    def __init__(
        self,
        work: Callable[[Any, list[Any], Callable[[], bool]], list[Any]],
        *,
        queue_rows: int,
        slice_rows: int = MOST_ROWS,
        wait: float = _WAIT,
        name: str = "judge",
        slice_weight: float = math.inf,
        weigh: Callable[[Any], float] = lambda _row: 1.0,
    ) -> None:
        """Start the thread.

        Args:
            work: gives one outcome per row, in order, of the first rows, one at least; may look at
                the function it is given, which says whether nobody waits any more.
            queue_rows: rows of one owner that may wait or be worked on.
            slice_rows: rows that a slice has at most.
            wait: seconds to wait for so many.
            name: of the thread.
            slice_weight: of its rows that a slice has at most, unless it is a single row.
            weigh: a row's part of that.
        """
        self._work = work
        self._most = queue_rows
        self._slice_rows = slice_rows
        self._wait = wait
        self._slice_weight = slice_weight
        self._weigh = weigh
        self._waiting: list[_Waiting] = []
        self._used: dict[Hashable, float] = {}
        """Seconds of the thread that owners used; only of those who wait or came last."""
        self._began: float | None = None
        self._rows = 0
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

    def submit(self, key: Hashable, rows: Sequence[Any], owner: Hashable = "") -> Future[list[Any]]:
        """Queue rows; the future gives an outcome for each, in order.

        Owners get equal shares: who has sent much waits for itself, not others for it.

        Raises:
            Refusal: too many rows of this owner wait (429), or the batcher is closed (503).
        """
        one = _Waiting(key=key, rows=rows, since=time.monotonic(), owner=owner)
        with self._changed:
            if self._closed:
                raise Refusal(503, "the service is stopping", retry_after=5)
            self._drop_cancelled()
            queued = sum(len(waiting.rows) for waiting in self._waiting if waiting.owner == owner)
            if queued + len(rows) > self._most:
                raise Refusal(429, "too many answers wait; try again in 5 s", retry_after=5)
            here = {waiting.owner for waiting in self._waiting}
            if not here:  # What the last one used while it was alone is no debt to who comes now.
                self._used.clear()
            if owner not in here:
                # Who was away has no claim to what others have used meanwhile, but to be next.
                level = min((self._used.get(who, 0.0) for who in here), default=0.0)
                self._used[owner] = max(self._used.get(owner, 0.0), level - 1e-3)
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

    def _next(self) -> list[_Piece]:
        """The next slice; none once all is done and nothing more will come."""
        with self._changed:
            while True:
                self._drop_cancelled()
                if self._waiting:
                    break
                if self._closed:
                    return []
                self._changed.wait()
            until = self._waiting[0].since + self._wait
            while (
                not self._closed
                and sum(len(one.rows) for one in self._waiting) < self._slice_rows
                and (left := until - time.monotonic()) > 0
            ):
                self._changed.wait(left)
            first = min(self._waiting, key=lambda one: self._used.get(one.owner, 0.0))
            same = [one for one in self._waiting if one.owner == first.owner and not one.alone]
            others = (one for one in same if one is not first and one.key == first.key)
            return self._cut([first, *others])

    def _cut(self, requests: Sequence[_Waiting]) -> list[_Piece]:
        """Rows of the first request that make a slice, one at least; others where they fit."""
        first = requests[0]
        room, weight = 1 if first.alone else self._slice_rows, self._slice_weight
        pieces: list[_Piece] = []
        for one in requests:
            rest = one.rows[len(one.outcomes) :]
            if pieces and len(rest) > room:
                continue
            taken: list[Any] = []
            for row in rest[:room]:
                weight -= self._weigh(row)
                if weight < 0 and (pieces or taken):
                    break
                taken.append(row)
            if taken:
                pieces.append((one, taken))
            room -= len(taken)
            if room < 1 or weight < 0:
                break
        return pieces

    def _do(self, pieces: Sequence[_Piece]) -> None:
        """Work on a slice, and finish the requests that are complete."""
        rows = [row for _, some in pieces for row in some]
        key, owner = pieces[0][0].key, pieces[0][0].owner
        began = self._began = time.monotonic()
        try:
            outcomes = self._work(
                key, rows, lambda: all(one.future.cancelled() for one, _ in pieces)
            )
        except BaseException as error:  # A panic of native code is no Exception, and must not
            self._charge(owner, began)  # end the thread that everybody waits for.
            again = isinstance(error, TimeoutError) and len(rows) > 1
            if len(pieces) > 1 or again:
                for one, _ in pieces:
                    one.alone = True
            else:
                self._finish(pieces[0][0], error)
            return
        self._charge(owner, began)
        start = 0
        for one, some in pieces:
            one.outcomes += outcomes[start : start + len(some)]
            start += len(some)
            if len(one.outcomes) == len(one.rows):
                self._finish(one)

    def _charge(self, owner: Hashable, began: float) -> None:
        """Put the time of a slice to the account of its owner."""
        self._began = None
        with self._changed:
            self._used[owner] = self._used.get(owner, 0.0) + time.monotonic() - began

    def _finish(self, one: _Waiting, error: BaseException | None = None) -> None:
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
