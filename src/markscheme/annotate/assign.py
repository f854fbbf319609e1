"""Which item a person gets next, and how a claim keeps two people from doing the same work."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import orjson
from sqlalchemy import (
    ColumnElement,
    Connection,
    Integer,
    and_,
    bindparam,
    exists,
    insert,
    or_,
    select,
    update,
)

from markscheme.annotate import tables as t
from markscheme.annotate.people import Person, count_role
from markscheme.annotate.project import Project

LEASE_SECONDS = 30 * 60.0
"""How long an item shown and not answered stays with one person while others have nothing."""

_SHOWN = (
    t.items.c.id,
    t.items.c.question,
    t.items.c.texts,
    t.items.c.refs,
    t.items.c.context,
)


_RATING = ("part", "version", "state", "value", "note")


def _looking() -> Any:
    rating = (t.ratings.c[name] for name in (*_RATING, "ranks"))
    return select(*_SHOWN, *rating).join(t.ratings, t.ratings.c.item_id == t.items.c.id)


# Statements of every label are built once: building costs more than the database does.
_PERSON: ColumnElement[int] = bindparam("person", type_=Integer)
_SEEN = exists().where(t.ratings.c.item_id == t.items.c.id, t.ratings.c.person_id == _PERSON)
_BEFORE_THEM = (
    _looking()
    .where(t.ratings.c.person_id == _PERSON, t.ratings.c.state == "claimed")
    .order_by(t.ratings.c.shown_at.desc())
    .limit(1)
)
_UNSEEN = {
    part: select(*_SHOWN).where(*where, ~_SEEN).order_by(t.items.c.place).limit(1)
    for part, where in {
        "gold": (t.items.c.stage == "gold",),
        "third": (
            t.items.c.stage == "disagreed",
            or_(t.items.c.third_id.is_(None), t.items.c.third_id == _PERSON),
        ),
        "first": (
            t.items.c.stage == "open",
            t.items.c.taken < bindparam("per_item", type_=Integer),
        ),
    }.items()
}


_LARGEST_ID = 2**63 - 1


@dataclass(frozen=True, kw_only=True)
class Shown:
    """An item as a person may see it: nothing of systems, judges or other people's labels.

    Attributes:
        texts: the answer, or the answers to rank.
        part: `first`, `third` (a disagreement to settle) or `gold`; only adjudicators see it.
        version: of the person's own rating, for optimistic concurrency; 0 before the first.
        state: of that rating.
        value: their earlier label, if they look at it again.
        ranks: likewise, the rank of each text.
        note: likewise.
    """

    item_id: int
    question: str
    texts: list[str]
    references: list[str]
    context: str | None
    part: str
    version: int
    state: str = "claimed"
    value: float | None = None
    ranks: list[int] | None = None
    note: str = ""


def next_item(connection: Connection, person: Person, project: Project) -> Shown | None:
    """The item the person has before them, or a new one, claimed; None if nothing is left."""
    now = time.time()
    row = connection.execute(_BEFORE_THEM, {"person": person.id}).one_or_none()
    if row is not None:
        return _shown(row)
    for part, find in (("gold", _gold), ("third", _third), ("first", _first)):
        found = find(connection, person, project)
        if found is not None:
            claim(connection, person.id, found.id, part, now)
            return _shown(found, part=part, version=0)
    return _again(connection, person, project, now) or _take_over(connection, person, project, now)


def look_at(connection: Connection, person: Person, item_id: int) -> Shown | None:
    """An item that the person was shown before."""
    if not 0 <= item_id <= _LARGEST_ID:
        return None  # No database has it, and none takes it.
    row = connection.execute(
        _looking().where(t.ratings.c.person_id == person.id, t.ratings.c.item_id == item_id)
    ).one_or_none()
    return None if row is None else _shown(row)


def _shown(row: t.AnyRow, **rating: Any) -> Shown:
    """A row of an item with the person's rating of it; of that `rating` has what is new."""
    values = {**row._mapping, **rating}
    ranks = values.get("ranks")
    own = {name: values[name] for name in _RATING if name in values}
    return Shown(
        item_id=row.id,
        question=row.question,
        texts=orjson.loads(row.texts),
        references=orjson.loads(row.refs),
        context=row.context,
        ranks=orjson.loads(ranks) if ranks else None,
        **own,
    )


def _unseen(connection: Connection, person: Person, project: Project, part: str) -> t.AnyRow | None:
    known = {"person": person.id, "per_item": project.per_item}
    return connection.execute(_UNSEEN[part], known).one_or_none()


