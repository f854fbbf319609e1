"""The guard of all apps: names, the app's own rule, sizes and times of bodies, headers."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from markscheme.web import SAFE_HEADERS, Guard

LARGEST = 1_000


def admit(scope: Scope, headers: Headers) -> Response | None:
    if headers.get("x-stranger"):
        raise HTTPException(401, "who is that?", {"www-authenticate": "Bearer"})
    return PlainTextResponse("elsewhere", 303) if scope["path"] == "/moved" else None


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    body = await Request(scope, receive).body()
    await Response(body, headers={"cache-control": "no-cache"})(scope, receive, send)


@pytest.fixture
def client() -> TestClient:
    guard = Guard(echo, admit=admit, largest=LARGEST, streamed={"/upload": 10 * LARGEST})
    return TestClient(guard, base_url="http://localhost", follow_redirects=False)


def pieces(count: int) -> Iterator[bytes]:
    """A body whose length no header tells."""
    for _ in range(count):
        yield b"x" * 100


def test_what_is_let_in_reaches_the_app_with_its_body(client: TestClient) -> None:
    answer = client.post("/", content=pieces(10))
    assert (answer.status_code, answer.content) == (200, b"x" * LARGEST)
    assert answer.headers["cache-control"] == "no-cache", "an app may say otherwise"
    assert answer.headers["x-frame-options"] == "DENY"


@pytest.mark.parametrize("host", ["evil.example", "", "[", "localhost.evil.example", "127.0.0.2"])
def test_other_names_are_refused(client: TestClient, host: str) -> None:
    refused = client.get("/", headers={"host": host})
    assert refused.status_code == 421
    assert SAFE_HEADERS.items() <= dict(refused.headers).items()


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1:80", "[::1]:8765"])
def test_names_of_this_machine_are_answered(client: TestClient, host: str) -> None:
    assert client.get("/", headers={"host": host}).status_code == 200


def test_the_apps_own_rule_comes_before_the_body(client: TestClient) -> None:
    large = {"x-stranger": "1", "content-length": "5000"}
    refused = client.post("/", content=pieces(50), headers=large)
    assert (refused.status_code, refused.text) == (401, "who is that?")
    assert refused.headers["www-authenticate"] == "Bearer"
    assert client.get("/moved").status_code == 303


@pytest.mark.parametrize("length", ["1001", "-1", "x", "²", "9" * 40, "1_0"])
def test_lengths_that_are_too_large_or_no_numbers(client: TestClient, length: str) -> None:
    sent = {"content-length": length.encode()}
    assert client.post("/", headers=sent).status_code == 413


def test_bodies_are_measured_whatever_their_header_says(client: TestClient) -> None:
    assert client.post("/", content=pieces(11)).status_code == 413
    assert client.post("/upload", content=pieces(100)).status_code == 200
    assert client.post("/upload", content=pieces(101)).status_code == 413
    assert client.put("/upload", content=pieces(11)).status_code == 413


def test_a_body_that_never_comes_is_given_up() -> None:
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        await asyncio.Event().wait()
        raise AssertionError("nothing comes")

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": "/", "headers": [(b"host", b"localhost")]}
    guard = Guard(echo, admit=admit, largest=LARGEST, seconds=0.05)
    asyncio.run(guard(scope, receive, send))
    assert sent[0]["status"] == 408
