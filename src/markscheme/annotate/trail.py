"""What happened: every change as it is stored, and as a sentence: `Ann labelled it Correct`.

Each event has a digest of itself and of the event before, and the table `trail` has the last one,
signed where MARKSCHEME_SEAL_KEY is set. An event of a rating holds the rating and its item's label
as they then are, others hold digests of the tables that they changed. So `check` sees whether the
tables are what the events made of them.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import orjson
from sqlalchemy import Connection, bindparam, select, text
from sqlalchemy.exc import SQLAlchemyError

from markscheme.annotate import tables as t
from markscheme.annotate.scales import Scale
from markscheme.errors import RunError
from markscheme.storage import Chain, digest_of_rows

ANSWERED = ("labelled", "cannot_tell")
MADE = "project made"
"""The event with which a project begins; `known` of it has who labelled what before."""

# Statements of every label are built once: building costs more than the database does.
_RATED = (
    *("item_id", "person_id", "part", "state", "value", "ranks", "value_before", "suggested"),
    *("note", "version", "shown_at", "saved_at", "seconds"),
)
_RATINGS = select(*(t.ratings.c[name] for name in _RATED))
_RATING = _RATINGS.where(
    t.ratings.c.item_id == bindparam("item"), t.ratings.c.person_id == bindparam("person")
)
_STAGES = select(t.items.c.id, t.items.c.stage, t.items.c.final)
_STAGE = _STAGES.where(t.items.c.id == bindparam("item"))
CHAIN = Chain(
    t.events,
    t.trail,
    ("id", "at", "person_id", "item_id", "action", "submission", "detail"),
)


def log(
    connection: Connection,
    action: str,
    detail: Mapping[str, Any],
    *,
    covers: Iterable[str] = (),
    rated: bool = False,
    **columns: Any,
) -> None:
    """Store a change, once it is made.

    Args:
        connection: open on the project's database, in the transaction of the change.
        action: what was done.
        detail: what JSON can hold.
        covers: tables of `FIXED` that it changed.
        rated: whether it changed the person's rating of the item.
        columns: others of the table `events`: who, to which item, by which submission, when.

    Raises:
        RunError: what is in the trail was not signed with this process's secret.
    """
    may_go_on(connection)
    detail = dict(detail)
    if covers:
        detail["tables"] = _contents(connection, covers)
    if rated:
        which = {"item": columns["item_id"], "person": columns["person_id"]}
        detail["ratings"] = [list(row) for row in connection.execute(_RATING, which)]
        detail["items"] = [list(row) for row in connection.execute(_STAGE, {"item": which["item"]})]
    event = {"at": time.time(), **columns, "action": action}
    CHAIN.add(connection, event | {"detail": orjson.dumps(detail).decode()})


def begin(connection: Connection, action: str, **detail: Any) -> None:
    """Begin the chain with all that is there, as it is; events before it are retained."""
    detail["before"] = CHAIN.begin(connection)
    detail["ratings"] = [list(row) for row in connection.execute(_RATINGS)]
    detail["items"] = [*stages_of(connection).values()]
    schema = ["schema"] if connection.dialect.name == "sqlite" else []
    log(connection, action, detail, covers=[*t.FIXED, *schema])


def stages_of(connection: Connection) -> dict[int, list[Any]]:
    """Of each item its id, stage and label."""
    return {row.id: list(row) for row in connection.execute(_STAGES)}


def may_go_on(connection: Connection) -> None:
    """Whether more may follow.

    Raises:
        RunError: the trail is not signed with this process's secret, or is and there is none here.
    """
    if problem := CHAIN.unsigned(connection):
        raise _refused(connection, problem)


def check(connection: Connection) -> t.AnyRow:
    """Whether the project is what its trail made of it; returns the end of the trail.

    Raises:
        RunError: it is not.
    """
    try:
        end, before, events = CHAIN.read(connection)
        changed = _changed(connection, before, [orjson.loads(row.detail) for row in events])
    except (SQLAlchemyError, ValueError, TypeError, LookupError, AttributeError) as error:
        problem = " ".join(str(getattr(error, "orig", error)).split())
        raise _refused(connection, problem) from None
    if changed:
        raise _refused(connection, f"{changed[0]} is not as its trail has it")
    return end


def _changed(connection: Connection, before: str, details: list[dict[str, Any]]) -> list[str]:
    """What is not as the events of the chain made it."""
    tables: dict[str, str] = {}
    ratings: dict[tuple[int, int], list[Any]] = {}
    items: dict[int, list[Any]] = {}
    for detail in details:
        tables |= detail.get("tables", {})
        ratings |= {(one[0], one[1]): one for one in detail.get("ratings", ())}
        items |= {one[0]: one for one in detail.get("items", ())}
    changed = ["what happened before"] if details[0]["before"] != before else []
    now = _contents(connection, tables)
    changed += [f"the table {name}" for name in tables if tables[name] != now[name]]
    rated = {(row.item_id, row.person_id): list(row) for row in connection.execute(_RATINGS)}
    changed += [
        f"the rating of item {key[0]} by person {key[1]}"
        for key in rated.keys() | ratings.keys()
        if _answered(rated.get(key)) != _answered(ratings.get(key))
    ]
    final = stages_of(connection)
    return changed + [f"the label of item {key}" for key in final if final[key] != items.get(key)]


def _answered(rating: list[Any] | None) -> list[Any] | None:
    """A rating that is an answer: what else is claimed or put off is in no trail."""
    return rating if rating and rating[_RATED.index("state")] in ANSWERED else None


def _refused(connection: Connection, problem: str) -> RunError:
    problem = problem.encode(errors="backslashreplace").decode()  # It may quote bytes of no text.
    url = connection.engine.url
    name = url.database if connection.dialect.name == "sqlite" else url.render_as_string()
    return RunError(
        f"the project {name} was damaged or changed: {problem}. Restore a copy, or continue it as "
        f"it is with 'markscheme annotate --project {name} --adopt', which its trail records"
    )


def _contents(connection: Connection, names: Iterable[str]) -> dict[str, str]:
    queries = {name: _SCHEMA if name == "schema" else select(*t.FIXED[name]) for name in names}
    return {name: digest_of_rows(connection.execute(query)) for name, query in queries.items()}


_SCHEMA = text("SELECT type, name, tbl_name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'")


def known_ratings(connection: Connection) -> list[tuple[int, str, float]]:
    """The annotators' labels in the project's file: the item's id, a name, the label."""
    query = select(t.events.c.detail).where(t.events.c.action == MADE).order_by(t.events.c.id)
    detail = connection.scalars(query.limit(1)).first()
    found = orjson.loads(detail).get("known", ()) if detail else ()
    return [(item, name, label) for item, name, label in found]


