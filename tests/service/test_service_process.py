"""The service as a process: how it starts, how it stops, and what nonsense does to it."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner

from markscheme.cli import load_commands, run
from markscheme.cli.app import app
from service_helpers import KEY, ROW, bearer, server

_POLICY = '''
"""A judge of one's own."""

from dataclasses import dataclass

import polars as pl

from markscheme import register
from markscheme.contract import ModelSource, Needs


@register("served_policy", needs=Needs(chat=False, references="required", question="unused"))
@dataclass(frozen=True, kw_only=True)
class Policy:
    """Accepts what has no tool call."""

    ban: str

    def judge(self, answers: pl.DataFrame, models: ModelSource) -> pl.DataFrame:
        return answers.select(verdict=~pl.col("answer").str.contains(self.ban, literal=True))
'''


def test_without_keys_only_this_machine(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["serve", "--host", "0.0.0.0"]) == 2
    assert "--keys FILE" in capsys.readouterr().err
    assert run(["serve", "--no-keys", "--keys-env", "PATH"]) == 2
    assert "contradict" in capsys.readouterr().err
    assert run(["serve", "--allow", "exmaminer"]) == 2
    assert "did you mean 'examiner'" in capsys.readouterr().err
    assert run(["serve", "--max-rows", "10", "--queue-rows", "5"]) == 2
    assert "queue of 5 rows" in capsys.readouterr().err


def test_help_says_what_it_is() -> None:
    load_commands()
    told = CliRunner().invoke(app, ["serve", "--help"], env={"COLUMNS": "200"}).output
    assert "rewards for training" in re.sub(r"\s+", " ", told)


@pytest.mark.proof(area="attacks")
def test_sigterm_finishes_what_was_accepted(tmp_path: Path) -> None:
    """Requests under way get their answers; readiness says no; new work is refused; exit is 0."""
    (tmp_path / "keys").write_text(KEY)
    options = (
        "--keys",
        str(tmp_path / "keys"),
        "--allow",
        "examiner",
        "--linger",
        "3",
        "--grace",
        "900",
    )
    answers = [{**ROW, "answer": f"Jane Austen {n}"} for n in range(500)]
    got: list[Any] = []
    with server(tmp_path, *options) as (process, address):
        with httpx.Client(base_url=address, timeout=900, headers=bearer(KEY)) as client:
            while client.get("/readyz").status_code != 200:
                time.sleep(0.1)

            def ask() -> None:
                got.append(httpx.post(f"{address}/v1/judgments", json={"answers": answers},
                                      headers=bearer(KEY), timeout=900))  # fmt: skip

            senders = [threading.Thread(target=ask) for _ in range(4)]
            for sender in senders:
                sender.start()
            for _ in range(600):
                if "markscheme_queue_rows 2000.0" in client.get("/metrics").text:
                    break
                time.sleep(0.02)
            process.send_signal(signal.SIGTERM)
            for _ in range(100):
                readiness = client.get("/readyz")
                if readiness.status_code == 503:
                    break
                time.sleep(0.02)
            assert readiness.json() == {"status": "stopping"}
            refused = client.post("/v1/judgments", json={"answers": answers[:1]})
            assert (refused.status_code, refused.headers["retry-after"]) == (503, "5")
        for sender in senders:
            sender.join(900)
        assert process.wait(900) == 0
    assert [one.status_code for one in got] == [200] * 4
    assert all(len(one.json()["judgments"]) == 500 for one in got)
    assert KEY not in (tmp_path / "log").read_text()


def test_what_nobody_waits_for_is_not_judged(tmp_path: Path) -> None:
    """A client sends what takes many minutes, and leaves."""
    (tmp_path / "keys").write_text(KEY)
    slow = {"reference_kind": "regex", "answer": "x" + "a" * 40 + "b"}
    rows = [{**ROW, **slow, "references": [f"(?<=x)(a+)+{n}$"]} for n in range(900)]
    options = ("--keys", str(tmp_path / "keys"), "--request-seconds", "3600")
    with (
        server(tmp_path, *options) as (_, address),
        httpx.Client(base_url=address, headers=bearer(KEY), timeout=60) as client,
    ):
        with pytest.raises(httpx.ReadTimeout):
            client.post("/v1/judgments", json={"judge": "regex", "answers": rows}, timeout=2)
        for _ in range(300):
            if "markscheme_queue_rows 0.0" in client.get("/metrics").text:
                break
            time.sleep(0.1)
        else:
            raise AssertionError("still judging")
        assert client.post("/v1/judgments", json={"answers": [ROW]}).status_code == 200
        assert 'status="499"' in client.get("/metrics").text


def test_a_judge_in_a_file_is_served_and_keys_that_others_can_read_are_warned_of(
    tmp_path: Path,
) -> None:
    keys, judge = tmp_path / "keys", tmp_path / "policy.py"
    keys.write_text(KEY)
    keys.chmod(0o644)
    judge.write_text(_POLICY)
    named = f"{judge}:Policy(ban='<tool>')"
    with (
        server(tmp_path, "--keys", str(keys), "--allow", named) as (_, address),
        httpx.Client(base_url=address, headers=bearer(KEY)) as client,
    ):
        listed = [one["name"] for one in client.get("/v1/judges").json()["judges"]]
        assert listed == ["served_policy(ban='<tool>')"]
        rows = [ROW, {**ROW, "answer": "Jane Austen, <tool>"}, {**ROW, "answer": "x"}]
        sent = {"judge": listed[0], "answers": rows}
        judged = client.post("/v1/judgments", json=sent).json()["judgments"]
        assert [one["verdict"] for one in judged] == [True, False, True]
        of_file = client.post("/v1/judgments", json={**sent, "judge": named})
        assert of_file.status_code == 404, "no name from a client imports a file"
    log = (tmp_path / "log").read_text()
    assert f"'chmod 600 {keys}'" in " ".join(log.split())
    keys.chmod(0o600)
    with server(tmp_path, "--keys", str(keys), "--allow", "contains"):
        pass
    assert "chmod" not in (tmp_path / "log").read_text()


@pytest.mark.proof(area="attacks")
def test_open_to_everybody_is_warned_of(tmp_path: Path) -> None:
    with server(tmp_path, "--host", "0.0.0.0", "--no-keys", "--allow", "contains") as (_, address):
        sent = httpx.post(
            f"{address}/v1/judgments", json={"answers": [ROW]}, headers={"host": "any.name"}
        )
        assert sent.status_code == 200
    assert "warning: everybody who can reach 0.0.0.0" in (tmp_path / "log").read_text()


@pytest.mark.proof(area="attacks")
def test_schemathesis_finds_nothing(tmp_path: Path) -> None:
    """Requests made from our own OpenAPI, right and wrong: no 5xx, only what is described."""
    (tmp_path / "keys").write_text(KEY)
    options = ("--keys", str(tmp_path / "keys"), "--allow", "examiner", "--allow", "contains")
    with server(tmp_path, *options) as (_, address):
        command = [
            sys.executable, "-m", "schemathesis.cli", "run", f"{address}/openapi.json",
            "--header", f"Authorization: Bearer {KEY}", "--max-examples", "40", "--seed", "7",
            "--checks", "all", "--exclude-checks", "positive_data_acceptance",
            "--suppress-health-check", "all", "--max-failures", "5",
        ]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=900,
                              cwd=tmp_path)  # fmt: skip
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
