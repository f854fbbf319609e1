"""`--batch`: requests go in batches, nothing is sent twice, every row has a status."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import markscheme
from batch_endpoints import BatchServer
from markscheme.cli import run as run_command
from markscheme.errors import ModelError
from markscheme.models import ModelOptions, Models, ServerOptions
from markscheme.models.chat import batch_services
from markscheme.testing import ServerReply

PRICES = '["m"]\ninput = 2\noutput = 10\n["anthropic:m"]\ninput = 2\noutput = 10\nbatch = 0.4\n'


def rows(count: int) -> list[dict[str, Any]]:
    return [
        {"id": str(n), "question": f"Question {n}?", "references": ["x"], "answer": f"a {n}"}
        for n in range(count)
    ]


def number(body: Mapping[str, Any]) -> int:
    messages = body["messages"]
    texts = [m["content"] for m in messages if "Question " in m["content"]]
    return int(texts[0].split("Question ")[1].split("?")[0])


def says(body: Mapping[str, Any], _place: int) -> ServerReply:
    n = number(body)
    if n == 3 and len(body["messages"]) < 3:
        return ServerReply(content="hard to say")
    if n == 4:
        return ServerReply(status=500)
    return ServerReply(content="Yes" if n % 2 else "No", tokens_in=1000, tokens_out=100)


def models(server: BatchServer, folder: Path, model: str = "m", **options: Any) -> Models:
    (folder / "models.toml").write_text(PRICES)
    return Models(
        options=ModelOptions(
            model=model, batch=True, ledger=str(folder / "l.sqlite"),
            models=folder / "models.toml", server=ServerOptions(base_url=server.url), **options,
        )
    )  # fmt: skip


@pytest.mark.parametrize(("model", "share"), [("m", 0.5), ("anthropic:m", 0.4)])
def test_rows_are_judged_by_batches_at_the_batch_price(
    tmp_path: Path, model: str, share: float
) -> None:
    with BatchServer(says) as server:
        asked = models(server, tmp_path, model)
        result = markscheme.judge(rows(12), "llm_kamalloo", models=asked, out=tmp_path / "run")
        asked.close()
        batches = [len(one.requests) for one in server.batches.batches.values()]
    assert batches == [12, 1]  # all rows, then the repair
    table = result.judgments
    assert table["status"].to_list() == ["judged"] * 4 + ["failed"] + ["judged"] * 7
    assert "HTTP 500" in table["explanation"][4]
    assert table["verdict"].to_list() == [n % 2 == 1 if n != 4 else None for n in range(12)]
    full = (1000 * 2 + 100 * 10) / 1e6
    assert table["cost_usd"][0] == pytest.approx(share * full)
    assert asked.budget.spending.cost_usd == pytest.approx(
        share * (11 * full + (10 * 2 + 1 * 10) / 1e6)
    )


def test_two_judges_are_waited_for_together_and_parts_keep_to_the_limits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch_services.OpenAIBatches, "most_requests", 5)
    with BatchServer(says, most=5) as server:
        asked = models(server, tmp_path)
        judges = ["llm_kamalloo", "llm_evouna"]
        result = markscheme.judge(rows(12), judges, models=asked)
        asked.close()
        sizes = [len(one.requests) for one in server.batches.batches.values()]
    assert sorted(sizes) == [1, 1, 2, 2, 5, 5, 5, 5]
    assert result.judgments.filter(pl.col("status") == "judged").height == 22


def test_judges_with_a_limit_of_money_send_whole_batches(tmp_path: Path) -> None:
    with BatchServer(says) as server:
        asked = models(server, tmp_path, max_cost=5.0)
        result = markscheme.judge(rows(12), ["llm_kamalloo", "llm_evouna"], models=asked)
        asked.close()
        sizes = [len(one.requests) for one in server.batches.batches.values()]
    assert sorted(sizes) == [1, 1, 12, 12]  # the rows, and a repair each
    assert sorted(result.judgments["status"]) == ["failed"] * 2 + ["judged"] * 22


def test_what_a_model_refuses_is_left_out_and_what_it_needs_is_given(tmp_path: Path) -> None:
    def reasons(body: Mapping[str, Any], _place: int) -> ServerReply:
        if "temperature" in body:
            message = "Unsupported value: 'temperature' does not support 0 with this model."
            error = {"error": {"message": message, "param": "temperature", "code": "unsupported"}}
            return ServerReply(status=400, body=json.dumps(error).encode())
        if (body.get("max_tokens") or body.get("max_completion_tokens")) < 4000:
            return ServerReply(content="", finish_reason="length", tokens_in=10, tokens_out=50)
        return ServerReply(content="Yes", tokens_in=10, tokens_out=60)

    with BatchServer(reasons) as server:
        asked = models(server, tmp_path)
        result = markscheme.judge(rows(5), "llm_kamalloo", models=asked)
        remarks = dict(asked.budget.remarks)
        asked.close()
        assert len(server.requests) == 15
    assert result.judgments["status"].to_list() == ["judged"] * 5
    assert result.judgments["tokens_out"].to_list() == [110] * 5  # both billed attempts
    assert remarks["m: temperature was not sent; the model does not take it"] == 5
    assert remarks["m: sent with another max_tokens than the prompt's"] == 5


def test_a_server_without_batches_says_so(tmp_path: Path) -> None:
    from http.server import BaseHTTPRequestHandler, HTTPServer
    from threading import Thread

    class Plain(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.send_error(404)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Plain)
    Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    asked = Models(
        options=ModelOptions(
            model="m", batch=True, ledger=str(tmp_path / "l.sqlite"),
            server=ServerOptions(base_url=url),
        )
    )  # fmt: skip
    with pytest.raises(ModelError, match="has no batch interface"):
        markscheme.judge(rows(2), "llm_kamalloo", models=asked)
    asked.close()
    server.shutdown()
    server.server_close()


@pytest.mark.proof(area="models")
@pytest.mark.parametrize("model", ["m", "anthropic:m"])
def test_a_run_killed_in_mid_batch_goes_on_and_sends_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows(40)))
    good = lambda body, _place: ServerReply(content="Yes" if number(body) % 2 else "No")  # noqa: E731
    with BatchServer(good, seconds=1.5) as server:
        line = ["judge", "a.jsonl", "-j", "llm_kamalloo", "-m", model, "--batch",
                "--base-url", server.url, "-o", "run", "--quiet"]  # fmt: skip
        first = subprocess.Popen(
            [sys.executable, "-m", "markscheme", *line], stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, env=dict(os.environ),
        )  # fmt: skip
        waited = time.monotonic() + 60
        while not server.batches.batches and time.monotonic() < waited:
            time.sleep(0.05)
        time.sleep(0.3)
        first.send_signal(signal.SIGKILL)
        first.wait()
        assert run_command(line) == 0
        assert len(server.batches.batches) == 1
        assert len(server.requests) == 40
    table = pl.read_parquet("run/judgments.parquet")
    assert table["status"].unique().to_list() == ["judged"]
    assert table["verdict"].to_list() == [n % 2 == 1 for n in range(40)]


@pytest.mark.parametrize("model", ["m", "anthropic:m"])
def test_a_batch_of_whose_arrival_nothing_was_heard_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str
) -> None:
    """Killed between the sending of a batch and the note of its name."""
    from markscheme.models.ledger import BatchJobs

    class KilledError(Exception):
        pass

    def killed(*_: object) -> None:
        raise KilledError

    with BatchServer(says, seconds=0.5) as server:
        first = models(server, tmp_path, model)
        monkeypatch.setattr(BatchJobs, "arrived", killed)
        with pytest.raises(KilledError):
            markscheme.judge(rows(3), "llm_kamalloo", models=first)
        first.close()
        monkeypatch.undo()
        again = models(server, tmp_path, model)
        result = markscheme.judge(rows(3), "llm_kamalloo", models=again)
        again.close()
        assert len(server.batches.batches) == 1
    assert result.judgments["status"].to_list() == ["judged"] * 3


def test_a_dry_run_has_the_batch_price(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows(5)))
    line = ["judge", "a.jsonl", "-j", "llm_kamalloo", "-m", "gpt-4o-mini", "--dry-run", "--format",
            "json"]  # fmt: skip
    costs = []
    for more in ([], ["--batch"]):
        assert run_command([*line, *more]) == 0
        costs.append(json.loads(capsys.readouterr().out)["judges"][0]["cost_usd"])
    assert costs[1] == pytest.approx(costs[0] / 2)
