"""What guards the pages from the network: headers, sizes, rates, and where forms come from.

Plain ASGI, since it runs for every request.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from markscheme.web import READING, check_length, host_name, replayed, whole_body, with_headers

LARGEST_BODY = 64 * 1024
SLOWEST_BODY = 30.0
"""Seconds until a form is here."""

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
        unauthenticated: attempts with no valid session or link, by address. A valid session
            is never refused for what others behind the same address try.
    """

    requests: Bucket = field(default_factory=lambda: Bucket(per_second=30, most=90))
    unauthenticated: Bucket = field(default_factory=lambda: Bucket(per_second=10 / 60, most=20))


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

        kept = "no-cache" if static else "no-store"
        guarded_send = with_headers(send, {**HEADERS, "cache-control": kept})
        refusal = self._refusal(scope, headers, static=static)
        if refusal is not None:
            await refusal(scope, receive, guarded_send)
            return
        if scope["method"] not in READING:
            try:
                body = await whole_body(receive, LARGEST_BODY, SLOWEST_BODY)
            except HTTPException as error:
                refusal = PlainTextResponse(error.detail, error.status_code)
                await refusal(scope, receive, guarded_send)
                return
            receive = replayed(body, receive)
        await self.app(scope, receive, guarded_send)

    def _refusal(self, scope: Scope, headers: Headers, *, static: bool) -> PlainTextResponse | None:
        host = headers.get("host", "")
        if host_name(host) not in self.hosts:
            return PlainTextResponse("this server has another name", 400)
        if scope["method"] not in READING and not _own_page(headers, host):
            return PlainTextResponse("forms of other sites are not accepted", 403)
        try:
            check_length(headers.get("content-length", "0"), LARGEST_BODY)
        except HTTPException as error:
            return PlainTextResponse(error.detail, error.status_code)
        if static:
            return None
        address = client(scope)
        key = _cookie(headers, self.cookie) or address
        if not self.limits.requests.spend(key):
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


def _cookie(headers: Headers, name: str) -> str:
    """The public half of the session's cookie."""
    for part in headers.get("cookie", "").split(";"):
        key, _, value = part.strip().partition("=")
        if key == name:
            return value.partition(".")[0][:40]
    return ""
