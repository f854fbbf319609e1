"""What the admin sees: progress, agreement, people and their links, every item's trail, exports."""

from __future__ import annotations

import asyncio
import io
import time
from collections.abc import Callable
from functools import partial
from typing import Any, Generic, TypeVar

import orjson
from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from markupsafe import Markup
from sqlalchemy import Connection, select

from markscheme.annotate import tables as t
from markscheme.annotate.context import Site, number, refused, text
from markscheme.annotate.people import (
    ADMIN,
    Person,
    Role,
    add_person,
    everyone,
    new_token,
    set_active,
)
from markscheme.annotate.project import Project, stages
from markscheme.annotate.quality import quality
from markscheme.annotate.render import page
from markscheme.annotate.review import WHICH, Search, decide, find_items, give_to, put_back
from markscheme.annotate.standing import MARGIN, standing
from markscheme.annotate.trail import changes, sentence
from markscheme.errors import MarkschemeError
from markscheme.reports import table_html

T = TypeVar("T")

QUALITY_SECONDS = 5.0
ESTIMATE_SECONDS = 8.0


def admin_routes(site: Site) -> APIRouter:
    """The admin's pages."""
    routes = APIRouter(prefix="/admin")
    agreement = _Recent(site, quality, QUALITY_SECONDS)
    estimate = _Recent(site, standing, ESTIMATE_SECONDS)
    shown = partial(_shown, site)

    @routes.get("")
    async def overview(request: Request) -> Response:
        return await shown(request, "admin.html", lambda c: _overview(c) | {"link": None})

    @routes.get("/live")
    async def live(request: Request) -> Response:
        return await shown(request, "admin_live.html", _overview)

    @routes.get("/agreement")
    async def agree(request: Request) -> Response:
        person = await site.act(request, lambda _, p: p, admin=True)
        found = await agreement.get()
        named = (table_html(one, f"agreement-{n}") for n, one in enumerate(found.tables))
        tables = Markup("").join(map(Markup, named))
        values = site.base(request, person, found=found, tables=tables)
        return HTMLResponse(page("admin_agreement.html", **values))

    @routes.get("/estimate")
    async def estimated(request: Request) -> Response:
        person = await site.act(request, lambda _, p: p, admin=True)
        margin = f"{100 * MARGIN:g}"
        values = site.base(request, person, found=await estimate.get(), margin=margin)
        return HTMLResponse(page("admin_estimate.html", **values))

    @routes.post("/people")
    async def add(request: Request) -> Response:
        fields = await site.form(request)
        role: Role = "adjudicator" if text(fields, "role") == "adjudicator" else "annotator"
        name = text(fields, "name")

        def work(connection: Connection) -> dict[str, Any]:
            try:
                token = add_person(connection, name, role)
            except MarkschemeError as error:
                return _overview(connection) | {"link": {"problem": str(error)}}
            return _overview(connection) | {"link": _link(site, name, token)}

        return await shown(request, "admin.html", work)

    @routes.post("/people/{person_id}/link")
    async def again(request: Request, person_id: int) -> Response:
        await site.form(request)

        def work(connection: Connection) -> dict[str, Any]:
            names = {p.id: p.name for p in everyone(connection) if p.role != ADMIN}
            if person_id not in names:
                return _overview(connection) | {"link": {"problem": "there is no such person"}}
            token = new_token(connection, person_id)
            return _overview(connection) | {"link": _link(site, names[person_id], token)}

        return await shown(request, "admin.html", work)

    @routes.post("/people/{person_id}/active")
    async def switch(request: Request, person_id: int) -> Response:
        fields = await site.form(request)
        active = text(fields, "active") == "1"

        def work(connection: Connection, _: Person) -> None:
            if any(p.id == person_id and p.role != ADMIN for p in everyone(connection)):
                set_active(connection, person_id, active=active)

        await site.act(request, work, admin=True)
        return RedirectResponse("/admin", 303)

    @routes.get("/export/{kind}")
    async def download(request: Request, kind: str) -> Response:
        await site.act(request, lambda _, p: p, admin=True)
        return await _download(site, kind)

    return routes


class _Recent(Generic[T]):
    """What is worked out from all labels, as it was at most some seconds ago."""

    def __init__(
        self, site: Site, work: Callable[[Connection, Project], T], seconds: float
    ) -> None:
        self._site, self._work, self._seconds = site, work, seconds
        self._lock = asyncio.Lock()
        self._kept: tuple[float, T] | None = None

    async def get(self) -> T:
        """It, worked out again where it is too old."""
        async with self._lock:
            if self._kept is None or self._kept[0] < time.monotonic() - self._seconds:
                found = await self._site.read(lambda c: self._work(c, self._site.project))
                self._kept = (time.monotonic(), found)
            return self._kept[1]


