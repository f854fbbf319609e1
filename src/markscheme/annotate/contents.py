"""What each column of a project may hold: SQLite takes anything, and others may have written there.

All else trusts what it reads, for no project is opened before `check_contents` has read it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, get_args, get_type_hints

import orjson
from sqlalchemy import Column, Connection, Float, Integer, Table, select

from markscheme.annotate import tables as t
from markscheme.annotate.people import Role
from markscheme.annotate.project import Project, load_project
from markscheme.annotate.ratings import DECIDED
from markscheme.annotate.scales import SCALES
from markscheme.annotate.trail import ANSWERED
from markscheme.errors import RunError

_LARGEST = 10**9
"""Ids and counts are below it; forms take no more digits."""
_LATEST = 253_402_300_800.0
"""The end of the year 9999, in seconds since 1970: calendars go no further."""
_LONGEST_SHOWN = 60


def check_contents(connection: Connection, shown: str) -> None:
    """Whether every column holds what it is for.

    Args:
        connection: open on a project's database.
        shown: the database as messages name it.

    Raises:
        RunError: one does not; the first such value of the first such table is named.
    """
    known = _Known()
    for table in _ORDER:
        problems = list(_problems(connection, table, known))
        if problems:
            more = f" (and {len(problems) - 1:,} more)" if len(problems) > 1 else ""
            raise RunError(
                f"the project {shown} cannot be used: its table {table.name} {problems[0]}{more}. "
                "Nothing was changed. Restore a copy; or put it right with sqlite3 and go on with "
                f"'markscheme annotate --project {shown} --adopt'"
            )
        known.add(connection, table)


class _Known:
    """What was read so far, which later tables refer to: the scale, people, and of each item its
    stage and how many texts it has."""

    def __init__(self) -> None:
        self.people: set[int] = set()
        self.items: dict[int, tuple[str, int]] = {}

    def add(self, connection: Connection, table: Table) -> None:
        """Read a table in which all is as it should be."""
        if table is t.settings and (project := load_project(connection)) is not None:
            scale = SCALES[project.scale]
            self.ranked, self.near = scale.name == "rank", scale.near > 0
            self.choices = frozenset(scale.values.values())
        elif table is t.people:
            self.people = set(connection.scalars(select(t.people.c.id)))
        elif table is t.items:
            every = connection.execute(select(t.items.c.id, t.items.c.stage, t.items.c.texts))
            self.items = {one: (stage, len(orjson.loads(texts))) for one, stage, texts in every}

    def item(self, row: t.AnyRow) -> tuple[str, int]:
        """Stage and number of texts of the item that a row belongs to."""
        return self.items.get(row.item_id, ("", 0))


_Fits = Callable[[Any, t.AnyRow, _Known], bool]
_Rule = tuple[str, _Fits]
"""What a value is meant to be, and whether it is."""


def _problems(connection: Connection, table: Table, known: _Known) -> Iterator[str]:
    """What is wrong in a table, as ends of a sentence about it."""
    columns = [(place, column, *_rule(column)) for place, column in enumerate(table.columns)]
    columns.sort(key=lambda one: one[1].name not in _FIRST)
    keys = [column.name for column in table.primary_key] or ["item_id", "row_place"]
    for row in connection.execute(select(table)):
        for place, column, what, fits in columns:
            value = row[place]
            rules = value is not None or str(column) in _SOMETIMES
            if not (fits(value, row, known) if rules else column.nullable):
                which = " and ".join(f"{key} {_shown(row._mapping[key])}" for key in keys)
                found = "nothing" if value is None else _shown(value)
                yield f"has {found} as {column.name} in the row with {which}, which is {what}"
    if table is t.settings:
        there = set(connection.scalars(select(t.settings.c.name)))
        wanted = _SETTINGS.keys() - _LATER - there
        yield from (f"has no row with name {name!r}" for name in _SETTINGS if name in wanted)


def _shown(value: Any) -> str:
    """A value as it can be printed."""
    text = repr(value)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."


def _rule(column: Column[Any]) -> _Rule:
    """That of the column, of all columns of its name, or of its type."""
    for name in (str(column), column.name):
        if name in _RULES:
            return _RULES[name]
    if isinstance(column.type, Integer):
        return "no whole number from 0 and below 1,000,000,000", lambda v, *_: _is_whole(v, 0)
    if isinstance(column.type, Float):
        return "no number", lambda v, *_: _is_number(v)
    return "no text in UTF-8", lambda v, *_: _is_text(v)


# --- Types ----------------------------------------------------------------------------------------


def _is_text(value: Any) -> bool:
    try:
        return isinstance(value, str) and value.encode() is not None
    except UnicodeEncodeError:  # Bytes that are no UTF-8 are read as lone surrogates.
        return False


def _is_whole(value: Any, least: int) -> bool:
    return type(value) is int and least <= value < _LARGEST


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value)


def _is_time(value: Any) -> bool:
    return _is_number(value) and 0 <= value < _LATEST


def _parsed(value: Any) -> Any:
    """What JSON holds; None where it is no JSON."""
    try:
        return orjson.loads(value) if isinstance(value, str) else None
    except ValueError:
        return None


def _texts(value: Any) -> int | None:
    """How many texts a JSON list has; None where it is no list of texts."""
    found = _parsed(value)
    texts = isinstance(found, list) and all(isinstance(one, str) for one in found)
    return len(found) if texts else None


# --- Rules ----------------------------------------------------------------------------------------


def _is_setting(value: Any, row: t.AnyRow, _: _Known) -> bool:
    found, kind = _parsed(value), _SETTINGS.get(row.name)
    if kind is None:
        return True  # It is read by another version.
    if row.name == "order":  # Orders that are gone are replaced where the project goes on.
        return isinstance(found, str)
    if kind is int:
        return _is_whole(found, _LEAST.get(row.name, 1))
    return found in get_args(kind) if get_args(kind) else type(found) is kind


def _are_item_texts(value: Any, _: t.AnyRow, known: _Known) -> bool:
    count = _texts(value)
    return count is not None and (count > 1 if known.ranked else count == 1)


def _is_final(value: Any, row: t.AnyRow, known: _Known) -> bool:
    """Where neighbouring choices agree, their mean is the label."""
    if row.stage != "settled" or not _is_number(value):
        return False
    mean = known.near and min(known.choices) <= value <= max(known.choices)
    return mean or value in known.choices


def _is_part(value: Any, row: t.AnyRow, known: _Known) -> bool:
    gold = known.item(row)[0] == "gold"
    return value == "gold" if gold else value in ("first", "third", DECIDED)


def _is_rating(value: Any, row: t.AnyRow, known: _Known) -> bool:
    return value in known.choices if _has(row, known, ranks=False) else value is None


def _is_ranking(value: Any, row: t.AnyRow, known: _Known) -> bool:
    if not _has(row, known, ranks=True):
        return value is None
    ranks, count = _parsed(value), known.item(row)[1]
    right = isinstance(ranks, list) and len(ranks) == count
    return right and all(type(rank) is int and 1 <= rank <= count for rank in ranks)


def _has(row: t.AnyRow, known: _Known, *, ranks: bool) -> bool:
    """Whether a rating has a value, or ranks."""
    return row.state == "labelled" and known.ranked == ranks


def _is_saved(value: Any, row: t.AnyRow, _: _Known) -> bool:
    return _is_time(value) if value is not None else row.state not in (*ANSWERED, "skipped")


def _one_of(*values: Any) -> _Rule:
    return f"none of {', '.join(map(repr, values))}", lambda v, *_: v in values


_ORDER = (
    *(t.settings, t.people, t.items, t.sources, t.suggestions, t.ratings, t.sessions, t.events),
)
_FIRST = ("item_id", "stage", "state")
"""Columns that rules of others look at."""
_SETTINGS = get_type_hints(Project)
_LATER = frozenset({"known"})
"""Settings that projects made before there were such have not."""
_LEAST = {"seed": 1 - _LARGEST, "items": 0, "known": 0, "gold": 0}
_TIME: _Rule = ("no time, in seconds since 1970", lambda v, *_: _is_time(v))
_SECONDS: _Rule = ("no number of seconds", lambda v, *_: _is_number(v) and abs(v) < _LATEST)
_COUNT: _Rule = ("no count", lambda v, *_: _is_whole(v, 1 - _LARGEST))
_PERSON: _Rule = ("no person's id", lambda v, _, known: v in known.people)
_CHOICE: _Rule = ("no value of the scale", lambda v, _, known: v in known.choices)
_HASH: _Rule = (
    "no hash of 64 hexadecimal digits",
    lambda v, *_: isinstance(v, str) and len(v) == 64 and not v.strip("0123456789abcdef"),
)

_RULES: dict[str, _Rule] = {
    **dict.fromkeys(("created_at", "expires_at", "shown_at", "at"), _TIME),
    **dict.fromkeys(("seconds", "pace_seconds"), _SECONDS),
    **dict.fromkeys(("rated", "first_rated", "skipped", "since_gold", "taken"), _COUNT),
    **dict.fromkeys(("person_id", "third_id"), _PERSON),
    **dict.fromkeys(("token_hash", "secret_hash"), _HASH),
    **dict.fromkeys(("active", "suggested"), _one_of(0, 1)),
    **dict.fromkeys(("suggestions.value", "value_before"), _CHOICE),
    "settings.value": ("not what this setting can be", _is_setting),
    "people.name": ("no name", lambda v, *_: _is_text(v) and bool(v.strip())),
    "role": _one_of(*get_args(Role)),
    "texts": ("no JSON list of one answer, or of several to rank", _are_item_texts),
    "refs": ("no JSON list of texts", lambda v, *_: _texts(v) is not None),
    "stage": _one_of("open", "disagreed", "settled", "gold"),
    "gold": (
        "not the value of the scale that gold items alone have",
        lambda v, row, known: v in known.choices if row.stage == "gold" else v is None,
    ),
    "final": ("no label that a resolved item can have", _is_final),
    "item_id": ("no item's id", lambda v, _, known: v in known.items),
    "text_place": (
        "no place among the item's answers",
        lambda v, row, known: type(v) is int and 0 <= v < known.item(row)[1],
    ),
    "part": ("no part that a rating of this item can be", _is_part),
    "state": _one_of("claimed", "labelled", "cannot_tell", "skipped", "lapsed"),
    "ratings.value": (
        "not the value of the scale that a rating has where it is 'labelled'",
        _is_rating,
    ),
    "ranks": (
        "not the JSON list of a rank for each answer that a ranking has where it is 'labelled'",
        _is_ranking,
    ),
    "saved_at": ("not the time, in seconds since 1970, that an answer has", _is_saved),
    "detail": ("no JSON object", lambda v, *_: isinstance(_parsed(v), dict)),
}

_SOMETIMES = ("items.gold", "ratings.value", "ratings.ranks", "ratings.saved_at")
"""Columns that must be empty in some rows and must not be in others."""
