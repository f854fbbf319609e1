"""The client of OpenAI-compatible servers: limits, retries, what a server cannot do, secrets."""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from typing import Any

import polars  # noqa: F401
import pytest

from markscheme.contract import ChatRequest, Message
from markscheme.errors import ModelError
from markscheme.models import ServerOptions
from markscheme.models.chat.server_chat import ServerChat
from servers import Answer, ChatServer


def ask(*texts: str, **fields: Any) -> list[ChatRequest]:
    return [ChatRequest(messages=(Message(role="user", content=t),), **fields) for t in texts]


def model(server: ChatServer, **options: Any) -> ServerChat:
    given = {"backoff": 0.01, "timeout": 5.0, **options}
    return ServerChat(name="m", options=ServerOptions(base_url=server.url, **given))


def test_replies_come_in_order_whatever_order_they_arrive_in() -> None:
    def behaviour(body: dict[str, Any], _seen: int) -> Answer:
        text = body["messages"][-1]["content"]
        return Answer(text=f"re {text}", delay=0.1 if int(text) % 7 == 0 else 0.0)

    texts = [str(number) for number in range(50)]
    with ChatServer(behaviour) as server:
        replies = model(server).complete(ask(*texts))
    assert [reply.text for reply in replies] == [f"re {text}" for text in texts]
    assert all(reply.tokens_in == 10 and (reply.seconds or 0) > 0 for reply in replies)


def test_no_more_requests_are_under_way_than_allowed() -> None:
    lock, now, most = threading.Lock(), 0, 0

    def behaviour(_body: dict[str, Any], _seen: int) -> Answer:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        threading.Timer(0.02, leave).start()
        return Answer(delay=0.02)

    def leave() -> None:
        nonlocal now
        with lock:
            now -= 1

    with ChatServer(behaviour) as server:
        model(server, concurrency=5).complete(ask(*map(str, range(40))))
    assert 3 <= most <= 6


def test_retry_after_is_kept_by_every_request() -> None:
    """One 429 with Retry-After holds back those that were not turned away, too."""
    times: list[float] = []

    def behaviour(_body: dict[str, Any], _seen: int) -> Answer:
        times.append(time.monotonic())
        if len(times) == 1:
            return Answer(status=429, headers={"Retry-After": "0.5"}, body=b"{}")
        return Answer()

    with ChatServer(behaviour) as server:
        replies = model(server, concurrency=1).complete(ask("a", "b"))
    assert [reply.status for reply in replies] == ["ok", "ok"]
    assert times[1] - times[0] >= 0.5


def test_limits_a_minute_are_kept_from_this_side() -> None:
    with ChatServer() as server:
        began = time.monotonic()
        model(server, requests_per_minute=600).complete(ask(*map(str, range(20))))
        by_requests = time.monotonic() - began
        began = time.monotonic()
        slow = model(server, tokens_per_minute=60 * 500, concurrency=1)
        slow.complete(ask(*map(str, range(40)), max_tokens=240))
        by_tokens = time.monotonic() - began
    assert by_requests >= 0.9  # 20 at 10 a second, the first second's worth at once
    assert by_tokens < 10  # what was not used of max_tokens is given back: else 18 seconds


def test_the_newer_name_of_max_tokens_is_learnt() -> None:
    message = b'{"error":{"message":"Unsupported: use max_completion_tokens instead"}}'

    def behaviour(body: dict[str, Any], _seen: int) -> Answer:
        return Answer(status=400, body=message) if "max_tokens" in body else Answer()

    with ChatServer(behaviour) as server:
        replies = model(server, concurrency=1).complete(ask("a", "b", max_tokens=77))
        assert [reply.status for reply in replies] == ["ok", "ok"]
        assert server.bodies[-1]["max_completion_tokens"] == 77
        assert len(server.bodies) == 3


