"""Runs: each item once, pieces saved, kills survived, folders kept apart."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import markscheme
from markscheme.contract.grammar import parse_judge
from markscheme.contract.registry import JUDGES as REGISTERED
from markscheme.contract.registry import asks_chat, register
from markscheme.engine.execute import apply, plan
from markscheme.engine.local_run import run_in_folder
from markscheme.engine.stream import chunk_after, cuts
from markscheme.errors import JudgeError, RunError
from markscheme.tables.answers import AnswersReader, ReadOptions, read_answers

JUDGES = ["exact_match", "contains", "token_f1(threshold=0.6)"]


class StopError(Exception):
    """Stands for a crash in the middle."""


@dataclass
class LedgerEntry:
    """What the counting judge was asked, and after how many chunks it is to break."""

    answers: list[str] = field(default_factory=list)
    chunks_left: int | None = None


ASKED = LedgerEntry()


def yes(answers: pl.DataFrame) -> pl.DataFrame:
    return answers.with_columns(pl.lit(value=True).alias("verdict"))


@dataclass(frozen=True, kw_only=True)
class Counting:
    """Accepts everything, and remembers what it was asked."""

    def judge(self, answers: pl.DataFrame, models: Any) -> pl.DataFrame:
        if ASKED.chunks_left is not None:
            if ASKED.chunks_left == 0:
                raise StopError
            ASKED.chunks_left -= 1
        ASKED.answers.extend(answers["answer"])
        return yes(answers)


@pytest.fixture
def counting() -> Any:
    register("counting")(Counting)
    ASKED.answers, ASKED.chunks_left = [], None
    yield Counting()
    del REGISTERED.known["counting"]


def big_file(folder: Path, rows: int = 3000) -> Path:
    rng = random.Random(7)
    words = ["paris", "london", "rome", "the", "of", "a", "1984", "jane", "austen", "emma"]
    lines = []
    for row in range(rows):
        record = {
            "question": f"question {row // 3}",
            "references": [" ".join(rng.choices(words, k=2)) for _ in range(2)],
            "answer": " ".join(rng.choices(words, k=rng.randint(1, 6))),
            "system": f"s{row % 3}",
        }
        lines.append(json.dumps(record))
    path = folder / "big.jsonl"
    path.write_text("\n".join(lines) + "\n")
    return path


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir()) if file.is_file()}


def test_equal_items_are_judged_once_whoever_said_them(counting: Counting) -> None:
    rows = [
        {"question": q, "references": ["x"], "answer": a, "system": s}
        for q in ("p", "q") for a in ("yes", "no") for s in ("one", "two", "three")
    ]  # fmt: skip
    result = markscheme.judge(rows, counting)
    assert sorted(ASKED.answers) == ["no", "no", "yes", "yes"]
    assert result.judgments.height == 12


def test_items_differ_by_references_and_kind() -> None:
    row = {"question": "q", "references": ["a", "b"], "answer": "x"}
    others = [
        {**row, "references": ["b", "a"]},
        {**row, "reference_kind": "regex"},
        {**row, "context": "c"},
        {**row, "reference_grades": [1, 2]},
        {**row, "answer": None},
        {**row, "answer": ""},
    ]
    items, item = plan(read_answers([row, *others, row]))
    assert items.height == 7
    assert item.to_list() == [0, 1, 2, 3, 4, 5, 6, 0]


def test_items_are_told_apart_whatever_their_texts_hold() -> None:
    row = {"question": "q", "answer": "b", "system": "s"}
    read = read_answers([row | {"references": ["a"]}])
    rows = [
        ("q", ["a", "b"], "b"), ("q", ["a\x1eb"], "b"), ("q", ["a"], None), ("q", ["a"], "\x00"),
        ("q", [], "b"), ("q", [""], "b"), ("q\x1fa", ["b"], "b"), ("q", ["a\x1fb"], "b"),
    ]  # fmt: skip
    columns = {"question": pl.String, "references": pl.List(pl.String), "answer": pl.String}
    table = pl.DataFrame([*rows, *rows], schema=columns, orient="row")
    batch = pl.concat([table, read[:0]], how="diagonal").select(read.columns)
    items, item = plan(batch)
    assert items.select(list(columns)).rows() == rows
    assert item.to_list() == [*range(8), *range(8)]


def test_outcomes_come_back_to_their_rows(example: Path) -> None:
    """Through batches, deduplication and chunks each answer keeps its own outcome."""
    reader = AnswersReader([example], ReadOptions(batch_rows=50))
    judge = parse_judge("token_f1")
    from markscheme.engine.local_run import run_in_memory

    got = run_in_memory(reader, [judge], clean="none").judgments.collect()
    answers = read_answers(example)
    straight = apply(judge, answers)
    assert got["answer_id"].to_list() == answers["answer_id"].to_list()
    assert got["score"].to_list() == straight["score"].to_list()


def test_chunks_grow_to_about_two_seconds() -> None:
    assert chunk_after(1024, 0.512) == 4000
    assert chunk_after(4000, 40_000) == 1


def test_tables_for_judges_that_ask_a_model_are_cut_alike_wherever_a_run_goes_on() -> None:
    whole = list(cuts(4000, first=256, most=1024))
    assert whole == [(0, 256), (256, 512), (768, 768), (1536, 1024), (2560, 1024), (3584, 416)]
    assert list(cuts(4000, 1536, first=256, most=1024)) == whole[3:]
    assert list(cuts(40, first=16, most=16)) == [(0, 16), (16, 16), (32, 8)]
    assert asks_chat(parse_judge("llm_kamalloo"))
    assert asks_chat(parse_judge("cascade(first=contains, then=llm_kamalloo)"))
    assert not asks_chat(parse_judge("panel(judges=[contains, exact_match])"))


def test_files_of_a_run(tmp_path: Path, example: Path) -> None:
    result = markscheme.judge(example, JUDGES, out=tmp_path / "run")
    names = set(contents(tmp_path / "run"))
    assert names == {
        ".lock", "answers.parquet", "judgments.parquet", "manifest.json", "run.json",
        "summary.json", "summary.md",
    }  # fmt: skip
    table = pl.read_parquet(tmp_path / "run" / "judgments.parquet")
    assert table.height == 3 * read_answers(example).height
    assert table.select(result.judgments.columns).equals(result.judgments)
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert {figure["judge"] for figure in summary["figures"]} == set(JUDGES)
    assert "| exact_match |" in (tmp_path / "run" / "summary.md").read_text()


def test_an_interrupted_run_repeats_nothing(tmp_path: Path, counting: Counting) -> None:
    path = big_file(tmp_path, 400)
    options = ReadOptions(batch_rows=100)

    ASKED.chunks_left = 2
    with pytest.raises(StopError):
        run_in_folder(AnswersReader([path], options), [counting], tmp_path / "run")
    ASKED.chunks_left = None
    assert len(ASKED.answers) == 200
    report = run_in_folder(AnswersReader([path], options), [counting], tmp_path / "run")
    assert len(ASKED.answers) == 400
    assert report.resumed == 200
    again = run_in_folder(AnswersReader([path], options), [counting], tmp_path / "run")
    assert len(ASKED.answers) == 400
    assert again.resumed == 400


@pytest.mark.joint
@pytest.mark.parametrize("kill_after", [0.02, 0.06, 0.12, 0.2, 0.35])
def test_killed_and_started_again_gives_the_same_files(tmp_path: Path, kill_after: float) -> None:
    """SIGKILL at some moment of the run; then the same command to its end."""
    path = big_file(tmp_path)
    script = (
        "import sys, time\n"
        "from markscheme.tables.answers import AnswersReader, ReadOptions\n"
        "from markscheme.api import run\n"
        "from markscheme.contract.grammar import parse_judge\n"
        "reader = AnswersReader([sys.argv[1]], ReadOptions(batch_rows=100))\n"
        f"judges = [parse_judge(j) for j in {JUDGES!r}]\n"
        "print('ready', flush=True)\n"
        "run(reader, judges, out=sys.argv[2])\n"
    )
    command = [sys.executable, "-c", script, str(path)]
    killed = tmp_path / "killed"
    process = subprocess.Popen([*command, str(killed)], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(kill_after)
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    subprocess.run([*command, str(killed)], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([*command, str(tmp_path / "whole")], check=True, stdout=subprocess.DEVNULL)
    assert contents(killed) == contents(tmp_path / "whole")
    assert pl.read_parquet(killed / "judgments.parquet").height == 9000


STAGES = {
    "reading": ("markscheme.tables.answers.AnswersReader.answers_of", 4, "before"),
    "before the first piece": ("markscheme.engine.run_folder.RunFolder._write_part", 1, "before"),
    "a piece half written": ("polars.DataFrame.write_parquet", 5, "after"),
    "between two pieces": ("markscheme.engine.run_folder.RunFolder._write_part", 7, "after"),
    "judging": ("markscheme.engine.execute.run_judge", 8, "before"),
    "the answers put together": ("markscheme.engine.run_folder.RunFolder.join_parts", 1, "after"),
    "the judgments half put together": ("polars.LazyFrame.sink_parquet", 2, "after"),
    "the judgments put together": ("markscheme.engine.run_folder.RunFolder.join_parts", 2, "after"),
    "the figures": ("markscheme.engine.local_run.summarise", 1, "after"),
    "summary.json": ("markscheme.engine.local_run.closing_texts", 1, "before"),
    "summary.md": ("markscheme.engine.run_folder.RunFolder.write", 3, "before"),
    "the state": ("markscheme.engine.run_folder.RunFolder.write_json", 2, "before"),
    "the state is written": ("markscheme.engine.run_folder.RunFolder.write_json", 2, "after"),
    "the pieces half removed": ("markscheme.engine.run_folder._remove", 3, "after"),
}
"""Moments of a run: a function, the how manieth call of it, and before or after that the kill."""

KILLED = """
import importlib, os, pkgutil, signal, sys
from markscheme.tables.answers import AnswersReader, ReadOptions
from markscheme.api import run
from markscheme.contract.grammar import parse_judge
import markscheme.engine.local_run, markscheme.engine.execute

