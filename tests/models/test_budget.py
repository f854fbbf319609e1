"""Limits of calls and money, dry runs, batch files: on the command line and from Python."""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import markscheme
from markscheme.cli import run as run_command
from markscheme.contract import ChatReply, ChatRequest, Message
from markscheme.errors import ModelError, RunStoppedError
from markscheme.models import ServerOptions
from markscheme.models.chat import server_chat
from markscheme.models.chat.batch_files import read_batch, write_batch
from markscheme.models.chat.budget import Budget
from markscheme.models.chat.cached import CachedChat
from markscheme.models.chat.profiles import Price
from markscheme.models.chat.scripted import ScriptedChat
from markscheme.models.chat.server_chat import ServerChat
from markscheme.models.ledger.ledger import Ledger, LedgerEntry
from markscheme.models.sources import ModelOptions, Models
from servers import Answer, ChatServer

ROWS = 30


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder with answers to judge, and a price for the model `m`."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MARKSCHEME_LEDGER", raising=False)
    rows = [
        {"id": str(n), "question": f"What is {n}?", "references": [str(n)], "answer": f"{n}."}
        for n in range(ROWS)
    ]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "prices.toml").write_text("[m]\ninput = 1000\noutput = 5000\n")
    return tmp_path


def of_our_own(url: str) -> None:
    """Make the address the model's own, as batch files and their replies name none."""
    with Path("prices.toml").open("a") as stream:
        stream.write(f'base_url = "{url}"\n')


def line(url: str, *more: str) -> list[str]:
    return ["judge", "a.jsonl", "-j", "llm_kamalloo", "-m", "m", "--base-url", url,
            "--prices", "prices.toml", "--quiet", *more]  # fmt: skip


def requests(count: int, **fields: Any) -> list[ChatRequest]:
    return [
        ChatRequest(messages=(Message(role="user", content=str(n)),), **fields)
        for n in range(count)
    ]


def priced(text: str) -> ChatReply:
    return ChatReply(status="ok", text=text, tokens_in=1_000, tokens_out=1_000)


@pytest.mark.parametrize("limit", [0, 1, 7, 30, 31])
def test_calls_stop_at_the_limit(limit: int) -> None:
    script = ScriptedChat(replies=priced)
    chat = CachedChat(model=script, budget=Budget(max_calls=limit))
    replies = chat.complete(requests(30))
    assert len(script.seen) == min(limit, 30)
    skipped = [reply for reply in replies if reply.status == "skipped"]
    assert len(skipped) == max(0, 30 - limit)
    assert all(f"{limit:,} calls (--max-calls)" in str(reply.error) for reply in skipped)


@pytest.mark.parametrize("at_once", [1, 8])
def test_money_is_not_overspent_however_many_are_under_way(at_once: int) -> None:
    """Every call may cost $1.1 by its limit and does cost $0.11; $2 buys 8 and not 18, since the
    ninth could have been the dear one... unless what was under way has turned out cheap."""
    answer = Answer(length=10, delay=0.005)
    with ChatServer(lambda _body, _seen: answer) as server:
        options = ServerOptions(base_url=server.url, concurrency=at_once)
        budget = Budget(max_cost=2.0)
        chat = CachedChat(
            model=ServerChat(name="m", options=options),
            budget=budget,
            price=Price(input=1_000, output=10_000),
        )
        replies = chat.complete(requests(100, max_tokens=100))
    done = [reply for reply in replies if reply.status == "ok"]
    assert all(reply.cost_usd == pytest.approx(0.11) for reply in done)
    assert budget.spending.cost_usd == pytest.approx(0.11 * len(done))
    assert 0.9 - 0.11 < budget.spending.cost_usd <= 2.0
    assert {reply.status for reply in replies} == {"ok", "skipped"}
    assert "$2 (--max-cost) is spent" in str(replies[-1].error)


def completion(usage: dict[str, Any] | None, **fields: Any) -> Answer:
    choice = {"message": {"content": "Yes"}, "finish_reason": "stop"}
    body: dict[str, Any] = {"choices": [choice], "usage": usage, **fields}
    return Answer(body=json.dumps(body).encode())


