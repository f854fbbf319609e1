"""A server that fails everybody ends the run at once; a row that fails ends nothing but itself."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import re
import signal
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from markscheme.cli import run as run_command
from markscheme.contract import ChatReply, ChatRequest, Message
from markscheme.errors import ModelError, RunStoppedError
from markscheme.models import ModelOptions, Models, ServerOptions
from markscheme.models.chat import CallGroup, ServerChat, run_stop, server_chat
from markscheme.models.chat.cached import CachedChat
from markscheme.models.chat.run_stop import RunStop
from markscheme.models.ledger import Ledger, LedgerEntry
from servers import Answer, ChatServer

KEY = "sk-very-secret-0a1b2c3d"
ANSWERED = 5
AT_ONCE = 16


def error(status: int, message: str = "no", **fields: Any) -> Answer:
    return Answer(
        status=status, body=json.dumps({"error": {"message": message, **fields}}).encode()
    )


AT_ONCE_THE_RUNS = {
    "expired key": (error(401, f"invalid key {KEY}"), "OPENAI_API_KEY"),
    "empty account": (error(402), "no credit left"),
    "quota by its code": (error(429, code="insufficient_quota"), "no credit left"),
    "quota by its type": (error(403, type="insufficient_quota"), "no credit left"),
    "balance in words": (error(400, "Your credit balance is too low to ..."), "no credit left"),
}
THE_RUNS_IF_ALL_FAIL = {
    "forbidden": error(403, "key disabled"),
    "gone": error(404, "no such model"),
    "broken": error(500),
    "a gateway in front": Answer(status=504, body=b"<html>"),
    "resets": Answer(cut=0),
    "no JSON": Answer(body=b"{"),
    "an error in a reply": Answer(body=b'{"error": {"code": 502, "message": "down"}}'),
}


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retries and probes follow each other at once."""
    monkeypatch.setattr(server_chat, "_LONGEST_BACKOFF", 0.0)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.delenv("MARKSCHEME_LEDGER", raising=False)


def asked(count: int) -> list[ChatRequest]:
    return [ChatRequest(messages=(Message(role="user", content=str(n)),)) for n in range(count)]


def until(answered: int, then: Answer) -> Callable[[dict[str, Any], int], Answer]:
    """A server that answers so many requests and then does something else."""
    left = iter(range(answered))
    return lambda _body, _seen: then if next(left, None) is None else Answer()


def stopped(behaviour: Any, ledger: Path, rows: int = 25, **options: Any) -> tuple[str, int]:
    """The error that ends a run at a server, and how many requests that took."""
    with ChatServer(behaviour) as server:
        reach = ServerOptions(base_url=server.url, concurrency=AT_ONCE, **options)
        chat = CachedChat(model=ServerChat(name="m", options=reach), ledger=Ledger(ledger))
        with pytest.raises(RunStoppedError) as caught:
            chat.complete(asked(rows))
        assert chat.ledger is not None
        chat.ledger.close()
        assert KEY not in str(caught.value)
        assert "what was answered is saved, and the same command continues" in str(caught.value)
        return str(caught.value), len(server.bodies)


@pytest.mark.parametrize("name", AT_ONCE_THE_RUNS)
@pytest.mark.parametrize("rows", [25, 248])
def test_what_no_request_survives_ends_the_run_with_the_first(
    tmp_path: Path, name: str, rows: int
) -> None:
    answer, words = AT_ONCE_THE_RUNS[name]
    message, sent = stopped(until(ANSWERED, answer), tmp_path / "l.sqlite", rows)
    assert words in message
    assert sent <= ANSWERED + AT_ONCE
    with ChatServer() as server:
        reach = ServerOptions(base_url=server.url)
        ledger = Ledger(tmp_path / "l.sqlite")
        chat = CachedChat(model=ServerChat(name="m", options=reach), ledger=ledger)
        assert all(reply.status == "ok" for reply in chat.complete(asked(rows)))
        # What was answered is not sent again, unless its reply was still on its way.
        assert rows - ANSWERED <= len(server.bodies) <= rows
        ledger.close()


@pytest.mark.parametrize("name", THE_RUNS_IF_ALL_FAIL)
@pytest.mark.parametrize("answered", [0, ANSWERED])
@pytest.mark.parametrize("rows", [18, 248])
def test_a_server_that_fails_everybody_ends_the_run_after_as_many_tries_as_a_row_has(
    tmp_path: Path, name: str, answered: int, rows: int
) -> None:
    if name in ("forbidden", "gone") and not answered:
        return  # A wrong key or name: the first request says so.
    behaviour = until(answered, THE_RUNS_IF_ALL_FAIL[name])
    message, sent = stopped(behaviour, tmp_path / "l.sqlite", rows, retries=3)
    assert ("stopped answering" if answered else "answers no request") in message
    assert sent < answered + 4 * AT_ONCE  # Not each row as often as a row is tried.


