"""What both apps' guards do with a request before any route sees it: its host, body and headers.

Plain ASGI, since it runs for every request.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from urllib.parse import urlsplit

from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import Message, Receive, Send

READING = ("GET", "HEAD", "OPTIONS")
"""Methods without a body."""


def host_name(host: str) -> str:
    """A host header's name without its port, in small letters; empty where it is no name."""
    try:
        return (urlsplit(f"//{host}").hostname or "").lower()
    except ValueError:
        return ""


def with_headers(send: Send, headers: Mapping[str, str]) -> Send:
    """`send` that puts headers on every response."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            out = MutableHeaders(scope=message)
            for name, value in headers.items():
                out[name] = value
        await send(message)

    return sending


def check_length(length: str, most: int) -> None:
    """Raises HTTPException (413) where a body says that it is larger than `most` bytes."""
    if not (length.isascii() and length.isdecimal() and len(length) < 16) or int(length) > most:
        raise HTTPException(413, f"the body is larger than {most:,} bytes")


def limited(receive: Receive, most: int, seconds: float) -> Receive:
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


async def whole_body(receive: Receive, most: int, seconds: float) -> bytes:
    """The whole body, whatever its header claims.

    Raises:
        HTTPException: it came too slowly (408), was too large (413), or its sender left (400).
    """
    parts: list[bytes] = []
    receiving = limited(receive, most, seconds)
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


def replayed(body: bytes, receive: Receive) -> Receive:
    """A `receive` that gives a body that was read before."""
    given = False

    async def receiving() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receiving