@pytest.mark.parametrize(
    ("status", "body", "message"),
    [
        (401, b'{"error":{"message":"bad key"}}', "does not accept the key in MY_KEY"),
        (404, b'{"error":{"message":"no such model"}}', "no model 'm' at"),
        (402, b"{}", "no credit left"),
        (429, b'{"error":{"code":"insufficient_quota","message":"x"}}', "no credit left"),
    ],
)
def test_what_no_request_can_survive_is_an_error(
    status: int, body: bytes, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "k")
    answer = Answer(status=status, body=body)
    with ChatServer(lambda _body, _seen: answer) as server:
        chat = model(server, api_key_env="MY_KEY")
        with pytest.raises(ModelError, match=message):
            chat.complete(ask("a", "b"))


def test_a_key_that_is_not_set_is_not_called_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MY_KEY", raising=False)
    with ChatServer(lambda _body, _seen: Answer(status=401, body=b"{}")) as server:
        chat = model(server, api_key_env="MY_KEY")
        with pytest.raises(ModelError, match="requests without a key: MY_KEY is not set"):
            chat.complete(ask("a"))


def test_a_server_that_is_not_there_is_an_error() -> None:
    chat = ServerChat(name="m", options=ServerOptions(base_url="http://127.0.0.1:9/v1"))
    with pytest.raises(ModelError, match=r"127\.0\.0\.1:9/v1/ does not answer"):
        chat.complete(ask("a"))


def test_without_a_key_nothing_is_sent_to_openai(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    chat = ServerChat(name="m", options=ServerOptions(api_key_env="NO_SUCH_KEY"))
    with pytest.raises(ModelError, match="set NO_SUCH_KEY"):
        chat.complete(ask("a"))


def test_passwords_in_addresses_are_refused() -> None:
    with pytest.raises(ModelError, match="must not carry a name or password") as caught:
        ServerChat(name="m", options=ServerOptions(base_url="http://me:secret@host/v1"))
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "address",
    ["http://[::1", "http://", "notaurl", "http://a b/v1", "ftp://x/v1", "http://x:99999/v1",
     "http://me:sec ret@"],
)  # fmt: skip
def test_what_is_no_address_is_refused_before_anything_is_sent(address: str) -> None:
    with pytest.raises(ModelError, match="is not the address of a server") as caught:
        ServerChat(name="m", options=ServerOptions(base_url=address))
    assert "sec ret" not in str(caught.value)


def test_the_key_reaches_the_server_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Servers send keys back in errors, and even in replies."""
    secret = "sk-51ffe0c4d5"
    monkeypatch.setenv("MY_KEY", secret)
    caplog.set_level(logging.DEBUG)

    def behaviour(body: dict[str, Any], _seen: int) -> Answer:
        said = f'{{"error":{{"message":"Incorrect key {secret}"}}}}'.encode()
        return {
            "status": Answer(status=400, body=said),
            "passing": Answer(status=500, body=said),
            "reply": Answer(text=f"your key is {secret}"),
            "name": Answer(text="Yes"),
        }[body["messages"][-1]["content"]]

    with ChatServer(behaviour) as server:
        chat = model(server, api_key_env="MY_KEY", retries=1)
        replies = chat.complete(ask("status", "passing", "reply", "name"))
        assert all(headers["authorization"] == f"Bearer {secret}" for headers in server.headers)
    assert [reply.status for reply in replies] == ["failed", "failed", "failed", "ok"]
    assert "[key]" in str(replies[0].error)
    for text in (repr(chat), str(replies), caplog.text):
        assert secret not in text


def test_an_interrupt_stops_what_is_under_way() -> None:
    """Also with Polars imported, whose signal handler has interrupted waits go on waiting."""

    def behaviour(body: dict[str, Any], _seen: int) -> Answer:
        if body["messages"][-1]["content"] == "10":
            os.kill(os.getpid(), signal.SIGINT)
        return Answer(delay=0.02)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    with ChatServer(behaviour) as server:
        with pytest.raises(KeyboardInterrupt):
            model(server, concurrency=2).complete(ask(*map(str, range(2000))))
        signal.signal(signal.SIGINT, before)
        time.sleep(0.2)
        sent = len(server.bodies)
        time.sleep(0.2)
        assert 10 <= len(server.bodies) == sent < 500