@pytest.mark.parametrize("answered", [0, ANSWERED])
def test_a_server_that_lets_nothing_through_ends_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answered: int
) -> None:
    monkeypatch.setattr(run_stop, "PATIENCE", 0.0)
    away = Answer(status=429, headers={"Retry-After": "0"}, body=b"{}")
    message, _ = stopped(until(answered, away), tmp_path / "l.sqlite")
    assert "has taken no request for" in message


def test_who_waits_sees_since_when_and_how_long_a_server_turns_requests_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    away = Answer(status=429, headers={"Retry-After": "0"}, body=b'{"error": "[red]stop[/]"}')
    monkeypatch.setattr(run_stop, "PATIENCE", 0.0)
    notes: list[str] = []
    with ChatServer(lambda _body, _seen: away) as server:
        options = ModelOptions(model="m", server=ServerOptions(base_url=server.url))
        models = Models(options=replace(options, ledger=":memory:"))
        models.on_wait = notes.append
        with pytest.raises(RunStoppedError, match="has taken no request for"):
            models.chat().complete(asked(3))
    assert re.match(
        r"the server has taken no request since \d\d:\d\d:\d\d \(HTTP 429\): ", notes[0]
    )
    assert "red" not in " ".join(notes)  # It is the server's text, and may be anything.


def test_how_long_a_server_may_turn_requests_away_follows_the_retries() -> None:
    """A limit per minute is waited for in any case."""
    waits = {tries: RunStop("m", tries=tries).patience for tries in (0, 1, 4, 6, 100)}
    assert waits == {0: 60, 1: 60, 4: 80, 6: 120, 100: 120}


def test_a_pause_of_hours_is_not_waited_for(tmp_path: Path) -> None:
    away = Answer(status=429, headers={"Retry-After": "20000"}, body=b"{}")
    message, sent = stopped(until(ANSWERED, away), tmp_path / "l.sqlite")
    assert "takes no request for the next 20,000 s" in message
    assert sent <= ANSWERED + AT_ONCE


def test_rows_that_fail_alone_end_no_run() -> None:
    """Whatever their status: what is forbidden or unknown for some is not for all."""
    bad = {str(n): error(status) for n, status in enumerate((403, 404, 500, 504, 400, 403) * 4)}

    def behaviour(body: dict[str, Any], _seen: int) -> Answer:
        return bad.get(body["messages"][-1]["content"], Answer())

    order = [one for pair in zip(asked(24), asked(48)[24:], strict=True) for one in pair]
    with ChatServer(behaviour) as server:
        reach = ServerOptions(base_url=server.url, concurrency=4, retries=1)
        chat = ServerChat(name="m", options=reach)
        chat.complete(asked(49)[48:])  # It has answered: the key is right, and the name.
        replies = chat.complete(order)
    assert [reply.status for reply in replies] == ["failed", "ok"] * 24


# --- how everything ends ------------------------------------------------------------


def test_whatever_is_waited_for_is_cancelled_and_all_raise_the_same_error() -> None:
    async def run() -> None:
        stop, begun = RunStop("m", tries=1), asyncio.Barrier(5)
        never = asyncio.Event()

        async def waits(what: Any) -> None:
            with stop.request():
                await begun.wait()
                await what()

        async def fails() -> None:
            raise ModelError("no credit left")

        waiting = (lambda: asyncio.sleep(3600), never.wait, asyncio.Future, fails, fails)
        outcomes = await asyncio.gather(*map(waits, waiting), return_exceptions=True)
        assert {(type(one), str(one)) for one in outcomes} == {(ModelError, "no credit left")}
        assert len({id(one) for one in outcomes}) > 2
        with stop.request():  # Everybody has left: someone may have paid.
            await asyncio.sleep(0)

    asyncio.run(run())


def test_a_request_that_others_cancel_is_cancelled_and_ends_no_other() -> None:
    async def run() -> None:
        stop, never = RunStop("m", tries=1), asyncio.Event()

        async def waits() -> None:
            with stop.request():
                await never.wait()

        first, second = asyncio.create_task(waits()), asyncio.create_task(waits())
        await asyncio.sleep(0)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        assert not second.done()
        second.cancel()

    asyncio.run(run())


