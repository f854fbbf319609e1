"""Several processes that judge side by side: the same judgments, and nothing left behind."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import sqlite3
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
from markscheme.contract.grammar import parse_judge
from markscheme.contract.judge import Needs
from markscheme.contract.registry import JUDGES as REGISTERED
from markscheme.contract.registry import register
from markscheme.engine import processes
from markscheme.engine.execute import apply
from markscheme.engine.processes import process_pool
from markscheme.errors import JudgeError, RunError
from markscheme.models.chat.scripted import ScriptedChat
from markscheme.models.sources import Models
from markscheme.tables import NOT_GIVEN
from markscheme.tables.answers import read_answers

JUDGES = ["examiner", "contains", "entailment", "cascade(first=token_f1, then=examiner)"]


class IndexMissingError(Exception):
    """An error of a library, as many are: its message is not what it is made of."""

    def __init__(self, index: str, code: int) -> None:
        super().__init__(f"no index {index} (code {code})")


@dataclass(frozen=True, kw_only=True)
class Where:
    """Says in which process it judged, unless it is to die or to fail there."""

    does: str = "judge"

    def judge(self, answers: pl.DataFrame, models: Any) -> pl.DataFrame:
        there = multiprocessing.parent_process() is not None
        if there and self.does == "die":
            os._exit(9)
        if self.does == "fill":
            bytearray(2**60)  # No machine has so much.
        if there and self.does == "fail":
            raise JudgeError("this judge fails; fix it")
        if there and self.does == "miss":
            raise IndexMissingError("wiki", 7)
        return pl.DataFrame(
            {
                "verdict": [True] * answers.height,
                "explanation": [str(os.getpid())] * answers.height,
            }
        )


@pytest.fixture(autouse=True)
def where() -> Iterator[None]:
    register("where", needs=Needs(chat=False))(Where)
    yield
    del REGISTERED.known["where"]


def pids(result: markscheme.Result) -> set[int]:
    return processes_of(result.judgments)


def processes_of(outcomes: pl.DataFrame) -> set[int]:
    """Where rows were judged; those without an answer are decided before."""
    said = outcomes["explanation"]
    return {int(text) for text in said.filter(said != NOT_GIVEN)}


@pytest.mark.joint
def test_judgments_and_files_are_those_of_one_process(tmp_path: Path, example: Path) -> None:
    alone = markscheme.judge(example, JUDGES, out=tmp_path / "one")
    both = markscheme.judge(example, JUDGES, out=tmp_path / "two", workers=2)
    assert both.judgments.equals(alone.judgments)
    for name in ("judgments.parquet", "summary.json", "summary.md", "answers.parquet"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    assert markscheme.judge(example, JUDGES[:2], workers=3).judgments.equals(
        alone.judgments.filter(pl.col("judge").is_in(["examiner", "contains"]))
    )


def test_the_work_is_done_in_other_processes(example: Path) -> None:
    found = pids(markscheme.judge(example, "where", workers=2))
    assert os.getpid() not in found
    assert 1 <= len(found) <= 2
    assert pids(markscheme.judge(example, "where")) == {os.getpid()}


def test_long_judging_starts_processes_where_cores_are_idle(
    example: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    items = read_answers(example)
    monkeypatch.setattr(processes, "available_cores", lambda: 4)
    monkeypatch.setattr(os, "getloadavg", lambda: (1.0, 1.0, 1.0))
    here = {os.getpid()}

    def judged_in(ask: Any) -> set[int]:
        return processes_of(ask(Where(), items, None))

    with process_pool(None) as ask:
        assert [judged_in(ask), judged_in(ask)] == [here, here]  # Not ten seconds yet.
    monkeypatch.setattr(processes, "_PAYS_FROM", 0.0)
    with process_pool(None) as ask:
        elsewhere = judged_in(ask)
    assert os.getpid() not in elsewhere
    monkeypatch.setattr(os, "getloadavg", lambda: (3.5, 1.0, 1.0))  # Others use the cores.
    with process_pool(None) as ask:
        assert judged_in(ask) == here
    monkeypatch.setattr(os, "getloadavg", lambda: (0.0, 0.0, 0.0))
    monkeypatch.setattr(processes, "available_cores", lambda: 1)
    with process_pool(None) as ask:
        assert judged_in(ask) == here


def test_a_judge_that_holds_what_cannot_be_sent_goes_on_here(
    example: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One with a connection, of which a long run found out after ten seconds."""
    monkeypatch.setattr(processes, "available_cores", lambda: 4)
    monkeypatch.setattr(os, "getloadavg", lambda: (0.0, 0.0, 0.0))
    items, opened = read_answers(example), Where()
    object.__setattr__(opened, "connection", sqlite3.connect(":memory:"))
    with process_pool(None) as ask:
        ask(opened, items, None)
        monkeypatch.setattr(processes, "_PAYS_FROM", 0.0)
        assert processes_of(ask(opened, items, None)) == {os.getpid()}


def test_few_answers_stay_here(example: Path) -> None:
    few = read_answers(example).head(100)
    assert pids(markscheme.judge(few, "where", workers=2)) == {os.getpid()}


