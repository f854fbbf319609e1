"""What guards every app: the names a server answers to, who is let in, sizes of bodies, headers.

Plain ASGI, since it runs for every request.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
    """Middleware that refuses other hosts, who is not admitted, and too large bodies.

    A body is read as a whole before the app sees the request, and not before the sender was
    admitted.

    Attributes:
        app: what answers requests that are let in.
        admit: the app's own rule. Raises HTTPException for a request to refuse; a response that
            it returns is sent instead of the app's; with None the request is let in.
        largest: bytes of a body.
        hosts: names under which requests are answered; None for any.
        elsewhere: status and text for a request under another name.
        seconds: until a whole body is here, or between two pieces of one that is streamed.
        streamed: paths to which POST passes a body on as it comes, and the bytes that each takes.
        headers: put on every response that does not set them itself.
        refused: the response that tells of a refusal.
    """

    app: ASGIApp
    _: KW_ONLY
    admit: Callable[[Scope, Headers], Response | None]
    largest: int
    hosts: frozenset[str] | None = LOCAL
    elsewhere: tuple[int, str] = (421, "this page answers under this machine's own names only")
    seconds: float = 30.0
    streamed: Mapping[str, int] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=SAFE_HEADERS.copy)
    refused: Callable[[Scope, HTTPException], Response] = _plain

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        send = with_headers(send, self.headers)
        headers = Headers(scope=scope)
        answer: ASGIApp
        try:
            if self.hosts is not None and host_name(headers.get("host", "")) not in self.hosts:
                raise HTTPException(*self.elsewhere)
            answer = self.admit(scope, headers) or self.app
            if answer is self.app:
                receive = await self._bounded(scope, headers, receive)
        except HTTPException as error:
            answer = self.refused(scope, error)
        await answer(scope, receive, send)

    async def _bounded(self, scope: Scope, headers: Headers, receive: Receive) -> Receive:
        """`receive` with a body that is no larger than it may be.

        Raises:
            HTTPException: it is larger (413), comes too slowly (408), or its sender left (400).
        """
        streamed = self.streamed.get(scope["path"]) if scope["method"] == "POST" else None
        most = self.largest if streamed is None else streamed
        _check_length(headers.get("content-length", "0"), most)
        if streamed is not None:
            return _limited(receive, most, self.seconds)
        if scope["method"] in READING:
            return receive
        return _replayed(await _whole_body(receive, most, self.seconds), receive)


def host_name(host: str) -> str:
    """A host header's name without its port, in small letters; empty where it is no name."""
    try:
        return (urlsplit(f"//{host}").hostname or "").lower()
    except ValueError:
        return ""


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


def _limited(receive: Receive, most: int, seconds: float) -> Receive:
    """`receive` that refuses a body of more than `most` bytes, or a pause of `seconds`."""
    size = 0

    async def receiving() -> Message:
        nonlocal size
        try:
            async with asyncio.timeout(seconds):
                message = await receive()
        except TimeoutError:
            raise HTTPException(408, f"nothing came for {seconds:g} s") from None
        if message["type"] == "http.request":
            size += len(message.get("body", b""))
            if size > most:
                raise HTTPException(413, f"the body is larger than {most:,} bytes")
        return message

    return receiving


async def _whole_body(receive: Receive, most: int, seconds: float) -> bytes:
    """The whole body, whatever its header claims.

    Raises:
        HTTPException: it came too slowly (408), was too large (413), or its sender left (400).
    """
    parts: list[bytes] = []
    receiving = _limited(receive, most, seconds)
    try:
        async with asyncio.timeout(seconds):
            while True:
                message = await receiving()
                if message["type"] != "http.request":
                    raise HTTPException(400, "the body ended early")
                parts.append(message.get("body", b""))
                if not message.get("more_body", False):
                    return b"".join(parts)
    except TimeoutError:
        raise HTTPException(408, f"the body did not come within {seconds:g} s") from None


def _replayed(body: bytes, receive: Receive) -> Receive:
    """A `receive` that gives a body that was read before."""
    given = False

    async def receiving() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receiving
