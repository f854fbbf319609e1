"""What an annotator meets: an item, its form, the way back, and a look at their own labels."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from sqlalchemy import Connection, select
from starlette.datastructures import FormData

from markscheme.annotate import tables as t
from markscheme.annotate.assign import Shown, look_at, next_item
from markscheme.annotate.context import Site, is_htmx, number, refused, text
from markscheme.annotate.people import Person, count_role, labels_given
from markscheme.annotate.project import Project
from markscheme.annotate.ratings import Submission, in_words, look_again, save, undo
from markscheme.annotate.render import guidelines_html, page
from markscheme.reports import why

LEAST_PACED = 10
"""Items from which a person's pace foretells what is left."""


@dataclass(frozen=True, kw_only=True)
class Progress:
    """Counts for the top of the page, in which a gold item counts like any other of the person's.

    Attributes:
        done: items the person has answered.
        share: how many are about theirs, where the others do as many; None for adjudicators.
        labels: first labels of the project, and whatever else an annotator has answered.
        wanted: about how many of these finish it.
        seconds_left: for the person, at their pace; None before ten items have shown it.
    """

    done: int
    share: int | None
    labels: int
    wanted: int
    seconds_left: float | None

    @property
    def part(self) -> float:
        """Of the person's share, from 0 to 1."""
        return min(1.0, self.done / self.share) if self.share else 0.0


def progress_of(connection: Connection, person: Person, project: Project) -> Progress:
    """Progress of a person, whose own counts are taken as given."""
    annotators = count_role(connection, "annotator")
    labels, wanted = labels_given(connection), project.labels_wanted
    share = None
    if person.role == "annotator" and annotators:
        share = project.share(annotators)
        gold = project.gold_among(share)
        share = max(share + gold, person.rated)
        # A count that a label leaves as it was would tell that the item was gold.
        labels += person.rated - person.first_rated
        wanted = max(wanted + gold, labels)
    left = None
    # One item's time says little; an estimate from it would be hours off.
    if share is not None and person.pace_seconds is not None and person.rated >= LEAST_PACED:
        left = (share - person.rated) * person.pace_seconds
    return Progress(
        done=person.rated,
        share=share,
        labels=labels,
        wanted=wanted,
        seconds_left=left,
    )


LONGEST_NOTE = 2000
PAGE_ROWS = 50


@dataclass(frozen=True, kw_only=True)
class View:
    """What the work area shows.

    Attributes:
        item: None if nothing is left.
        mode: `new`, `edit` (an earlier answer), `conflict` (another tab was first) or `suggestion`.
        say: what just happened, for everybody and for screen readers.
        suggestion: what a judge says, after the person's own word.
    """

    person: Person
    progress: Progress
    item: Shown | None = None
    mode: str = "new"
    say: str = ""
    suggestion: t.AnyRow | None = None


def work_routes(site: Site) -> APIRouter:
    """The pages of annotators and adjudicators."""
    routes = APIRouter()

    async def answer(
        request: Request, work: Callable[[Connection, Person], View | None], *, whole: bool = False
    ) -> Response:
        found = await site.act(request, work)
        if found is None:
            raise refused("item", 404)
        values = site.base(request, found.person, view=found, why=None)
        if found.mode == "suggestion" and found.item is not None:
            item = found.item
            # Not in the transaction: others' labels would wait for it.
            values["why"] = await asyncio.to_thread(
                why, item.question, item.references, item.texts[0]
            )
        if is_htmx(request):
            status = 409 if found.mode == "conflict" else 200
            return HTMLResponse(page("work_area.html", **values), status)
        if not whole and found.mode == "new":
            return RedirectResponse("/", 303)
        guidelines = guidelines_html(site.project.guidelines)
        return HTMLResponse(page("work.html", guidelines=guidelines, **values))

    @routes.get("/")
    async def work(request: Request) -> Response:
        return await answer(request, lambda c, p: _next(c, p, site.project), whole=True)

    @routes.get("/mine/{item_id}")
    async def again(request: Request, item_id: int) -> Response:
        def look(connection: Connection, person: Person) -> View | None:
            item = look_at(connection, person, item_id)
            if item is None:
                return None
            return _view(connection, person, site.project, item, mode="edit")

        return await answer(request, look, whole=True)

    @routes.post("/label")
    async def label(request: Request) -> Response:
        fields = await site.form(request)
        sent = read_submission(fields, site.project)
        if sent is None:
            raise refused("label", 422)
        return await answer(request, lambda c, p: _save(c, p, site.project, sent))

    @routes.post("/undo")
    async def back(request: Request) -> Response:
        fields = await site.form(request)
        submission = text(fields, "submission", 64)

        def take_back(connection: Connection, person: Person) -> View:
            done, said = undo(connection, person, site.project, submission)
            say = f"Taken back: {said}." if said else "There is nothing to take back."
            return _next(connection, done.person, site.project, say)

        return await answer(request, take_back)

    @routes.post("/again")
    async def skipped_again(request: Request) -> Response:
        await site.form(request)

        def put_back(connection: Connection, person: Person) -> View:
            after = look_again(connection, person)
            return _next(connection, after, site.project, "Here is what you skipped.")

        return await answer(request, put_back)

    @routes.get("/mine")
    async def mine(request: Request, before: float | None = None) -> Response:
        def rows(connection: Connection, person: Person) -> tuple[Person, list[Any]]:
            return person, _own_labels(connection, person, before)

        person, labels = await site.act(request, rows)
        more = labels[-1].saved_at if len(labels) == PAGE_ROWS else None
        return HTMLResponse(page("mine.html", **site.base(request, person, rows=labels, more=more)))

    return routes


