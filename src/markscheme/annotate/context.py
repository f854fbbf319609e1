"""What every page needs: the project, who is asking, and whether the form is theirs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from fastapi import Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from sqlalchemy import Connection
from starlette.datastructures import FormData, QueryParams

from markscheme.annotate import tokens
from markscheme.annotate.database import Store
from markscheme.annotate.people import ADMIN, Person, person_of
from markscheme.annotate.project import Project, load_project
from markscheme.annotate.render import page
from markscheme.annotate.security import Bucket

T = TypeVar("T")
Fields = FormData | QueryParams


class Refused(Exception):
    """A request that is not done, with what the browser is given instead."""

    def __init__(self, response: Response) -> None:
        super().__init__(response.status_code)
        self.response = response


def refused(why: str, status: int, **values: Any) -> Refused:
    """A refusal with the page that says why."""
    return Refused(HTMLResponse(page("refused.html", why=why, **values), status))


@dataclass(frozen=True)
class _Other:
    """Who asks, where that is nobody for whom the page is."""

    person: Person | None


@dataclass(kw_only=True)
class Site:
    """A running app.

    Attributes:
        project: its settings; read again at each request, as another process may change them.
        secure: whether the address is https, so that cookies go only there.
        requests: of a session, or of an address without one.
    """

    store: Store
    project: Project
    address: str
    secure: bool = False
    requests: Bucket = field(default_factory=lambda: Bucket(per_second=30, most=90))

    @property
    def cookie(self) -> str:
        """Name of the session's cookie: the project's own, since ports share their cookies."""
        return f"{'__Host-' if self.secure else ''}markscheme-{self.project.uid}"

    async def write(self, work: Callable[[Connection], T]) -> T:
        """Do `work` in the writing thread; returns once it is on disk."""
        return await asyncio.wrap_future(self.store.submit(work))

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Do `work` in another thread, with a reading transaction."""
        return await asyncio.to_thread(self.store.read, work)

    async def act(
        self, request: Request, work: Callable[[Connection, Person], T], *, admin: bool = False
    ) -> T:
        """Do `work` for the person who asks, in one transaction with finding out who that is.

        Raises:
            Refused: nobody is signed in, or not as whom it takes.
        """
        session = self.session(request)

        def both(connection: Connection) -> T | _Other:
            person = person_of(connection, session) if session else None
            if person is None or (person.role == ADMIN) != admin:
                return _Other(person)  # Raised here, it would undo what shares the transaction.
            self.project = load_project(connection) or self.project
            return work(connection, person)

        found = await self.write(both)
        if isinstance(found, _Other):
            raise self._elsewhere(request, found.person)
        return found

    def _elsewhere(self, request: Request, person: Person | None) -> Refused:
        """Where to go instead: the other half of the app, or the door."""
        whole = request.method == "GET" and not request.headers.get("hx-request")
        if person is not None:
            target = "/" if person.role != ADMIN else "/admin"
            return Refused(RedirectResponse(target, 303)) if whole else refused("role", 403)
        return Refused(RedirectResponse("/enter", 303)) if whole else refused("signed-out", 401)

    def session(self, request: Request) -> str:
        """The session's token; empty without one."""
        return request.cookies.get(self.cookie, "")

    async def form(self, request: Request) -> FormData:
        """The fields of a form of ours.

        Raises:
            Refused: it is none.
        """
        kind = request.headers.get("content-type", "").partition(";")[0].strip()
        if kind != "application/x-www-form-urlencoded":
            raise refused("form", 415)
        fields = await request.form(max_fields=200)
        given = fields.get("csrf")
        if not isinstance(given, str) or not tokens.csrf_matches(self.session(request), given):
            raise refused("csrf", 403)
        return fields

    def base(self, request: Request, person: Person, **values: Any) -> dict[str, Any]:
        """What the templates of signed-in people need."""
        return {
            "project": self.project,
            "scale": self.project.choices,
            "person": person,
            "csrf": tokens.csrf_of(self.session(request)),
            **values,
        }


def is_htmx(request: Request) -> bool:
    """Whether only a part of a page is wanted."""
    return request.headers.get("hx-request") == "true"


def text(fields: Fields, name: str, longest: int = 200) -> str:
    """A field's text, shortened to what is allowed."""
    value = fields.get(name)
    # PostgreSQL has no place for NUL in a text.
    return value[:longest].replace("\x00", "") if isinstance(value, str) else ""


def number(fields: Fields, name: str) -> int | None:
    """A field's whole number, not negative; None where it has none."""
    value = text(fields, name)
    return int(value) if value.isascii() and value.isdecimal() and len(value) < 10 else None
