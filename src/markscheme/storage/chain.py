"""A table of events, each with a digest of itself and of the one before; the end is signed.

So an event that was changed, removed or put in is found, as is an end that was cut off. Who makes
all digests anew is found only where MARKSCHEME_SEAL_KEY is set.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from sqlalchemy import Connection, Row, Table, delete, insert, select, update

from markscheme.errors import KEY_VARIABLE, signature_of, signature_wanted

AnyRow: TypeAlias = "Row[*tuple[Any, ...]]"


class Chain:
    """Events, in a table that has a column `digest`, and their end.

    The end is a row of another table: `id` (1), `start` (the first event that is chained), `last`,
    `digest` and `signature`.
    """

    def __init__(self, events: Table, ends: Table, columns: Sequence[str]) -> None:
        """Of each event, `columns` count; the first is its number."""
        self._columns = columns
        chained = [events.c[name] for name in columns]
        self._all = select(*chained, events.c.digest).order_by(chained[0])
        self._add, self._end, self._move = insert(events), select(ends), update(ends)
        self._new, self._delete = insert(ends), delete(ends)

    def begin(self, connection: Connection) -> str:
        """Begin after the events that are there; returns a digest of these."""
        before = connection.execute(self._all).all()
        last = before[-1][0] if before else 0
        end: dict[str, Any] = {"start": last + 1, "last": last, "digest": ""}
        connection.execute(self._delete)
        connection.execute(self._new, {**end, "id": 1, "signature": _signature(**end)})
        return digest_of(*map(tuple, before))

    def add(self, connection: Connection, event: Mapping[str, Any]) -> None:
        """Add an event, whose number is made here; `unsigned` comes first."""
        end = connection.execute(self._end).one()
        row = {name: event.get(name) for name in self._columns} | {self._columns[0]: end.last + 1}
        digest = digest_of(end.digest, *row.values())
        connection.execute(self._add, row | {"digest": digest})
        moved = {"start": end.start, "last": end.last + 1, "digest": digest}
        connection.execute(self._move, moved | {"signature": _signature(**moved)})

    def unsigned(self, connection: Connection) -> str:
        """Why nothing may follow the end: it has not this process's signature, or one that this
        process has no secret for."""
        return _unsigned(connection.execute(self._end).one_or_none())

    def read(self, connection: Connection) -> tuple[AnyRow, str, list[AnyRow]]:
        """The end, the digest of what was before the chain, and its events.

        Raises:
            ValueError: the chain is broken, or lacks a valid signature where one is required.
        """
        end = connection.execute(self._end).one_or_none()
        if end is None or (signature_wanted() and _unsigned(end)):
            raise ValueError(_unsigned(end))
        events = connection.execute(self._all).all()
        before = [tuple(row) for row in events if row[0] < end.start]
        number, digest, chained = end.start - 1, "", events[len(before) :]
        for row in chained:
            number += 1
            digest = digest_of(digest, *row[:-1])
            if (row[0], row.digest) != (number, digest):
                raise ValueError(f"change {number} in its trail is missing, or not as it was made")
        if (number, digest) != (end.last, end.digest):
            raise ValueError(f"its trail has no change {end.last}, the last one")
        return end, digest_of(*before), list(chained)


def digest_of(*values: Any) -> str:
    """A digest of values as databases give them; a damaged text may be bytes, so it is no JSON."""
    return hashlib.sha256(ascii(values).encode()).hexdigest()


def digest_of_rows(rows: Iterable[Iterable[Any]]) -> str:
    """A digest of rows in whatever order they come."""
    return digest_of(*sorted(digest_of(*row) for row in rows))


def _signature(start: int, last: int, digest: str) -> str:
    return signature_of(ascii((start, last, digest)).encode()) or ""


def _unsigned(end: AnyRow | None) -> str:
    if end is None:
        return "it has no trail of its changes"
    if end.signature == _signature(end.start, end.last, end.digest):
        return ""
    how = "is signed with another secret than" if end.signature else "is not signed with"
    return f"its trail {how} that in {KEY_VARIABLE}"
