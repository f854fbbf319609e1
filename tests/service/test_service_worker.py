"""A lane's process can be ended, whatever it does, and starts again."""

from __future__ import annotations

import asyncio
import os
import platform
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest
from starlette.testclient import TestClient

from markscheme.contract import ModelSource, Needs
from markscheme.contract.registry import JUDGES, register
from markscheme.errors import JudgeError
from markscheme.service.app import make_app
from markscheme.service.schemas import AnswerIn
from markscheme.service.settings import Limits, Settings
from markscheme.service.worker import AbandonedError, DiedError, Worker


@pytest.fixture
def worker() -> Iterator[Worker]:
    made = Worker(name="test")
    yield made
    made.end()


def test_calls_share_a_process_and_errors_come_back(worker: Worker) -> None:
    assert worker.pid is None
    pid = worker.call(os.getpid, seconds=60)
    assert pid == worker.pid != os.getpid()
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        worker.call(divmod, 1, 0, seconds=60)
    assert worker.call(os.getpid, seconds=60) == pid
    assert worker.starts == 1


def test_what_takes_too_long_is_ended_even_where_it_never_looks_up(worker: Worker) -> None:
    pid = worker.call(os.getpid, seconds=60)
    began = time.monotonic()
    with pytest.raises(TimeoutError):
        worker.call(time.sleep, 600, seconds=0.2)  # native: no exception reaches it
    assert time.monotonic() - began < 60
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert worker.call(abs, -1, seconds=60) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="the system has no limit of processor time")
def test_native_code_that_computes_too_long_is_ended_by_the_system(worker: Worker) -> None:
    worker.call(abs, -1, seconds=60)
    with pytest.raises(TimeoutError, match=r"not done within 0\.2 s"):
        worker.call(pow, 7, 10**9, seconds=0.2)
    assert worker.call(abs, -1, seconds=60) == 1


def test_what_nobody_waits_for_is_ended(worker: Worker) -> None:
    worker.call(abs, -1, seconds=60)
    with pytest.raises(AbandonedError):
        worker.call(time.sleep, 600, seconds=600, abandoned=lambda: True)
    assert worker.pid is None


def test_what_is_done_before_another_process_would_start_is_not_ended(worker: Worker) -> None:
    """Else a client that leaves at once makes everybody wait for a new process."""
    pid = worker.call(os.getpid, seconds=60)
    worker.call(time.sleep, 0.5, seconds=60, abandoned=lambda: True)
    assert worker.pid == pid


def test_a_process_that_dies_is_an_error_and_another_starts(worker: Worker) -> None:
    pid = worker.call(os.getpid, seconds=60)
    with pytest.raises(JudgeError, match="died while judging"):
        worker.call(os.kill, pid, signal.SIGKILL, seconds=60)
    assert worker.call(os.getpid, seconds=60) != pid


@pytest.mark.skipif(sys.platform != "linux", reason="the system has no limit of address space")
def test_what_takes_too_much_memory_ends_its_process_and_no_other(worker: Worker) -> None:
    worker.call(abs, -1, seconds=60)
    with pytest.raises(DiedError, match="2,000 MB of memory"):
        worker.call(bytearray, 3 * 2**30, seconds=60)
    assert worker.call(abs, -1, seconds=60) == 1


def test_an_idle_process_gives_its_memory_back() -> None:
    idle = Worker(name="test", idle=0.05)
    idle.call(abs, -1, seconds=60)
    ends = time.monotonic() + 60
    while idle.pid is not None and time.monotonic() < ends:
        time.sleep(0.01)
    assert idle.pid is None


@pytest.mark.joint
def test_the_service_judges_in_processes_and_ends_what_nobody_waits_for(tmp_path: Path) -> None:
    limits = Limits(request_seconds=300, row_characters=10_000_000)
    app = make_app(Settings(jobs=tmp_path, limits=limits), allow=("exact_match", "hangs"))
    row = {"question": "Who?", "references": ["Ann"], "answer": "Ann"}
    with TestClient(app) as client:
        judging = app.state.service.judging
        judged = client.post("/v1/judgments", json={"answers": [row, row]}).json()["judgments"]
        assert [one["verdict"] for one in judged] == [True, True]
        assert judging.processes
        assert os.getpid() not in judging.processes
        explained = client.post("/v1/explanations", json={**row, "answer": "Anne"})
        assert explained.status_code == 200
        served = app.state.service.allowed.find("hangs")

        async def given_up() -> None:
            answer = AnswerIn.model_validate({**row, "answer": "A" * 3_000})
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.1):
                    await judging.judge(served, [answer], "greedy")

        assert client.portal is not None
        client.portal.call(given_up)
        again = client.post("/v1/judgments", json={"answers": [row]}).json()["judgments"]
        assert again[0]["verdict"] is True  # the lane of short answers never waited
    assert not judging.processes


@pytest.fixture(autouse=True)
def hangs() -> Iterator[None]:
    register("hangs", needs=Needs(chat=False, references="unused", question="unused"))(Hangs)
    yield
    del JUDGES.known["hangs"]


@dataclass(frozen=True, kw_only=True)
class Hangs:
    """Native code that never ends."""

    def judge(self, answers: pl.DataFrame, models: ModelSource) -> pl.DataFrame:
        time.sleep(600)
        return answers


def megabytes_kept() -> float:
    """Of 200 MB of buffers that were freed but for the last, what this process still has."""
    del [bytearray(200_000) for _ in range(10)][:]  # From here glibc by itself would keep such.
    before = resident()
    last = [bytearray(200_000) for _ in range(1_000)].pop()
    return resident() - before - len(last) / 1e6


def resident() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="an option of glibc")
def test_memory_of_long_answers_is_given_back(worker: Worker) -> None:
    assert worker.call(megabytes_kept, seconds=60) < 50