def test_a_server_that_hangs_is_given_up_once_patience_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each try takes a whole time-out: as many as a row has would take hours."""
    monkeypatch.setattr(run_stop, "PATIENCE", 0.0)
    with ChatServer(lambda _body, _seen: Answer(delay=60.0)) as server:
        reach = ServerOptions(base_url=server.url, retries=1000, timeout=0.1)
        with pytest.raises(RunStoppedError, match="no reply within"):
            ServerChat(name="m", options=reach).complete(asked(25))
        assert len(server.bodies) < 2 * AT_ONCE


def test_a_cancelled_request_is_claimed_for_nobody(tmp_path: Path) -> None:
    """However late it is cancelled: this process lives on, and others would wait for its claims."""
    ledger, other = Ledger(tmp_path / "l.sqlite"), Ledger(tmp_path / "l.sqlite")
    entered, cancelled = threading.Event(), threading.Event()
    claim = ledger.claim

    def late(keys: Sequence[str]) -> Any:
        entered.set()
        assert cancelled.wait(10)
        return claim(keys)

    ledger.claim = late  # type: ignore[method-assign]
    group = CallGroup()
    chat = CachedChat(
        model=ServerChat(name="m", options=ServerOptions(base_url="http://127.0.0.1:9/v1")),
        ledger=ledger,
    )

    def judging() -> None:
        group.enter()
        with pytest.raises(CancelledError):
            chat.complete(asked(3))

    thread = threading.Thread(target=judging)
    thread.start()
    assert entered.wait(10)
    group.cancel()
    cancelled.set()
    thread.join(10)
    keys = [LedgerEntry.of(chat.name, chat.revision, one).key for one in asked(3)]
    assert other.claim(keys)[0] == set(keys)
    ledger.close()
    other.close()


# --- on the command line ------------------------------------------------------------


@pytest.fixture
def line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """A command that judges so many answers at a server."""
    monkeypatch.chdir(tmp_path)

    def command(server: ChatServer, rows: int, *more: str) -> list[str]:
        answers = [
            {"id": str(n), "question": f"Q {n}?", "references": ["x"], "answer": f"a {n}"}
            for n in range(rows)
        ]
        Path("a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in answers))
        return ["judge", "a.jsonl", "-j", "llm_kamalloo", "-m", "m", "--base-url", server.url,
                "-o", "run", "--quiet", *more]  # fmt: skip

    return command


@pytest.mark.parametrize("rows", [1, 9, 25])
@pytest.mark.parametrize("answer", [error(500), error(400), Answer(text="perhaps")])
def test_a_run_that_judged_nothing_is_an_error(
    line: Any, capfd: pytest.CaptureFixture[str], rows: int, answer: Answer
) -> None:
    with ChatServer(lambda _body, _seen: answer) as server:
        assert run_command(line(server, rows, "--retries", "1", "--fail-under", "0.8")) == 2
    assert "error:" in capfd.readouterr().err


@pytest.mark.parametrize("answered", [0, ANSWERED])
def test_an_outage_is_an_error_and_no_check_that_failed(line: Any, answered: int) -> None:
    """At the start and in mid-run, with a gate or without one."""
    html = Answer(status=502, body=b"<html>")
    with ChatServer(until(answered, html)) as server:
        command = line(server, 25, "--retries", "1", "--ledger", "l.sqlite")
        assert run_command(command) == 2
        assert run_command([*command, "--fail-under", "0.8"]) == 2
        server.behaviour = until(10**9, Answer())
        assert run_command(command) == 0


def test_a_run_in_which_another_judge_judged_is_no_success_either(line: Any) -> None:
    with ChatServer(lambda _body, _seen: error(400)) as server:
        assert run_command(line(server, 3, "-j", "exact_match")) == 2


def test_a_stopped_run_is_resumed_by_the_same_command(
    line: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    behaviours = iter([until(30, error(401)), until(10**9, Answer())])
    with ChatServer(next(behaviours)) as server:
        command = line(server, 100)
        assert run_command(command) == 2
        shown = capfd.readouterr().err
        assert "no longer accepts the key in OPENAI_API_KEY" in shown
        assert KEY not in shown
        assert not Path("run/judgments.parquet").exists()
        before = len(server.bodies)
        server.behaviour = next(behaviours)
        assert run_command(command) == 0
        # What was answered is kept; a reply on its way when the run ended may be asked for again.
        assert 70 <= len(server.bodies) - before < 70 + AT_ONCE
    assert pl.read_parquet("run/judgments.parquet")["status"].unique().to_list() == ["judged"]


def test_an_interrupt_says_that_paid_calls_are_not_lost(
    line: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    count = itertools.count(1)

    def behaviour(_body: dict[str, Any], _seen: int) -> Answer:
        if next(count) == 40:
            os.kill(os.getpid(), signal.SIGINT)
        return Answer(delay=0.02)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with ChatServer(behaviour) as server:
            command = line(server, 100, "--concurrency", "2")
            assert run_command(command) == 130
            shown = capfd.readouterr().err
            assert "every reply of a language model that came is in the ledger" in shown
            assert 40 <= len(server.bodies) < 100
            assert run_command(command) == 0
            # Two calls may have been under way at the interrupt, and were sent again.
            assert 100 <= len(server.bodies) <= 102
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_model_that_was_stopped_can_be_asked_again() -> None:
    """A stop leaves nothing behind in the model's object: a service goes on with it."""
    behaviours = [until(0, error(402)), until(10**9, Answer())]
    with ChatServer(behaviours[0]) as server:
        chat = ServerChat(name="m", options=ServerOptions(base_url=server.url))
        with pytest.raises(RunStoppedError):
            chat.complete(asked(3))
        server.behaviour = behaviours[1]
        replies: list[ChatReply] = chat.complete(asked(3))
    assert [reply.status for reply in replies] == ["ok"] * 3
