"""What runs before the routes: names, keys, sizes, times, and the answer to whatever breaks.

Plain ASGI, since it runs for every request, and before the body is read.
"""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
import time

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
OPEN = frozenset({"/healthz", "/readyz", "/openapi.json"})
"""Answered without a key: they tell nothing of anybody's data."""

HEADERS = {
    **SAFE_HEADERS,
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "referrer-policy": "no-referrer",
}
_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")


class Watch:
    """Every request: an id, headers, figures, a log line; refused unless it may be answered."""

    def __init__(self, app: ASGIApp, *, state: State) -> None:
        self.state = state
        self._open = 0
        self._app = app
        self._pages = Pages(state)
        limits = state.settings.limits
        self._guarded = Guard(
            self._timed,
            admit=self._admit,
            largest=round(limits.max_body_mb * 1e6),
            hosts=state.settings.hosts,
            elsewhere=(421, "this server is reached as localhost only; start it with keys"),
            seconds=limits.request_seconds,
            streamed={UPLOADS: round(limits.max_upload_mb * 1e6)},
            headers={},  # They are on what is answered here, too.
            refused=_refused,
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
        status = 0
        outward = with_headers(send, {**HEADERS, "x-request-id": request_id})

        async def send_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await outward(message)

        refusal: Response | None = None
        self._open += 1
        try:
            await self._guarded(scope, receive, send_headers)
        except Exception as error:
            refusal = _refused(scope, error)
        finally:
            self._open -= 1
        if refusal is not None and not status:
            await refusal(scope, receive, send_headers)
        seconds = time.perf_counter() - began
        route = getattr(scope.get("route"), "path", "other")
        self.state.metrics.request(
            method=scope["method"], route=route, status=status, seconds=seconds
        )
        log.info("%s %s %s %s %.1f ms", request_id, scope["method"], route, status, 1e3 * seconds)

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
                raise Refusal(405, f"{path} is only read: GET", allow="GET")
        else:
            if owner is None:
                raise Refusal(401, "send a valid key: 'Authorization: Bearer KEY'")
            if self._open > self.state.settings.limits.open_requests:
                raise Refusal(429, "too many requests at once; try again in 1 s", retry_after=1)
        scope["state"]["owner"] = owner
        if self.state.stopping and scope["method"] not in READING:
            raise Refusal(503, "the service is stopping", retry_after=5)
        return None

    async def _timed(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the app answer; raises TimeoutError if it does not begin to in time."""
        upload = scope["path"] == UPLOADS and scope["method"] == "POST"
        seconds = None if upload else self.state.settings.limits.request_seconds
        async with asyncio.timeout(seconds) as patience:
            self.state.time_limits.add(patience)

            async def begun(message: Message) -> None:
                if not patience.expired():
                    patience.reschedule(None)  # A download may take its time.
                await send(message)

            try:
                await self._app(scope, receive, begun)
            finally:
                self.state.time_limits.discard(patience)


def _refused(scope: Scope, error: Exception) -> Response:
    """The answer to what stopped a request; what broke is only logged."""
    request_id = scope["state"]["request_id"]
    status, headers = 503, {"retry-after": "30"}
    if isinstance(error, HTTPException):
        status, text, headers = error.status_code, error.detail, dict(error.headers or {})
    elif isinstance(error, TimeoutError):
        text = "not done within the time limit; send fewer answers at once, or a file to /v1/jobs"
        headers = {"retry-after": "5"}
    elif isinstance(error, MarkschemeError):
        log.error("request %s: %s", request_id, error)
        text = "the judge cannot work now; the service's log has the reason under this request_id"
    else:
        log.error("request %s broke", request_id, exc_info=error)
        status, headers = 500, {}
        text = "something broke here; the service's log has it under this request_id"
    return problem(status, text, request_id=request_id, headers=headers)
