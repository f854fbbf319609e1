"""Runs on Ray: the local engine's judgments, after kills and failures too."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import markscheme
from markscheme.cli import run
from markscheme.contract.grammar import parse_judge
from markscheme.engine.local_run import RunReport, run_in_folder
from markscheme.engine.ray_run import (
    Job,
    PieceJudge,
    RayOptions,
    _Cluster,
    _enough,
    _Folder,
    _less,
    _share,
    run_on_ray,
)
from markscheme.engine.shards import Piece, input_pieces, read_piece
from markscheme.errors import DataError, MissingExtraError, RunError
from markscheme.models import ServerOptions
from markscheme.models.sources import ModelOptions
from markscheme.tables.answers import AnswersReader, Met, ReadOptions
from markscheme.tables.seal import file_digest
from s3_store import s3_store
from servers import ChatServer

JUDGES = ["examiner(depth=fast)"]


def rows(count: int) -> pl.DataFrame:
    numbers = range(count)
    return pl.DataFrame(
        {
            "answer_id": [f"a{number}" for number in numbers],
            "question": [f"Who came in as number {number % 9_973}?" for number in numbers],
            "references": [[f"runner {number % 9_973}", "nobody"] for number in numbers],
            "answer": [f"It was runner {number % 9_967}." for number in numbers],
            "system": [f"s{number % 3}" for number in numbers],
        }
    )


def test_a_run_without_ray_leaves_the_folder_to_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    rows(3).write_parquet(tmp_path / "a.parquet")
    with pytest.raises(MissingExtraError, match=r"markscheme\[ray\]"):
        run_on_ray(
            [str(tmp_path / "a.parquet")],
            [parse_judge("contains")],
            str(tmp_path / "run"),
            ray_options=RayOptions(),
            read=ReadOptions(),
        )
    assert not (tmp_path / "run").exists()


class Here(_Cluster):
    """A cluster of one worker, in this process and without Ray."""

    def __enter__(self) -> Here:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def _stream(self, job: Job, pieces: Sequence[Piece]) -> list[dict[str, Any]]:
        worker = PieceJudge(job, {piece.number: piece for piece in pieces})
        numbers = [piece.number for piece in pieces]
        return [json.loads(report) for report in worker({"number": numbers})["report"]]


@pytest.fixture
def without_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("markscheme.engine.ray_run.find_spec", lambda _: True)
    monkeypatch.setattr("markscheme.engine.ray_run._Cluster", Here)


@pytest.mark.usefixtures("without_ray")
def test_a_folder_takes_up_no_pieces_that_were_read_otherwise(tmp_path: Path) -> None:
    rows(3).with_columns(claude=pl.lit("nobody")).write_parquet(tmp_path / "a.parquet")
    command = ["judge", str(tmp_path / "a.parquet"), "-j", "exact_match", "-q", "--engine", "ray"]
    command += ["--out", str(tmp_path / "run")]
    assert run(command) == 0
    assert run(command) == 0
    with pytest.raises(RunError, match="other options of reading, such as --columns"):
        run_on_ray(
            [str(tmp_path / "a.parquet")],
            [parse_judge("exact_match")],
            str(tmp_path / "run"),
            ray_options=RayOptions(),
            read=ReadOptions(columns={"answer": "claude"}),
        )
    assert run([*command, "--columns", "answer=claude"]) == 2


@pytest.mark.usefixtures("without_ray")
def test_again_judges_the_pieces_in_which_the_budget_left_something_out(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for number in range(2):
        rows(6).slice(3 * number, 3).write_parquet(tmp_path / f"{number}.parquet")
    command = ["judge", str(tmp_path / "*.parquet"), "-j", "llm_kamalloo", "-m", "m",
               "--engine", "ray", "--ledger", str(tmp_path / "l.sqlite"),
               "--out", str(tmp_path / "run")]  # fmt: skip
    with ChatServer() as server:
        command += ["--base-url", server.url]
        for _ in range(2):  # The second time nothing is left to do.
            assert run([*command, "--max-calls", "4"]) == 0
            assert "judges only what the budget left out (2)" in " ".join(
                capfd.readouterr().err.split()
            )
            assert len(server.bodies) == 4
        assert run([*command, "--again"]) == 0
        assert len(server.bodies) == 6
    said = capfd.readouterr().err
    assert "3 judgments were reused" in said
    assert "judges only" not in said
    found = pl.read_parquet(tmp_path / "run" / "judgments.parquet" / "*.parquet")
    assert found["status"].to_list() == ["judged"] * 6
    assert markscheme.verify(tmp_path / "run")
    assert run([*command, "-q"]) == 0


@pytest.mark.usefixtures("without_ray")
def test_a_run_far_away_is_reported_from_its_own_tables(
    capfd: pytest.CaptureFixture[str],
) -> None:
    fsspec = pytest.importorskip("fsspec")
    for number in range(2):
        with fsspec.open(f"memory://answers/{number}.parquet", "wb") as file:
            rows(6).slice(3 * number, 3).with_columns(label=pl.lit(1.0)).write_parquet(file)
    command = ["judge", "memory://answers/*.parquet", "-j", "contains", "--engine", "ray",
               "--out", "memory://judged", "--fail-under", "0.9"]  # fmt: skip
    assert run(command) == 0
    said = capfd.readouterr()
    assert "100.0 (2)" in said.out
    assert "written to memory://judged\n" in said.err
    assert "None" not in said.err


@pytest.mark.usefixtures("without_ray")
def test_an_id_of_different_rows_in_several_pieces_is_refused(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    table = rows(6)
    table.head(4).write_parquet(tmp_path / "0.parquet")
    table.tail(3).write_parquet(tmp_path / "1.parquet")  # "a3" is the same row in both.
    command = ["judge", str(tmp_path / "*.parquet"), "-j", "contains", "-q", "--engine", "ray"]
    assert run([*command, "--out", str(tmp_path / "equal")]) == 0
    other = pl.when(pl.col("answer_id") == "a3").then(pl.lit("No one.")).otherwise("answer")
    table.tail(3).with_columns(other.alias("answer")).write_parquet(tmp_path / "1.parquet")
    for _ in range(2):  # No run with such ids is ever finished.
        assert run([*command, "--out", str(tmp_path / "run")]) == 2
        assert "such as 'a3'" in capfd.readouterr().err
    command += ["--out", str(tmp_path / "by-content"), "--columns", "answer_id=none"]
    assert run(command) == 0


@pytest.mark.usefixtures("without_ray")
def test_what_comes_in_another_order_is_noted_in_that_of_the_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class LastFirst(Here):
        def _stream(self, job: Job, pieces: Sequence[Piece]) -> list[dict[str, Any]]:
            return super()._stream(job, pieces)[::-1]

    monkeypatch.setattr("markscheme.engine.ray_run._Cluster", LastFirst)
    files = [str(tmp_path / f"{number}.jsonl") for number in range(3)]
    for number, file in enumerate(files):
        Path(file).write_text(
            f'{{"question": "", "gold": "a", "answer": "a", "remark{number}": 1}}\n'
            f'{{"question": "q{number}", "gold": "a", "answer": "a"}}\n'
        )
    command = ["judge", *files, "-j", "contains", "-q", "--on-bad-row", "skip", "--out"]
    assert run([*command, str(tmp_path / "here")]) == 0
    assert run([*command, str(tmp_path / "ray"), "--engine", "ray"]) == 0
    for name in ("bad_rows.jsonl", "summary.json"):
        assert (tmp_path / "ray" / name).read_text() == (tmp_path / "here" / name).read_text()


@pytest.mark.usefixtures("without_ray")
def test_the_files_of_a_folder_are_one_system_as_on_one_machine(tmp_path: Path) -> None:
    folder = tmp_path / "gpt.parquet"
    folder.mkdir()
    for number in range(2):
        part = rows(6).slice(3 * number, 3).drop("system", "answer_id")
        part.write_parquet(folder / f"part-0000{number}.parquet")
    command = ["judge", str(folder), "-j", "contains", "-q", "--out"]
    assert run([*command, str(tmp_path / "here")]) == 0
    assert run([*command, str(tmp_path / "ray"), "--engine", "ray"]) == 0
    found = pl.read_parquet(tmp_path / "ray" / "answers.parquet" / "*.parquet")
    assert found["system"].unique().to_list() == ["gpt"]
    here, there = (markscheme.verify(tmp_path / name).data["content"] for name in ("here", "ray"))
    assert here == there


@pytest.mark.usefixtures("without_ray")
def test_files_without_rows_among_others_are_passed_over(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("pyarrow")
    import pyarrow.parquet

    table = rows(6).to_arrow()
    for number, part in enumerate((table.slice(0, 0), table, table.slice(0, 0))):
        pyarrow.parquet.write_table(part, tmp_path / f"{number}.parquet")
    command = ["judge", str(tmp_path), "-j", "contains", "-q", "--engine", "ray", "--out"]
    assert run([*command, str(tmp_path / "run")]) == 0
    found = pl.read_parquet(tmp_path / "run" / "judgments.parquet" / "*.parquet")
    assert found["answer_id"].to_list() == rows(6)["answer_id"].to_list()
    (tmp_path / "1.parquet").unlink()
    capfd.readouterr()
    assert run([*command, str(tmp_path / "none")]) == 2
    assert f"{tmp_path} holds no answers" in capfd.readouterr().err.replace("\n", " ")


@pytest.mark.usefixtures("without_ray")
def test_a_bad_row_of_a_piece_is_named_by_its_place_in_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("markscheme.engine.shards.PIECE_ROWS", 4)
    file = tmp_path / "a.parquet"
    empty = pl.when(pl.col("answer_id") != "a5").then("question").otherwise(pl.lit(""))
    rows(8).with_columns(question=empty).write_parquet(file, row_group_size=4)
    command = ["judge", str(file), "-j", "contains", "-q", "--on-bad-row", "skip", "--out"]
    assert run([*command, str(tmp_path / "here")]) == 0
    assert run([*command, str(tmp_path / "ray"), "--engine", "ray"]) == 0
    noted = (tmp_path / "ray" / "bad_rows.jsonl").read_text()
    assert noted == (tmp_path / "here" / "bad_rows.jsonl").read_text()
    assert json.loads(noted)["line"] == 6
    capfd.readouterr()
    command = ["judge", str(file), "-j", "contains", "-q", "--engine", "ray", "--out"]
    assert run([*command, str(tmp_path / "stops")]) == 2
    assert f"{file}, row 6: " in " ".join(capfd.readouterr().err.split())


def test_pieces_judged_by_a_worker_make_the_run_of_the_local_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, without_ray: None
) -> None:
    files = [str(tmp_path / f"{number}.parquet") for number in range(3)]
    for number, file in enumerate(files):
        rows(900).slice(300 * number, 300).write_parquet(file)
    judges = [parse_judge(name) for name in ("contains", "exact_match")]
    here = run_in_folder(AnswersReader(files, ReadOptions()), judges, tmp_path / "here")
    out, told = tmp_path / "ray", list[int]()

    def again() -> RunReport:
        return run_on_ray(
            files,
            judges,
            str(out),
            ray_options=RayOptions(),
            read=ReadOptions(),
            on_progress=told.append,
        )

    there = again()
    assert told == [600, 600, 600]
    assert there.notes == here.notes
    assert [there.rows, there.items, there.resumed] == [here.rows, here.items, 0]
    assert json.loads((out / "summary.json").read_bytes()) == json.loads(
        (tmp_path / "here" / "summary.json").read_bytes()
    )
    order = ["judge", "answer_id"]
    assert there.judgments.collect().sort(order).equals(here.judgments.collect().sort(order))
    damaged = out / "judgments.parquet" / "part-000001.parquet"
    whole = damaged.read_bytes()
    damaged.write_bytes(whole[:-1])
    assert again().resumed == 2 * 600
    assert damaged.read_bytes() == whole
    damaged.write_bytes(whole + b"forged")
    (report,) = (out / "reports").glob("part-000001-*")
    listed = json.loads(report.read_bytes())
    listed["files"]["judgments.parquet/part-000001.parquet"] = file_digest(damaged)
    report.write_text(json.dumps(listed))
    report.rename(report.with_name(f"part-000001-{file_digest(report)['sha256'][:32]}.json"))
    assert again().resumed == 2 * 600
    assert damaged.read_bytes() == whole
    with monkeypatch.context() as signed:
        signed.setenv("MARKSCHEME_SEAL_KEY", "secret")
        with pytest.raises(RunError, match="was begun with another MARKSCHEME_SEAL_KEY"):
            again()
    (out / "run.json").write_text("[]")
    with pytest.raises(RunError, match=r"not the plan of a run"):
        again()


def test_parquet_is_cut_at_row_groups_and_covers_every_row_once(tmp_path: Path) -> None:
    table = rows(1_000)
    table.head(700).write_parquet(tmp_path / "a.parquet", row_group_size=100)
    table.tail(300).write_parquet(tmp_path / "b.parquet", row_group_size=100)
    pieces, mark = input_pieces([str(tmp_path / "*.parquet")])
    assert [piece.number for piece in pieces] == [0, 1]  # small row groups go together
    read = pl.concat([batch for piece in pieces for batch in read_piece(piece, ReadOptions())])
    assert read["answer_id"].to_list() == table["answer_id"].to_list()
    assert input_pieces([str(tmp_path)])[1] == mark
    table.write_parquet(tmp_path / "b.parquet")
    assert input_pieces([str(tmp_path)])[1] != mark
    with pytest.raises(DataError, match="matches no file"):
        input_pieces([str(tmp_path / "*.csv")])


def test_limits_are_shared_out_among_workers() -> None:
    server = ServerOptions(concurrency=16, requests_per_minute=600, tokens_per_minute=None)
    shared = _share(ModelOptions(server=server, max_calls=100, max_cost=2.0), 4)
    assert shared.server is not None
    assert (shared.server.concurrency, shared.server.requests_per_minute) == (4, 150)
    assert (shared.max_calls, shared.max_cost) == (25, 0.5)


@pytest.mark.parametrize(("calls", "workers"), [(0, 1), (3, 3), (8, 8), (100, 8), (None, 8)])
def test_all_workers_together_send_no_more_than_the_calls_allowed(
    calls: int | None, workers: int
) -> None:
    options = ModelOptions(max_calls=calls)
    assert _enough(8, options) == workers
    each = _share(options, workers).max_calls
    assert each is None if calls is None else each is not None and each * workers <= calls


@pytest.mark.proof(area="cluster")
def test_a_hundred_thousand_answers_are_judged_as_the_local_engine_does(tmp_path: Path) -> None:
    rows(100_000).write_parquet(tmp_path / "a.parquet", row_group_size=16_384)
    judges = [parse_judge(name) for name in JUDGES]
    run_in_folder(AnswersReader([tmp_path / "a.parquet"]), judges, tmp_path / "local")
    told: list[int] = []
    report = run_on_ray(
        [str(tmp_path / "a.parquet")], judges, str(tmp_path / "ray"),
        ray_options=RayOptions(workers=2), read=ReadOptions(), on_progress=told.append,
    )  # fmt: skip
    assert (report.rows, sum(told)) == (100_000, 100_000)
    for table in ("judgments", "answers"):
        local = pl.read_parquet(tmp_path / "local" / f"{table}.parquet")
        spread = pl.read_parquet(tmp_path / "ray" / f"{table}.parquet" / "*.parquet")
        assert local.equals(spread)
        # Byte by byte as text: Parquet's own bytes depend on how a table lies in memory.
        assert local.write_ndjson().encode() == spread.write_ndjson().encode()
    figures = [
        json.loads((tmp_path / name / "summary.json").read_text())["figures"]
        for name in ("local", "ray")
    ]
    assert figures[0] == figures[1]
    # Later commands take the folder, and the same command finds the work done.
    assert run(["agree", str(tmp_path / "ray"), "--labels", str(_labels(tmp_path))]) == 0
    again = run_on_ray(
        [str(tmp_path / "a.parquet")], judges, str(tmp_path / "ray"),
        ray_options=RayOptions(workers=2), read=ReadOptions(),
    )  # fmt: skip
    assert again.resumed == 100_000


def _labels(folder: Path) -> Path:
    table = rows(300).select("answer_id", label=pl.int_range(pl.len()) % 2)
    table.write_csv(folder / "labels.csv")
    return folder / "labels.csv"


def _workers() -> list[int]:
    """Processes of Ray actors on this machine."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if (
                b"ray::" in (folder / "cmdline").read_bytes()
                and b"MapWorker" in (folder / "cmdline").read_bytes()
            ):
                found.append(int(folder.name))
        except OSError:
            continue
    return found


