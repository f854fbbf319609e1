"""The app as a whole: doors, pages, and what guards them."""

from __future__ import annotations

import sys

from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from sqlalchemy.exc import SQLAlchemyError
from starlette.exceptions import HTTPException
from starlette.routing import Route, Router

from markscheme.annotate.admin import admin_routes, review_routes
from markscheme.annotate.context import Refused, Site, text
from markscheme.annotate.people import SESSION_SECONDS, sign_in, sign_out
from markscheme.annotate.render import ASSETS, page, static_file
from markscheme.annotate.security import HEADERS, LARGEST_BODY, admitting
from markscheme.annotate.work import work_routes
from markscheme.errors import RunError
from markscheme.web import LOCAL, NO_MEMORY, Guard


def make_app(site: Site, *, hosts: frozenset[str] = LOCAL, addresses: bool = False) -> FastAPI:
    """The app for a project that is open.

    Args:
        site: project, database and limits.
        hosts: names under which the server answers; a request for another is refused, so that no
            other site can point its name here.
        addresses: whether it also answers under every IP address.
    """
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, title="markscheme annotate")
    app.include_router(_doors(site))
    app.include_router(work_routes(site))
    app.include_router(admin_routes(site))
    app.include_router(review_routes(site))
    app.mount("/static", _static())
    app.add_middleware(
        Guard,
        admit=admitting(site.requests, site.cookie),
        largest=LARGEST_BODY,
        hosts=hosts,
        addresses=addresses,
        elsewhere=(
            400,
            "this server does not answer under this name; start 'markscheme annotate' with "
            "--public-url and the address that people type, such as http://NAME:8765",
        ),
        headers=HEADERS,
    )

    @app.exception_handler(Refused)
    async def instead(request: Request, error: Refused) -> Response:  # noqa: ARG001
        return error.response

    later = page("refused.html", why="database")  # Made here, as memory may be what is lacking.

    @app.exception_handler(RunError)
    @app.exception_handler(SQLAlchemyError)
    @app.exception_handler(MemoryError)
    async def not_saved(request: Request, error: Exception) -> Response:  # noqa: ARG001
        # The page keeps what it sent and tries again.
        if isinstance(error, MemoryError):
            sys.stderr.write(NO_MEMORY)
        return HTMLResponse(later, 503)

    @app.exception_handler(HTTPException)
    async def refused(request: Request, error: HTTPException) -> Response:  # noqa: ARG001
        return HTMLResponse(page("refused.html", why="page"), error.status_code)

    return app


def _static() -> Router:
    """The files that pages load, by name."""

    async def file(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in ASSETS:
            return PlainTextResponse("there is no such file", 404)
        kind = _KINDS[name.rpartition(".")[2]]
        return Response(static_file(name), headers={"cache-control": "no-cache"}, media_type=kind)

    return Router(routes=[Route("/{name}", file)])


_KINDS = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}


def _doors(site: Site) -> APIRouter:
    routes = APIRouter()

    @routes.get("/health")
    async def health() -> Response:
        return PlainTextResponse("ok")

    @routes.get("/enter")
    async def enter() -> Response:
        return HTMLResponse(page("enter.html", title=site.project.title, failed=False))

    @routes.post("/session")
    async def start(request: Request) -> Response:
        fields = await request.form(max_fields=10, max_files=0)
        token = text(fields, "token").strip().rpartition("#")[2]
        session = await site.write(lambda connection: sign_in(connection, token))
        if session is None:
            return HTMLResponse(page("enter.html", title=site.project.title, failed=True), 401)
        response = RedirectResponse("/", 303)
        response.set_cookie(
            site.cookie,
            session,
            max_age=int(SESSION_SECONDS),
            httponly=True,
            samesite="strict",
            secure=site.secure,
            path="/",
        )
        return response

    @routes.post("/leave")
    async def leave(request: Request) -> Response:
        await site.form(request)
        await site.write(lambda connection: sign_out(connection, site.session(request)))
        response = RedirectResponse("/enter", 303)
        response.delete_cookie(
            site.cookie, path="/", httponly=True, samesite="strict", secure=site.secure
        )
        return response

    return routes
