"""Bodies become values: counted first, and read off the event loop where they are large."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import HTTPException, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import ValidationError

from markscheme.service.problems import Refusal
from markscheme.service.schemas import AnswerIn
from markscheme.service.settings import Limits

COMPRESSED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd")
"""How what gzip, bzip2, xz and zstd wrote begins."""

_SMALL = 20_000
"""Bytes of a body that is read at once, within milliseconds."""

_MOST_PARTS = 100
"""Texts and commas of a body for each row that it may have. A row with one reference has ten."""

_MOST_NAMES = 40
"""Names of an answer, or of a body. Each that is not known costs a message."""

_PARTS = re.compile(rb'"(?:[^"\\]++|\\.)*+"?|,', re.DOTALL)
"""A text or a comma; never goes back, so that the time is linear in the body whatever is in it."""


class ReadRoute(APIRoute):
    """A route whose JSON is read and checked in a thread, one body of a key at a time."""

    def get_route_handler(self) -> Callable[[Request], Awaitable[Response]]:  # type: ignore[override]
        """The framework's handler, which is given values that fit the schema."""
        plain = super().get_route_handler()

        async def handler(request: Request) -> Response:
            return await plain(_Read(request.scope, request.receive))

        return handler


class _Read(Request):
    async def json(self) -> Any:
        body, state = await self.body(), self.app.state.service
        encoding = self.headers.get("content-encoding", "").strip().lower()
        if encoding not in ("", "identity") or body.startswith(COMPRESSED):
            raise Refusal(415, "send the body uncompressed")
        given = body, self.scope["route"].body_field, state.settings.limits
        if len(body) <= _SMALL:
            return _read(*given)
        async with state.reading.setdefault(self.state.owner, asyncio.Lock()):
            return await asyncio.to_thread(_read, *given)


class _Unfit(RequestValidationError, HTTPException):
    """The framework, while it reads, lets HTTP errors through, and no others."""

    status_code = 422


def _read(body: bytes, field: Any, limits: Limits) -> Any:
    """The value of a body, which the framework need not check again.

    Raises:
        Refusal: it has too many rows or parts (413).
        RequestValidationError: something in it does not fit.
        ValueError, RecursionError: it is not JSON.
    """
    most = _MOST_PARTS * limits.max_rows
    if len(body) > most and any(count >= most for count, _ in enumerate(_PARTS.finditer(body))):
        raise Refusal(413, f"more than {most:,} texts and commas; send fewer answers at once")
    value = json.loads(body.decode("utf-8-sig"))
    answers = value.get("answers") if isinstance(value, dict) else None
    rows = answers if isinstance(answers, list) else []
    if len(rows) > limits.max_rows:
        raise Refusal(
            413,
            f"{len(rows)} answers in one request; the limit is {limits.max_rows}. Send fewer at "
            "once, or judge the file with 'markscheme judge FILE'",
        )
    names = max((len(one) for one in (value, *rows) if isinstance(one, dict)), default=0)
    if names > _MOST_NAMES:
        raise Refusal(413, f"{names:,} fields of one object; send at most {_MOST_NAMES}")
    errors: list[Any] = []
    for number, row in enumerate(rows):  # The framework would hold the interpreter's lock for all.
        try:
            rows[number] = AnswerIn.model_validate(row)
        except ValidationError as error:
            for one in error.errors(include_url=False, include_context=False, include_input=False):
                errors.append({**one, "loc": ("body", "answers", number, *one["loc"])})
    found, others = (None, errors) if errors else field.validate(value, {}, loc=("body",))
    if others:
        raise _Unfit(others)
    return found