def test_judges_that_ask_a_model_stay_here_with_their_budget(example: Path) -> None:
    chat = ScriptedChat(replies=lambda message: "yes")
    items = read_answers(example)
    cascade = parse_judge("cascade(first=token_f1, then=llm_kamalloo)")
    with process_pool(2) as ask:
        found = ask(cascade, items, Models(chat=chat))
    assert chat.seen
    assert found.equals(apply(cascade, items, Models(chat=chat)))


def test_models_that_were_given_as_objects_keep_the_work_here(example: Path) -> None:
    models = Models(chat=ScriptedChat(replies={}))
    assert pids(markscheme.judge(example, "where", models=models, workers=2)) == {os.getpid()}


def test_a_dead_process_ends_the_run_and_the_next_one_goes_on(
    tmp_path: Path, example: Path
) -> None:
    judges = ["contains", "where(does=die)"]
    said = r"worker processes died while where\(does=die\) judged.*resumes from there"
    with pytest.raises(RunError, match=said):
        markscheme.judge(example, judges, out=tmp_path / "run", workers=2)
    result = markscheme.judge(example, judges, out=tmp_path / "run")
    assert result.run.resumed == read_answers(example).height
    assert result.judgments.height == 2 * read_answers(example).height


@pytest.mark.parametrize("workers", [1, 2])
def test_a_judge_without_memory_is_one_error_and_what_was_judged_is_saved(
    tmp_path: Path, example: Path, workers: int
) -> None:
    judges = ["contains", "where(does=fill)"]
    with pytest.raises(JudgeError, match=r"the judge (where\(does=fill\)|Where) needs more memory"):
        markscheme.judge(example, judges, out=tmp_path / "run", workers=workers)
    assert list((tmp_path / "run" / "parts").glob("judgments-000000-000-*"))


def test_an_error_there_is_an_error_here(example: Path) -> None:
    with pytest.raises(JudgeError, match="this judge fails; fix it"):
        markscheme.judge(example, "where(does=fail)", workers=2)


def test_an_error_that_cannot_be_sent_says_what_it_said(example: Path) -> None:
    """And not that a process died."""
    said = r"IndexMissingError: no index wiki \(code 7\); raised by the judge Where "
    with pytest.raises(JudgeError, match=said):
        markscheme.judge(example, "where(does=miss)", workers=2)


def test_processes_are_gone_afterwards(example: Path) -> None:
    with process_pool(2) as ask:
        items = read_answers(example)
        found = ask(Where(), items, None)
    started = processes_of(found)
    assert started
    assert os.getpid() not in started
    for pid in started:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def children(pid: int) -> list[int]:
    return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@pytest.mark.joint
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_run_that_is_stopped_takes_its_processes_along(
    tmp_path: Path, how: signal.Signals
) -> None:
    rows = [
        {"question": f"Who wrote book {n}?", "references": [f"Author {n}"], "answer": f"By A. {n}"}
        for n in range(60_000)
    ]
    file = tmp_path / "answers.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    command = [sys.executable, "-m", "markscheme", "judge", str(file), "-o", str(tmp_path / "run")]
    run = subprocess.Popen(
        [*command, "-j", "examiner(depth=fast)", "--workers", "2"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
    )  # fmt: skip
    deadline = time.monotonic() + 120
    while not any((tmp_path / "run").rglob("chunk-*")) and time.monotonic() < deadline:
        assert run.poll() is None, run.stdout and run.stdout.read()
        time.sleep(0.05)
    started = children(run.pid)
    assert len(started) >= 2
    if how == signal.SIGINT:
        os.killpg(run.pid, how)
    else:
        run.send_signal(how)
    said, _ = run.communicate(timeout=120)
    assert run.returncode != 0
    assert "Traceback" not in said
    while any(Path(f"/proc/{pid}").exists() for pid in started) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(Path(f"/proc/{pid}").exists() for pid in started)


OWN = """
import os
import polars as pl
from dataclasses import dataclass
from markscheme.contract import Needs, register

@register("own", needs=Needs(chat=False))
@dataclass(frozen=True, kw_only=True)
class Own:
    does: str = "judge"

    def judge(self, answers, models):
        if self.does == "end":
            os._exit(0)
        if self.does == "fill":
            bytearray(2**60)
        return pl.DataFrame({"verdict": [True] * answers.height})
"""


@pytest.mark.joint
@pytest.mark.timeout(300)
@pytest.mark.parametrize(("does", "workers"), [("end", 2), ("fill", 2), ("fill", 1)])
def test_a_judge_of_somebody_else_that_ends_its_process(
    tmp_path: Path, example: Path, does: str, workers: int
) -> None:
    """One error that names it, exit code 2; what another judge judged is there afterwards."""
    (tmp_path / "own.py").write_text(OWN)
    own = f"{tmp_path / 'own.py'}:Own"

    def judge(how: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "markscheme", "judge", str(example), "-q"]
        names = ["-j", "contains", "-j", f"{own}(does={how})", "--workers", str(workers)]
        return subprocess.run(
            [*command, *names, "-o", str(tmp_path / "run")], check=False, capture_output=True,
            text=True, timeout=240,
        )  # fmt: skip

    done = judge(does)
    said = " ".join(done.stderr.split())
    assert done.returncode == 2, said
    assert "Traceback" not in said
    assert f"own(does={does})" in said
    assert "saved" in said
    parts = tmp_path / "run" / "parts"
    assert sum(pl.read_parquet(one).height for one in parts.glob("judgments-000000-000-*")) == 248
