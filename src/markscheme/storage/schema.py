"""What a database of ours holds: numbered migrations, applied once, and how messages name it.

The ledger and the labelling projects are kept by this, each with its own tables.
"""

from __future__ import annotations

import importlib.resources
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from markscheme.errors import MarkschemeError

Row = tuple[Any, ...]
Dialect = Literal["sqlite", "postgresql"]


class Cursor(Protocol):
    """What both databases' cursors have."""

    @property
    def rowcount(self) -> int: ...

    def execute(self, sql: str, values: Sequence[Any] = ()) -> Any: ...
    def executemany(self, sql: str, values: Sequence[Sequence[Any]]) -> Any: ...
    def fetchall(self) -> list[Row]: ...


class Runs(Protocol):
    """The part of a cursor that migrations need."""

    def execute(self, sql: str) -> Any: ...
    def fetchall(self) -> list[Row]: ...


@dataclass(frozen=True, kw_only=True)
class Schema:
    """The tables of one kind of database.

    Attributes:
        kind: what messages call it: `ledger`, `project`.
        package: whose folder `migrations` holds `0001_name.sql`, and `0001_name.DIALECT.sql` where
            one dialect needs something of its own after it.
        table: where the numbers of the migrations that were applied are kept.
        lock: number of the PostgreSQL lock that a process holds while it migrates.
        error: raised where the database cannot be used.
    """

    kind: str
    package: str
    table: str
    lock: int
    error: type[MarkschemeError]

    def migrations(self, dialect: Dialect) -> dict[int, str]:
        """Number to SQL of every migration, in order; they are only ever added to."""
        folder = importlib.resources.files(self.package) / "migrations"
        files = sorted(folder.iterdir(), key=lambda file: (file.name.count("."), file.name))
        found: dict[int, str] = {}
        for file in files:
            named = re.fullmatch(r"(\d{4})_\w+?(?:\.(\w+))?\.sql", file.name)
            if named and named[2] in (None, dialect):
                sql = file.read_text(encoding="utf-8")
                found[int(named[1])] = found.get(int(named[1]), "") + sql
        return dict(sorted(found.items()))

    def migrate(self, cursor: Runs, dialect: Dialect, shown: str) -> None:
        """Apply the migrations that a database lacks, once, however many processes try.

        Args:
            cursor: in a transaction that writes; one of SQLite keeps other processes out by itself.
            dialect: the database's.
            shown: the database as messages name it.

        Raises:
            MarkschemeError: as `error`; a newer version of markscheme has been here.
        """
        known = self.migrations(dialect)
        if dialect == "postgresql":
            cursor.execute(f"SELECT pg_advisory_xact_lock({self.lock:d})")
        cursor.execute(f"CREATE TABLE IF NOT EXISTS {self.table} (number BIGINT PRIMARY KEY)")
        cursor.execute(f"SELECT number FROM {self.table}")  # noqa: S608
        applied = {int(row[0]) for row in cursor.fetchall()}
        if applied - set(known):
            raise self.error(
                f"the {self.kind} {shown} was made by a newer markscheme; upgrade this one"
            )
        for number, sql in known.items():
            if number not in applied:
                for statement in filter(str.strip, sql.split(";\n")):
                    cursor.execute(statement)
                cursor.execute(f"INSERT INTO {self.table} (number) VALUES ({number:d})")  # noqa: S608