async def _shown(
    site: Site, request: Request, name: str, work: Callable[[Connection], dict[str, Any]]
) -> Response:
    """A page of the admin's, from what `work` finds."""
    person, values = await site.act(request, lambda c, p: (p, work(c)), admin=True)
    return HTMLResponse(page(name, **site.base(request, person, **values)))


def review_routes(site: Site) -> APIRouter:
    """The review desk: items found, decided, given out, put back."""
    routes = APIRouter(prefix="/admin")
    shown = partial(_shown, site)

    @routes.get("/items")
    async def items(request: Request) -> Response:
        search = _search(request)
        return await shown(request, "admin_items.html", lambda c: _items(c, search))

    @routes.get("/items/{item_id}")
    async def item(request: Request, item_id: int) -> Response:
        return await shown(request, "admin_item.html", lambda c: _item(c, site.project, item_id))

    @routes.post("/items/{item_id}/{what}")
    async def change(request: Request, item_id: int, what: str) -> Response:
        fields = await site.form(request)
        said, person_id = text(fields, "say", 20), number(fields, "person") or 0

        def work(connection: Connection, admin: Person) -> str:
            try:
                if what == "settle":
                    value = _value(site, said)
                    decide(connection, admin, site.project, item_id, value)
                elif what == "give":
                    give_to(connection, admin, item_id, person_id)
                elif what == "back":
                    put_back(connection, admin, item_id)
                else:
                    return "there is no such change"
            except MarkschemeError as error:
                return str(error)
            return ""

        problem = await site.act(request, work, admin=True)
        if not problem:
            return RedirectResponse(f"/admin/items/{item_id}", 303)
        return await shown(
            request,
            "admin_item.html",
            lambda c: _item(c, site.project, item_id) | {"problem": problem},
        )

    return routes


def _overview(connection: Connection) -> dict[str, Any]:
    people = [person for person in everyone(connection) if person.role != ADMIN]
    return {"people": people, "stages": stages(connection)}


def _link(site: Site, name: str, token: str) -> dict[str, str]:
    return {"problem": "", "name": name, "url": f"{site.address}/enter#{token}"}


def _search(request: Request) -> Search:
    """What the address asks for; nonsense is left out."""
    given = request.query_params
    which = given.get("stage", "disagreed")
    return Search(
        which=which if which in WHICH else "disagreed",  # type: ignore[arg-type]
        words=text(given, "words"),
        person=number(given, "person"),
        noted=given.get("noted") == "1",
        after=number(given, "after"),
    )


def _items(connection: Connection, search: Search) -> dict[str, Any]:
    rows, more = find_items(connection, search)
    return {
        "rows": rows,
        "search": search,
        "stage": search.which,
        "more": more,
        "stages": stages(connection),
        "people": everyone(connection),
    }


def _value(site: Site, said: str) -> float | None:
    """A value of the scale; None for "cannot tell".

    Raises:
        MarkschemeError: it is neither.
    """
    if said == "cannot_tell":
        return None
    values = site.project.choices.values
    if said not in values:
        raise MarkschemeError("that is not on the scale")
    return values[said]


def _item(connection: Connection, project: Project, item_id: int) -> dict[str, Any]:
    item = connection.execute(select(t.items).where(t.items.c.id == item_id)).one_or_none()
    given = connection.execute(
        select(t.ratings, t.people.c.name)
        .join(t.people, t.people.c.id == t.ratings.c.person_id)
        .where(t.ratings.c.item_id == item_id)
        .order_by(t.ratings.c.saved_at)
    ).all()
    people = everyone(connection)
    names = {one.id: one.name for one in people}
    systems = connection.execute(
        select(t.sources.c.system, t.sources.c.answer_id, t.sources.c.text_place)
        .where(t.sources.c.item_id == item_id)
        .order_by(t.sources.c.row_place)
    ).all()
    return {
        "item": item,
        "problem": "",
        "people": [p for p in people if p.role != ADMIN and p.active],
        "texts": orjson.loads(item.texts) if item else [],
        "references": orjson.loads(item.refs) if item else [],
        "given": given,
        "trail": changes(connection, item_id),
        "sentence": lambda one: sentence(
            one.action, one.detail, name=one.name, scale=project.choices, people=names
        ),
        "systems": systems,
        "moment": lambda at: time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(at)),
    }


async def _download(site: Site, kind: str) -> Response:
    from markscheme.annotate.exports import export

    try:
        found = await site.read(lambda c: export(c, site.project, kind))
    except MarkschemeError as error:
        raise refused("export", 409, problem=str(error)) from None
    out = io.BytesIO()
    found.table.write_ndjson(out)
    return Response(
        out.getvalue(),
        media_type="application/x-ndjson",
        headers={
            "content-disposition": f'attachment; filename="{kind}.jsonl"',
            "x-markscheme-trail": f"{found.trail['change']} {found.trail['digest']}",
        },
    )
