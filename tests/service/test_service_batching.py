"""Requests share calls, nobody's rows break another's, and the queue has an end."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from markscheme.service.batching import Batcher
from markscheme.service.problems import Refusal


class Work:
    """Doubles numbers; keeps the calls; stands still while `go` is not set."""

    def __init__(self) -> None:
        self.calls: list[list[int]] = []
        self.begun, self.go = threading.Event(), threading.Event()

    def __call__(
        self, key: str, rows: list[int], abandoned: Callable[[], bool] = bool
    ) -> list[int]:
        self.calls.append(rows)
        self.begun.set()
        assert self.go.wait(60)
        if 13 in rows:
            raise ValueError("thirteen")
        if 66 in rows:
            raise KeyboardInterrupt
        return [2 * row for row in rows]


def started(work: Work, *, queue_rows: int = 100, rows: int = 4) -> Batcher:
    """A batcher whose thread is busy with one row."""
    batcher = Batcher(work, queue_rows=queue_rows, slice_rows=rows, wait=0)
    batcher.submit("a", [0])
    assert work.begun.wait(60)
    return batcher


def test_what_waits_is_done_together() -> None:
    work = Work()
    batcher = started(work)
    futures = [batcher.submit(key, rows) for key, rows in
               [("a", [1]), ("b", [2]), ("a", [3, 4]), ("a", [5, 6]), ("a", [7])]]  # fmt: skip
    assert batcher.rows == 8
    work.go.set()
    assert [one.result(60) for one in futures] == [[2], [4], [6, 8], [10, 12], [14]]
    assert work.calls == [[0], [1, 3, 4, 7], [2], [5, 6]]
    batcher.close()
    assert batcher.rows == 0


def test_one_failure_is_one_clients() -> None:
    work = Work()
    batcher = started(work, rows=10)
    good, bad, native = (batcher.submit("a", [n]) for n in (1, 13, 66))
    work.go.set()
    assert good.result(60) == [2]
    with pytest.raises(ValueError, match="thirteen"):
        bad.result(60)
    with pytest.raises(KeyboardInterrupt):
        native.result(60)
    assert batcher.submit("a", [4]).result(60) == [8]
    batcher.close()


def test_a_full_queue_refuses_and_empties() -> None:
    work = Work()
    batcher = started(work, queue_rows=3)
    waiting = batcher.submit("a", [1, 2])
    with pytest.raises(Refusal) as told:
        batcher.submit("a", [3])
    assert 1 <= int((told.value.headers or {})["retry-after"]) <= 60
    work.go.set()
    waiting.result(60)
    batcher.close()


def test_who_gave_up_is_not_judged() -> None:
    work = Work()
    batcher = started(work)
    gone, stays = batcher.submit("a", [1]), batcher.submit("a", [2])
    assert gone.cancel()
    work.go.set()
    assert stays.result(60) == [4]
    batcher.close()
    assert work.calls == [[0], [2]]
    assert batcher.rows == 0


def test_closing_finishes_what_was_taken() -> None:
    work = Work()
    batcher = started(work)
    futures = [batcher.submit("a", [n]) for n in range(10)]
    work.go.set()
    batcher.close()
    assert [one.result(0) for one in futures] == [[2 * n] for n in range(10)]
    with pytest.raises(Refusal, match="stopping"):
        batcher.submit("a", [1])


def test_rows_of_a_request_larger_than_a_slice_come_back_together() -> None:
    work = Work()
    work.go.set()
    batcher = Batcher(work, queue_rows=100, slice_rows=2, wait=0.01)
    assert batcher.submit("a", list(range(9))).result(60) == [2 * n for n in range(9)]
    batcher.close()
    assert [len(rows) for rows in work.calls] == [2, 2, 2, 2, 1]


def test_owners_get_equal_shares_of_the_time() -> None:
    """Who has sent much waits for itself: another's request is next, not last."""
    order: list[str] = []
    begun, go = threading.Event(), threading.Event()

    def work(key: str, rows: list[str], abandoned: Callable[[], bool]) -> list[str]:
        begun.set()
        go.wait(10)
        time.sleep(0.01)
        order.extend(rows)
        return rows

    batcher: Batcher = Batcher(work, queue_rows=100, slice_rows=1, wait=0)
    first = batcher.submit("j", [f"a{n}" for n in range(6)], "a")
    begun.wait(10)
    futures = [batcher.submit("j", ["b0"], "b"), batcher.submit("j", ["c0"], "c")]
    assert batcher.busy_for > 0
    go.set()
    for future in (first, *futures):
        future.result(10)
    batcher.close()
    assert set(order[1:3]) == {"b0", "c0"}
    assert order[-1] == "a5"


