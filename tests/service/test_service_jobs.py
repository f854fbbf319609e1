"""Jobs: a file goes in, the judgments of the library come out, through whatever happens between."""

from __future__ import annotations

import io
import json
import re
import signal
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import orjson
import polars as pl
import pytest
from starlette.testclient import TestClient

import markscheme
from markscheme.cli import run
from markscheme.errors import RunError
from markscheme.service import jobs
from markscheme.service.settings import Keys
from markscheme.tables.answers import read_answers, write_answers
from markscheme.tables.judgments import OUTCOME
from service_helpers import KEY, OTHER_KEY, ROW, bearer, make, server, until


def send(client: Any, data: bytes, name: str = "answers.jsonl", **fields: Any) -> Any:
    headers = fields.pop("headers", None)
    return client.post(
        "/v1/jobs", files={"file": (name, data)}, data={"judge": "contains", **fields},
        headers=headers,
    )  # fmt: skip


def lines(*rows: dict[str, Any]) -> bytes:
    return b"".join(orjson.dumps(row) + b"\n" for row in rows)


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_a_file_is_judged(client: TestClient, example: Path, tmp_path: Path, ending: str) -> None:
    file = tmp_path / f"answers.{ending}"
    write_answers(read_answers(example).head(40), file)
    sent = send(client, file.read_bytes(), file.name)
    assert sent.status_code == 202
    path = sent.headers["location"]
    assert sent.json()["state"] == "queued"
    assert path == f"/v1/jobs/{sent.json()['id']}"
    job = until(client, path, "done", "failed")
    assert (job["state"], job["error"]) == ("done", None)
    assert job["rows_judged"] == job["rows_expected"] == 40
    assert job["bytes"] == file.stat().st_size
    assert job["figures"][0]["rows"] > 0
    expected = markscheme.judge(file, "contains").judgments.select("answer_id", *OUTCOME)
    parquet = client.get(f"{path}/judgments", params={"format": "parquet"}).content
    assert pl.read_parquet(io.BytesIO(parquet)).select(expected.columns).equals(expected)
    told = [json.loads(line) for line in client.get(f"{path}/judgments").text.splitlines()]
    assert [one["answer_id"] for one in told] == expected["answer_id"].to_list()
    assert [one["score"] for one in told] == expected["score"].to_list()
    table = client.get(f"{path}/judgments", params={"format": "csv"}).text
    assert pl.read_csv(io.StringIO(table))["verdict"].equals(expected["verdict"])
    assert client.delete(path).status_code == 204
    assert client.get(path).status_code == client.get(f"{path}/judgments").status_code == 404
    assert [one.name for one in (tmp_path / "jobs").iterdir()] == [".lock"]


def test_nothing_in_a_csv_is_a_formula(client: TestClient) -> None:
    path = send(client, lines(ROW | {"id": "=1+1"})).headers["location"]
    until(client, path, "done", "failed")
    table = client.get(f"{path}/judgments", params={"format": "csv"}).text
    assert pl.read_csv(io.StringIO(table))["answer_id"].to_list() == ["'=1+1"]


def test_how_a_file_is_read_can_be_said(client: TestClient) -> None:
    row = {"q": "Who wrote Emma?", "gold": "Jane Austen/Austen", "pred": "Austen did."}
    bad = {"q": "", "gold": "x", "pred": "x"}
    sent = send(
        client, lines(row, bad), "../../etc/pass wd*.jsonl", columns="question=q,answer=pred",
        reference_separator="/", on_bad_row="skip", clean="formatting",
    )  # fmt: skip
    job = until(client, f"/v1/jobs/{sent.json()['id']}", "done", "failed")
    assert (job["error"], job["file"], job["rows_judged"]) == (None, "pass_wd_.jsonl", 1)
    assert job["rows_skipped"] == 1
    assert job["figures"][0]["accuracy"] == 1


def test_what_is_wrong_with_a_file_is_said_without_folders(
    client: TestClient, tmp_path: Path
) -> None:
    sent = send(client, lines(ROW, {**ROW, "question": ""}))
    path = f"/v1/jobs/{sent.json()['id']}"
    job = until(client, path, "done", "failed")
    assert job["state"] == "failed"
    assert "answers.jsonl, line 2: no question" in job["error"]
    assert str(tmp_path) not in job["error"]
    refused = client.get(f"{path}/judgments")
    assert (refused.status_code, refused.json()["status"]) == (409, 409)


