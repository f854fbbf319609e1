"""Saving, undoing and putting off: every change in one transaction, with its trace.

A submission carries an id that the page made up. The same id again is the same submission (its
answer was lost on the way) and changes nothing. It also carries the version of the rating that the
page had shown; if another tab has changed the rating since, nothing is overwritten and the person
decides.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import orjson
import polars as pl
from sqlalchemy import (
    ColumnElement,
    Connection,
    Integer,
    String,
    bindparam,
    select,
    update,
)

from markscheme.annotate import tables as t
from markscheme.annotate.options import ACCEPTED
from markscheme.annotate.people import Person
from markscheme.annotate.project import Project
from markscheme.annotate.scales import Scale, verdicts
from markscheme.annotate.trail import ANSWERED, log, stages_of

Stage = Literal["open", "disagreed", "settled"]


@dataclass(frozen=True, kw_only=True)
class Settled:
    """The state of an item. `final` is null while it is undecided, or where nobody can tell."""

    stage: Stage
    final: float | None = None


def settle(
    firsts: Sequence[float | None],
    third: Sequence[float | None],
    scale: Scale,
    *,
    wanted: int,
    adjudicate: bool,
) -> Settled:
    """The label that follows from the ratings of one item; null is "cannot tell".

    The label of most first annotators counts, if that is more than half of them; on a scale of
    grades, neighbouring grades agree and their mean counts. Otherwise the third person's label
    counts; for two annotators and two values that is the majority vote of Kamalloo et al. (2023,
    section 4.3). With no third person to ask, a disagreement ends without a label.

    Args:
        firsts: by the item's first annotators.
        third: by the third persons; the first of them counts.
        scale: decides what agreement is.
        wanted: first annotators an item.
        adjudicate: whether disagreements go to a third person.
    """
    if len(firsts) < wanted:
        return Settled(stage="open")
    if scale.name == "rank":
        return Settled(stage="settled")
    value, votes = Counter(firsts).most_common(1)[0]
    if 2 * votes > len(firsts):
        return Settled(stage="settled", final=value)
    given = [first for first in firsts if first is not None]
    if scale.near and len(given) == len(firsts) and max(given) - min(given) <= scale.near:
        return Settled(stage="settled", final=sum(given) / len(given))
    if third:
        return Settled(stage="settled", final=third[0])
    return Settled(stage="disagreed" if adjudicate else "settled")


Action = Literal["label", "cannot_tell", "skip"]
Result = Literal["saved", "repeated", "conflict", "unknown"]

DECIDED = "decided"
"""The part of a rating by which the admin decided an item."""

_STATE = {"label": "labelled", "cannot_tell": "cannot_tell", "skip": "skipped"}
_LONGEST_PAUSE = 600.0
_PACE_WEIGHT = 0.15


# Statements of every label are built once: building costs more than the database does.
_PERSON: ColumnElement[int] = bindparam("person", type_=Integer)
_DETAIL = select(t.events.c.detail).where(
    t.events.c.person_id == _PERSON,
    t.events.c.submission == bindparam("submission", type_=String),
)
_RATING = (
    select(t.ratings, t.items.c.stage, t.items.c.rated)
    .join(t.items, t.items.c.id == t.ratings.c.item_id)
    .where(
        t.ratings.c.item_id == bindparam("item", type_=Integer),
        t.ratings.c.person_id == _PERSON,
    )
)
_ANSWERS = (
    select(t.ratings.c.item_id, t.ratings.c.part, t.ratings.c.value)
    .where(t.ratings.c.state.in_(ANSWERED), t.ratings.c.part != "gold")
    .order_by(t.ratings.c.saved_at)
)
_SUGGESTION = select(t.suggestions).where(
    t.suggestions.c.item_id == bindparam("item", type_=Integer)
)


@dataclass(frozen=True, kw_only=True)
class Submission:
    """What a page sends.

    Attributes:
        submission: an id of the page's making.
        version: of the rating that the page had shown.
        value: on the project's scale, for a label that is no ranking.
        ranks: for a ranking: of each text, 1 is best.
    """

    item_id: int
    submission: str
    version: int
    action: Action
    value: float | None = None
    ranks: tuple[int, ...] | None = None
    note: str = ""

    @property
    def state(self) -> str:
        """That of a rating that has it."""
        return _STATE[self.action]


@dataclass(frozen=True, kw_only=True)
class Saved:
    """What became of a submission.

    Attributes:
        person: with counts brought up to date.
        suggestion: the judge's word on the item, which is to be shown now, as it differs.
    """

    result: Result
    person: Person
    suggestion: t.AnyRow | None = None


def save(
    connection: Connection,
    person: Person,
    project: Project,
    sent: Submission,
    *,
    now: float | None = None,
) -> Saved:
    """Save a label, a "cannot tell" or a skip, unless it was saved before or has been overtaken.

    A first label is noted as what was there before the judge's word where that is shown next: so it
    stays, in whatever way the label is changed later.
    """
    now = time.time() if now is None else now
    earlier = _detail(connection, person, sent.submission)
    if earlier is not None and earlier["item"] == sent.item_id and _repeats(earlier, sent):
        return Saved(result="repeated", person=person)
    row = _rating(connection, person, sent.item_id)
    if row is None:
        return Saved(result="unknown", person=person)
    if row.version != sent.version or earlier is not None:
        if _says_the_same(row, sent):
            return Saved(result="repeated", person=person)
        lost = {"sent": _said(sent), "kept": _kept(row)}
        log(connection, "conflict", lost, person_id=person.id, item_id=sent.item_id, at=now)
        return Saved(result="conflict", person=person)
    state = sent.state
    ranks = orjson.dumps(sent.ranks).decode() if sent.ranks and state == "labelled" else None
    answered = state in ANSWERED
    fresh = row.state == "claimed"
    seconds = round(now - row.shown_at, 3) if fresh and answered else row.seconds
    changed: dict[str, Any] = {
        "state": state,
        "value": sent.value if state == "labelled" else None,
        "ranks": ranks,
        "note": sent.note,
        "version": row.version + 1,
        "saved_at": now,
        "seconds": seconds,
    }
    suggestion = None
    # It is not shown once more to somebody who has answered, or has seen it.
    unseen = row.state not in ANSWERED and row.seconds is None and not row.suggested
    if unseen and state == "labelled":
        suggestion = _differing(connection, sent)
    if suggestion is not None:
        changed.update(suggested=1, value_before=sent.value)
    after = _count(connection, person, row, state, seconds if fresh and answered else None)
    action = sent.action if row.version == 0 else f"change to {sent.action}"
    trace: dict[str, Any] = {
        "action": action,
        "submission": sent.submission,
        "after": _said(sent) | {"after_suggestion": bool(row.suggested)},
        "at": now,
    }
    _change(connection, person, project, row, changed, **trace)
    return Saved(result="saved", person=after, suggestion=suggestion)


def undo(
    connection: Connection,
    person: Person,
    project: Project,
    submission: str,
    *,
    now: float | None = None,
) -> tuple[Saved, str | None]:
    """Take back the person's latest answer or skip; the item is before them again.

    Returns also the withdrawn answer, for a message; None if there is nothing.
    """
    now = time.time() if now is None else now
    if _detail(connection, person, submission) is not None:
        return Saved(result="repeated", person=person), None
    latest = connection.execute(
        select(t.ratings.c.item_id)
        .where(t.ratings.c.person_id == person.id, t.ratings.c.state.in_((*ANSWERED, "skipped")))
        .order_by(t.ratings.c.saved_at.desc())
        .limit(1)
    ).scalar_one_or_none()
    row = None if latest is None else _rating(connection, person, latest)
    if row is None:
        return Saved(result="unknown", person=person), None
    changed = {
        "state": "claimed",
        "value": None,
        "ranks": None,
        "version": row.version + 1,
        "shown_at": now,
    }
    after = _count(connection, person, row, "claimed", None)
    trace: dict[str, Any] = {"action": "undo", "submission": submission, "after": None, "at": now}
    _change(connection, person, project, row, changed, **trace)
    return Saved(result="saved", person=after), in_words(row, project)


def in_words(rating: Submission | t.AnyRow, project: Project) -> str:
    """What somebody says of an item, for a message."""
    if rating.state != "labelled":
        return str(rating.state).replace("_", " ")
    return "ranking" if rating.ranks else project.choices.name_of(rating.value)


def look_again(connection: Connection, person: Person) -> Person:
    """Put what the person skipped back into their queue."""
    connection.execute(
        update(t.ratings)
        .where(t.ratings.c.person_id == person.id, t.ratings.c.state == "skipped")
        .values(state="lapsed")
    )
    connection.execute(update(t.people).where(t.people.c.id == person.id).values(skipped=0))
    return replace(person, skipped=0)


_ANSWERED = {
    "item": pl.Int64,
    "person": pl.Int64,
    "name": pl.String,
    "part": pl.String,
    "state": pl.String,
    "value": pl.Float64,
    "value_before": pl.Float64,
    "suggested": pl.Int64,
    "note": pl.String,
    "seconds": pl.Float64,
    "at": pl.Float64,
    "gold": pl.Float64,
    "text_place": pl.Int64,
    "rank": pl.Int64,
    "grade": pl.Float64,
}


def answered(
    connection: Connection, project: Project, accept: Sequence[str] = ACCEPTED
) -> pl.DataFrame:
    """What people have answered of items, "cannot tell" too, in the order in which it was saved.

    Columns: `item`, `text_place`, `person`, `name`, `part`, `state`, `value`, `rank`, `note`,
    `seconds`, `at`, and labels as they are exported: `grade` (the value; of a rank 1 for the last
    and one more for each text below, ties share their mean), `own` (that before any judge's verdict
    was seen) and `gold` (the item's known one). Of a relation these are 1 where it is one of
    `accept`, else 0. A row per text for a ranking, of which the first has `text_place` 0, and one
    row for anything else.
    """
    rows = connection.execute(
        select(
            t.ratings.c.item_id,
            t.ratings.c.person_id,
            t.people.c.name,
            t.ratings.c.part,
            t.ratings.c.state,
            t.ratings.c.value,
            t.ratings.c.value_before,
            t.ratings.c.suggested,
            t.ratings.c.note,
            t.ratings.c.seconds,
            t.ratings.c.saved_at,
            t.items.c.gold,
            t.ratings.c.ranks,
        )
        .join(t.people, t.people.c.id == t.ratings.c.person_id)
        .join(t.items, t.items.c.id == t.ratings.c.item_id)
        .where(t.ratings.c.state.in_(ANSWERED))
        .order_by(t.ratings.c.saved_at)
    )
    found = []
    for *columns, ranks in rows:
        order: list[Any] = orjson.loads(ranks) if ranks else [None]
        found += [(*columns, place, rank, _grade(rank, order)) for place, rank in enumerate(order)]
    grade = pl.coalesce("grade", "value")
    before = pl.when(pl.col("suggested") == 1).then("value_before")
    said = pl.DataFrame(found, schema=_ANSWERED, orient="row").with_columns(
        pl.coalesce(before, grade).alias("own"), grade.alias("grade")
    )
    if project.scale != "relation":
        return said
    return said.with_columns(verdicts(said[name], accept) for name in ("own", "grade", "gold"))


def labels_so_far(
    connection: Connection, project: Project, said: pl.DataFrame
) -> tuple[dict[int, float | None], str]:
    """The labels of items that are resolved (null: nobody can tell), and whose, if one person's.

    Where one person worked in a project that asks for several, their labels count.

    Args:
        connection: open on the project's database.
        project: says how many people an item needs.
        said: as `answered` gives it.
    """
    decided = select(t.items.c.id, t.items.c.final).where(t.items.c.stage == "settled")
    found: dict[int, float | None] = dict(connection.execute(decided).all())
    firsts = said.filter(part="first")
    names = firsts["name"].unique()
    if project.per_item == 1 or len(names) != 1:
        return found, ""
    note = (
        f"{names[0]} alone has labelled so far: these are their labels, though the project asks "
        f"for {project.per_item} people an item"
    )
    return dict(firsts.select("item", "value").iter_rows()) | found, note


def _grade(rank: int | None, ranks: Sequence[int]) -> float | None:
    if rank is None:
        return None
    return 1.0 + sum(other > rank for other in ranks) + (ranks.count(rank) - 1) / 2


def _detail(connection: Connection, person: Person, submission: str) -> dict[str, Any] | None:
    """What was done for a submission, if it has come before."""
    kept = connection.execute(
        _DETAIL, {"person": person.id, "submission": submission}
    ).scalar_one_or_none()
    return None if kept is None else dict(orjson.loads(kept))


def _rating(connection: Connection, person: Person, item_id: int) -> t.AnyRow | None:
    return connection.execute(_RATING, {"person": person.id, "item": item_id}).one_or_none()


def _change(
    connection: Connection,
    person: Person,
    project: Project,
    row: t.AnyRow,
    changed: dict[str, Any],
    *,
    action: str,
    after: dict[str, Any] | None,
    **columns: Any,
) -> None:
    """Change a rating, and with it the item's label, and log both."""
    whose = {"item_id": row.item_id, "person_id": person.id}
    connection.execute(update(t.ratings).filter_by(**whose).values(changed))
    _resettle(connection, project, row, changed["state"])
    detail = {"item": row.item_id, "before": _kept(row), "after": after}
    log(connection, action, detail, rated=True, **whose, **columns)


def _differing(connection: Connection, sent: Submission) -> t.AnyRow | None:
    """What a judge says of the item, if that is not the label."""
    row = connection.execute(_SUGGESTION, {"item": sent.item_id}).one_or_none()
    return None if row is None or row.value == sent.value else row


def _repeats(earlier: Mapping[str, Any], sent: Submission) -> bool:
    """Whether what was done for an earlier submission is what this one says."""
    after = earlier["after"]
    return after is not None and after | _said(sent) == after


def _says_the_same(row: t.AnyRow, sent: Submission) -> bool:
    ranks = tuple(orjson.loads(row.ranks)) if row.ranks else None
    return (row.state, row.value, ranks, row.note) == (
        sent.state,
        sent.value,
        sent.ranks,
        sent.note,
    )


def _count(
    connection: Connection, person: Person, row: t.AnyRow, state: str, seconds: float | None
) -> Person:
    """Bring the counts of item and person up to date with a rating's change of state."""
    answered = int(state in ANSWERED) - int(row.state in ANSWERED)
    held = int(state in (*ANSWERED, "claimed")) - int(row.state in (*ANSWERED, "claimed"))
    skipped = int(state == "skipped") - int(row.state == "skipped")
    first = row.part == "first"
    pace = person.pace_seconds
    if seconds is not None:
        took = min(seconds, _LONGEST_PAUSE)
        pace = took if pace is None else (1 - _PACE_WEIGHT) * pace + _PACE_WEIGHT * took
    since = 0 if row.part == "gold" and answered > 0 else max(person.since_gold + answered, 0)
    after = replace(
        person,
        rated=person.rated + answered,
        first_rated=person.first_rated + answered * first,
        skipped=person.skipped + skipped,
        since_gold=since,
        pace_seconds=pace,
    )
    # Sums and not values: another process may be counting for the same person.
    connection.execute(
        update(t.people)
        .where(t.people.c.id == person.id)
        .values(
            rated=t.people.c.rated + answered,
            first_rated=t.people.c.first_rated + answered * first,
            skipped=t.people.c.skipped + skipped,
            since_gold=since,
            pace_seconds=pace,
        )
    )
    if first and (held or answered):
        connection.execute(
            update(t.items)
            .where(t.items.c.id == row.item_id)
            .values(taken=t.items.c.taken + held, rated=t.items.c.rated + answered)
        )
    if row.part == "third" and held:
        holder = person.id if held > 0 else None
        connection.execute(
            update(t.items).where(t.items.c.id == row.item_id).values(third_id=holder)
        )
    return after


def _resettle(connection: Connection, project: Project, row: t.AnyRow, state: str) -> None:
    """Work out again whether the item has its label."""
    change = int(state in ANSWERED) - int(row.state in ANSWERED)
    rated = row.rated + (change if row.part == "first" else 0)
    if row.part == "gold" or (rated < project.per_item and row.stage == "open"):
        return
    said = connection.execute(_ANSWERS.where(t.ratings.c.item_id == row.item_id)).all()
    _settle(connection, project, row.item_id, said)


def settle_again(connection: Connection, project: Project) -> list[list[Any]]:
    """Work out again which items have their label, after `per_item` or `adjudicate` has changed.

    Returns what became of those of which that was another before: id, stage, label.
    """
    before = stages_of(connection)
    every = connection.execute(_ANSWERS).all()
    said: dict[int, list[t.AnyRow]] = {}
    for row in every:
        said.setdefault(row.item_id, []).append(row)
    for item_id, rows in said.items():
        _settle(connection, project, item_id, rows)
    return [now for item, now in stages_of(connection).items() if now != before[item]]


def _settle(
    connection: Connection, project: Project, item_id: int, said: Sequence[t.AnyRow]
) -> None:
    if any(row.part == DECIDED for row in said):
        return  # The admin's label counts, whatever others say later.
    found = settle(
        [row.value for row in said if row.part == "first"],
        [row.value for row in said if row.part == "third"],
        project.choices,
        wanted=project.per_item,
        adjudicate=project.adjudicate,
    )
    connection.execute(
        update(t.items).where(t.items.c.id == item_id).values(stage=found.stage, final=found.final)
    )


def _said(sent: Submission) -> dict[str, Any]:
    return {
        "state": sent.state,
        "value": sent.value,
        "ranks": None if sent.ranks is None else list(sent.ranks),
        "note": sent.note,
    }


def _kept(row: t.AnyRow) -> dict[str, Any]:
    return {
        "state": row.state,
        "value": row.value,
        "ranks": orjson.loads(row.ranks) if row.ranks else None,
        "note": row.note,
    }