@pytest.mark.proof(area="cluster")
def test_a_cluster_that_nobody_named_is_neither_joined_nor_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import ray

    rows(100).write_parquet(tmp_path / "a.parquet")

    def judged(name: str) -> int:
        return run_on_ray(
            [str(tmp_path / "a.parquet")], [parse_judge("contains")], str(tmp_path / name),
            ray_options=RayOptions(workers=1), read=ReadOptions(),
        ).rows  # fmt: skip

    # Where another cluster is said to be: without --ray-address it is none of ours.
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:1")
    assert judged("own") == 100
    assert not ray.is_initialized()
    ray.init(address="local", num_cpus=1, include_dashboard=False, log_to_driver=False)
    try:
        assert judged("callers") == 100
        assert ray.is_initialized()
    finally:
        ray.shutdown()


@pytest.mark.proof(area="cluster")
def test_a_worker_killed_in_mid_run_costs_nothing_but_time(tmp_path: Path) -> None:
    rows(400_000).write_parquet(tmp_path / "a.parquet", row_group_size=65_536)
    killed: list[int] = []
    ended = threading.Event()

    def kill_one() -> None:
        while not (killed or ended.is_set()):
            if any((tmp_path / "ray" / "reports").glob("*.json")):
                for worker in _workers()[:1]:
                    os.kill(worker, signal.SIGKILL)
                    killed.append(worker)
            time.sleep(0.05)

    killer = threading.Thread(target=kill_one)
    killer.start()
    try:
        report = run_on_ray(
            [str(tmp_path / "a.parquet")], [parse_judge(name) for name in JUDGES],
            str(tmp_path / "ray"), ray_options=RayOptions(workers=2), read=ReadOptions(),
        )  # fmt: skip
    finally:
        ended.set()
    killer.join()
    assert killed
    assert report.rows == 400_000
    ids = pl.read_parquet(tmp_path / "ray" / "judgments.parquet" / "*.parquet")["answer_id"]
    assert ids.n_unique() == 400_000


