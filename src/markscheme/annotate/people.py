"""Who may do what: annotators, adjudicators and the admin, their links and their sessions."""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass, fields
from typing import Literal

from sqlalchemy import Connection, String, bindparam, delete, func, insert, select, update

from markscheme.annotate import tables as t
from markscheme.annotate import tokens
from markscheme.annotate.trail import log
from markscheme.errors import MarkschemeError

Role = Literal["annotator", "adjudicator", "admin"]
ADMIN = "admin"
SESSION_SECONDS = 30 * 24 * 3600.0
LONGEST_NAME = 80


@dataclass(frozen=True, kw_only=True)
class Person:
    """Somebody with a link, and the counts that are stored with them.

    Attributes:
        rated: items answered, all parts (first label, third label, gold).
        first_rated: of these, as one of an item's first annotators.
        skipped: items put off.
        since_gold: answered since the last gold item.
        pace_seconds: moving average of the time an item takes.
    """

    id: int
    name: str
    role: Role
    active: bool
    rated: int
    first_rated: int
    skipped: int
    since_gold: int
    pace_seconds: float | None


_PERSON = tuple(t.people.c[one.name] for one in fields(Person))
_SESSION = (
    select(*_PERSON, t.sessions.c.secret_hash, t.sessions.c.expires_at)
    .join(t.sessions, t.sessions.c.person_id == t.people.c.id)
    .where(t.sessions.c.id == bindparam("session", type_=String))
)
_COUNT_ROLE = select(func.count()).where(
    t.people.c.role == bindparam("role", type_=String), t.people.c.active == 1
)


_LABELS = select(func.sum(t.people.c.first_rated))


def labels_given(connection: Connection) -> int:
    """How many first labels the project has."""
    return int(connection.execute(_LABELS).scalar() or 0)


def _person(row: t.AnyRow) -> Person:
    values = dict(zip((column.name for column in _PERSON), row, strict=False))
    return Person(**(values | {"active": bool(values["active"])}))


def everyone(connection: Connection) -> list[Person]:
    """All people in the order in which they were added."""
    return [_person(row) for row in connection.execute(select(*_PERSON).order_by(t.people.c.id))]


def plain_name(name: str) -> str:
    """A name as it is stored, whatever white space it was written with."""
    return " ".join(name.split())


def add_person(connection: Connection, name: str, role: Role) -> str:
    """Add somebody; returns their token, which is stored nowhere.

    Raises:
        MarkschemeError: an empty, overlong or taken name.
    """
    name = plain_name(name)
    if not name or len(name) > LONGEST_NAME:
        raise MarkschemeError(f"a name has 1 to {LONGEST_NAME} characters")
    if taken := [person.role for person in everyone(connection) if person.name == name]:
        raise MarkschemeError(f"there is already a person called {name!r}: {taken[0]}")
    token = tokens.fresh()
    made = connection.execute(
        insert(t.people)
        .values(
            name=name,
            role=role,
            token_hash=token.hash,
            active=1,
            rated=0,
            first_rated=0,
            skipped=0,
            since_gold=0,
            created_at=time.time(),
        )
        .returning(t.people.c.id)
    ).scalar_one()
    added = {"person": made, "name": name, "role": role}
    log(connection, "person added", added, covers=("people",))
    return f"{made}.{token.secret}"


def new_token(connection: Connection, person_id: int) -> str:
    """A new link for somebody; the old one and all sessions end."""
    token = tokens.fresh()
    connection.execute(
        update(t.people).where(t.people.c.id == person_id).values(token_hash=token.hash)
    )
    connection.execute(delete(t.sessions).where(t.sessions.c.person_id == person_id))
    log(connection, "new link", {"person": person_id}, covers=("people",))
    return f"{person_id}.{token.secret}"


def set_active(connection: Connection, person_id: int, *, active: bool) -> None:
    """Let somebody in again, or shut them out, sessions included; their labels stay.

    What they had been shown and not answered goes back to the others.
    """
    connection.execute(
        update(t.people).where(t.people.c.id == person_id).values(active=int(active))
    )
    if not active:
        connection.execute(delete(t.sessions).where(t.sessions.c.person_id == person_id))
        held = (t.ratings.c.person_id == person_id) & (t.ratings.c.state == "claimed")
        first = select(t.ratings.c.item_id).where(held, t.ratings.c.part == "first")
        connection.execute(
            update(t.items).where(t.items.c.id.in_(first)).values(taken=t.items.c.taken - 1)
        )
        # Whatever its stage: others may yet change their labels, and it is a disagreement again.
        connection.execute(
            update(t.items).where(t.items.c.third_id == person_id).values(third_id=None)
        )
        connection.execute(update(t.ratings).where(held).values(state="lapsed"))
    action = "let in" if active else "shut out"
    log(connection, action, {"person": person_id}, covers=("people",))


def sign_in(connection: Connection, token: str) -> str | None:
    """A session for the owner of a personal link's token; None if it is nobody's."""
    identity, secret = tokens.split(token)
    known = None
    if identity.isdecimal() and len(identity) < 10:
        known = connection.execute(
            select(t.people.c.id, t.people.c.token_hash).where(
                t.people.c.id == int(identity), t.people.c.active == 1
            )
        ).one_or_none()
    # Compared even where nobody was found, so that time does not tell who exists.
    fits = tokens.matches(secret, known.token_hash if known else tokens.hash_of(""))
    if known is None or not fits:
        return None
    session, made = secrets.token_urlsafe(12), tokens.fresh()
    now = time.time()
    connection.execute(delete(t.sessions).where(t.sessions.c.expires_at < now))
    connection.execute(
        insert(t.sessions).values(
            id=session, secret_hash=made.hash, person_id=known.id, expires_at=now + SESSION_SECONDS
        )
    )
    return f"{session}.{made.secret}"


def person_of(connection: Connection, session: str) -> Person | None:
    """Whose session it is; None if it is nobody's, ended or expired."""
    identity, secret = tokens.split(session)
    if not identity:
        return None
    row = connection.execute(_SESSION, {"session": identity}).one_or_none()
    if row is None or not tokens.matches(secret, row.secret_hash):
        return None
    return _person(row) if row.active and row.expires_at > time.time() else None


def sign_out(connection: Connection, session: str) -> None:
    """End a session."""
    connection.execute(delete(t.sessions).where(t.sessions.c.id == tokens.split(session)[0]))


def count_role(connection: Connection, role: Role) -> int:
    """How many active people have a role."""
    return connection.execute(_COUNT_ROLE, {"role": role}).scalar_one()