def changes(connection: Connection, item_id: int | None = None) -> Sequence[t.AnyRow]:
    """Every change, or those of an item, oldest first, with the `name` of who made it."""
    query = (
        select(
            t.events.c.at,
            t.people.c.name,
            t.events.c.item_id,
            t.events.c.action,
            t.events.c.detail,
        )
        .outerjoin(t.people, t.people.c.id == t.events.c.person_id)
        .order_by(t.events.c.id)
    )
    if item_id is not None:
        query = query.where(t.events.c.item_id == item_id)
    return connection.execute(query).all()


def sentence(
    action: str, detail: str, *, name: str | None, scale: Scale, people: Mapping[int, str]
) -> str:
    """One event of the audit trail as a sentence without its end; one that is not known, or has not
    what such events have, is named as it is stored.

    Args:
        action: what was done, as stored.
        detail: the event's JSON.
        name: who did it; None where nobody is known.
        scale: names the values.
        people: names by id, for events that mention somebody else.
    """
    who = name or "Somebody"
    try:
        return _sentence(action, orjson.loads(detail), who, scale, people)
    except (LookupError, TypeError, ValueError):
        return f"{who}: {action}"


def _sentence(
    action: str, found: Mapping[str, Any], who: str, scale: Scale, people: Mapping[int, str]
) -> str:
    if action == "undo":
        return f"{who} took back: {_said(found['before'], scale)}"
    if action == "conflict":
        return (
            f"{who} sent an answer from an outdated page, which was not saved: "
            f"{_said(found['sent'], scale)}; unchanged: {_said(found['kept'], scale)}"
        )
    if action == "put back by the admin":
        return f"{who} put it back before others ({found['ratings']} open or skipped)"
    if action == "given out by the admin":
        return f"{who} gave it to {people.get(found['person'], 'somebody')}"
    if action.endswith(" by the admin"):  # Projects of 0.1.0 have another verb here.
        return f"{who} decided it as {scale.name_of(found['value'])}"
    note = f", with the note “{found['after']['note']}”" if found["after"]["note"] else ""
    helped = " after seeing the suggestion" if found["after"]["after_suggestion"] else ""
    after = _said(found["after"], scale)
    if action.startswith("change to "):
        return f"{who} changed {_said(found['before'], scale)} to {after}{helped}{note}"
    verbs = {"skipped": "skipped it", "cannot tell": "could not tell"}
    return f"{who} {verbs.get(after, f'labelled it {after}')}{helped}{note}"


def _said(rating: Mapping[str, Any], scale: Scale) -> str:
    """A rating in words."""
    if rating["state"] != "labelled":
        # Claimed is what an item is after an answer to it was taken back.
        states = {"claimed": "no answer"}
        return states.get(rating["state"], str(rating["state"]).replace("_", " "))
    if rating["ranks"]:
        return "with ranks " + ", ".join(map(str, rating["ranks"]))
    return scale.name_of(rating["value"])
