"""SQLite and PostgreSQL under one small interface.

SQL on it is what SQLite and PostgreSQL have in common, written with `?`.
"""

from __future__ import annotations

import importlib.resources
import os
import re
import sqlite3
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar

from markscheme.errors import MarkschemeError, MissingExtraError
from markscheme.tables import is_address, redacted, without_secrets

# --- What a database of ours holds: numbered migrations, applied once, and how messages name it ---
# The ledger and the labelling projects use this, each with its own tables.


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
        table: that records the numbers of the applied migrations.
        lock: number of the PostgreSQL lock that a process holds while it migrates.
        error: raised where the database cannot be used.
        programs: what is to be done after the SQL of a migration, by its number.
    """

    kind: str
    package: str
    table: str
    lock: int
    error: type[MarkschemeError]
    programs: Mapping[int, Callable[[Any], None]] = field(default_factory=dict)

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

    def migrate(self, cursor: Runs, dialect: Dialect, shown: str) -> list[int]:
        """Apply the migrations that a database lacks, once, however many processes try; returns
        their numbers.

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
        lacking = [number for number in known if number not in applied]
        for number in lacking:
            for statement in filter(str.strip, known[number].split(";\n")):
                cursor.execute(statement)
            if number in self.programs:
                self.programs[number](cursor)
            cursor.execute(f"INSERT INTO {self.table} (number) VALUES ({number:d})")  # noqa: S608
        return lacking


# --- Addresses of databases -----------------------------------------------------------------------


def is_postgres(location: str | Path) -> bool:
    """Whether it is a PostgreSQL URL."""
    return re.match(r"postgres(ql)?://", str(location)) is not None


# --- The two databases that something can be kept in, under one small surface ---------------------


T = TypeVar("T")

_WAIT_SECONDS = 60.0
_LONGEST_LOG = 16 * 1024 * 1024
_RECONNECTS = 3


class Database(Protocol):
    """A connection that any thread may use, one at a time."""

    shown: str
    dialect: Dialect

    def transact(self, work: Callable[[Cursor], T], *, writes: bool) -> T:
        """Do `work` in one transaction, again from the start if the connection had broken.

        Raises:
            MarkschemeError: the database cannot do it.
        """
        ...

    def sync(self) -> None:
        """Return when the disk has all that was committed so far.

        Raises:
            MarkschemeError: the disk cannot take it.
        """
        ...

    def close(self) -> None: ...


class Sqlite:
    """A file in write-ahead mode, so that readers and one writer do not wait for each other.

    `synchronous = NORMAL`: a commit outlives the process at once, whatever kills it, and a power
    cut never harms the file; that the disk has it too is what `sync` waits for. So a commit takes
    some ten microseconds, and no commit ever waits for a disk: the log is brought into the file by
    `sync` as well, not by the commit that happens to fill it.
    """

    dialect: Dialect = "sqlite"

    def __init__(self, path: Path, schema: Schema) -> None:
        """Open the file, making it if need be."""
        self._schema = schema
        self.shown: str = str(path)
        self._lock = threading.Lock()
        self._log_path = path.with_name(path.name + "-wal")
        self._log: int | None = None
        self._emptying: sqlite3.Connection | None = None
        try:
            self._connection = open_sqlite(
                path,
                wait=_WAIT_SECONDS,
                pragmas=("synchronous = NORMAL", "wal_autocheckpoint = 0"),
            )
        except (OSError, sqlite3.Error, UnicodeError) as error:  # a damaged name in a message
            raise schema.error(f"the {schema.kind} {path} cannot be opened: {error}") from None

    def transact(self, work: Callable[[Cursor], T], *, writes: bool) -> T:
        """See `Database`."""
        with self._lock:
            try:
                cursor = self._connection.cursor()
                # To begin by reading and then write fails if another has written in between.
                cursor.execute("BEGIN IMMEDIATE" if writes else "BEGIN")
                try:
                    result = work(cursor)
                    cursor.execute("COMMIT")
                except BaseException:
                    if self._connection.in_transaction:
                        cursor.execute("ROLLBACK")
                    raise
                return result
            except sqlite3.Error as error:
                raise self._failed(error) from None

    def sync(self) -> None:
        """See `Database`. What is no longer in the write-ahead log, SQLite has synced itself."""
        try:
            if self._log is None:
                self._log = os.open(self._log_path, os.O_RDONLY)
            os.fsync(self._log)
            if os.fstat(self._log).st_size > _LONGEST_LOG:
                self._empty_log()
        except (OSError, sqlite3.Error) as error:
            raise self._failed(error) from None

    def _failed(self, error: Exception) -> MarkschemeError:
        return self._schema.error(f"the {self._schema.kind} {self.shown} does not work: {error}")

    def _empty_log(self) -> None:
        """Bring the log into the file: most of it next to the writers, and the little that came
        meanwhile without them; where somebody is in the way, another time."""
        if self._emptying is None:
            self._emptying = sqlite3.connect(
                self.shown, timeout=0, isolation_level=None, check_same_thread=False
            )
        for mode in ("PASSIVE", "TRUNCATE"):
            self._emptying.execute(f"PRAGMA wal_checkpoint({mode})").fetchall()

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._log is not None:
                os.close(self._log)
                self._log = None
            if self._emptying is not None:
                self._emptying.close()
                self._emptying = None
            self._connection.close()


