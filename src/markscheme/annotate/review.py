"""The admin's review desk: items found by their labels; decided, given out, put back."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Literal, get_args

import orjson
from sqlalchemy import (
    ColumnElement,
    Connection,
    and_,
    delete,
    distinct,
    exists,
    func,
    insert,
    or_,
    select,
    tuple_,
    update,
)

from markscheme.annotate import tables as t
from markscheme.annotate.assign import claim
from markscheme.annotate.people import ADMIN, Person
from markscheme.annotate.project import Project
from markscheme.annotate.ratings import DECIDED
from markscheme.annotate.trail import ANSWERED, log
from markscheme.errors import MarkschemeError

Which = Literal["disagreed", "settled-disagreements", "skipped", "open", "settled", "gold", "all"]
WHICH = get_args(Which)
_PAGE = 50


@dataclass(frozen=True, kw_only=True)
class Search:
    """Which items are listed.

    Attributes:
        which: a stage, or `settled-disagreements` (first labels differed), or `skipped` (somebody
            put it off and it is undecided).
        words: in question, answers or references; accents and case as the database compares them.
        person: who has rated it, or put it off, by id; None for anybody.
        noted: only items with a note.
        after: the item after which the page begins, by id; None for the first page.
    """

    which: Which = "disagreed"
    words: str = ""
    person: int | None = None
    noted: bool = False
    after: int | None = None


def find_items(connection: Connection, search: Search) -> tuple[list[dict[str, Any]], int | None]:
    """A page of items in their order, and the item after which the next page begins, by id."""
    # Gold items have places of their own, so that a place is that of one item or of two.
    order = (t.items.c.place, t.items.c.id)
    last = select(*order).where(t.items.c.id == search.after)
    later = [] if search.after is None else [tuple_(*order) > last.scalar_subquery()]
    rows = connection.execute(
        select(
            t.items.c.id,
            t.items.c.question,
            t.items.c.texts,
            t.items.c.stage,
            t.items.c.final,
        )
        .where(*_conditions(search), *later)
        .order_by(*order)
        .limit(_PAGE)
    ).all()
    said = _said(connection, [row.id for row in rows])
    found = [
        {
            "id": row.id,
            "question": row.question,
            "texts": orjson.loads(row.texts),
            "stage": row.stage,
            "final": row.final,
            "said": said.get(row.id, []),
        }
        for row in rows
    ]
    return found, rows[-1].id if len(rows) == _PAGE else None


def _conditions(search: Search) -> list[ColumnElement[bool]]:
    """What an item must fulfil."""
    mine = t.ratings.c.item_id == t.items.c.id
    found: list[ColumnElement[bool]] = []
    if search.which == "settled-disagreements":
        # "Cannot tell" is a word of its own, next to the values.
        kinds = select(func.count(distinct(func.coalesce(t.ratings.c.value, -1.0)))).where(
            mine, t.ratings.c.part == "first", t.ratings.c.state.in_(ANSWERED)
        )
        found += [t.items.c.stage == "settled", kinds.scalar_subquery() > 1]
    elif search.which == "skipped":
        found += [
            t.items.c.stage.in_(("open", "disagreed")),
            exists().where(mine, t.ratings.c.state == "skipped"),
        ]
    elif search.which != "all":
        found.append(t.items.c.stage == search.which)
    for word in search.words.split()[:10]:
        as_json = orjson.dumps(word).decode()[1:-1]  # As answers and references are stored.
        places = ((t.items.c.question, word), (t.items.c.texts, as_json), (t.items.c.refs, as_json))
        found.append(or_(*(place.icontains(one, autoescape=True) for place, one in places)))
    if search.person is not None:
        theirs = t.ratings.c.person_id == search.person
        # What somebody was only shown is not rated.
        found.append(exists().where(mine, theirs, t.ratings.c.state.in_((*ANSWERED, "skipped"))))
    if search.noted:
        found.append(exists().where(mine, t.ratings.c.note != ""))
    return found


def _said(connection: Connection, items: list[int]) -> dict[int, list[Any]]:
    """Everybody's ratings of some items."""
    rows = connection.execute(
        select(
            t.ratings.c.item_id,
            t.ratings.c.part,
            t.ratings.c.state,
            t.ratings.c.value,
            t.ratings.c.note,
            t.people.c.name,
        )
        .join(t.people, t.people.c.id == t.ratings.c.person_id)
        .where(t.ratings.c.item_id.in_(items), t.ratings.c.state != "lapsed")
        .order_by(t.ratings.c.saved_at)
    ).all()
    found: dict[int, list[Any]] = {}
    for row in rows:
        found.setdefault(row.item_id, []).append(row)
    return found


