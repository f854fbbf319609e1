"""The two databases a ledger can be kept in, under one small surface.

SQL here and in `ledger.py` is what SQLite and PostgreSQL have in common, written with `?`.
"""

from __future__ import annotations

import contextlib
import importlib.resources
import os
import re
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar
from urllib.parse import parse_qsl, unquote, urlsplit

from markscheme.errors import MissingExtraError, ModelError

T = TypeVar("T")

Row = tuple[Any, ...]

_WAIT_SECONDS = 60.0
_LONGEST_LOG = 16 * 1024 * 1024
_RECONNECTS = 3


class Cursor(Protocol):
    """What both databases' cursors have."""

    @property
    def rowcount(self) -> int: ...

    def execute(self, sql: str, values: Sequence[Any] = ()) -> Any: ...
    def executemany(self, sql: str, values: Sequence[Sequence[Any]]) -> Any: ...
    def fetchall(self) -> list[Row]: ...


class Database(Protocol):
    """A connection that any thread may use, one at a time."""

    shown: str

    def transact(self, work: Callable[[Cursor], T], *, writes: bool) -> T:
        """Do `work` in one transaction, again from the start if the connection had broken.

        Raises:
            ModelError: the database cannot do it.
        """
        ...

    def sync(self) -> None:
        """Return when the disk has all that was committed so far.

        Raises:
            ModelError: the disk cannot take it.
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

    def __init__(self, path: Path) -> None:
        """Open the file, making it if need be."""
        self.shown = str(path)
        self._lock = threading.Lock()
        self._log_path = path.with_name(path.name + "-wal")
        self._log: int | None = None
        self._emptying: sqlite3.Connection | None = None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(
                path, timeout=_WAIT_SECONDS, isolation_level=None, check_same_thread=False
            )
            self._write_ahead()
            self._connection.execute("PRAGMA synchronous = NORMAL")
            self._connection.execute("PRAGMA wal_autocheckpoint = 0")
        except (OSError, sqlite3.Error) as error:
            raise ModelError(f"the ledger {path} cannot be opened: {error}") from None

    def _write_ahead(self) -> None:
        """Switch to write-ahead mode; SQLite does not wait for others who are just doing so."""
        deadline = time.monotonic() + _WAIT_SECONDS
        while True:
            try:
                self._connection.execute("PRAGMA journal_mode = WAL")
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)
            else:
                return

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
                raise ModelError(f"the ledger {self.shown} does not work: {error}") from None

    def sync(self) -> None:
        """See `Database`. What is no longer in the write-ahead log, SQLite has synced itself."""
        try:
            if self._log is None:
                self._log = os.open(self._log_path, os.O_RDONLY)
            os.fsync(self._log)
            if os.fstat(self._log).st_size > _LONGEST_LOG:
                self._empty_log()
        except (OSError, sqlite3.Error) as error:
            raise ModelError(f"the ledger {self.shown} does not work: {error}") from None

    def _empty_log(self) -> None:
        """Bring the log into the file: most of it beside the writers, and the little that came
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

    def __init__(self, url: str, *, durable: bool) -> None:
        """Connect.

        Args:
            url: `postgresql://user@host/database`; a password may also come from the environment
                (PGPASSWORD) or a .pgpass file, and is never shown.
            durable: whether a commit waits for the server's disk; claims need not.
        """
        try:
            import psycopg
        except ImportError:
            raise MissingExtraError("a ledger in PostgreSQL", "postgres") from None
        self._psycopg = psycopg
        self._url = url
        self._durable = durable
        self._secrets = _secrets_in(url)
        self.shown = _without_password(url)
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
            raise ModelError(
                f"the ledger {self.shown} cannot be opened: {self._clean(error)}"
            ) from None

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
                        raise ModelError(
                            f"the ledger {self.shown} does not work: {self._clean(error)}"
                        ) from None
                    time.sleep(0.2 * 2**attempt)
                except self._psycopg.Error as error:
                    raise ModelError(
                        f"the ledger {self.shown} does not work: {self._clean(error)}"
                    ) from None
            raise AssertionError("unreachable")

    def sync(self) -> None:
        """See `Database`. Durable commits have waited already."""

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            self._connection.close()

    def _clean(self, error: Exception) -> str:
        text = " ".join(str(error).split())
        for secret in self._secrets:
            text = text.replace(secret, "[password]")
        return text


def is_postgres(location: str | Path) -> bool:
    """Whether a ledger's location is a PostgreSQL URL."""
    return re.match(r"postgres(ql)?://", str(location)) is not None


def connect(location: str | Path, *, durable: bool) -> Database:
    """Open the database at a path or URL, its tables brought up to date.

    Args:
        location: a path or a PostgreSQL URL.
        durable: whether PostgreSQL's commits wait for its disk; SQLite's `sync` does.

    Raises:
        ModelError: it cannot be opened, or a newer version of markscheme made it.
        MissingExtraError: PostgreSQL's driver is not installed.
    """
    if is_postgres(location):
        database: Database = Postgres(str(location), durable=durable)
    elif "://" in str(location):
        raise ModelError(
            f"a ledger is a file or a postgresql:// URL, not {_without_password(str(location))}"
        )
    else:
        database = Sqlite(Path(location))
    migrate(database)
    return database


def migrations() -> list[tuple[int, str]]:
    """Number and SQL of every migration, in order. They are only ever added to."""
    folder = importlib.resources.files("markscheme.models.ledger") / "migrations"
    found = [
        (int(file.name[:4]), file.read_text(encoding="utf-8"))
        for file in folder.iterdir()
        if re.fullmatch(r"\d{4}_\w+\.sql", file.name)
    ]
    return sorted(found)


def migrate(database: Database) -> None:
    """Apply the migrations that a database lacks, once, however many processes try.

    Raises:
        ModelError: a newer version of markscheme has been here.
    """
    known = migrations()

    def work(cursor: Cursor) -> None:
        with _alone(database, cursor):
            cursor.execute("CREATE TABLE IF NOT EXISTS migrations (number BIGINT PRIMARY KEY)")
            cursor.execute("SELECT number FROM migrations")
            applied = {int(row[0]) for row in cursor.fetchall()}
            if applied - {number for number, _ in known}:
                raise ModelError(
                    f"the ledger {database.shown} was made by a newer markscheme; upgrade this one"
                )
            for number, sql in known:
                if number not in applied:
                    for statement in filter(str.strip, sql.split(";\n")):
                        cursor.execute(statement)
                    cursor.execute("INSERT INTO migrations (number) VALUES (?)", (number,))

    database.transact(work, writes=True)


@contextlib.contextmanager
def _alone(database: Database, cursor: Cursor) -> Iterator[None]:
    """Keep other processes from migrating; a write transaction of SQLite does so already."""
    if isinstance(database, Postgres):
        cursor.execute("SELECT pg_advisory_xact_lock(7106204431)")
    yield


def _without_password(url: str) -> str:
    text = re.sub(r"(://[^/@:]*):[^@]*@", r"\1:***@", url)
    return re.sub(r"([?&]\w*password=)[^&]*", r"\1***", text)


def _secrets_in(url: str) -> list[str]:
    """The passwords that a URL carries, before the host or among its parameters."""
    parts = urlsplit(url)
    found = [unquote(parts.password or "")]
    found += [value for name, value in parse_qsl(parts.query) if name.endswith("password")]
    return [secret for secret in found if secret]
