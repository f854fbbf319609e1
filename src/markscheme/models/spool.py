"""Replies on their way to a ledger on a server: safe on this machine before they set out.

A server is milliseconds away or, at times, not there at all. A reply is therefore committed to a
file here the moment it arrives, brought to the server beside the asking, and then dropped here.
What a killed process leaves behind is brought in by the next one that starts in the same folder.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from pathlib import Path

from markscheme.models.database import Cursor, Database, Row, connect
from markscheme.models.tables import REPLY_COLUMNS, insert_replies

_FOLDER = Path("runs")
_AT_A_TIME = 1_000


class Spool:
    """A file of replies that are not at the server yet. Processes may share it."""

    def __init__(self, path: Path) -> None:
        """Name the file; it is made when there is something to keep."""
        self._path = path
        self._database: Database | None = None
        self._lock = threading.Lock()

    @classmethod
    def of(cls, shown: str) -> Spool:
        """The spool of the ledger at an address, which holds no password: one a folder."""
        name = blake2b(shown.encode(), digest_size=4).hexdigest()
        return cls(_FOLDER / f"to-ledger-{name}.sqlite")

    def keep(self, rows: Sequence[Row]) -> None:
        """Commit replies here; on return no kill of this process can lose them.

        Raises:
            ModelError: the file cannot be written.
        """
        if rows:
            self._opened().transact(lambda cursor: insert_replies(cursor, rows), writes=True)

    def waiting(self) -> Iterator[list[Row]]:
        """What is here, some at a time; each part is to be dropped before the next is taken."""
        if not self._path.exists():
            return

        def work(cursor: Cursor) -> list[Row]:
            cursor.execute(f"SELECT {REPLY_COLUMNS} FROM replies LIMIT {_AT_A_TIME}")  # noqa: S608
            return cursor.fetchall()

        while rows := self._opened().transact(work, writes=False):
            yield sorted(rows)

    def drop(self, keys: Iterable[str]) -> None:
        """Forget what has come to the server."""
        gone = [(key,) for key in keys]
        self._opened().transact(
            lambda cursor: cursor.executemany("DELETE FROM replies WHERE key = ?", gone),
            writes=True,
        )
        self._opened().sync()

    def close(self) -> None:
        """Close the file."""
        if self._database is not None:
            self._database.close()
            self._database = None

    def _opened(self) -> Database:
        with self._lock:
            if self._database is None:
                self._database = connect(self._path, durable=True)
            return self._database
