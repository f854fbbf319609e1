"""Every refusal in one shape: problem details (RFC 9457)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

import orjson
from fastapi import HTTPException
from fastapi.exceptions import RequestValidationError
from starlette.responses import Response

MEDIA = "application/problem+json"
_SHOWN = 20

STATUSES = (400, 401, 403, 404, 405, 408, 409, 413, 415, 421, 422, 429, 500, 503, 507)
"""Those that requests are refused with."""


class Refusal(HTTPException):
    """A request that is not done, with the reason in words for the client."""

    def __init__(self, status: int, detail: str, *, retry_after: int | None = None) -> None:
        headers = {} if retry_after is None else {"retry-after": str(retry_after)}
        if status == HTTPStatus.UNAUTHORIZED:
            headers["www-authenticate"] = 'Bearer realm="markscheme"'
        super().__init__(status, detail, headers)


def problem(
    status: int,
    detail: str,
    *,
    request_id: str,
    headers: Mapping[str, str] | None = None,
    errors: Sequence[Mapping[str, Any]] = (),
) -> Response:
    """The response that says what is wrong."""
    body: dict[str, Any] = {
        "type": "about:blank",  # Nothing more than the status says.
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        "request_id": request_id,
    }
    if errors:
        body["errors"] = list(errors)
    return Response(orjson.dumps(body), status, headers, MEDIA)


def of_validation(error: RequestValidationError, *, request_id: str) -> Response:
    """A request that does not fit the schema: where, and why. What was sent is not repeated."""
    found = error.errors()
    if any(one["type"] == "json_invalid" for one in found):
        return problem(400, "the body is not JSON", request_id=request_id)
    if isinstance(error.body, bytes) and error.body:  # Read as JSON only where declared so.
        return problem(
            422,
            "the body was not read, since it is not declared as JSON; send it with the header "
            "'content-type: application/json'",
            request_id=request_id,
        )
    shown = [
        {"where": _printable(".".join(map(str, one["loc"]))), "message": _printable(one["msg"])}
        for one in found[:_SHOWN]
    ]
    detail = f"{len(found)} value{'s' if len(found) != 1 else ''} cannot be used"
    if len(found) > _SHOWN:
        detail += f"; the first {_SHOWN} are listed"
    return problem(422, detail, request_id=request_id, errors=shown)


def _printable(text: str) -> str:
    """Text that can be sent whatever was in it: names of unknown fields come from the client."""
    return text[:200].encode("utf-8", "replace").decode()