def test_what_work_leaves_undone_is_done_after_others_turns() -> None:
    """Of requests that share a slice too, and in their order."""
    calls: list[list[int]] = []
    begun, go = threading.Event(), threading.Event()

    def work(key: str, rows: list[int], abandoned: Callable[[], bool]) -> list[int]:
        calls.append(rows)
        begun.set()
        assert go.wait(60)
        time.sleep(0.01)
        return rows[:2]

    batcher: Batcher = Batcher(work, queue_rows=100, slice_rows=4, wait=0)
    first = batcher.submit("j", [0, 1, 2, 3, 4, 5], "a")
    assert begun.wait(60)
    more = batcher.submit("j", [6], "a"), batcher.submit("j", [7], "a")
    other = batcher.submit("j", [8], "b")
    go.set()
    assert [one.result(60) for one in (first, *more, other)] == [[0, 1, 2, 3, 4, 5], [6], [7], [8]]
    batcher.close()
    assert calls == [[0, 1, 2, 3], [8], [2, 3, 4, 5], [4, 5, 6, 7], [6, 7]]


def test_a_slice_has_no_more_weight_than_it_may_but_one_row() -> None:
    work = Work()
    work.go.set()
    batcher = Batcher(work, queue_rows=100, wait=0, slice_weight=10, weigh=float)
    assert batcher.submit("a", [4, 6, 1, 20, 3, 3]).result(60) == [8, 12, 2, 40, 6, 6]
    batcher.close()
    assert work.calls == [[4, 6], [1], [20], [3, 3]]


def test_what_was_used_while_nobody_else_waited_is_no_debt() -> None:
    """Who used the service alone for long is next, like anybody, once another begins."""
    order: list[int] = []
    begun = threading.Event()

    def work(key: str, rows: list[int], abandoned: Callable[[], bool]) -> list[int]:
        if rows[0] < 0:
            begun.set()
        time.sleep(0.02)
        order.extend(rows)
        return rows

    batcher: Batcher = Batcher(work, queue_rows=100, slice_rows=1, wait=0)
    for n in range(10):
        batcher.submit("j", [n], "long here").result(60)
    newcomer = batcher.submit("j", [-1, -2, -3, -4, -5], "new")
    assert begun.wait(60)
    assert batcher.submit("j", [99], "long here").result(60) == [99]
    newcomer.result(60)
    batcher.close()
    assert order.index(99) <= 11, "after the row that was being done, and one at most"


def test_work_that_is_given_up_ends_and_leaves_the_queue() -> None:
    begun = threading.Event()

    def work(key: str, rows: list[int], abandoned: Callable[[], bool]) -> list[int]:
        begun.set()
        if rows == [0]:
            ends = time.monotonic() + 60
            while not abandoned():
                assert time.monotonic() < ends
                time.sleep(0.001)
            raise RuntimeError("ended")
        return rows

    batcher: Batcher = Batcher(work, queue_rows=100, slice_rows=4, wait=0)
    gone = batcher.submit("a", [0])
    assert begun.wait(60)
    assert gone.cancel()
    assert batcher.submit("a", [7]).result(60) == [7]
    batcher.close()
    assert batcher.rows == 0


def test_owners_share_no_slice_and_one_that_takes_too_long_is_cut_into_rows() -> None:
    slices: list[list[int]] = []

    def work(key: str, rows: list[int], abandoned: Callable[[], bool]) -> list[int]:
        slices.append(rows)
        if 13 in rows and len(rows) > 1:
            raise TimeoutError
        time.sleep(0.001)
        return rows

    batcher = Batcher(work, queue_rows=4, slice_rows=8, wait=0.02)
    slow = batcher.submit("j", [1, 13, 2], "a")
    other = batcher.submit("j", [5, 6, 7, 8], "b")
    with pytest.raises(Refusal, match="too many answers wait"):
        batcher.submit("j", [3, 4], "a")
    assert (slow.result(60), other.result(60)) == ([1, 13, 2], [5, 6, 7, 8])
    batcher.close()
    assert slices[0] == [1, 13, 2]
    assert slices[1] == [5, 6, 7, 8], "who has used nothing is next"
    assert slices[2:] == [[1], [13], [2]]