def _gold(connection: Connection, person: Person, project: Project) -> t.AnyRow | None:
    if not project.gold or person.role != "annotator" or person.since_gold < project.gold_every:
        return None
    return _unseen(connection, person, project, "gold")


def _third(connection: Connection, person: Person, project: Project) -> t.AnyRow | None:
    if not may_settle(connection, person, project):
        return None
    return _unseen(connection, person, project, "third")


def may_settle(connection: Connection, person: Person, project: Project) -> bool:
    """Whether disagreements come to this person: adjudicators, or all where there are none."""
    if not project.adjudicate:
        return False
    return person.role == "adjudicator" or count_role(connection, "adjudicator") == 0


def _first(connection: Connection, person: Person, project: Project) -> t.AnyRow | None:
    if person.role != "annotator":
        return None
    while True:
        found = _unseen(connection, person, project, "first")
        if found is None or _take(connection, found.id, project):
            return found


def _take(connection: Connection, item_id: int, project: Project) -> bool:
    """Count one more person on an item, unless another process has just filled it."""
    taken = connection.execute(
        update(t.items)
        .where(t.items.c.id == item_id, t.items.c.taken < project.per_item)
        .values(taken=t.items.c.taken + 1)
    )
    return taken.rowcount == 1


def claim(
    connection: Connection,
    person_id: int,
    item_id: int,
    part: str,
    now: float,
    *,
    again: bool = False,
) -> None:
    """Put an item before a person, who may have had it `again`; `taken` is for the caller."""
    if part == "third":
        third = update(t.items).where(t.items.c.id == item_id).values(third_id=person_id)
        connection.execute(third)
    shown = {"part": part, "state": "claimed", "shown_at": now}
    if again:
        mine = (t.ratings.c.item_id == item_id) & (t.ratings.c.person_id == person_id)
        connection.execute(update(t.ratings).where(mine).values(shown))
        return
    bare = {"suggested": 0, "note": "", "version": 0}
    whose = {"item_id": item_id, "person_id": person_id}
    connection.execute(insert(t.ratings).values(whose | bare | shown))


def _again(connection: Connection, person: Person, project: Project, now: float) -> Shown | None:
    """An item the person had let go (lapsed, or skipped and then wanted) that still needs one."""
    wanting = or_(
        t.items.c.stage == "gold",
        and_(t.items.c.stage == "open", t.items.c.taken < project.per_item),
        and_(t.items.c.stage == "disagreed", t.items.c.third_id.is_(None)),
    )
    part = or_(_needed(t.ratings.c.part), t.ratings.c.part == "gold")
    row = connection.execute(
        _looking()
        .where(t.ratings.c.person_id == person.id, t.ratings.c.state == "lapsed", wanting, part)
        .order_by(t.ratings.c.shown_at)
        .limit(1)
    ).one_or_none()
    if row is None:
        return None
    if row.part == "first" and not _take(connection, row.id, project):
        return None
    claim(connection, person.id, row.id, row.part, now, again=True)
    return _shown(row, state="claimed")


def _needed(part: ColumnElement[str]) -> ColumnElement[bool]:
    """Whether the item's label still waits for a rating of this part."""
    return or_(
        and_(part == "first", t.items.c.stage == "open"),
        and_(part == "third", t.items.c.stage == "disagreed"),
    )


def _take_over(
    connection: Connection, person: Person, project: Project, now: float
) -> Shown | None:
    """An item that somebody else was shown long ago and never answered."""
    theirs = t.ratings.alias("theirs")
    parts = ["third"] if may_settle(connection, person, project) else []
    parts += ["first"] if person.role == "annotator" else []
    stale = connection.execute(
        select(*_SHOWN, theirs.c.person_id.label("holder"), theirs.c.part)
        .join(theirs, theirs.c.item_id == t.items.c.id)
        .where(
            theirs.c.state == "claimed",
            theirs.c.part.in_(parts),
            _needed(theirs.c.part),
            theirs.c.shown_at < now - LEASE_SECONDS,
            theirs.c.person_id != person.id,
            ~_SEEN,
        )
        .order_by(theirs.c.shown_at)
        .limit(1),
        {"person": person.id},
    ).one_or_none()
    if stale is None:
        return None
    # The count of people on the item stays as it is: one goes, one comes. Should the first one
    # answer after all, that answer is saved as one more label.
    connection.execute(
        update(t.ratings)
        .where(t.ratings.c.item_id == stale.id, t.ratings.c.person_id == stale.holder)
        .values(state="lapsed")
    )
    claim(connection, person.id, stale.id, stale.part, now)
    return _shown(stale, version=0)
