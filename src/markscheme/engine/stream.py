"""One stream of judging: tables whose judges wait for a server are under way side by side.

A judge takes a table and gives its outcomes when the last of them is there. One table after
another would have a server wait for the slowest reply of each, and then for its repairs. So a
judge's items are cut into small tables, and so many of them are under way, in a thread each, that
the server always has as many requests as it may: across tables, judges and batches.
"""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from dataclasses import dataclass
from time import monotonic
from types import TracebackType
from typing import Self

import polars as pl

from markscheme.contract import Judge, ModelSource, asks_chat, judge_name, needs_of
from markscheme.engine.execute import Ask, Readings, apply, signed
from markscheme.errors import RunError
from markscheme.flags import Cleaning
from markscheme.models import Models
from markscheme.models.chat import CallGroup
from markscheme.tables import JUDGMENTS_SCHEMA, spread

OnProgress = Callable[[int], None]
"""Called with how many more judgments are finished."""

FIRST_CHUNK = 128
"""Items of a judge's first chunks, whose pace is not known: few, since an interrupt loses the chunk
that is under way, and enough for two processes."""
_SECONDS_PER_CHUNK = 2.0

_APART_FIRST = 1
_APART_MOST = 32
_SOON, _LATE = 0.5, 1.0
"""Items of a table whose rows are judged one by one: one at first, since a table is seen when
its last reply is there and requests of several tables take turns; then half as many after a table
that came late (in seconds), so that each verdict is saved and seen soon, and twice as many after
one that came soon, since tables cost something too."""

_TOGETHER = 1024
_FIRST_TOGETHER = 256
_SIDE_BY_SIDE = 4
"""Tables of the other kind that are under way together. The first ones grow from `_FIRST_TOGETHER`
to `_TOGETHER` items, so that no two end at the same time."""

_MOST_THREADS = 512
_LISTEN_SECONDS = 0.1


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """A judge with all that a run writes besides its outcomes."""

    judge: Judge
    name: str
    signature: str


def prepare(judges: Sequence[Judge], models: ModelSource | None, clean: Cleaning) -> list[Prepared]:
    """Name and sign judges of answers that are cleaned so.

    Raises:
        DataError: no such cleaning.
        RunError: none is given, or one twice.
    """
    found = [
        Prepared(judge=judge, name=judge_name(judge), signature=signed(judge, models, clean))
        for judge in judges
    ]
    names = [item.name for item in found]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise RunError(f"requested {', '.join(sorted(twice))} twice; name each judge once")
    if not names:
        raise RunError("no judge was named; 'markscheme judges' lists all")
    return found


class Sheet:
    """A batch and a judge: outcomes of the distinct items, and judgments once all are there.

    Attributes:
        items: what the judge reads; empty once all are judged.
        start: the first item without an outcome.
        parts: outcomes of the items before it.
        rows: the judgments.
    """

    def __init__(
        self,
        prepared: Prepared,
        *,
        batch: pl.DataFrame,
        readings: Readings,
        on_progress: OnProgress | None = None,
    ) -> None:
        """Take what is to be judged; judged items count as their share of the batch's rows."""
        self.judge = prepared.judge
        self.items = readings.of(prepared.judge)
        self.start = 0
        self.parts: list[pl.DataFrame] = []
        self.rows = pl.DataFrame()
        self._prepared = prepared
        self._ids = batch.select("answer_id", "system")
        self._item = readings.item
        self._height, self._size = batch.height, self.items.height
        self._on_progress = on_progress
        self._judged = self._told = 0
        self._ahead: dict[int, pl.DataFrame] = {}

    @property
    def finished(self) -> bool:
        """Whether every item has its outcome."""
        return self.start == self._size

    def take(self, start: int, outcomes: pl.DataFrame) -> None:
        """Outcomes of the items from `start` on; tables come in any order."""
        self._ahead[start] = outcomes
        self.tell(outcomes.height)
        while self.start in self._ahead:
            part = self._ahead.pop(self.start)
            self.start += part.height
            self.parts.append(part)
            self.grown()

    def tell(self, items: int) -> None:
        """Report the progress of so many more judged items."""
        self._judged += items
        rows = self._height * self._judged // max(1, self._size)
        if self._on_progress is not None and rows > self._told:
            self._on_progress(rows - self._told)
        self._told = rows

    def grown(self) -> None:
        """Make judgments of the outcomes when all of them are there."""
        if not self.finished:
            return
        outcomes = spread(pl.concat(self.parts), self._item)
        own = ("answer_id", "judge", "signature")
        self.rows = pl.concat([self._ids, outcomes], how="horizontal").select(
            "answer_id",
            pl.lit(self._prepared.name).alias("judge"),
            pl.lit(self._prepared.signature).alias("signature"),
            *(name for name in JUDGMENTS_SCHEMA if name not in own),
            "system",
        )
        self.parts.clear()
        self.items, self._ids, self._item = self.items.clear(), self._ids.clear(), _NO_ITEM


_NO_ITEM = pl.Series(dtype=pl.UInt32)


def chunk_after(items: int, seconds: float) -> int:
    """Items that take about two seconds, after a chunk of `items` that took `seconds`."""
    return max(1, int(items / max(seconds, 1e-6) * _SECONDS_PER_CHUNK))


def cuts(items: int, start: int = 0, *, first: int, most: int) -> Iterator[tuple[int, int]]:
    """Where tables begin, and how many items each has: `first`, twice that, and so on to `most`.

    They are the same wherever a run resumes: of requests that rows of a table share, the first row
    pays.
    """
    begin, size = 0, first
    while begin < items:
        end = min(items, begin + size)
        if end > start:
            yield max(begin, start), end - max(begin, start)
        begin, size = end, min(most, size + first)