@pytest.mark.proof(area="cluster")
def test_a_killed_run_goes_on_and_pieces_that_fail_are_named(tmp_path: Path) -> None:
    good, bad = tmp_path / "in" / "a.parquet", tmp_path / "in" / "b.parquet"
    good.parent.mkdir()
    rows(2_000).write_parquet(good)
    rows(10).rename({"answer": "something"}).write_parquet(bad)
    asked = ["judge", str(good.parent), "-j", "exact_match", "--engine", "ray", "--workers", "1"]
    out = ["-q", "--out", str(tmp_path / "ray")]
    assert run([*asked, *out]) == 2  # no column of answers: named, and nothing of it judged
    program = "import sys; from markscheme.cli import run; sys.exit(run(sys.argv[1:]))"
    command = [sys.executable, "-c", program, *asked, *out]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    assert told.returncode == 2
    assert "b.parquet" in told.stderr
    bad.unlink()
    with pytest.raises(RunError, match="other answers"):
        run_on_ray(
            [str(good.parent)], [parse_judge("exact_match")], str(tmp_path / "ray"),
            ray_options=RayOptions(workers=1), read=ReadOptions(),
        )  # fmt: skip
    assert run([*asked, "-q", "--out", str(tmp_path / "again")]) == 0
    assert json.loads((tmp_path / "again" / "run.json").read_text())["state"] == "done"


