"""Where a project is stored: a SQLite file, or a PostgreSQL database by URL.

One thread writes. What arrives while it commits shares the next commit, so that fifty people who
label at once wait for one disk write and not for fifty; and "saved" is shown only once it is.
"""

from __future__ import annotations

import os
import queue
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import URL, Connection, Engine, create_engine, event, func, inspect, select
from sqlalchemy.engine import make_url
from sqlalchemy.exc import (
    ArgumentError,
    DBAPIError,
    IntegrityError,
    OperationalError,
    SQLAlchemyError,
)
from sqlalchemy.pool import QueuePool

from markscheme.annotate import tables as t
from markscheme.annotate.contents import check_contents
from markscheme.annotate.trail import begin, check, may_go_on
from markscheme.errors import MissingExtraError, RunError
from markscheme.storage import (
    Dialect,
    Row,
    Schema,
    open_sqlite,
)
from markscheme.tables import is_address, redacted, without_secrets

T = TypeVar("T")
Work = Callable[[Connection], T]

SCHEMA = Schema(
    kind="project",
    package="markscheme.annotate",
    table="annotate_migrations",
    lock=7106204432,
    error=RunError,
)
"""The tables of a project."""

_WAIT_SECONDS = 30.0
_LARGEST_COMMIT = 64
_TRIES = 4


class Store:
    """An open project database.

    Example:
        >>> import tempfile, pathlib
        >>> store = Store(pathlib.Path(tempfile.mkdtemp()) / "project.sqlite")
        >>> store.read(lambda connection: connection.exec_driver_sql("SELECT 1").scalar())
        1
        >>> store.close()
    """

    def __init__(self, location: str | Path, *, adopt: bool = False) -> None:
        """Open, and make if need be.

        Args:
            location: a path, or `postgresql://user@host/database`.
            adopt: continue a project that is not what its trail made of it, as it is.

        Raises:
            RunError: it cannot be opened, is damaged or was changed, or a newer markscheme made it.
            MissingExtraError: PostgreSQL's driver is not installed.
        """
        self.shown: str = without_secrets(location)
        self.notes: tuple[str, ...] = ()
        self.engine = _engine(location)
        try:
            self._migrate(adopt=adopt)
        except (SQLAlchemyError, ValueError, TypeError) as error:
            said = redacted(_cause(error), location)
            raise RunError(
                f"the project {self.shown} cannot be opened: {said}. If it is damaged, restore a "
                f"copy; 'sqlite3 FILE .recover' prints what can still be read"
            ) from None
        finally:
            self.engine.dispose()
        self._queue: queue.SimpleQueue[tuple[Work[Any], Future[Any]] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._life, name="markscheme-labels", daemon=True)
        self._thread.start()

    def submit(self, work: Work[T]) -> Future[T]:
        """Do `work` in a transaction of the writing thread; the future is done once it is on disk.

        `work` may run again from the start, if a transaction it shared was rolled back.
        """
        future: Future[T] = Future()
        self._queue.put((work, future))
        return future

    def write(self, work: Work[T]) -> T:
        """`submit`, and wait."""
        return self.submit(work).result()

    def read(self, work: Work[T]) -> T:
        """Do `work` in a reading transaction of this thread."""
        with self.engine.connect() as connection, connection.begin():
            return work(connection)

    def close(self) -> None:
        """Write what is left and close."""
        self._queue.put(None)
        self._thread.join()
        self.engine.dispose()

    def _life(self) -> None:
        stop = False
        while not stop:
            first = self._queue.get()
            if first is None:
                return
            batch = [first]
            while len(batch) < _LARGEST_COMMIT and not self._queue.empty():
                more = self._queue.get()
                if more is None:
                    stop = True
                    break
                batch.append(more)
            self._commit(batch)

    def _commit(self, batch: list[tuple[Work[Any], Future[Any]]]) -> None:
        """All in one transaction; if one fails, each in its own."""
        try:
            with self._writing() as connection, connection.begin():
                results = [work(connection) for work, _ in batch]
        except Exception as error:
            if len(batch) > 1 or _worth_repeating(error):
                for work, future in batch:
                    self._alone(work, future)
            else:
                batch[0][1].set_exception(error)
            return
        for (_, future), result in zip(batch, results, strict=True):
            future.set_result(result)

    def _alone(self, work: Work[Any], future: Future[Any]) -> None:
        for attempt in range(_TRIES):
            try:
                with self._writing() as connection, connection.begin():
                    result = work(connection)
            except Exception as error:
                if attempt == _TRIES - 1 or not _worth_repeating(error):
                    future.set_exception(error)
                    return
                time.sleep(0.05 * 2**attempt)
            else:
                future.set_result(result)
                return

    def _writing(self) -> Connection:
        return self.engine.connect().execution_options(markscheme_writes=True)

    def _migrate(self, *, adopt: bool) -> None:
        dialect: Dialect = "sqlite" if self.engine.dialect.name == "sqlite" else "postgresql"
        if dialect == "sqlite":
            sound = self.read(lambda c: c.exec_driver_sql("PRAGMA integrity_check(1)").scalar())
            if sound != "ok":
                raise ValueError(sound)
            tables = self.read(lambda c: inspect(c).get_table_names())
            if tables and SCHEMA.table not in tables:
                raise RunError(f"{self.shown} is a database of something else, and no project")
        with self._writing() as connection, connection.begin():
            new = SCHEMA.migrate(_Driver(connection), dialect, self.shown)
            if not any(
                connection.scalar(select(func.count()).select_from(one))
                for one in (t.settings, t.events)
            ):
                return  # It is about to be made.
            check_contents(connection, self.shown)
            if adopt or new:
                try:
                    check(connection)
                    if adopt:
                        may_go_on(connection)
                except RunError as error:
                    if not adopt:
                        raise
                    begin(connection, "continued as it is", why=str(error))
                    self.notes = (f"continued as it is: {error}",)
        self.read(check)