path, out, where, call, when, judges = sys.argv[1:7]
reader = AnswersReader([path], ReadOptions(batch_rows=300))
judging = [parse_judge(name) for name in judges.split("+")]
if where:
    owner, _, name = where.rpartition(".")
    owner = pkgutil.resolve_name(owner)
    inner, calls = getattr(owner, name), 0

    def outer(*given, **named):
        global calls
        calls += 1
        if calls == int(call) and when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        result = inner(*given, **named)
        if calls == int(call):
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    setattr(owner, name, outer)
run(reader, judging, out=out)
"""


def start(*arguments: str) -> int:
    return subprocess.run([sys.executable, "-c", KILLED, *arguments], check=False).returncode


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, bytes]]:
    """A file, and what a run on it that nobody kills makes of it."""
    folder = tmp_path_factory.mktemp("whole")
    path = big_file(folder, 1500)
    assert start(str(path), str(folder / "run"), "", "0", "", "+".join(JUDGES)) == 0
    return path, contents(folder / "run")


JOINT = pytest.mark.joint
CHECKED_ALWAYS = ("reading", "a piece half written", "the judgments half put together", "the state",
         "the pieces half removed")  # fmt: skip


@pytest.mark.parametrize(
    "stage",
    [
        pytest.param(
            one, marks=JOINT if one in CHECKED_ALWAYS else pytest.mark.proof(area="cluster")
        )
        for one in STAGES
    ],
)
def test_killed_in_any_stage_and_started_again_gives_the_same_files(
    tmp_path: Path, whole: tuple[Path, dict[str, bytes]], stage: str
) -> None:
    """SIGKILL in every stage; then the same command to its end."""
    path, wanted = whole
    out = tmp_path / "run"
    where, call, when = STAGES[stage]
    killed = start(str(path), str(out), where, str(call), when, "+".join(JUDGES))
    assert killed == -signal.SIGKILL
    from markscheme.api import run

    run(
        AnswersReader([path], ReadOptions(batch_rows=300)),
        [parse_judge(name) for name in JUDGES],
        out=out,
    )
    assert contents(out) == wanted
    assert not (out / "parts").exists()


def test_saved_chunks_are_taken_up(tmp_path: Path, counting: Counting) -> None:
    """A batch that was killed in its middle goes on after its last saved chunk."""
    path = big_file(tmp_path, 3000)

    ASKED.chunks_left = 1
    with pytest.raises(StopError):
        run_in_folder(AnswersReader([path]), [counting], tmp_path / "run")
    ASKED.chunks_left = None
    assert len(ASKED.answers) == 1024
    run_in_folder(AnswersReader([path]), [counting], tmp_path / "run")
    assert sorted(ASKED.answers) == sorted(pl.read_ndjson(path)["answer"])


def test_a_folder_of_another_run_is_refused(tmp_path: Path, example: Path) -> None:
    out = tmp_path / "run"
    markscheme.judge(example, "exact_match", out=out)
    with pytest.raises(
        RunError, match=r"holds a run with exact_match, not contains; choose another --out"
    ):
        markscheme.judge(example, "contains", out=out)
    with pytest.raises(RunError, match=r"holds a finished run on \d+ answers, not 3,000"):
        markscheme.judge(big_file(tmp_path), "exact_match", out=out)
    strange = tmp_path / "strange"
    strange.mkdir()
    (strange / "thesis.tex").touch()
    with pytest.raises(RunError, match=r"not a run's folder: it holds thesis\.tex"):
        markscheme.judge(example, "exact_match", out=strange)


def test_a_plan_whose_parts_are_of_other_types_is_refused(tmp_path: Path, example: Path) -> None:
    out = tmp_path / "out"
    markscheme.judge(example, "exact_match", out=out)
    file = out / "run.json"
    plan = json.loads(file.read_text())
    for part in ("judges", "options", "state"):
        for damaged in (7, "x", None, [3], {"a": []}):
            if type(damaged) is type(plan[part]) is dict:
                continue
            file.write_text(json.dumps({**plan, "state": "running", part: damaged}))
            with pytest.raises(RunError, match="not the plan of a run"):
                markscheme.judge(example, "exact_match", out=out)


def test_two_runs_do_not_write_to_one_folder(tmp_path: Path, example: Path) -> None:
    import fcntl

    out = tmp_path / "run"
    out.mkdir()
    with (out / ".lock").open("wb") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        with pytest.raises(RunError, match="another run is writing"):
            markscheme.judge(example, "exact_match", out=out)


def test_a_place_that_cannot_be_written(tmp_path: Path, example: Path) -> None:
    blocked = tmp_path / "file"
    blocked.touch()
    with pytest.raises(RunError, match="cannot write to"):
        markscheme.judge(example, "exact_match", out=blocked / "run")


def test_an_address_is_no_folder_here(tmp_path: Path, example: Path) -> None:
    """A folder `s3:` was made in the present one, and the run said to be at the address."""
    with pytest.raises(RunError, match=r"s3://bucket/run\?key=\*\*\* is an address, .* ray"):
        markscheme.judge(example, "exact_match", out="s3://bucket/run?key=secret")


def test_bad_rows_are_written_aside(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"question":"q","gold":"a","answer":"a"}\n{"question":"q","answer":"a"}\n')
    markscheme.judge(path, "exact_match", out=tmp_path / "run", on_bad_row="skip")
    bad = json.loads((tmp_path / "run" / "bad_rows.jsonl").read_text())
    assert bad["line"] == 2
    assert bad["message"] == "no references"
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert summary["answers"]["skipped_bad_rows"] == 1


def test_a_judge_that_loses_rows_is_caught() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Losing:
        """Forgets a row."""

        def judge(self, answers: pl.DataFrame, models: Any) -> pl.DataFrame:
            return yes(answers[1:])

    register("losing")(Losing)
    try:
        rows = [{"question": "q", "references": ["a"], "answer": x} for x in "abc"]
        with pytest.raises(JudgeError, match="returned 2 rows for 3 answers"):
            markscheme.judge(rows, Losing())
    finally:
        del REGISTERED.known["losing"]


@pytest.mark.proof(area="attacks")
def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    """Parquet of ten times the rows is streamed, not loaded."""
    rows = pl.DataFrame({"n": range(600_000)}).select(
        pl.format("question {}", "n").alias("question"),
        pl.concat_list(pl.format("reference {} of some length", "n")).alias("references"),
        pl.format("an answer number {} that goes on for a while " * 4, *["n"] * 4).alias("answer"),
    )
    rows[:60_000].write_parquet(tmp_path / "small.parquet")
    rows.write_parquet(tmp_path / "large.parquet")
    script = (
        "import sys, markscheme\n"
        "from pathlib import Path\n"
        "markscheme.judge(sys.argv[1], 'exact_match', out=sys.argv[2])\n"
        "status = Path('/proc/self/status').read_text()\n"
        "print(status.split('VmHWM:')[1].split()[0])\n"
    )
    peaks = {}
    for name in ("small", "large"):
        command = [sys.executable, "-c", script, str(tmp_path / f"{name}.parquet")]
        done = subprocess.run(
            [*command, str(tmp_path / name)], check=True, capture_output=True, text=True,
            env=os.environ,
        )  # fmt: skip
        peaks[name] = int(done.stdout) / 1024
    assert peaks["large"] < 900, peaks


def test_ctrl_c_ends_a_run_that_waits_for_standard_input(tmp_path: Path) -> None:
    """As where somebody typed `-` and nothing comes."""
    out = tmp_path / "run"
    command = [sys.executable, "-m", "markscheme", "judge", "-", "-j", "contains", "-o", str(out)]
    waiting = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    assert waiting.stdin is not None
    try:
        waiting.stdin.write(b'{"question": "q", "gold": "a", "answer": "a"}\n')
        waiting.stdin.flush()
        while not (out / "run.json").exists():
            assert waiting.poll() is None
            time.sleep(0.05)
        waiting.send_signal(signal.SIGINT)
        assert waiting.wait(20) == 130
    finally:
        waiting.kill()
        said, _ = waiting.communicate()
    assert b"interrupted" in said
