"""Connections of the server that runs every app: which one goes where there are too many."""

from __future__ import annotations

import asyncio
import http.client
import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import orjson
import pytest
from starlette.types import Receive, Scope, Send

import markscheme
from markscheme.web import serving
from markscheme.web.serving import BoundedProtocol, Server


class Held:
    """A server in a thread; a request for /hold keeps it busy until `go` is set."""

    def __init__(self) -> None:
        self.holds, self.go = threading.Event(), threading.Event()
        self.body = b""
        self.loop: asyncio.AbstractEventLoop | None = None
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.server = Server(self)
        self.thread = threading.Thread(
            target=lambda: asyncio.run(self.server.serve([self.listening]))
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == "/hold":
            self.holds.set()
            self.go.wait()
        self.loop = asyncio.get_running_loop()
        more = scope["method"] == "POST"
        while more:
            message = await receive()
            self.body += message.get("body", b"")
            more = message.get("more_body", False)
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


def test_who_has_just_connected_has_time_to_send(
    held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A crowd that has sent its requests comes between its connection and what it sends."""
    monkeypatch.setattr(BoundedProtocol, "most", 5)
    monkeypatch.setattr(serving, "_GRACE", 60.0)
    with ExitStack() as stack:
        stack.enter_context(closing(held.connection("/hold")))
        assert held.holds.wait(60)
        asks = stack.enter_context(closing(held.connection()))
        crowd = [stack.enter_context(closing(held.connection("/"))) for _ in range(6)]
        held.go.set()
        assert all(one.recv(12) == b"HTTP/1.1 204" for one in crowd)
        asks.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert asks.recv(12) == b"HTTP/1.1 204"


@pytest.mark.parametrize("most", [3, 5])
def test_a_request_that_waits_unread_outlives_a_crowd(
    held: Held, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """Of twice as many connections as are held, and of fewer, one goes that is silent."""
    monkeypatch.setattr(BoundedProtocol, "most", most)
    with ExitStack() as stack:
        stack.enter_context(closing(held.connection("/hold")))
        assert held.holds.wait(60)
        asks = stack.enter_context(closing(held.connection("/")))
        silent = [stack.enter_context(closing(held.connection())) for _ in range(6)]
        held.go.set()
        assert asks.recv(12) == b"HTTP/1.1 204"
        assert silent[0].recv(1) == b"", "the longest silent one makes room"


CHUNKED = b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"


def test_chunks_of_a_byte_are_read_with_pauses_and_whole(held: Held) -> None:
    """Each chunk takes as long to read as a large one; others are answered meanwhile."""
    text = bytes(65 + number % 26 for number in range(12_000))
    sent = CHUNKED + b"".join(b"1\r\n%c\r\n" % one for one in text) + b"0\r\n\r\n"
    paused = answered = 0
    with closing(held.connection()) as slow:
        sender = threading.Thread(target=slow.sendall, args=(sent,))
        sender.start()
        while len(held.body) < len(text):
            with closing(held.connection("/")) as other:
                assert other.recv(12) == b"HTTP/1.1 204"
                answered += 1
            connections = list(held.server.server_state.connections)
            paused += any(getattr(one, "_paused", False) for one in connections)
        sender.join()
        assert slow.recv(12) == b"HTTP/1.1 204"
    assert held.body == text
    assert answered
    assert paused


def test_what_is_paused_is_not_read_until_it_is_resumed(
    held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "_QUICK", 0.0)  # Everything takes longer,
    monkeypatch.setattr(serving, "_PAUSE", 1e9)  # and is paused for good.
    with closing(held.connection()) as one, closing(held.connection("/")) as whole:
        one.sendall(CHUNKED + b"1\r\na\r\n")
        assert whole.recv(12) == b"HTTP/1.1 204", "a request that came whole is answered"
        while not held.body:
            time.sleep(0.01)
        one.sendall(b"1\r\nb\r\n0\r\n\r\n")
        one.settimeout(0.5)
        with pytest.raises(TimeoutError):
            one.recv(12)
        (paused,) = [each for each in held.server.server_state.connections if each.cycle.more_body]
        assert held.loop is not None
        held.loop.call_soon_threadsafe(paused._resume)
        one.settimeout(60)
        assert one.recv(12) == b"HTTP/1.1 204"
    assert held.body == b"ab"


@pytest.mark.parametrize("command", ["annotate", "serve", "view"])
def test_every_app_is_served_alike_where_other_parsers_and_loops_are_installed(
    command: str, tmp_path: Path
) -> None:
    """Uvicorn takes those that it finds, and they lack what bounds connections; these have nothing
    at all, so that whatever of them is used breaks."""
    modules, log = tmp_path / "modules", tmp_path / "log"
    modules.mkdir()
    for name in ("httptools", "uvloop"):
        (modules / f"{name}.py").touch()
    row = {"question": "Who wrote Emma?", "references": ["Jane Austen"], "answer": "Jane Austen"}
    (tmp_path / "rows.jsonl").write_bytes(orjson.dumps(row))
    if command == "view":
        markscheme.judge([row], ["exact_match"], out=tmp_path / "run")
    given = {"annotate": ["rows.jsonl"], "serve": [], "view": ["run"]}[command]
    path = os.pathsep.join([str(modules), *map(os.path.abspath, filter(None, sys.path))])
    with log.open("wb") as stream:
        process = subprocess.Popen(
            [sys.executable, "-m", "markscheme", command, *given, "--port", "0"],
            cwd=tmp_path, env={**os.environ, "PYTHONPATH": path}, stdout=stream, stderr=stream,
        )  # fmt: skip
    try:
        while not (said := re.search(r"http://127\.0\.0\.1:(\d+)", log.read_text())):
            assert process.poll() is None, log.read_text()
            time.sleep(0.1)
        one = http.client.HTTPConnection("127.0.0.1", int(said[1]), timeout=60)
        for _ in range(2):
            one.request("GET", "/")
            one.getresponse().read()
        assert one.sock is not None, "a connection is used again"
        one.sock.sendall(2 * b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        answered = b""
        while more := one.sock.recv(1 << 16):
            answered += more
        assert answered.count(b"HTTP/1.1 ") == 1, "not to more requests than are read"
        one.close()
    finally:
        process.terminate()
        process.wait()
    assert "Traceback" not in log.read_text()


WITHOUT_MEMORY = """
import asyncio, socket, sys, threading
from markscheme.web import Server
async def app(scope, receive, send):
    await asyncio.to_thread(print)
def lacking(thread):
    raise MemoryError
setattr(threading.Thread, sys.argv[1], lacking)
listening = socket.create_server(("127.0.0.1", 0))
print(listening.getsockname()[1], flush=True)
Server(app).run([listening])
"""


@pytest.mark.parametrize("step", ["_bootstrap", "run"])
def test_a_thread_that_memory_ends_for_ends_the_process(step: str) -> None:
    """Before it has begun the event loop waits for it, and afterwards a request does."""
    command = [sys.executable, "-c", WITHOUT_MEMORY, step]
    with subprocess.Popen(command, stdout=-1, stderr=-1, text=True) as running:
        try:
            assert running.stdout
            port = int(running.stdout.readline())
            client = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            client.request("GET", "/")
            with pytest.raises(ConnectionError):
                client.getresponse()
            assert running.communicate(timeout=60)[1] == serving.NO_MEMORY
            assert running.returncode == 2
        finally:
            running.kill()