class _Driver:
    """A connection's own cursor, as migrations use it."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._rows: list[Row] = []

    def execute(self, sql: str) -> None:
        result = self._connection.exec_driver_sql(sql)
        self._rows = [tuple(row) for row in result] if result.returns_rows else []

    def fetchall(self) -> list[Row]:
        return self._rows


def _engine(location: str | Path) -> Engine:
    if not is_address(location):
        return _sqlite(Path(location))
    try:
        url = make_url(str(location))
    except ArgumentError:
        raise RunError(
            f"{without_secrets(location)!r} is not a database URL; write postgresql://..."
        ) from None
    if url.get_backend_name() not in ("postgresql", "postgres"):
        raise RunError(
            f"a project is a file or a postgresql:// URL, not {without_secrets(location)}"
        )
    try:
        engine = create_engine(url.set(drivername="postgresql+psycopg"), pool_pre_ping=True)
    except ImportError:
        raise MissingExtraError("a project in PostgreSQL", "postgres") from None

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        # Each change follows one before it, so that servers write one after the other.
        if connection.get_execution_options().get("markscheme_writes"):
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({SCHEMA.lock:d})")

    return engine


def _for_owner_only(path: Path) -> None:
    """Labels and links to sign in are nobody else's: the file is for its owner to read.

    The files that SQLite keeps next to it take the mode of the first.
    """
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600))
        if path.stat().st_uid == os.getuid():
            path.chmod(0o600)
    except OSError:
        return  # Opening it says what is wrong, in the words of databases.


def _sqlite(path: Path) -> Engine:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunError(f"the project {path} cannot be opened: {error}") from None
    # The log holds one commit, so that one which is lost or cut takes no labels along.
    pragmas = ("synchronous = FULL", "foreign_keys = ON", "wal_autocheckpoint = 1")
    _for_owner_only(path)
    engine = create_engine(
        URL.create("sqlite", database=str(path)),
        poolclass=QueuePool,
        creator=lambda: _connected(path, pragmas),
    )

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        # To begin by reading and then write fails if another process has written in between.
        writes = connection.get_execution_options().get("markscheme_writes")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _connected(path: Path, pragmas: Sequence[str]) -> sqlite3.Connection:
    """A connection on which text that is no UTF-8 is read too, so that it can be named."""
    connection = open_sqlite(path, wait=_WAIT_SECONDS, pragmas=pragmas)
    connection.text_factory = lambda content: content.decode("utf-8", "surrogateescape")
    return connection


def _worth_repeating(error: Exception) -> bool:
    """Two processes met at the same row, or a connection broke: the next try may do."""
    broken = isinstance(error, DBAPIError) and error.connection_invalidated
    return broken or isinstance(error, IntegrityError | OperationalError)


def _cause(error: Exception) -> BaseException:
    return error.orig if isinstance(error, DBAPIError) and error.orig else error
