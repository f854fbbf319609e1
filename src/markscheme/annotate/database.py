"""Where a project is kept: a SQLite file, or a PostgreSQL database by URL.

One thread writes. What arrives while it commits shares the next commit, so that fifty people who
label at once wait for one disk write and not for fifty; and nobody is told "saved" before it is.
"""

from __future__ import annotations

import importlib.resources
import queue
import re
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import URL, Connection, Engine, create_engine, event, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import (
    ArgumentError,
    DBAPIError,
    IntegrityError,
    OperationalError,
    SQLAlchemyError,
)
from sqlalchemy.pool import QueuePool

from markscheme.errors import MissingExtraError, RunError

T = TypeVar("T")
Work = Callable[[Connection], T]

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

    def __init__(self, location: str | Path) -> None:
        """Open, and make if need be.

        Args:
            location: a path, or `postgresql://user@host/database`.

        Raises:
            RunError: it cannot be opened, or a newer markscheme made it.
            MissingExtraError: PostgreSQL's driver is not installed.
        """
        self.shown = shown(location)
        self.engine = _engine(location)
        try:
            self._migrate()
        except SQLAlchemyError as error:
            self.engine.dispose()
            raise RunError(f"the project {self.shown} cannot be opened: {_said(error)}") from None
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

    def _migrate(self) -> None:
        """Apply the migrations that the database lacks, once, however many processes try."""
        known = migrations(self.engine.dialect.name)
        with self._writing() as connection, connection.begin():
            if self.engine.dialect.name == "postgresql":
                connection.execute(text("SELECT pg_advisory_xact_lock(7106204432)"))
            connection.execute(
                text("CREATE TABLE IF NOT EXISTS annotate_migrations (number INTEGER PRIMARY KEY)")
            )
            applied = set(
                connection.execute(text("SELECT number FROM annotate_migrations")).scalars()
            )
            if applied - set(known):
                raise RunError(
                    f"the project {self.shown} was made by a newer markscheme; upgrade this one"
                )
            for number in sorted(set(known) - applied):
                for statement in filter(str.strip, known[number].split(";\n")):
                    connection.exec_driver_sql(statement)
                connection.execute(
                    text("INSERT INTO annotate_migrations (number) VALUES (:number)"),
                    {"number": number},
                )


def migrations(dialect: str) -> dict[int, str]:
    """Number to SQL of every migration; those for one dialect alone follow the common ones.

    They are only ever added to.
    """
    folder = importlib.resources.files("markscheme.annotate") / "migrations"
    found: dict[int, str] = {}
    for file in sorted(folder.iterdir(), key=lambda file: (len(file.name.split(".")), file.name)):
        named = re.fullmatch(r"(\d{4})_\w+?(?:\.(\w+))?\.sql", file.name)
        if named and named[2] in (None, dialect):
            sql = file.read_text(encoding="utf-8")
            found[int(named[1])] = found.get(int(named[1]), "") + sql
    return found


def shown(location: str | Path) -> str:
    """A path or URL as it may be printed: without a password."""
    return re.sub(r"(://[^/@:]*):[^@]*@", r"\1:***@", str(location))


def is_url(location: str | Path) -> bool:
    """Whether it is a database's URL and not a file's path."""
    return "://" in str(location)


def _engine(location: str | Path) -> Engine:
    if not is_url(location):
        return _sqlite(Path(location))
    try:
        url = make_url(str(location))
    except ArgumentError:
        raise RunError(f"{shown(location)!r} is no database URL; write postgresql://...") from None
    if url.get_backend_name() not in ("postgresql", "postgres"):
        raise RunError(f"a project is a file or a postgresql:// URL, not {shown(location)}")
    try:
        return create_engine(url.set(drivername="postgresql+psycopg"), pool_pre_ping=True)
    except ImportError:
        raise MissingExtraError("a project in PostgreSQL", "postgres") from None


def _sqlite(path: Path) -> Engine:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunError(f"the project {path} cannot be opened: {error}") from None
    engine = create_engine(
        URL.create("sqlite", database=str(path)),
        poolclass=QueuePool,
        connect_args={"check_same_thread": False, "timeout": _WAIT_SECONDS},
    )

    @event.listens_for(engine, "connect")
    def _settings(connection: Any, _: Any) -> None:
        connection.isolation_level = None  # Transactions begin below, not where the driver thinks.
        for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        # To begin by reading and then write fails if another process has written in between.
        writes = connection.get_execution_options().get("markscheme_writes")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _worth_repeating(error: Exception) -> bool:
    """Two processes met at the same row, or a connection broke: the next try may do."""
    broken = isinstance(error, DBAPIError) and error.connection_invalidated
    return broken or isinstance(error, IntegrityError | OperationalError)


def _said(error: SQLAlchemyError) -> str:
    cause = error.orig if isinstance(error, DBAPIError) and error.orig else error
    said = " ".join(str(cause).split())
    return re.sub(r"password=\S+", "password=***", said)