UNCOUNTED = {
    "no usage": completion(None),
    "no completion tokens": completion({"prompt_tokens": 10}),
    "no prompt tokens": completion({"completion_tokens": 100}),
    "zeros": completion({"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}),
    "zeros and no bill": completion({"prompt_tokens": 0, "completion_tokens": 0, "cost": 0}),
    "a text of no tokens": completion({"prompt_tokens": 10, "completion_tokens": 0}),
    "no numbers": completion({"prompt_tokens": "10", "completion_tokens": -100}),
    "no choices": completion(None, choices=[]),
    "no choices, part of a count": completion({"prompt_tokens": 10}, choices=[]),
    "another format": Answer(body=b'["Yes"]'),
    "no JSON": Answer(body=b'{"choices":'),
    "too large": Answer(text="x" * (9 << 20)),
    "error in a reply": Answer(body=b'{"error": {"code": 502, "message": "down"}}'),
    "broken off": completion(
        {"prompt_tokens": 10, "completion_tokens": 1},
        choices=[{"message": {"content": "Yes"}, "finish_reason": "error"}],
    ),
    "500": Answer(status=500),
    "503": Answer(status=503),
    "gateway timeout": Answer(status=504, body=b"<html>"),
    "reset": Answer(cut=0),
    "cut": Answer(cut=60),
    "time out": Answer(delay=60.0),
}
"""What a server may answer that has generated 100 tokens and bills them."""


@pytest.mark.parametrize("every", [1, 2, 3])
@pytest.mark.parametrize("name", UNCOUNTED)
def test_whatever_a_server_counts_no_more_is_generated_than_the_budget_pays(
    monkeypatch: pytest.MonkeyPatch, name: str, every: int
) -> None:
    """Every request is generated to its limit and billed; every `every`th is not counted so."""
    monkeypatch.setattr(server_chat, "_LONGEST_BACKOFF", 0.0)
    counted = completion({"prompt_tokens": 10, "completion_tokens": 100})

    def behaviour(_body: dict[str, Any], _seen: int) -> Answer:
        return counted if len(server.bodies) % every else UNCOUNTED[name]

    with ChatServer(behaviour) as server:
        options = ServerOptions(base_url=server.url, concurrency=8, timeout=0.3)
        budget = Budget(max_cost=1.0)
        chat = CachedChat(
            model=ServerChat(name="m", options=options),
            budget=budget,
            price=Price(input=0, output=1_250),
        )
        replies = chat.complete(requests(40, max_tokens=100))
        assert len(server.bodies) <= 8  # $0.125 each, also for one that timed out on its way
    assert budget.spending.cost_usd == 1.0
    assert budget.spending.calls == 8
    assert [reply.status for reply in replies].count("skipped") >= 32


@pytest.mark.parametrize("name", [None, *UNCOUNTED])
def test_what_is_not_known_to_cost_nothing_is_not_shown_as_nothing(
    monkeypatch: pytest.MonkeyPatch, name: str | None
) -> None:
    """A model without a price: whatever its attempts end with, nobody knows what they cost."""
    monkeypatch.setattr(server_chat, "_LONGEST_BACKOFF", 0.0)

    def behaviour(_body: dict[str, Any], seen: int) -> Answer:
        return Answer() if name is None or seen else UNCOUNTED[name]

    with ChatServer(behaviour) as server:
        options = ServerOptions(base_url=server.url, timeout=0.3)
        chat = CachedChat(model=ServerChat(name="m", options=options))
        chat.complete(requests(3))
    assert "$" not in str(chat.budget.spending)
    assert "cost unknown" in str(chat.budget.spending)


def test_a_request_that_was_turned_away_or_refused_costs_nothing() -> None:
    answers = (429, 400, 422, 408, 409)
    budget = Budget(max_cost=1.0)

    def behaviour(body: dict[str, Any], seen: int) -> Answer:
        status = answers[int(body["messages"][-1]["content"]) % 5]
        return Answer() if seen else Answer(status=status, headers={"Retry-After": "0"})

    with ChatServer(behaviour) as server:
        options = ServerOptions(base_url=server.url, concurrency=1, backoff=0.0)
        chat = CachedChat(
            model=ServerChat(name="m", options=options), budget=budget,
            price=Price(input=0, output=1_000),
        )  # fmt: skip
        replies = chat.complete(requests(10, max_tokens=100))
    assert [reply.status for reply in replies].count("ok") == 6
    assert budget.spending.cost_usd == pytest.approx(6 * 0.001)
    assert budget.spending.unpriced == 0


def test_a_run_that_ends_leaves_no_reservation_open() -> None:
    budget = Budget(max_cost=1.0)
    with ChatServer(lambda _body, _seen: Answer(status=402)) as server:
        chat = CachedChat(
            model=ServerChat(name="m", options=ServerOptions(base_url=server.url)), budget=budget,
            price=Price(input=0, output=1_000),
        )  # fmt: skip
        with pytest.raises(RunStoppedError):
            chat.complete(requests(3, max_tokens=100))
    assert 0 < budget.spending.cost_usd <= 0.3
    assert budget.admit(1.0 - budget.spending.cost_usd) is None


def test_what_is_in_the_total_alone_was_generated_too() -> None:
    """Gemini counts reasoning so where it speaks OpenAI's protocol."""
    usage = {"prompt_tokens": 10, "completion_tokens": 1, "total_tokens": 511}
    with ChatServer(lambda _body, _seen: completion(usage)) as server:
        chat = ServerChat(name="m", options=ServerOptions(base_url=server.url))
        assert chat.complete(requests(1))[0].tokens_out == 501


def test_a_reply_that_counts_no_tokens_is_taken_at_its_dearest() -> None:
    script = ScriptedChat(replies=lambda _: "Yes")
    chat = CachedChat(model=script, budget=Budget(max_cost=1.0), price=Price(input=0, output=1000))
    replies = chat.complete(requests(10, max_tokens=300))  # $0.3 each
    assert [reply.status for reply in replies].count("ok") == 3
    assert replies[0].cost_usd is None


def test_a_model_without_a_price_is_assumed_to_be_as_dear_as_the_dearest() -> None:
    said = ChatReply(status="ok", text="Yes", tokens_in=1, tokens_out=1_000)
    script = ScriptedChat(replies=lambda _: said, name="nobody-knows")
    models = Models(chat=script, options=ModelOptions(max_cost=1.0))
    replies = models.chat().complete(requests(40, max_tokens=1_000))
    statuses = [reply.status for reply in replies]
    assert 0 < statuses.count("ok") < 40
    assert statuses.count("ok") + statuses.count("skipped") == 40
    assert 0.5 < models.budget.spending.cost_usd <= 1.0
    assert replies[0].cost_usd is None  # What is assumed is in no judgment.


def test_what_is_known_costs_nothing_and_does_not_count(tmp_path: Path) -> None:
    options = ModelOptions(ledger=str(tmp_path / "l.sqlite"), max_calls=5)
    for known in (0, 5, 10):
        models = Models(chat=ScriptedChat(replies=priced), options=options)
        models.chat().complete(requests(12))
        spending = models.budget.spending
        assert (spending.calls, spending.known) == (min(5, 12 - known), known)
        models.close()


def test_a_dry_run_counts_what_is_missing_and_sends_nothing(
    here: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with ChatServer() as server:
        assert run_command(line(server.url, "--dry-run")) == 0
        assert server.bodies == []
        shown = capfd.readouterr()
        words = shown.out.split()
        at = words.index("llm_kamalloo")
        calls, known, tokens_in, tokens_out, cost = words[at + 1 : at + 6]
        assert (calls, known) == ("30", "0")
        expected = (int(tokens_in.replace(",", "")) + 5 * int(tokens_out.replace(",", ""))) / 1000
        assert float(cost.strip("$").replace(",", "")) == pytest.approx(expected)
        assert "tokens in:" in shown.err
        assert run_command(line(server.url, "--max-calls", "12", "-o", "some")) == 0
        capfd.readouterr()
        assert run_command(line(server.url, "--dry-run")) == 0
        words = capfd.readouterr().out.split()
        assert words[words.index("llm_kamalloo") + 1 :][:2] == ["18", "12"]
        assert len(server.bodies) == 12


def test_limits_skip_the_rest_and_say_so(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with ChatServer() as server:
        command = line(server.url, "--max-calls", "12", "-o", "run")
        assert run_command([word for word in command if word != "--quiet"]) == 0
        shown = capfd.readouterr()
        assert "12 calls, $0.1800, 18 skipped" in " ".join(shown.err.split())
        table = pl.read_parquet("run/judgments.parquet")
        assert table["status"].value_counts(sort=True).rows() == [("skipped", 18), ("judged", 12)]
        skipped = table.filter(pl.col("status") == "skipped")
        assert skipped["explanation"].str.contains("--max-calls").all()
        assert table["cost_usd"].sum() == pytest.approx(0.18)
        summary = json.loads(Path("run/summary.json").read_text())
        assert summary["figures"][0]["cost_usd"] == pytest.approx(0.18)
        assert run_command(line(server.url, "--again", "-o", "run")) == 0
        assert len(server.bodies) == ROWS
    table = pl.read_parquet("run/judgments.parquet")
    assert table["status"].to_list() == ["judged"] * ROWS
    assert table["cost_usd"].sum() == pytest.approx(0.45)


def test_a_dry_run_opens_no_connection(here: Path) -> None:
    """Whatever is installed: some tokenizers are downloaded when they are first used."""
    command = [*line("http://127.0.0.1:9/v1", "--dry-run"), "-m", "gpt-4o-mini"]
    done = subprocess.run(
        [sys.executable, "-c", _WATCHED, *command], capture_output=True, text=True, check=False
    )
    assert (done.returncode, "opened" in done.stderr) == (0, False), done.stderr
    assert "tokens in: approximate" in done.stderr


_WATCHED = """
import sys
from markscheme.cli import run
names = ("socket.connect", "socket.getaddrinfo")
sys.addaudithook(lambda name, _: name in names and print("opened", file=sys.stderr))
sys.exit(run(sys.argv[1:]))
"""


def test_the_summary_says_what_again_does(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Also where a finished run is shown once more, and what to do where it does nothing."""

    def behaviour(body: dict[str, Any], seen: int) -> Answer:
        text = str(body["messages"])
        if "What is 0?" in text and not seen:
            return Answer(status=400)
        return Answer(text="Who knows?" if "What is 1?" in text and body["model"] == "m" else "Yes")

    with ChatServer(behaviour) as server:
        command = [word for word in line(server.url, "-o", "run") if word != "--quiet"]
        command += ["--concurrency", "1", "--ledger", "l.sqlite"]
        assert run_command([*command, "--max-calls", "12"]) == 0
        first = " ".join(capfd.readouterr().err.split())
        assert run_command([*command, "--max-calls", "1000"]) == 0
        shown = " ".join(capfd.readouterr().err.split())
        assert len(server.bodies) == 12
        for said in (first, shown):
            assert "--again judges only what failed (1)" in said
            # With the one whose first reply could not be read and whose repair was not sent.
            assert "--again and a higher limit judges only what the budget left out (19)" in said
            assert "unparsed or refused" not in said
        assert run_command([*command, "--again"]) == 0
        assert len(server.bodies) == 12 + 1 + 18 + 1  # The last is a repair.
        said = " ".join(capfd.readouterr().err.split())
        assert "judges only" not in said
        assert "--again requests no unparsed or refused reply anew (1)" in said
        advice = re.search(r'-j "(cascade\(.+?\))"', said)
        assert advice is not None
        another = "llm_evouna(model=another)"
        command[command.index("llm_kamalloo")] = advice[1].replace("JUDGE", another)
        command[command.index("run")] = "other"
        assert run_command(command) == 0
        assert len(server.bodies) == 12 + 1 + 18 + 1 + 1
    assert pl.read_parquet("other/judgments.parquet")["verdict"].null_count() == 0


def test_again_counts_answers_of_which_some_samples_are_missing(
    here: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """They are judged by the others, and the summary was silent on them."""

    def behaviour(body: dict[str, Any], seen: int) -> Answer:
        first = "What is 0?" in str(body["messages"]) and not seen
        return Answer(status=400) if first else Answer(text="Yes")

    with ChatServer(behaviour) as server:
        command = [word for word in line(server.url, "-o", "run") if word != "--quiet"]
        command[command.index("llm_kamalloo")] = "llm_kamalloo(samples=3, temperature=0.7)"
        command += ["--concurrency", "1", "--ledger", "l.sqlite"]
        assert run_command([*command, "--max-calls", "89"]) == 0
        said = " ".join(capfd.readouterr().err.split())
        assert "--again judges only what failed (1)" in said
        assert "--again and a higher limit judges only what the budget left out (1)" in said
        assert run_command([*command, "--again"]) == 0
        assert "--again" not in capfd.readouterr().err
        assert len(server.bodies) == 3 * ROWS + 1


def test_a_recorded_run_needs_no_server(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with ChatServer() as server:
        assert run_command(line(server.url, "-o", "run", "--ledger", "one.sqlite")) == 0
    assert run_command(["ledger", "stats", "--ledger", "one.sqlite"]) == 0
    assert run_command(["ledger", "export", "shared.jsonl", "--ledger", "one.sqlite"]) == 0
    assert run_command(["ledger", "import", "shared.jsonl", "--ledger", "two.sqlite"]) == 0
    shown = capfd.readouterr()
    assert "30 replies written to shared.jsonl" in shown.err
    # Nobody listens at the address any more; which server replied is part of what is recorded.
    assert run_command(line(server.url, "-o", "two", "--replay", "--ledger", "two.sqlite")) == 0
    for name in ("judgments.parquet", "summary.json"):
        assert Path("run", name).read_bytes() == Path("two", name).read_bytes()
    used = [json.loads(Path(run, "manifest.json").read_text())["ledger"] for run in ("run", "two")]
    assert used[0] == used[1]
    assert used[0]["entries"] == 30
    assert run_command(["ledger", "stats", "--ledger", "nowhere.sqlite"]) == 2
    assert "there is no ledger nowhere.sqlite" in capfd.readouterr().err


def test_a_recorded_reply_that_was_changed_is_not_used_and_a_note_says_so(
    here: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with ChatServer() as server:
        assert run_command(line(server.url, "-o", "run", "--ledger", "one.sqlite")) == 0
    with sqlite3.connect("one.sqlite") as connection:
        connection.execute("UPDATE replies SET reply = replace(reply, 'Yes', 'No')")
    connection.close()
    capfd.readouterr()
    replayed = line(server.url, "-o", "two", "--replay", "--ledger", "one.sqlite")
    run_command([word for word in replayed if word != "--quiet"])
    assert "entries of the ledger are damaged, changed or not signed" in capfd.readouterr().err
    assert pl.read_parquet("two/judgments.parquet")["status"].unique().to_list() == ["failed"]


def result_of(request: dict[str, Any]) -> dict[str, Any]:
    body = json.loads(Answer(text="Yes").payload("m"))
    return {"custom_id": request["custom_id"], "response": {"status_code": 200, "body": body}}


def test_a_batch_is_written_for_what_is_missing_and_read_back(
    here: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    written = ["batch", "write", "a.jsonl", "-j", "llm_kamalloo", "-m", "m", "-o"]
    with ChatServer() as server:
        of_our_own(server.url)
        assert run_command(line(server.url, "--max-calls", "10", "-o", "some")) == 0
        asked = server.bodies[0]
        capfd.readouterr()
        assert run_command([*written, "batch.jsonl"]) == 0
        assert "20 requests written to batch.jsonl; 10 were known" in capfd.readouterr().err
        requested = [json.loads(text) for text in Path("batch.jsonl").read_text().splitlines()]
        assert len({one["custom_id"] for one in requested}) == 20
        assert all(one["url"] == "/v1/chat/completions" for one in requested)
        assert requested[0]["body"].keys() == asked.keys()
        failed = {
            "custom_id": requested[0]["custom_id"],
            "response": {"status_code": 400, "body": {"error": {"message": "too long"}}},
        }
        expired = {
            "custom_id": requested[1]["custom_id"],
            "response": None,
            "error": {"code": "batch_expired"},
        }
        lines = [failed, expired, *map(result_of, requested[2:])]
        Path("results.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
        assert run_command(["batch", "read", "results.jsonl", "--prices", "prices.toml"]) == 0
        shown = capfd.readouterr().out
        assert "18 replies, $0.1350, 2 failed" in shown
        assert "1 times: batch: HTTP 400: too long" in shown
        assert "1 times: batch: batch_expired" in shown
        assert run_command(["llm", "ledger", "stats", "--format", "markdown"]) == 0
        assert "1 times: batch: batch_expired" in capfd.readouterr().out
        assert run_command([*written, "rest.jsonl"]) == 0
        rest = [json.loads(text) for text in Path("rest.jsonl").read_text().splitlines()]
        assert rest == requested[:2]
        assert run_command(line(server.url, "-o", "all")) == 0
        assert len(server.bodies) == 12
    table = pl.read_parquet("all/judgments.parquet")
    assert table["status"].to_list() == ["judged"] * ROWS
    assert table["cost_usd"].sum() == pytest.approx(12 * 0.015 + 18 * 0.0075)


@pytest.mark.parametrize("share", [[], ["--price-share", "0.1"]])
def test_what_the_server_bills_for_a_batched_reply_goes_before_its_price(
    here: Path, capfd: pytest.CaptureFixture[str], share: list[str]
) -> None:
    assert run_command(["batch", "write", "a.jsonl", "-j", "llm_kamalloo", "-m", "m",
                        "-o", "batch.jsonl"]) == 0  # fmt: skip
    results = [result_of(json.loads(text)) for text in Path("batch.jsonl").read_text().splitlines()]
    for result in results:
        result["response"]["body"]["usage"] |= {"cost": 0.25}
    Path("results.jsonl").write_text("".join(json.dumps(one) + "\n" for one in results))
    capfd.readouterr()
    assert run_command(["batch", "read", "results.jsonl", "--prices", "prices.toml", *share]) == 0
    assert f"{ROWS} replies, ${ROWS * 0.25:.4f}, 0 failed" in capfd.readouterr().out
    with ChatServer() as server:
        of_our_own(server.url)
        assert run_command(line(server.url, "-o", "all")) == 0
        assert server.bodies == []
    table = pl.read_parquet("all/judgments.parquet")
    assert table["cost_usd"].to_list() == [0.25] * ROWS


def test_a_reply_out_of_a_batch_file_says_what_was_sent_otherwise(here: Path) -> None:
    entry = '[m]\nlacks = ["temperature"]\n'
    Path("models.toml").write_text(entry)
    assert run_command(["batch", "write", "a.jsonl", "-j", "llm_kamalloo", "-m", "m",
                        "--models", "models.toml", "-o", "batch.jsonl"]) == 0  # fmt: skip
    first = json.loads(Path("batch.jsonl").read_text().splitlines()[0])
    assert "temperature" not in first["body"]
    Path("results.jsonl").write_text(json.dumps(result_of(first)))
    assert run_command(["batch", "read", "results.jsonl", "--models", "models.toml"]) == 0
    models = Models(options=ModelOptions(model="m"))
    found = models.ledger().find([first["custom_id"]])[first["custom_id"]]
    models.close()
    assert found.changed == {"temperature": None}


def test_a_reply_that_reasoning_left_no_room_for_is_missing_after_a_batch_file(
    here: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """It was stored as the reply, so that no run asked again, with room, as runs do."""
    write = ["batch", "write", "a.jsonl", "-j", "llm_kamalloo", "-m", "m", "-o", "batch.jsonl"]
    assert run_command(write) == 0
    first = json.loads(Path("batch.jsonl").read_text().splitlines()[0])
    body = json.loads(Answer(text="").payload("m"))
    body["choices"][0]["finish_reason"] = "length"
    result = {"custom_id": first["custom_id"], "response": {"status_code": 200, "body": body}}
    Path("results.jsonl").write_text(json.dumps(result))
    capfd.readouterr()
    assert run_command(["batch", "read", "results.jsonl"]) == 0
    shown = " ".join(capfd.readouterr().out.split())
    assert "0 replies, 1 failed" in shown
    assert "which reasoning took; set 'room' for 'm'" in shown
    assert run_command(write) == 0
    assert f"{ROWS} requests written" in capfd.readouterr().err


def test_a_run_finds_the_replies_of_a_batch_file_with_its_reasoning(here: Path) -> None:
    """`llm batch write` had no such options, so that a run with them sent every request again."""
    how = ["--reasoning-effort", "low", "--verbosity", "high"]
    assert run_command(["llm", "batch", "write", "a.jsonl", "-j", "llm_kamalloo", "-m", "m",
                        "-o", "batch.jsonl", *how]) == 0  # fmt: skip
    lines = [json.loads(line) for line in Path("batch.jsonl").read_text().splitlines()]
    assert lines[0]["body"]["reasoning_effort"] == "low"
    assert lines[0]["body"]["verbosity"] == "high"
    Path("results.jsonl").write_text("\n".join(json.dumps(result_of(one)) for one in lines))
    assert run_command(["llm", "batch", "read", "results.jsonl"]) == 0
    with ChatServer() as server:
        of_our_own(server.url)
        assert run_command(line(server.url, "-o", "run", *how)) == 0
        assert server.bodies == []


def test_a_batch_file_asks_no_model_for_the_replies_of_another(
    here: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The requests of a judge with a model of its own went to the command's model, whose replies
    were then stored as that judge's."""
    write = ["batch", "write", "a.jsonl", "-o", "batch.jsonl", "-j", "llm_kamalloo(model='other')"]
    assert run_command([*write, "-j", "llm_kamalloo", "-m", "m"]) == 2
    assert "a judge asks 'other', and a batch file is for one model" in capfd.readouterr().err
    assert not Path("batch.jsonl").exists()
    assert run_command([*write, "-m", "other"]) == 0
    lines = [json.loads(line) for line in Path("batch.jsonl").read_text().splitlines()]
    assert {line["body"]["model"] for line in lines} == {"other"}


@pytest.mark.parametrize(
    ("model", "advice"),
    [("anthropic:claude-haiku-4-5", "use 'markscheme judge --batch'"),
     ("gemini:gemini-2.5-pro", "ask it without a batch")],
)  # fmt: skip
def test_a_model_without_batch_files_is_refused_with_what_it_has(
    here: Path, capfd: pytest.CaptureFixture[str], model: str, advice: str
) -> None:
    """Of Anthropic it said "without a batch", though a run may use its batches at half price."""
    write = ["llm", "batch", "write", "a.jsonl", "-j", "llm_kamalloo", "-o", "batch.jsonl"]
    assert run_command([*write, "-m", model]) == 2
    assert advice in capfd.readouterr().err


def test_a_batch_file_that_cannot_be_finished_leaves_nothing(tmp_path: Path) -> None:
    models = Models(options=ModelOptions(model="m", ledger=str(tmp_path / "l.sqlite")))

    def entries() -> Iterator[LedgerEntry]:
        yield LedgerEntry.of("m", "", requests(1)[0])
        raise RunStoppedError("ended")

    with pytest.raises(RunStoppedError):
        write_batch(entries(), tmp_path / "batch.jsonl", models.ledger(), models.profile("m"))
    (tmp_path / "folder").mkdir()
    with pytest.raises(markscheme.MarkschemeError, match="cannot write"):
        write_batch(
            [LedgerEntry.of("m", "", requests(1)[0])], tmp_path / "folder", models.ledger(),
            models.profile("m"),
        )  # fmt: skip
    models.close()
    assert {path.name for path in tmp_path.iterdir()} <= {
        "folder", "l.sqlite", "l.sqlite-shm", "l.sqlite-wal"
    }  # fmt: skip


def test_results_of_nobody_are_named_and_the_others_kept(
    here: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["batch", "write", "a.jsonl", "-j", "llm_kamalloo", "-m", "m",
                        "-o", "batch.jsonl"]) == 0  # fmt: skip
    first = json.loads(Path("batch.jsonl").read_text().splitlines()[0])
    lines = ["{", '{"custom_id": "x", "response": null}', "[]", json.dumps(result_of(first))]
    Path("results.jsonl").write_text("\n".join(lines))
    capfd.readouterr()
    assert run_command(["batch", "read", "results.jsonl"]) == 2
    shown = capfd.readouterr().err
    for number in (1, 2, 3):
        assert f"results.jsonl, line {number}: no result of a batch" in shown
    models = Models(options=ModelOptions(model="m"))
    assert models.ledger().query("SELECT COUNT(*) FROM replies") == [(1,)]
    models.close()


def test_a_foreign_line_keeps_no_other_file_from_being_read(
    here: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """It ended the command: replies were stored but not counted, and errors.jsonl was not read."""
    assert run_command(["batch", "write", "a.jsonl", "-j", "llm_kamalloo", "-m", "m",
                        "-o", "batch.jsonl"]) == 0  # fmt: skip
    first, second = map(json.loads, Path("batch.jsonl").read_text().splitlines()[:2])
    Path("results.jsonl").write_text(f"{json.dumps(result_of(first))}\n[]\n")
    Path("errors.jsonl").write_text(f"{json.dumps(result_of(second))}\n{{\n")
    capfd.readouterr()
    assert run_command(["batch", "read", "results.jsonl", "errors.jsonl"]) == 2
    shown = capfd.readouterr()
    assert "results.jsonl: 1 replies, 0 failed" in shown.out
    assert "errors.jsonl: 1 replies, 0 failed" in shown.out
    assert "2 rows cannot be used" in shown.err
    assert "--on-bad-row" not in shown.err  # an option that this command does not have
    for file in ("results", "errors"):
        assert f"{file}.jsonl, line 2: no result of a batch" in shown.err


def test_an_unreadable_batch_is_an_error(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "l.sqlite")
    with pytest.raises(markscheme.MarkschemeError, match="cannot read"):
        read_batch(tmp_path / "nowhere.jsonl", ledger, {})
    (tmp_path / "x.jsonl").write_text("{}\n")
    (problem,) = read_batch(tmp_path / "x.jsonl", ledger, {}).problems
    assert "it has no 'custom_id'" in problem.message
    ledger.close()


@pytest.mark.parametrize(("billed", "limit"), [(0.5, 3.0), (0.002, 0.1), (0.05, 0.06)])
def test_what_a_server_bills_beyond_its_price_list_keeps_to_the_limit(
    billed: float, limit: float
) -> None:
    budget = Budget(max_cost=limit)
    usage = {"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20, "cost": billed}
    choice = {"index": 0, "finish_reason": "stop",
              "message": {"role": "assistant", "content": "Yes"}}  # fmt: skip
    body = json.dumps({"model": "m", "choices": [choice], "usage": usage}).encode()
    with ChatServer(lambda _body, _seen: Answer(body=body)) as server:
        options = ServerOptions(base_url=server.url, concurrency=16)
        chat = CachedChat(
            model=ServerChat(name="m", options=options), budget=budget,
            price=Price(input=0, output=0.1),
        )  # fmt: skip
        replies = chat.complete(requests(200, max_tokens=100))
    assert budget.spending.cost_usd <= limit
    assert len(replies) == 200
    assert budget.spending.skipped == 200 - budget.spending.calls
    assert budget.spending.calls >= int(limit / billed) - 1


def test_a_batch_waits_for_what_another_under_way_leaves_of_the_money() -> None:
    """Each request may cost $0.3 and costs $0.01: three take the dollar until they are back."""
    began, go = threading.Event(), threading.Event()

    class Batches(ScriptedChat):
        side_by_side = True

        def complete(self, requests: Sequence[ChatRequest]) -> list[ChatReply]:
            if not began.is_set():
                began.set()
                go.wait(60)
            return super().complete(requests)

    cheap = ChatReply(status="ok", text="Yes", tokens_in=1, tokens_out=10)
    chat = CachedChat(
        model=Batches(replies=lambda _: cheap), budget=Budget(max_cost=1.0),
        price=Price(input=0, output=1_000),
    )  # fmt: skip
    asked = requests(6, max_tokens=300)
    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(chat.complete, asked[:3])
        assert began.wait(60)
        second = threads.submit(chat.complete, asked[3:])
        wait([second], timeout=0.2)
        go.set()
    assert [reply.status for reply in first.result() + second.result()] == ["ok"] * 6


def test_a_batch_that_is_not_taken_leaves_no_reservation_open() -> None:
    def fails(_: str) -> ChatReply:
        raise ModelError("the provider takes no batch")

    budget = Budget(max_cost=1.0)
    price = Price(input=0, output=1_000)
    chat = CachedChat(model=ScriptedChat(replies=fails), budget=budget, price=price)
    with pytest.raises(ModelError, match="takes no batch"):
        chat.complete(requests(1, max_tokens=300))
    assert budget.admit(0.5) is None


def test_a_budget_below_one_request_says_so() -> None:
    refused = Budget(max_cost=0.01).admit(0.05)
    assert refused == "the budget of $0.01 (--max-cost) is less than a request may cost, $0.0500"
