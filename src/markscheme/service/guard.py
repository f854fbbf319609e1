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
from markscheme.service.problems import Refusal, problem
from markscheme.service.state import State
from markscheme.web import (
    READING,
    check_length,
    host_name,
    limited,
    replayed,
    whole_body,
    with_headers,
)

log = logging.getLogger("markscheme.service")

UPLOADS = "/v1/jobs"
OPEN = frozenset({"/healthz", "/readyz", "/openapi.json"})
"""Answered without a key: they tell nothing of anybody's data."""

HEADERS = {
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")


class Guard:
    """Every request: an id, headers, figures, a log line; refused unless it may be answered."""

    def __init__(self, app: ASGIApp, *, state: State) -> None:
        self.app = app
        self.state = state
        self._open = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
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
            await self._answer(scope, headers, receive, send_headers)
        except (HTTPException, TimeoutError) as error:
            refusal = _refused(error, request_id)
        except MarkschemeError as error:
            log.error("request %s: %s", request_id, error)
            refusal = problem(
                503,
                "the judge cannot work now; the service's log has the reason under this request_id",
                request_id=request_id,
                headers={"retry-after": "30"},
            )
        except Exception:
            log.exception("request %s broke", request_id)
            refusal = problem(
                500,
                "something broke here; the service's log has it under this request_id",
                request_id=request_id,
            )
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

    async def _answer(self, scope: Scope, headers: Headers, receive: Receive, send: Send) -> None:
        """Let the app answer, unless the request is refused.

        Raises:
            HTTPException, TimeoutError: the request is refused on its way.
        """
        self._check(scope, headers)
        upload = scope["path"] == UPLOADS and scope["method"] == "POST"
        limits = self.state.settings.limits
        most = limits.upload_bytes if upload else limits.body_bytes
        check_length(headers.get("content-length", "0"), most)
        if upload:
            await self.app(scope, limited(receive, most, limits.seconds), send)
            return
        if scope["method"] not in READING:
            receive = replayed(await whole_body(receive, most, limits.seconds), receive)
        async with asyncio.timeout(limits.seconds) as patience:
            self.state.time_limits.add(patience)

            async def begun(message: Message) -> None:
                if not patience.expired():
                    patience.reschedule(None)  # A download may take its time.
                await send(message)

            try:
                await self.app(scope, receive, begun)
            finally:
                self.state.time_limits.discard(patience)

    def _check(self, scope: Scope, headers: Headers) -> None:
        """Raises Refusal if this request is not to be answered, whatever is in it."""
        settings, path = self.state.settings, scope["path"]
        if settings.hosts is not None and host_name(headers.get("host", "")) not in settings.hosts:
            raise Refusal(421, "this server is reached as localhost only; start it with keys")
        owner = self.state.keys.owner(headers.get("authorization"))
        if path in OPEN:
            # No key is required, so nobody's body is waited for.
            if scope["method"] not in READING:
                raise Refusal(405, f"{path} is only read: GET", allow="GET")
        else:
            if owner is None:
                raise Refusal(401, "send a valid key: 'Authorization: Bearer KEY'")
            if self._open > settings.limits.open_requests:
                raise Refusal(429, "too many requests at once; try again in 1 s", retry_after=1)
        scope["state"]["owner"] = owner
        if self.state.stopping and scope["method"] not in READING:
            raise Refusal(503, "the service is stopping", retry_after=5)


def _refused(error: HTTPException | TimeoutError, request_id: str) -> Response:
    if isinstance(error, HTTPException):
        return problem(
            error.status_code, error.detail, request_id=request_id, headers=error.headers
        )
    return problem(
        503,
        "not done within the time limit; send fewer answers at once, or a file to /v1/jobs",
        request_id=request_id,
        headers={"retry-after": "5"},
    )