def test_files_that_are_not_taken(opened: Any, tmp_path: Path) -> None:
    client = opened(max_upload_mb=0.1)
    assert send(client, b"").status_code == 422
    assert send(client, b"\x1f\x8b" + bytes(20)).status_code == 415
    assert send(client, b" " * 200_000).status_code == 413
    assert send(client, lines(ROW), judge="no_such").status_code == 404
    assert send(client, lines(ROW), columns="question").status_code == 422
    assert send(client, lines(ROW), colour="red").status_code == 422
    assert client.post("/v1/jobs", data={"judge": "contains"}).status_code == 422
    damaged = {"content-type": "multipart/form-data; boundary=x"}
    assert client.post("/v1/jobs", content=b"--y", headers=damaged).status_code in (400, 422)
    assert [one.name for one in (tmp_path / "jobs").iterdir()] == [".lock"]


def test_limits_of_jobs(opened: Any) -> None:
    client = opened(max_job_rows=2, max_jobs=1)
    sent = send(client, lines(ROW, ROW, ROW))
    waiting = send(client, lines(ROW))
    assert (waiting.status_code, waiting.headers["retry-after"]) == (429, "60")
    job = until(client, f"/v1/jobs/{sent.json()['id']}", "done", "failed")
    assert "more than 2 answers" in job["error"]


def test_jobs_are_seen_by_their_key_only(opened: Any, keys: Keys) -> None:
    client = opened(keys=keys)
    assert send(client, lines(ROW)).status_code == 401
    sent = send(client, lines(ROW), headers=bearer(KEY))
    path = f"/v1/jobs/{sent.json()['id']}"
    until(client, path, "done", headers=bearer(KEY))
    for method, where in (("GET", path), ("GET", f"{path}/judgments"), ("DELETE", path)):
        assert client.request(method, where, headers=bearer(OTHER_KEY)).status_code == 404
    assert client.delete(path, headers=bearer(KEY)).status_code == 204


def test_a_job_goes_on_after_a_restart(tmp_path: Path) -> None:
    rows = [{**ROW, "id": str(n), "answer": f"Jane Austen {n}"} for n in range(20_000)]
    with TestClient(make(tmp_path)) as client:
        path = f"/v1/jobs/{send(client, lines(*rows), judge='examiner').json()['id']}"
        until(client, path, "running")
        removed = f"/v1/jobs/{send(client, lines(ROW)).json()['id']}"
        assert client.delete(removed).status_code == 204
    broken = tmp_path / "jobs" / ("0" * 32)
    broken.mkdir()
    with TestClient(make(tmp_path)) as client:
        assert client.get(path).json()["state"] in ("queued", "running")
        assert client.get(removed).status_code == 404
        assert client.delete(path).status_code == 204
    assert not broken.exists()


def test_jobs_that_ended_long_ago_are_removed_with_their_files(tmp_path: Path) -> None:
    with TestClient(make(tmp_path)) as client:
        paths = [f"/v1/jobs/{send(client, lines(ROW)).json()['id']}" for _ in range(2)]
        for path in paths:
            until(client, path, "done")
    old, recent = (tmp_path / "jobs" / path.rpartition("/")[2] for path in paths)
    record = json.loads((old / "job.json").read_text())
    ended = datetime.fromisoformat(record["finished"])
    record["finished"] = (ended - timedelta(days=8)).isoformat()
    (old / "job.json").write_text(json.dumps(record))
    with TestClient(make(tmp_path, keep_days=9)) as client:
        assert client.get(paths[0]).json()["state"] == "done"
    with TestClient(make(tmp_path, keep_days=7)) as client:
        assert client.get(paths[0]).status_code == 404
        assert client.get(paths[1]).json()["state"] == "done"
    assert not old.exists()
    assert recent.exists()