def read_submission(fields: FormData, project: Project) -> Submission | None:
    """A label as the form sends it; None if it is none on the project's scale."""
    item, version = number(fields, "item"), number(fields, "version")
    submission, said = text(fields, "submission", 64), text(fields, "say", 20)
    if item is None or version is None or not submission:
        return None
    note = text(fields, "note", LONGEST_NOTE).replace("\r\n", "\n").strip()
    value: float | None = None
    ranks: tuple[int, ...] | None = None
    if said in ("cannot_tell", "skip"):
        pass
    elif project.scale == "rank" and said == "ranks":
        ranks = _ranks(fields)
        if ranks is None:
            return None
    else:
        value = project.choices.values.get(said)
        if value is None:
            return None
    return Submission(
        item_id=item,
        submission=submission,
        version=version,
        action="cannot_tell" if said == "cannot_tell" else "skip" if said == "skip" else "label",
        value=value,
        ranks=ranks,
        note=note,
    )


def _ranks(fields: FormData) -> tuple[int, ...] | None:
    """The rank of each text, 1 + how many are better, ties alike; None unless each has a place."""
    count = number(fields, "texts") or 0
    given = [number(fields, f"rank{place}") for place in range(min(count, 100))]
    ranks = [rank for rank in given if rank is not None and 1 <= rank <= count]
    if not count or len(ranks) < count:
        return None
    return tuple(1 + sum(other < rank for other in ranks) for rank in ranks)


def _next(connection: Connection, person: Person, project: Project, say: str = "") -> View:
    return _view(connection, person, project, next_item(connection, person, project), say=say)


def _view(
    connection: Connection, person: Person, project: Project, item: Shown | None, **shown: Any
) -> View:
    progress = progress_of(connection, person, project)
    return View(person=person, progress=progress, item=item, **shown)


def _save(
    connection: Connection, person: Person, project: Project, sent: Submission
) -> View | None:
    ranked = look_at(connection, person, sent.item_id) if sent.ranks else None
    if ranked is not None and sent.ranks is not None and len(sent.ranks) != len(ranked.texts):
        return None
    done = save(connection, person, project, sent)
    if done.result == "unknown":
        return None
    if done.result == "conflict":
        item = look_at(connection, person, sent.item_id)
        say = "Not saved: you have already answered this item elsewhere."
        return _view(connection, done.person, project, item, mode="conflict", say=say)
    say = f"Saved: {in_words(sent, project)}."
    if done.suggestion is None:
        return _next(connection, done.person, project, say)
    item = look_at(connection, person, sent.item_id)
    judged = "has a score" if done.suggestion.value is None else "says something else"
    shown = {"mode": "suggestion", "say": f"{say} A judge {judged}."}
    return _view(connection, done.person, project, item, suggestion=done.suggestion, **shown)


def _own_labels(connection: Connection, person: Person, before: float | None) -> list[Any]:
    query = (
        select(
            t.items.c.id,
            t.items.c.question,
            t.items.c.texts,
            t.ratings.c.state,
            t.ratings.c.value,
            t.ratings.c.note,
            t.ratings.c.saved_at,
        )
        .join(t.ratings, t.ratings.c.item_id == t.items.c.id)
        .where(
            t.ratings.c.person_id == person.id,
            t.ratings.c.state.in_(("labelled", "cannot_tell", "skipped")),
        )
    )
    if before is not None:
        query = query.where(t.ratings.c.saved_at < before)
    return list(connection.execute(query.order_by(t.ratings.c.saved_at.desc()).limit(PAGE_ROWS)))
