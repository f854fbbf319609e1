"""What stands between the network and the pages: headers, sizes, rates, and where forms come from.

Plain ASGI, since it runs for every request.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LARGEST_BODY = 64 * 1024
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # Not "no-referrer": that would blank the origin of our own forms too.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), interest-cohort=()",
}
_READING = ("GET", "HEAD", "OPTIONS")


@dataclass
class Bucket:
    """Tokens that come back with time; who has none left must wait.

    Attributes:
        per_second: how many come back.
        most: how many there can be.
        keys: owners remembered; the longest unheard of is forgotten first.
    """

    per_second: float
    most: float
    keys: int = 10_000
    _levels: OrderedDict[str, tuple[float, float]] = field(default_factory=OrderedDict)

    def left(self, key: str) -> float:
        """Tokens that `key` has now."""
        level, then = self._levels.get(key, (self.most, time.monotonic()))
        return min(self.most, level + (time.monotonic() - then) * self.per_second)

    def spend(self, key: str) -> bool:
        """Take one token of `key`; False if it has none."""
        level = self.left(key)
        self._levels[key] = (level - 1 if level >= 1 else level, time.monotonic())
        self._levels.move_to_end(key)
        if len(self._levels) > self.keys:
            self._levels.popitem(last=False)
        return level >= 1


@dataclass
class Limits:
    """How much anybody may ask.

    Attributes:
        requests: a session's, or a client's without one.
        strangers: attempts with no valid session or link, by address.
    """

    requests: Bucket = field(default_factory=lambda: Bucket(per_second=30, most=90))
    strangers: Bucket = field(default_factory=lambda: Bucket(per_second=10 / 60, most=20))


class Guard:
    """Refuses what is too much, too large, for another host or from another site's page."""

    def __init__(self, app: ASGIApp, *, hosts: frozenset[str], limits: Limits, cookie: str) -> None:
        self.app = app
        self.hosts = hosts
        self.limits = limits
        self.cookie = cookie

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        static = scope["path"].startswith("/static/")

        async def guarded_send(message: Message) -> None:
            if message["type"] == "http.response.start":
                out = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    out[name] = value
                out["cache-control"] = "no-cache" if static else "no-store"
            await send(message)

        refusal = self._refusal(scope, headers, static=static)
        if refusal is not None:
            await refusal(scope, receive, guarded_send)
            return
        if scope["method"] in _READING:
            await self.app(scope, receive, guarded_send)
            return
        body = await _body(receive)
        if body is None:
            await PlainTextResponse("too large", 413)(scope, receive, guarded_send)
            return
        sent = False

        async def replay() -> Message:
            nonlocal sent
            if sent:
                return await receive()
            sent = True
            return {"type": "http.request", "body": body, "more_body": False}

        await self.app(scope, replay, guarded_send)

    def _refusal(self, scope: Scope, headers: Headers, *, static: bool) -> PlainTextResponse | None:
        host = headers.get("host", "")
        if _name(host) not in self.hosts:
            return PlainTextResponse("this server has another name", 400)
        if scope["method"] not in _READING and not _own_page(headers, host):
            return PlainTextResponse("forms of other sites are not accepted", 403)
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > LARGEST_BODY:
            return PlainTextResponse("too large", 413)
        if static:
            return None
        address = client(scope)
        key = _cookie(headers, self.cookie) or address
        known = self.limits.strangers.left(address) >= 1
        if not self.limits.requests.spend(key) or not known:
            return PlainTextResponse("too many requests; wait a little", 429, {"retry-after": "5"})
        return None


def client(scope: Scope) -> str:
    """The address a request came from."""
    return str(scope["client"][0]) if scope.get("client") else "unknown"


def _own_page(headers: Headers, host: str) -> bool:
    """Whether a form came from a page of ours, or from no page at all."""
    site = headers.get("sec-fetch-site")
    if site is not None and site not in ("same-origin", "none"):
        return False
    origin = headers.get("origin")
    return origin is None or urlsplit(origin).netloc.lower() == host.lower()


def _name(host: str) -> str:
    """A host's name without its port."""
    try:
        return (urlsplit(f"//{host}").hostname or "").lower()
    except ValueError:
        return ""


def _cookie(headers: Headers, name: str) -> str:
    """The public half of the session's cookie."""
    for part in headers.get("cookie", "").split(";"):
        key, _, value = part.strip().partition("=")
        if key == name:
            return value.partition(".")[0][:40]
    return ""


async def _body(receive: Receive) -> bytes | None:
    """The whole body, or None if it is larger than allowed, whatever its header claims."""
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return b""
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > LARGEST_BODY:
            return None
        if not message.get("more_body", False):
            return b"".join(parts)
