"""Slow and half-open connections cannot stop the service."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from service_helpers import server

COUNT = 300


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    with server(tmp_path) as (_, found):
        yield found


def connected(address: str) -> socket.socket:
    parts = urlsplit(address)
    assert parts.hostname is not None
    return socket.create_connection((parts.hostname, parts.port or 80), timeout=20)


def is_closed(connection: socket.socket) -> bool:
    connection.setblocking(False)
    try:
        return connection.recv(1) == b""
    except BlockingIOError:
        return False
    except ConnectionError:
        return True


@pytest.mark.proof(area="attacks")
def test_half_open_connections_are_closed_and_others_are_answered(address: str) -> None:
    begun = b"POST /v1/judgments HTTP/1.1\r\nHost: localhost\r\nX-a: "
    slow = []
    for number in range(COUNT):
        one = connected(address)
        if number % 3:
            one.sendall(begun)
        slow.append(one)
    began = time.monotonic()
    for _ in range(5):
        assert httpx.get(f"{address}/healthz", timeout=20).status_code == 200
    assert time.monotonic() - began < 10
    ended = time.monotonic() + 60
    while time.monotonic() < ended and not all(map(is_closed, slow)):
        for one in slow:  # A byte now and then does not help.
            try:
                one.send(b"b")
            except OSError:
                continue
        time.sleep(1)
    assert all(map(is_closed, slow))
    for one in slow:
        one.close()


@pytest.mark.proof(area="attacks")
def test_a_connection_that_is_used_again_and_a_slow_answer_are_not_closed(address: str) -> None:
    with httpx.Client(base_url=address, timeout=30) as client:
        for _ in range(3):
            assert client.get("/healthz").status_code == 200
            time.sleep(0.5)
    with closing(connected(address)) as one:
        for part in (b"GET /healthz HTTP/1.1\r\n", b"Host: localhost\r\n", b"\r\n"):
            one.sendall(part)
            time.sleep(0.5)
        assert one.recv(100).startswith(b"HTTP/1.1 200")