class _Translating:
    """A psycopg cursor that takes `?`."""

    def __init__(self, cursor: Any) -> None:
        self._cursor = cursor

    @property
    def rowcount(self) -> int:
        return int(self._cursor.rowcount)

    def execute(self, sql: str, values: Sequence[Any] = ()) -> Any:
        self._cursor.execute(sql.replace("?", "%s"), values or None)
        return self

    def executemany(self, sql: str, values: Sequence[Sequence[Any]]) -> Any:
        self._cursor.executemany(sql.replace("?", "%s"), values)
        return self

    def fetchall(self) -> list[Row]:
        rows: list[Row] = self._cursor.fetchall()
        return rows


class Postgres:
    """A PostgreSQL server; a connection that breaks is made again."""

    dialect: Dialect = "postgresql"

    def __init__(self, url: str, schema: Schema, *, durable: bool) -> None:
        """Connect.

        Args:
            url: `postgresql://user@host/database`; a password may also come from the environment
                (PGPASSWORD) or a .pgpass file, and is never shown.
            schema: what it holds.
            durable: whether a commit waits for the server's disk; claims need not.
        """
        try:
            import psycopg
        except ImportError:
            raise MissingExtraError(f"a {schema.kind} in PostgreSQL", "postgres") from None
        self._psycopg = psycopg
        self._url = url
        self._durable = durable
        self._schema = schema
        self.shown: str = without_secrets(url)
        self._lock = threading.Lock()
        self._connection: Any = None
        self._connect()

    def _connect(self) -> None:
        try:
            self._connection = self._psycopg.connect(self._url, connect_timeout=10)
            if not self._durable:
                self._connection.execute("SET synchronous_commit = off")
                self._connection.commit()
        except self._psycopg.Error as error:
            raise self._failed("cannot be opened", error) from None

    def transact(self, work: Callable[[Cursor], T], *, writes: bool) -> T:  # noqa: ARG002
        """See `Database`."""
        with self._lock:
            for attempt in range(_RECONNECTS + 1):
                try:
                    if self._connection.closed:
                        self._connect()
                    with self._connection.transaction(), self._connection.cursor() as cursor:
                        return work(_Translating(cursor))
                except self._psycopg.OperationalError as error:
                    # Broken, or a deadlock that the server resolved at our expense.
                    if attempt == _RECONNECTS:
                        raise self._failed("does not work", error) from None
                    time.sleep(0.2 * 2**attempt)
                except self._psycopg.Error as error:
                    raise self._failed("does not work", error) from None
            raise AssertionError("unreachable")

    def sync(self) -> None:
        """See `Database`. Durable commits have waited already."""

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            self._connection.close()

    def _failed(self, how: str, error: Exception) -> MarkschemeError:
        said = redacted(error, self._url)
        return self._schema.error(f"the {self._schema.kind} {self.shown} {how}: {said}")


def connect(location: str | Path, schema: Schema, *, durable: bool) -> Database:
    """Open the database at a path or URL, its tables brought up to date.

    Args:
        location: a path or a PostgreSQL URL.
        schema: what it holds.
        durable: whether PostgreSQL's commits wait for its disk; SQLite's `sync` does.

    Raises:
        MarkschemeError: as the schema's `error`; it cannot be opened, or a newer version of
            markscheme made it.
        MissingExtraError: PostgreSQL's driver is not installed.
    """
    if is_postgres(location):
        database: Database = Postgres(str(location), schema, durable=durable)
    elif is_address(location):
        raise schema.error(
            f"a {schema.kind} is a file or a postgresql:// URL, not {without_secrets(location)}"
        )
    else:
        database = Sqlite(Path(location), schema)
    database.transact(
        lambda cursor: schema.migrate(cursor, database.dialect, database.shown), writes=True
    )
    return database


def open_sqlite(path: Path, *, wait: float, pragmas: Sequence[str]) -> sqlite3.Connection:
    """A connection in write-ahead mode that any thread may use; transactions begin where we say.

    Args:
        path: the file, made if need be.
        wait: seconds to wait for other processes.
        pragmas: further settings, such as `synchronous = FULL`.

    Raises:
        OSError, sqlite3.Error: it cannot be opened.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path, timeout=wait, isolation_level=None, check_same_thread=False)
    try:
        _write_ahead(connection, wait)
        for pragma in pragmas:
            connection.execute(f"PRAGMA {pragma}")
    except BaseException:
        connection.close()
        raise
    return connection


def _write_ahead(connection: sqlite3.Connection, wait: float) -> None:
    """Switch to write-ahead mode; SQLite does not wait for others who are just doing so."""
    deadline = time.monotonic() + wait
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return