@pytest.mark.proof(area="cluster")
def test_a_piece_that_cannot_be_written_is_tried_again_and_then_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows(300).write_parquet(tmp_path / "a.parquet", row_group_size=100)
    monkeypatch.setattr("markscheme.engine.shards.PIECE_ROWS", 100)
    run_folder = tmp_path / "ray"

    def judged() -> RunReport:
        return run_on_ray(
            [str(tmp_path / "a.parquet")], [parse_judge("contains")], str(run_folder),
            ray_options=RayOptions(workers=2), read=ReadOptions(),
        )  # fmt: skip

    whole = judged().records
    plan = json.loads((run_folder / "run.json").read_text())
    (run_folder / "run.json").write_text(json.dumps({**plan, "state": "running"}))
    next((run_folder / "reports").glob("part-000001-*.json")).unlink()
    in_the_way = run_folder / "judgments.parquet" / "part-000001.parquet"
    in_the_way.unlink()
    (in_the_way / "full").mkdir(parents=True)
    with pytest.raises(RunError, match=r"1 pieces .* failed 3 times; the others are saved") as told:
        judged()
    assert "a.parquet, row groups 1 to 1" in str(told.value)
    shutil.rmtree(in_the_way)
    found = judged()
    assert found.resumed == 200
    assert found.records == whole