class Stream:
    """Judges sheets. What comes in is taken in the caller's thread, in whatever order it comes.

    Use as a context: leaving it by an exception ends what is under way.
    """

    def __init__(
        self,
        models: ModelSource | None,
        *,
        ask: Ask = apply,
        on_wait: Callable[[], None] | None = None,
    ) -> None:
        """Nothing is started before a sheet needs it.

        Args:
            models: the run's models; say how many requests may be under way.
            ask: gives a judge's outcomes on a table.
            on_wait: is called several times a second while nothing comes.
        """
        self._models = models
        self._on_wait = on_wait
        self._ask = ask
        self._at_once = models.side_by_side if isinstance(models, Models) else 1
        self._slots = min(2 * self._at_once, _MOST_THREADS)
        self._free = self._slots
        self._running = 0
        self._lost = False
        self._threads: ThreadPoolExecutor | None = None
        self._calls = CallGroup()
        self._pace: dict[Judge, int] = {}
        self._chunks: dict[Judge, int] = {}
        self._came: queue.SimpleQueue[tuple[Sheet, int, int, Future[pl.DataFrame]]] = (
            queue.SimpleQueue()
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._threads is not None:
            if kind is not None:
                self._calls.cancel()
            self._threads.shutdown(wait=True, cancel_futures=True)

    def judge(self, sheet: Sheet) -> None:
        """Have a sheet judged. Returns once all of it is judged or, of a judge that waits for a
        server, under way.

        Raises:
            Exception: whatever a judge raised, of this sheet or an earlier one.
        """
        if not asks_chat(sheet.judge):
            self._judge_here(sheet)
            return
        needs = needs_of(sheet.judge)
        waits = self._at_once > 1 and bool(needs.chat)
        batch = waits and isinstance(self._models, Models) and self._models.options.batch
        if waits and needs.apart and not batch:
            self._judge_apart(sheet)
            return
        first, most = _FIRST_TOGETHER if needs.chat else _TOGETHER, _TOGETHER
        if needs.apart:
            first = _TOGETHER
        if batch:
            first = most = sheet.items.height  # The more in a batch, the better.
        for start, size in cuts(sheet.items.height, sheet.start, first=first, most=most):
            table = sheet.items.slice(start, size)
            if waits:
                slots = 1 if size > _TOGETHER else max(1, self._slots // _SIDE_BY_SIDE)
                self._start(sheet, start, table, slots)
            else:
                sheet.take(start, self._ask(sheet.judge, table, self._models))
                self._take_all()

    def _judge_here(self, sheet: Sheet) -> None:
        """Have rows judged chunk by chunk, each of which may be saved."""
        items, start = sheet.items, sheet.start
        while start < items.height:
            size = min(self._chunks.get(sheet.judge, FIRST_CHUNK), items.height - start)
            # The table itself where it is one chunk: judges may share work on the same table.
            chunk = items if size == items.height else items.slice(start, size)
            began = monotonic()
            outcomes = self._ask(sheet.judge, chunk, self._models)
            pace = chunk_after(size, monotonic() - began)
            # The first chunk also waited for weights and processes.
            self._chunks[sheet.judge] = pace if sheet.judge in self._chunks else max(pace, size)
            sheet.take(start, outcomes)
            self._take_all()
            start += size

    def _judge_apart(self, sheet: Sheet) -> None:
        """Have rows judged that share no request: where tables begin makes no difference."""
        start = sheet.start
        while start < sheet.items.height:
            while not self._free:
                self._take_one()
            size = self._pace.get(sheet.judge, _APART_FIRST)
            self._start(sheet, start, sheet.items.slice(start, size), 1)
            start += size

    def finish(self, sheets: Iterable[Sheet]) -> None:
        """Wait until these sheets are finished.

        Raises:
            Exception: whatever a judge raised.
        """
        for sheet in sheets:
            while not sheet.finished:
                self._take_one()

    def _start(self, sheet: Sheet, start: int, table: pl.DataFrame, slots: int) -> None:
        self._take_all()
        while self._free < slots:
            self._take_one()
        if self._threads is None:
            self._threads = ThreadPoolExecutor(
                self._slots, thread_name_prefix="judging", initializer=self._calls.enter
            )
        self._free -= slots
        self._running += 1
        coming = self._threads.submit(self._ask, sheet.judge, table, self._models)
        began = monotonic()

        def came(done: Future[pl.DataFrame]) -> None:
            took = monotonic() - began
            if took > _LATE:
                self._pace[sheet.judge] = max(1, table.height // 2)
            elif took < _SOON:
                self._pace[sheet.judge] = min(_APART_MOST, 2 * table.height)
            self._came.put((sheet, start, slots, done))

        coming.add_done_callback(came)

    def _take_all(self) -> None:
        while not self._came.empty():
            self._take_one()

    def _take_one(self) -> None:
        """Take the next table's outcomes when they come."""
        sheet, start, slots, done = self._next()
        self._free += slots
        self._running -= 1
        try:
            outcomes = done.result()
        except CancelledError:
            # It asked for the same as a table that failed, whose own error says more.
            self._lost = True
            if not self._running:
                raise
        else:
            sheet.take(start, outcomes)
            if self._lost and not self._running:
                raise CancelledError

    def _next(self) -> tuple[Sheet, int, int, Future[pl.DataFrame]]:
        """What came, waited for in pieces so that an interrupt is heard."""
        while True:
            try:
                return self._came.get(timeout=_LISTEN_SECONDS)
            except queue.Empty:
                if self._on_wait is not None:
                    self._on_wait()
