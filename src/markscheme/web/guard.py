"""What guards every app: the names a server answers to, who is let in, sizes of bodies, headers.

Plain ASGI, since it runs for every request.
"""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LEAST_RATE = 16_384
"""Bytes of a body that come in a second, at least, after the first `FIRST_SECONDS`."""

FIRST_SECONDS = 10.0

LOCAL = frozenset({"127.0.0.1", "localhost", "::1"})
"""Names of this machine that no other site can point somewhere else."""

SAFE_HEADERS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # Not "no-referrer": that would blank the origin of our own forms too.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}

READING = ("GET", "HEAD", "OPTIONS")
"""Methods without a body."""


def _plain(scope: Scope, error: HTTPException) -> Response:  # noqa: ARG001
    return PlainTextResponse(error.detail, error.status_code, error.headers)


@dataclass(frozen=True)
class Guard:
    """Middleware that refuses other hosts, who is not admitted, and too large or slow bodies.

    Nothing of a body is read before its sender was admitted. One who is answered before the body
    is complete loses the connection, as with each body that comes with GET.

    Attributes:
        app: what answers requests that are let in.
        admit: the app's own rule. Raises HTTPException for a request to refuse; a response that
            it returns is sent instead of the app's; with None the request is let in.
        largest: bytes of a body.
        hosts: names under which requests are answered; None for any.
        addresses: whether they are under every IP address, too: no site can point one elsewhere.
        elsewhere: status and text for a request under another name.
        seconds: until a body is complete; one that is streamed only has a least rate.
        streamed: paths to which POST sends larger bodies, and the bytes that each takes.
        headers: put on every response that does not set them itself.
        refused: the response that tells of a refusal.
        came: called with the bytes of each piece of a body; may raise HTTPException.
    """

    app: ASGIApp
    _: KW_ONLY
    admit: Callable[[Scope, Headers], Response | None]
    largest: int
    hosts: frozenset[str] | None = LOCAL
    addresses: bool = False
    elsewhere: tuple[int, str] = (421, "this page answers under this machine's own names only")
    seconds: float = 30.0
    streamed: Mapping[str, int] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=SAFE_HEADERS.copy)
    refused: Callable[[Scope, HTTPException], Response] = _plain
    came: Callable[[Scope, int], None] = lambda _scope, _size: None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        streamed = self.streamed.get(scope["path"]) if scope["method"] == "POST" else None
        most = self.largest if streamed is None else streamed
        seconds = self.seconds if streamed is None else float("inf")
        size, whole, began = 0, False, asyncio.get_running_loop().time()
        bodiless = headers.get("content-length", "0") == "0" and "transfer-encoding" not in headers

        async def receiving() -> Message:
            nonlocal size, whole
            due = began + min(seconds, FIRST_SECONDS + size / LEAST_RATE)
            try:
                async with asyncio.timeout_at(None if whole else due):
                    message = await receive()
            except TimeoutError:
                raise HTTPException(408, "the body comes too slowly") from None
            if message["type"] == "http.request":
                size += len(message.get("body", b""))
                whole = not message.get("more_body", False)
                _check_length(str(size), most)
                self.came(scope, len(message.get("body", b"")))
            return message

        async def sending(message: Message) -> None:
            # Who sends too much may finish: clients that do read nothing before.
            early = message["type"] == "http.response.start" and not (whole or bodiless)
            if early and message["status"] != 413:
                MutableHeaders(scope=message)["connection"] = "close"
            await send(message)

        send_all = with_headers(sending, self.headers)
        try:
            if not self._answers_to(host_name(headers.get("host", ""))):
                raise HTTPException(*self.elsewhere)
            answer = self.admit(scope, headers) or self.app
            _check_length(headers.get("content-length", "0"), most)
            await answer(scope, receiving, send_all)
        except HTTPException as error:
            await self.refused(scope, error)(scope, receive, send_all)

    def _answers_to(self, name: str) -> bool:
        known = self.hosts is None or name in self.hosts
        return known or (self.addresses and is_address(name))


def host_name(host: str) -> str:
    """A host header's name without its port, in small letters; empty where it is no name."""
    try:
        return (urlsplit(f"//{host}").hostname or "").lower()
    except ValueError:
        return ""


def is_address(name: str) -> bool:
    """Whether a host is named by an IP address."""
    try:
        return bool(ipaddress.ip_address(name))
    except ValueError:
        return False


def with_headers(send: Send, headers: Mapping[str, str]) -> Send:
    """`send` that puts headers on every response that does not set them itself."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            out = MutableHeaders(scope=message)
            for name, value in headers.items():
                out.setdefault(name, value)
        await send(message)

    return sending


def _check_length(length: str, most: int) -> None:
    """Raises HTTPException (413) where a body says that it is larger than `most` bytes."""
    if not (length.isascii() and length.isdecimal() and len(length) < 16) or int(length) > most:
        raise HTTPException(413, f"the body is larger than {most:,} bytes")
