"""Connections of the server that runs every app: which one goes where there are too many."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing

import pytest
from starlette.types import Receive, Scope, Send

from markscheme.web.serving import BoundedProtocol, Server


class Held:
    """A server in a thread; a request for /hold keeps it busy until `go` is set."""

    def __init__(self) -> None:
        self.holds, self.go = threading.Event(), threading.Event()
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.server = Server(self)
        self.thread = threading.Thread(
            target=lambda: asyncio.run(self.server.serve([self.listening]))
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == "/hold":
            self.holds.set()
            self.go.wait()
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body"})

    def connection(self, path: str | None = None) -> socket.socket:
        one = socket.create_connection(self.listening.getsockname(), timeout=60)
        if path is not None:
            one.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        return one


@pytest.fixture
def held() -> Iterator[Held]:
    one = Held()
    one.thread.start()
    yield one
    one.go.set()
    one.server.should_exit = True
    one.thread.join()
    one.listening.close()


def test_a_request_that_waits_unread_outlives_a_crowd(
    held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(BoundedProtocol, "most", 3)
    with ExitStack() as stack:
        stack.enter_context(closing(held.connection("/hold")))
        assert held.holds.wait(60)
        asks = stack.enter_context(closing(held.connection("/")))
        silent = [stack.enter_context(closing(held.connection())) for _ in range(6)]
        held.go.set()
        assert asks.recv(12) == b"HTTP/1.1 204"
        assert silent[0].recv(1) == b"", "the longest silent one makes room"
