"""One answer that takes too long fails alone; the others are judged."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import markscheme
from markscheme.contract import Needs
from markscheme.contract.registry import JUDGES, register
from markscheme.engine import execute
from markscheme.engine.execute import apply, within
from markscheme.tables.answers import read_answers


@dataclass(frozen=True, kw_only=True)
class Slow:
    """Accepts everything, and takes ever so long for some."""

    def judge(self, answers: pl.DataFrame, models: Any) -> pl.DataFrame:
        for answer in answers["answer"]:
            while answer in ("endless", "asleep"):
                try:
                    if answer == "asleep":
                        time.sleep(0.001)
                except Exception:
                    continue
        return answers.with_columns(pl.lit(value=True).alias("verdict"))


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[Slow]:
    register("slow", needs=Needs(chat=False))(Slow)
    monkeypatch.setattr(execute, "_USUAL", 0.0)
    yield Slow()
    del JUDGES.known["slow"]


def rows(count: int, endless: set[int]) -> list[dict[str, Any]]:
    return [
        {"question": f"q{n}", "references": ["r"], "answer": "endless" if n in endless else "a"}
        for n in range(count)
    ]


def test_an_endless_answer_fails_alone(slow: Slow) -> None:
    found = apply(slow, read_answers(rows(20, {3, 17})), row_seconds=0.3)
    status = found["status"].cast(pl.String).to_list()
    assert [n for n, one in enumerate(status) if one == "failed"] == [3, 17]
    assert found["explanation"][3] == "too long: not judged within 0.3 s of processor time"
    assert found["verdict"].to_list() == [None if n in (3, 17) else True for n in range(20)]


def test_a_run_goes_on_past_an_endless_answer(
    slow: Slow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(execute.apply.__kwdefaults__, "row_seconds", 0.3)
    result = markscheme.judge(rows(10, {4}), slow, out=tmp_path / "run")
    assert result.run.records[0]["not_judged"] == {"failed": 1}


def test_a_call_that_ends_in_time_is_left_alone() -> None:
    for _ in range(200):
        assert within(0.01, lambda: 1) == 1
    time.sleep(0.02)
    with pytest.raises(TimeoutError, match=r"0\.05 s of processor time"):
        within(0.05, lambda: [n for n in range(10**12) if n < 0])
    with pytest.raises(ZeroDivisionError):
        within(1, lambda: 1 // 0)


def test_waiting_is_not_computing(slow: Slow, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock of the wall ends only what waits, and many times later."""
    assert within(0.05, lambda: time.sleep(0.2)) is None
    monkeypatch.setattr(execute, "PATIENCE", 2.0)
    answers = read_answers([{**rows(1, set())[0], "answer": "asleep"}])
    found = apply(slow, answers, row_seconds=0.1)
    assert found["status"].cast(pl.String).to_list() == ["failed"]


def test_other_processes_take_no_verdict() -> None:
    """A call that computes for less than its limit ends, however much else the machine does."""
    code = "while True: sum(range(1000))"
    others = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(6)]
    began = time.process_time()

    def work() -> float:
        while time.process_time() - began < 0.2:
            sum(range(1000))
        return time.process_time() - began

    try:
        assert 0.2 <= within(0.5, work) < 0.5
    finally:
        for other in others:
            other.kill()
            other.wait()