def decide(
    connection: Connection, admin: Person, project: Project, item_id: int, value: float | None
) -> None:
    """Decide an item by the admin's label; None is "cannot tell". It overrides all others.

    Who was shown or skipped it, and has not answered, no longer has it.

    Raises:
        MarkschemeError: no such item, or a value that is not on the scale.
    """
    item = _item(connection, item_id)
    known = (None, *project.choices.values.values())
    if item.stage == "gold" or value not in known:
        raise MarkschemeError("that cannot be resolved this way: it is gold, or not on the scale")
    now = time.time()
    _release(connection, item_id)
    connection.execute(
        delete(t.ratings).where(t.ratings.c.item_id == item_id, t.ratings.c.person_id == admin.id)
    )
    connection.execute(
        insert(t.ratings).values(
            item_id=item_id,
            person_id=admin.id,
            part=DECIDED,
            value=value,
            suggested=0,
            note="",
            state="cannot_tell" if value is None else "labelled",
            version=1,
            shown_at=now,
            saved_at=now,
        )
    )
    connection.execute(
        update(t.items).where(t.items.c.id == item_id).values(stage="settled", final=value)
    )
    before = {"stage": item.stage, "final": item.final}
    _log(connection, admin, item_id, "decided", rated=True, before=before, value=value)


def put_back(connection: Connection, admin: Person, item_id: int) -> int:
    """Put an item that was shown or skipped, and not answered, back before those who had it.

    Returns how many ratings were put back.

    Raises:
        MarkschemeError: there is no such item.
    """
    _item(connection, item_id)
    count = _release(connection, item_id)
    _log(connection, admin, item_id, "put back", ratings=count)
    return count


def give_to(connection: Connection, admin: Person, item_id: int, person_id: int) -> None:
    """Assign an item to a person now; a person who had it open and unanswered loses it.

    Raises:
        MarkschemeError: no such item or person, the item is decided, or they answered it already.
    """
    item = _item(connection, item_id)
    person = connection.execute(
        select(t.people).where(
            t.people.c.id == person_id, t.people.c.active == 1, t.people.c.role != ADMIN
        )
    ).one_or_none()
    if person is None:
        raise MarkschemeError("there is no such person who labels")
    if item.stage not in ("open", "disagreed"):
        raise MarkschemeError("that item needs nobody: it is resolved, or gold")
    mine = and_(t.ratings.c.item_id == item_id, t.ratings.c.person_id == person_id)
    before = connection.execute(select(t.ratings).where(mine)).one_or_none()
    if before is not None and before.state in ANSWERED:
        raise MarkschemeError(f"{person.name} has answered that item already")
    _release(connection, item_id)
    part = "third" if item.stage == "disagreed" else "first"
    claim(connection, person_id, item_id, part, time.time(), again=before is not None)
    if part == "first":
        taken = t.items.c.taken + 1
        connection.execute(update(t.items).where(t.items.c.id == item_id).values(taken=taken))
    _log(connection, admin, item_id, "given out", person=person_id, part=part)


def _release(connection: Connection, item_id: int) -> int:
    """Let go of what was shown or skipped of an item, with all counts."""
    open_ = connection.execute(
        select(t.ratings.c.person_id, t.ratings.c.part, t.ratings.c.state).where(
            t.ratings.c.item_id == item_id, t.ratings.c.state.in_(("claimed", "skipped"))
        )
    ).all()
    for row in open_:
        connection.execute(
            update(t.ratings)
            .where(t.ratings.c.item_id == item_id, t.ratings.c.person_id == row.person_id)
            .values(state="lapsed")
        )
        if row.state == "skipped":
            connection.execute(
                update(t.people)
                .where(t.people.c.id == row.person_id)
                .values(skipped=t.people.c.skipped - 1)
            )
        elif row.part == "first":
            connection.execute(
                update(t.items).where(t.items.c.id == item_id).values(taken=t.items.c.taken - 1)
            )
        if row.part == "third":
            connection.execute(update(t.items).where(t.items.c.id == item_id).values(third_id=None))
    return len(open_)


def _item(connection: Connection, item_id: int) -> t.AnyRow:
    item = connection.execute(select(t.items).where(t.items.c.id == item_id)).one_or_none()
    if item is None:
        raise MarkschemeError("there is no such item")
    return item


def _log(
    connection: Connection,
    admin: Person,
    item_id: int,
    action: str,
    *,
    rated: bool = False,
    **detail: Any,
) -> None:
    log(
        connection,
        f"{action} by the admin",
        {"item": item_id, **detail},
        rated=rated,
        person_id=admin.id,
        item_id=item_id,
    )
