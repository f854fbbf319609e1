"""What guards the pages from the network: headers, sizes, rates, and where forms come from."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import cookie_parser
from starlette.responses import Response
from starlette.types import Scope

from markscheme.web import READING, SAFE_HEADERS

LARGEST_BODY = 64 * 1024

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    **SAFE_HEADERS,
    "content-security-policy": POLICY,
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


def admitting(requests: Bucket, cookie: str) -> Callable[[Scope, Headers], Response | None]:
    """Lets in what comes from no other site's page and is not too much.

    Args:
        requests: of a session, or of an address without one; files of pages are not counted.
        cookie: name of the session's.
    """

    def admit(scope: Scope, headers: Headers) -> Response | None:
        if scope["method"] not in READING and not _own_page(headers):
            raise HTTPException(403, "forms of other sites are not accepted")
        if scope["path"].startswith("/static/"):
            return None
        # The public half of the session's cookie.
        session = cookie_parser(headers.get("cookie", "")).get(cookie, "").partition(".")[0][:40]
        if not requests.spend(session or _client(scope)):
            raise HTTPException(429, "too many requests; wait a little", {"retry-after": "5"})
        return None

    return admit


def _client(scope: Scope) -> str:
    """The address a request came from."""
    return str(scope["client"][0]) if scope.get("client") else "unknown"


def _own_page(headers: Headers) -> bool:
    """Whether a form came from a page of ours, or from no page at all."""
    site = headers.get("sec-fetch-site")
    if site is not None and site not in ("same-origin", "none"):
        return False
    origin = headers.get("origin")
    return origin is None or urlsplit(origin).netloc.lower() == headers.get("host", "").lower()
