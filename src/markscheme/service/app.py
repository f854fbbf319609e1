"""The app as a whole: routes, what guards them, how they are described, how it stops."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Sequence
from http import HTTPStatus
from types import FrameType

import orjson
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from markscheme.contract import version
from markscheme.models import Models
from markscheme.service.allowed import Allowed
from markscheme.service.guard import OPEN, Watch
from markscheme.service.jobs import Jobs
from markscheme.service.judging import Judging
from markscheme.service.metrics import Metrics
from markscheme.service.problems import MEDIA, STATUSES, of_validation, problem
from markscheme.service.routes import job_routes, judging_routes, operating_routes
from markscheme.service.schemas import EXAMPLE_ANSWER, AnswerIn, Problem
from markscheme.service.settings import Keys, Settings
from markscheme.service.state import State
from markscheme.web import Server

log = logging.getLogger("markscheme.service")

_ABOUT = """Marks answers to questions against reference answers.

Not judged is a status, never a zero: `score`, `verdict` and rewards are null then. What cannot be
done is answered with problem details (RFC 9457)."""


def make_app(
    settings: Settings,
    *,
    allow: Sequence[str] = (),
    keys: Keys | None = None,
    models: Models | None = None,
) -> FastAPI:
    """The app of one service; `app.state.service` are its parts.

    Args:
        settings: limits, and where jobs are stored.
        allow: judges that may be requested; none allows those that need nothing.
        keys: who may ask; None is everybody.
        models: for judges that ask models.

    Raises:
        JudgeError, UnknownNameError: a judge's name is wrong.
    """
    metrics = Metrics()
    options = (models or Models()).options
    state = State(
        settings=settings,
        keys=keys or Keys(),
        allowed=Allowed(allow, models),
        metrics=metrics,
        judging=Judging(settings, metrics),
        jobs=Jobs(settings.jobs, limits=settings.limits, models=options),
    )
    metrics.watch(queue=lambda: state.judging.rows, jobs=state.jobs.count)
    app = FastAPI(
        title="markscheme",
        version=version(),
        description=_ABOUT,
        openapi_url=None,  # It is among the pages.
        docs_url=None,
        redoc_url=None,
        lifespan=lambda app: _life(state),  # noqa: ARG005
        responses={
            status: {"model": Problem, "description": HTTPStatus(status).phrase}
            for status in STATUSES
        },
    )
    app.state.service = state
    app.include_router(judging_routes(state))
    app.include_router(job_routes(state))
    app.include_router(operating_routes(state))
    app.add_middleware(Watch, state=state)
    _describe_problems(app, with_keys=bool(state.keys))
    state.description = orjson.dumps(app.openapi())

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        return of_validation(error, request_id=request.state.request_id)

    @app.exception_handler(HTTPException)
    async def refused(request: Request, error: HTTPException) -> Response:
        headers, detail = error.headers, str(error.detail)
        path = getattr(request.scope.get("route"), "path", "")
        methods = app.openapi()["paths"].get(path, {}) if error.status_code == 405 else {}
        if methods:  # The framework names those of one route of the path.
            allowed = ", ".join(sorted(methods)).upper()
            headers, detail = {"allow": allowed}, f"this address takes {allowed}"
        return problem(
            error.status_code,
            detail,
            request_id=request.state.request_id,
            headers=headers,
        )

    return app


@contextlib.asynccontextmanager
async def _life(state: State) -> AsyncIterator[None]:
    """Jobs go on while the app lives; the end waits for what was taken."""
    state.jobs.open()
    tasks = [
        asyncio.create_task(task) for task in (state.jobs.work(), state.jobs.forget(), _warm(state))
    ]
    try:
        yield
    finally:
        state.stopping = True
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.to_thread(state.judging.close)
        state.jobs.close()


_EASY_AND_HARD = (
    EXAMPLE_ANSWER,
    {
        "question": "Why is the sky blue?",
        "references": ["Air scatters short wavelengths of light more than long ones"],
        "answer": "Blue light is bounced around by molecules in the atmosphere",
    },
)
"""The examiner opens its embeddings only for answers that its words leave unsure."""


async def _warm(state: State) -> None:
    """Judge something, so that no client waits for weights to be read."""
    served = state.allowed.default
    if not served.waits:  # A judge that asks somebody else costs money.
        try:
            for row in _EASY_AND_HARD:
                await state.judging.judge(served, [AnswerIn.model_validate(row)])
        except Exception:
            log.exception("%s cannot judge; not ready", served.name)
            return
    state.ready = True


def _describe_problems(app: FastAPI, *, with_keys: bool) -> None:
    """Give refusals their media type in the description, and keys their scheme."""
    schema = app.openapi()  # The framework makes it once, and gives the same again.
    for path, operations in schema["paths"].items():
        for operation in operations.values():
            for status, response in operation["responses"].items():
                content = response.get("content", {})
                shown = content.get("application/json", {}).get("schema", {})
                if int(status) >= 400 and shown.get("$ref", "").endswith("/Problem"):
                    response["content"] = {MEDIA: content["application/json"]}
            if with_keys and path not in OPEN:
                operation["security"] = [{"key": []}]
    if with_keys:
        schema["components"]["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}


# --- Running the service: the port it takes, and how it stops -------------------------------------


class DrainingServer(Server):
    """A server that a first signal empties and a second one stops.

    On the first, readiness says 503 and new work is refused; after `linger` seconds, in which a
    proxy notices, the port is closed; what was accepted is finished, for at most `grace` seconds.
    """

    def __init__(self, app: FastAPI, *, linger: float, grace: float) -> None:
        super().__init__(
            app,
            log_level="error",
            timeout_keep_alive=75,
            timeout_graceful_shutdown=round(grace),
            lifespan="on",
        )
        self._service = app.state.service
        self._linger = linger
        self._close_at: float | None = None

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to stop; at once on the second signal."""
        if self._close_at is not None:
            super().handle_exit(sig, frame)
            return
        self._service.stopping = True
        self._close_at = time.monotonic() + self._linger

    async def on_tick(self, counter: int) -> bool:
        """Called ten times a second; true ends the service."""
        if self._close_at is not None:
            self._service.finish_accepted()
            if time.monotonic() >= self._close_at:
                return True
        return await super().on_tick(counter)
