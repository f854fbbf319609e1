"""What runs before the routes: names, keys, sizes, times, and the answer to whatever breaks.

Plain ASGI, since it runs for every request, and before the body is read.
"""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
import time
from collections import defaultdict
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from markscheme.errors import MarkschemeError
from markscheme.service.pages import Pages
from markscheme.service.problems import Refusal, problem
from markscheme.service.state import State
from markscheme.web import READING, SAFE_HEADERS, Guard, with_headers

log = logging.getLogger("markscheme.service")

UPLOADS = "/v1/jobs"
DEPRECATED = {"deprecation": "@1795910400"}
"""On every response below `UPLOADS` (RFC 9745): since 2026-11-29, as seconds of the epoch."""
OPEN = frozenset({"/healthz", "/readyz", "/openapi.json"})
"""Answered without a key: they tell nothing of anybody's data."""

_BODIES = 8
"""Bodies of the largest size that a key may have under way at once."""

HEADERS = {
    **SAFE_HEADERS,
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "referrer-policy": "no-referrer",
}
_LEFT = 499
"""What the log and figures have where the client left before the answer began, as nginx does."""
_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")


@dataclass
class _Use:
    """What a key has under way: requests, and bytes of their bodies."""

    requests: int = 0
    bytes: int = 0


class Watch:
    """Every request: an id, headers, figures, a log line; refused unless it may be answered."""

    def __init__(self, app: ASGIApp, *, state: State) -> None:
        self.state = state
        self._uses: defaultdict[str, _Use] = defaultdict(_Use)
        self._app = app
        self._pages = Pages(state)
        limits = state.settings.limits
        self._largest = round(limits.max_body_mb * 1e6)
        self._guarded = Guard(
            self._timed,
            admit=self._admit,
            largest=self._largest,
            hosts=state.settings.hosts,
            elsewhere=(421, "this server is reached as localhost only; start it with keys"),
            seconds=limits.request_seconds,
            streamed={UPLOADS: round(limits.max_upload_mb * 1e6)},
            headers={},  # They are on what is answered here, too.
            refused=_refused,
            # Files are passed on as they come.
            came=lambda scope, size: self._take(scope, size=size * (scope["path"] != UPLOADS)),
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()
        headers = Headers(scope=scope)
        given = headers.get("x-request-id", "")
        request_id = given if _ID.fullmatch(given) else secrets.token_hex(8)
        scope.setdefault("state", {})["request_id"] = request_id
        status = _LEFT
        of_jobs = DEPRECATED if f"{scope['path']}/".startswith(f"{UPLOADS}/") else {}
        outward = with_headers(send, {**HEADERS, **of_jobs, "x-request-id": request_id})

        async def send_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await outward(message)

        refusal: Response | None = None
        taken = scope["state"]["taken"] = _Use()
        try:
            await self._guarded(scope, receive, send_headers)
        except Exception as error:
            refusal = _refused(scope, error)
        finally:
            self._take(scope, requests=-taken.requests, size=-taken.bytes)
        if refusal is not None and status == _LEFT:
            await refusal(scope, receive, send_headers)
        seconds = time.perf_counter() - began
        route = getattr(scope.get("route"), "path", "other")
        method = scope["method"]
        self.state.metrics.request(method=method, route=route, status=status, seconds=seconds)
        log.info("%s %s %s %s %.1f ms", request_id, method, route, status, 1e3 * seconds)

    def _admit(self, scope: Scope, headers: Headers) -> Response | None:
        """The page requested, which needs no key.

        Raises:
            Refusal: the request is not to be answered, whatever is in it.
        """
        path = scope["path"]
        page = self._pages.answer(scope, headers.get("host", ""))
        if page is not None:
            return page
        owner = self.state.keys.owner(headers.get("authorization"))
        if path in OPEN:
            # No key is required, so nobody's body is waited for.
            if scope["method"] not in READING:
                raise HTTPException(405, f"{path} is only read: GET", {"allow": "GET"})
        else:
            if owner is None:
                raise Refusal(401, "send a valid key: 'Authorization: Bearer KEY'")
            scope["state"]["owner"] = owner
            # The file of an upload is not held in memory, yet takes room.
            upload = path == UPLOADS and scope["method"] == "POST"
            self._take(scope, requests=1, size=self._largest if upload else 0)
        if self.state.stopping and scope["method"] not in READING:
            raise Refusal(503, "the service is stopping", retry_after=5)
        return None

    def _take(self, scope: Scope, *, requests: int = 0, size: int = 0) -> None:
        """Put requests and bytes to the account of the key that asks; negative ones give back.

        Raises:
            Refusal: the key has too much under way.
        """
        limits, state = self.state.settings.limits, scope["state"]
        for use in (state["taken"], self._uses[state.get("owner", "")]):
            use.requests += requests
            use.bytes += size
        if requests + size > 0 and (
            use.requests > limits.open_requests or use.bytes > _BODIES * self._largest
        ):
            raise Refusal(429, "too much at once with this key; try again in 1 s", retry_after=1)

    async def _timed(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the app answer, as long as the client is there.

        Raises:
            TimeoutError: it does not begin to in time.
        """
        upload = scope["path"] == UPLOADS and scope["method"] == "POST"
        seconds = None if upload else self.state.settings.limits.request_seconds
        whole, left = asyncio.Event(), False

        async def received() -> Message:
            message = await receive()
            if not message.get("more_body", False):
                whole.set()
            return message

        async def watch() -> None:
            nonlocal left
            await whole.wait()
            await receive()  # After a whole body only the client's end can come.
            left = True
            if not upload and not patience.expired():  # An uploaded job is not for who waits.
                patience.reschedule(0)

        try:
            async with asyncio.timeout(seconds) as patience:
                self.state.time_limits.add(patience)
                watching = asyncio.create_task(watch())

                async def begun(message: Message) -> None:
                    if not patience.expired():
                        patience.reschedule(None)  # A download may take its time.
                    await send(message)

                try:
                    await self._app(scope, received, begun)
                finally:
                    watching.cancel()
                    self.state.time_limits.discard(patience)
        except TimeoutError:
            if not left:
                raise


def _refused(scope: Scope, error: Exception) -> Response:
    """The answer to what stopped a request; what broke is only logged."""
    request_id = scope["state"]["request_id"]
    status, headers = 503, {"retry-after": "30"}
    if isinstance(error, HTTPException):
        status, text, headers = error.status_code, error.detail, dict(error.headers or {})
    elif isinstance(error, TimeoutError):
        text = "not done within the time limit; send fewer answers at once"
        headers = {"retry-after": "5"}
    elif isinstance(error, MarkschemeError):
        log.error("request %s: %s", request_id, error)
        text = "the judge cannot work now; the service's log has the reason under this request_id"
    else:
        log.error("request %s broke", request_id, exc_info=error)
        status, headers = 500, {}
        text = "something broke here; the service's log has it under this request_id"
    return problem(status, text, request_id=request_id, headers=headers)
