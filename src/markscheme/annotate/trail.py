"""What happened: every change as it is stored, and as a sentence: `Ann labelled it Correct`."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import orjson
from sqlalchemy import Connection, insert, select

from markscheme.annotate import tables as t
from markscheme.annotate.scales import Scale


def log(connection: Connection, action: str, detail: Mapping[str, Any], **columns: Any) -> None:
    """Store a change.

    Args:
        connection: open on the project's database, in the transaction of the change.
        action: what was done.
        detail: what JSON can hold.
        columns: others of the table `events`: who, to which item, by which submission, when.
    """
    values = {"at": time.time(), "detail": orjson.dumps(detail).decode(), **columns}
    connection.execute(insert(t.events).values(action=action, **values))


def changes(connection: Connection, item_id: int | None = None) -> Sequence[t.AnyRow]:
    """Every change, or those of an item, oldest first, with the `name` of who made it."""
    query = (
        select(
            t.events.c.at, t.people.c.name, t.events.c.item_id, t.events.c.action,
            t.events.c.detail,
        )
        .outerjoin(t.people, t.people.c.id == t.events.c.person_id)
        .order_by(t.events.c.id)
    )  # fmt: skip
    if item_id is not None:
        query = query.where(t.events.c.item_id == item_id)
    return connection.execute(query).all()


def sentence(
    action: str, detail: str, *, name: str | None, scale: Scale, people: Mapping[int, str]
) -> str:
    """One event of the audit trail as a sentence without its end; an action that is not known is
    named as it is stored.

    Args:
        action: what was done, as stored.
        detail: the event's JSON.
        name: who did it; None where nobody is known.
        scale: names the values.
        people: names by id, for events that mention somebody else.
    """
    who = name or "Somebody"
    found = orjson.loads(detail)
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
    if "after" not in found:
        return f"{who}: {action}"
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