def test_a_running_job_can_be_removed(client: TestClient, tmp_path: Path) -> None:
    rows = [{**ROW, "id": str(n), "answer": f"Jane Austen {n}"} for n in range(20_000)]
    path = f"/v1/jobs/{send(client, lines(*rows), judge='examiner').json()['id']}"
    until(client, path, "running")
    assert client.delete(path).status_code == 204
    after = f"/v1/jobs/{send(client, lines(ROW)).json()['id']}"
    assert until(client, after, "done", "failed")["state"] == "done"
    assert not (tmp_path / "jobs" / path.rpartition("/")[2]).exists()


def test_a_job_that_breaks_holds_up_no_other(
    client: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(jobs, "WORKER", "this")  # It prints verses, which are no reports.
        path = f"/v1/jobs/{send(client, lines(ROW)).json()['id']}"
        broken = until(client, path, "failed")
    assert broken["error"] == "the service could not work on it; its log has the reason"
    assert broken["finished"]
    kept = json.loads((tmp_path / "jobs" / broken["id"] / "job.json").read_text())
    assert kept["state"] == "failed"
    after = f"/v1/jobs/{send(client, lines(ROW)).json()['id']}"
    assert until(client, after, "done", "failed")["state"] == "done"


@pytest.mark.timeout(300)
def test_a_job_that_takes_too_much_memory_fails_alone(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(jobs, "_MEGABYTES", 1)
        path = f"/v1/jobs/{send(client, lines(ROW), judge='examiner').json()['id']}"
        job = until(client, path, "done", "failed")
    assert job["state"] == "failed"
    assert "memory" in job["error"]
    after = f"/v1/jobs/{send(client, lines(ROW), judge='examiner').json()['id']}"
    assert until(client, after, "done", "failed")["state"] == "done"


KILLED = """
import os, pkgutil, signal, sys
from markscheme.cli import run
from markscheme.service import jobs

where, call, when = sys.argv[1:4]
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
sys.exit(run(sys.argv[4:]))
"""
JOBS = "markscheme.service.jobs"
PLACES = {
    "half a file stored": (f"{JOBS}.shutil.copyfileobj", 1, "before", False),
    "a file stored": (f"{JOBS}.Jobs._keep", 1, "after", False),
    "a job accepted": (f"{JOBS}.Jobs._save", 1, "after", True),
    "a job begun": (f"{JOBS}.Jobs._order", 1, "after", True),
    "a job done, its end not noted": (f"{JOBS}.Jobs._save", 2, "before", True),
    "a job half removed": (f"{JOBS}.shutil.rmtree", 1, "before", False),
}
"""Moments of a job: a function, the how manieth call, before or after, and whether it goes on."""


@pytest.mark.joint
@pytest.mark.timeout(600)
@pytest.mark.parametrize("place", PLACES)
def test_a_service_killed_at_any_moment_has_whole_jobs_or_none(tmp_path: Path, place: str) -> None:
    where, call, when, remains = PLACES[place]
    program = ("-c", KILLED, where, str(call), when)
    with (
        server(tmp_path, program=program) as (process, address),
        httpx.Client(base_url=address, timeout=120) as client,
    ):
        try:
            path = f"/v1/jobs/{send(client, lines(ROW)).json()['id']}"
            until(client, path, "done")
            client.delete(path)
        except httpx.HTTPError:
            pass  # It was killed while it answered.
        assert process.wait(120) == -signal.SIGKILL
    with TestClient(make(tmp_path)) as again:
        found = [one.name for one in (tmp_path / "jobs").iterdir() if one.name != ".lock"]
        assert len(found) == remains
        for job in found:
            ended = until(again, f"/v1/jobs/{job}", "done", "failed")
            assert (ended["state"], ended["error"], ended["rows_judged"]) == ("done", None, 1)
            judged = again.get(f"/v1/jobs/{job}/judgments").json()
            assert judged["verdict"] is True


def test_a_column_of_ids_taken_for_systems_is_one_figure(client: TestClient) -> None:
    rows = [{**ROW, "id": str(n), "system": f"run {n}"} for n in range(1_500)]
    path = f"/v1/jobs/{send(client, lines(*rows)).json()['id']}"
    job = until(client, path, "done", "failed")
    assert [(one["system"], one["rows"]) for one in job["figures"]] == [("(all)", 1_500)]
    assert job["figures_left_out"] == 1_500


def test_one_folder_is_of_one_service(client: TestClient, tmp_path: Path) -> None:
    assert client.get("/healthz").status_code == 200
    with pytest.raises(RunError, match="another service"), TestClient(make(tmp_path)):
        pass


def test_a_folder_that_cannot_be_had_is_said_in_a_line(
    client: TestClient, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert client.get("/healthz").status_code == 200
    assert run(["serve", "--port", "0", "--jobs", str(tmp_path / "jobs")]) == 2
    told = capsys.readouterr().err
    assert "another service keeps its jobs in" in told
    assert "serving on" not in told


def test_clients_and_operators_of_jobs_learn_that_they_are_deprecated(
    client: TestClient, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Clients by a header (RFC 9745), also where they are refused; the operator by a line."""
    sent = send(client, lines(ROW))
    path = f"/v1/jobs/{sent.json()['id']}"
    until(client, path, "done")
    answered = [sent, client.get(path), client.get(f"{path}/judgments"), send(client, b""),
                client.get(f"/v1/jobs/{'0' * 32}"), client.delete(path)]  # fmt: skip
    assert [one.status_code for one in answered] == [202, 200, 200, 422, 404, 204]
    since = {datetime.fromtimestamp(int(one.headers["deprecation"][1:]), UTC) for one in answered}
    assert since == {datetime(2026, 11, 29, tzinfo=UTC)}
    for other in ("/v1/judges", "/healthz", "/v1/jobsworth"):
        assert "deprecation" not in client.get(other).headers
    assert run(["serve", "--port", "0", "--jobs", str(tmp_path / "jobs"), "--max-jobs", "3"]) == 2
    told = capsys.readouterr().err
    assert "--jobs, --max-jobs: jobs (/v1/jobs) are deprecated" in " ".join(told.split())
    assert run(["serve", "--help-all"]) == 0
    text = " ".join(capsys.readouterr().out.replace("│", " ").split())
    for option in ("jobs", "max-jobs", "max-job-rows", "max-upload-mb", "keep-days"):
        assert re.search(rf"--{option} [^-]*\(deprecated\)", text), option


def test_a_job_of_another_version_stops_no_service(tmp_path: Path) -> None:
    for name, content in (("a" * 32, '{"unknown": 1}'), ("b" * 32, "{")):
        (tmp_path / "jobs" / name).mkdir(parents=True)
        (tmp_path / "jobs" / name / "job.json").write_text(content)
    with TestClient(make(tmp_path)) as client:
        path = f"/v1/jobs/{send(client, lines(ROW)).json()['id']}"
        assert until(client, path, "done", "failed")["state"] == "done"
    assert (tmp_path / "jobs" / ("a" * 32) / "job.json").exists()


@pytest.mark.proof(area="cluster")
def test_a_job_survives_a_killed_service(tmp_path: Path) -> None:
    """Killed in mid-job without warning, the service goes on with it; nothing is judged twice."""
    rows = [{**ROW, "id": str(n), "answer": f"Jane Austen {n}"} for n in range(15_000)]
    with (
        server(tmp_path) as (process, address),
        httpx.Client(base_url=address, timeout=60) as client,
    ):
        path = f"/v1/jobs/{send(client, lines(*rows), judge='examiner').json()['id']}"
        while until(client, path, "running", "done")["rows_judged"] < 1_000:
            time.sleep(0.1)
        process.kill()
        process.wait()
    saved = list((tmp_path / "jobs" / path.rpartition("/")[2] / "run" / "parts").glob("chunk-*"))
    assert saved
    before = sum(pl.read_parquet(file).height for file in saved)
    with server(tmp_path) as (_, address), httpx.Client(base_url=address, timeout=60) as client:
        while (job := until(client, path, "queued", "running", "done"))["rows_judged"] == 0:
            time.sleep(0.01)
        assert job["rows_judged"] >= before
        job = until(client, path, "done", "failed")
        assert (job["state"], job["rows_judged"]) == ("done", 15_000)
        table = client.get(f"{path}/judgments", params={"format": "parquet"}).content
    expected = markscheme.judge(rows, "examiner").judgments.select("answer_id", *OUTCOME)
    assert pl.read_parquet(io.BytesIO(table)).select(expected.columns).equals(expected)