def test_another_round_has_what_is_left_of_the_limits() -> None:
    options = ModelOptions(max_calls=100, max_cost=2.0)
    left = _less(options, [{"calls": 30, "cost_usd": 0.5}, {"calls": 80, "cost_usd": 0.25}])
    assert (left.max_calls, left.max_cost) == (0, 1.25)
    assert _less(ModelOptions(), [{"calls": 3, "cost_usd": 0.5}]) == ModelOptions()


@pytest.mark.proof(area="cluster")
def test_input_and_output_on_s3(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import s3fs

    with s3_store() as variables:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        store = s3fs.S3FileSystem()
        store.mkdir("bucket")
        for name, part in (("a", rows(400).head(200)), ("b", rows(400).tail(200))):
            part.write_parquet(tmp_path / f"{name}.parquet")
            store.put(str(tmp_path / f"{name}.parquet"), f"bucket/answers/{name}.parquet")
        command = ["judge", "s3://bucket/answers/*.parquet", "-j", "exact_match", "-q",
                   "--engine", "ray", "--workers", "1", "--out", "s3://bucket/run"]  # fmt: skip
        assert run(command) == 0
        parts = store.glob("bucket/run/judgments.parquet/*.parquet")
        assert [Path(name).name for name in parts] == ["part-000000.parquet", "part-000001.parquet"]
        summary = json.loads(store.cat_file("bucket/run/summary.json"))
        assert summary["answers"]["rows"] == 400
        assert run(command) == 0  # nothing is left to do


@pytest.mark.proof(area="cluster")
def test_a_run_on_ray_is_sealed_and_has_the_content_of_a_local_one(tmp_path: Path) -> None:
    rows = [
        {"question": f"q{n // 3}", "references": ["paris"], "answer": ["paris", "rome"][n % 2]}
        for n in range(300)
    ]
    path = tmp_path / "a.parquet"
    pl.DataFrame(rows).write_parquet(path, row_group_size=100)
    judges = [parse_judge(name) for name in ("exact_match", "token_f1")]
    folder = tmp_path / "ray"
    for _ in range(2):
        run_on_ray(
            [str(path)], judges, str(folder), ray_options=RayOptions(workers=2), read=ReadOptions()
        )
        assert markscheme.verify(folder)
    markscheme.judge(path, judges, out=tmp_path / "local")
    content = markscheme.verify(tmp_path / "local").data["content"]
    assert markscheme.verify(folder).data["content"] == content
    part = next((folder / "judgments.parquet").iterdir())
    part.write_bytes(part.read_bytes()[:-9] + bytes(9))
    assert not markscheme.verify(folder)
    healed = run_on_ray(
        [str(path)], judges, str(folder), ray_options=RayOptions(workers=2), read=ReadOptions()
    )
    assert healed.damaged
    assert markscheme.verify(folder).data["content"] == content


def judged_in_pieces(paths: list[str], names: Sequence[str], out: Path) -> RunReport:
    """What a run on Ray makes of files, its pieces judged here one after another."""
    judges = [parse_judge(name) for name in names]
    pieces, _ = input_pieces(paths)
    folder = _Folder(str(out))
    plan = {"format": 1, "markscheme": "", "judges": [], "options": {}}
    folder.begin(plan)
    job = Job(
        judges=tuple(judges),
        out=str(out),
        read=ReadOptions(on_bad_row="skip"),
        clean="formatting",
        models=ModelOptions(),
    )
    judge = PieceJudge(job, {piece.number: piece for piece in pieces})
    found = judge({"number": [piece.number for piece in pieces]})["report"]
    return folder.finish(plan, pieces, [json.loads(one) for one in found], 0, None)


def test_a_folder_in_which_a_run_only_began_is_free(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.json.77.part").write_bytes(b"{")
    (tmp_path / "a.jsonl").write_text('{"question": "q", "gold": "a", "answer": "a"}\n')
    report = judged_in_pieces([str(tmp_path / "a.jsonl")], ["exact_match"], tmp_path / "run")
    assert report.rows == 1
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").touch()
    with pytest.raises(RunError, match=r"it holds thesis\.tex; choose a new --out"):
        judged_in_pieces([str(tmp_path / "a.jsonl")], ["exact_match"], tmp_path / "other")


def test_files_far_away_are_read_as_files_here(tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    big = 2**70
    lines = [
        f'\ufeff{{"question": "q", "gold": "a", "answer": {big}}}', "{broken",
        '{"question": "r", "gold": "a", "answer": "b"}',
    ]  # fmt: skip
    content = "\n".join(lines).encode()
    (tmp_path / "a.jsonl").write_bytes(content)
    table = b"question,gold,answer\ns,a,a\n"
    with fsspec.open_files(["memory://far/a.jsonl", "memory://far/b.csv"], "wb") as files:
        for file, text in zip(files, (content, table), strict=True):
            file.write(text)
    paths = ["memory://far/a.jsonl", "memory://far/b.csv"]
    report = judged_in_pieces(paths, ["exact_match"], tmp_path / "run")
    (problem,) = report.problems
    assert (problem.source, problem.line) == ("memory:///far/a.jsonl", 2)
    found = pl.read_parquet(tmp_path / "run" / "answers.parquet" / "*.parquet")
    assert found["answer"].to_list() == [str(big), "b", "a"]
    assert found["system"].to_list() == ["a", "a", "b"]
    with pytest.raises(DataError, match=r"cannot read memory://far/none\.jsonl"):
        AnswersReader(["memory://far/none.jsonl"]).__iter__().__next__()


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("memory://me:s3cret@far/c.jsonl", "me:***@far/c.jsonl"),
        ("memory://far/c.jsonl?sig=s3cret&key=a/s3cret.b", "far/c.jsonl?sig=***&key=***"),
    ],
)
def test_a_secret_in_the_address_of_a_file_is_neither_shown_nor_saved(
    path: str, shown: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fsspec = pytest.importorskip("fsspec")
    out = tmp_path / "run"
    with fsspec.open(path, "wb") as file:
        file.write(b'{"question": "q", "gold": "a", "answer": "a"}\n{"gold": "a", "answer": "a"}\n')
    assert run(["judge", path, "-j", "exact_match", "-o", str(out), "--on-bad-row", "skip"]) == 0
    said = str(capsys.readouterr()) + "".join(file.read_text() for file in out.glob("*.json*"))
    assert shown in said
    run(["columns", path])
    assert run(["judge", path.replace("/c.", "/none."), "-j", "exact_match"]) == 2
    assert "s3cret" not in said + str(capsys.readouterr())
    assert pl.read_parquet(out / "answers.parquet")["system"].unique().to_list() == ["c"]


@pytest.mark.parametrize(
    ("more", "offered"),
    [
        (
            lambda number: {"colleague": "yes" if number % 3 else "no"},
            ["colleague: yes/no on 6 of 6 rows: people's labels? --columns label=colleague reads "
             "them"],
        ),
        (lambda number: {"human": "?" if number == 3 else None}, ["human: no row has a label"]),
        (lambda number: {"Annotator 1": "yes", "Annotator 2": ["?", 1][number % 2]}, []),
    ],
)  # fmt: skip
def test_what_was_met_in_pieces_is_as_in_a_local_run(
    more: Callable[[int], dict[str, Any]], offered: list[str], tmp_path: Path
) -> None:
    rows = [
        {
            "question": f"q{number}", "gold": "a; b", "answer": "a", "nr": number,
            "remark": "yes" if number < 4 else "perhaps", **more(number),
        }
        for number in range(6)
    ]  # fmt: skip
    rows[1] |= {"question": ""}
    rows[5] |= {"answer": ""}
    for name, part in (("a", rows[:3]), ("b", rows[3:])):
        text = "".join(json.dumps(row) + "\n" for row in part)
        (tmp_path / f"{name}.jsonl").write_text(text)
    paths = [str(tmp_path / f"{name}.jsonl") for name in "ab"]
    report = judged_in_pieces(paths, ["exact_match"], tmp_path / "run")
    reader = AnswersReader(paths, ReadOptions(on_bad_row="skip"))
    local = run_in_folder(reader, [parse_judge("exact_match")], tmp_path / "local")
    assert report.offered == local.offered == offered
    for one in fields(Met):
        assert getattr(report, one.name) == getattr(local, one.name), one.name
