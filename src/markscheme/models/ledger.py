"""The ledger: every reply a model ever gave, on disk before anybody uses it.

A reply's key is a hash of the model, its revision and every field of the request, so a changed
prompt or model never meets a stale answer, and the same question is never paid for twice. Several
processes may share a ledger: each claims what it is about to ask, and the others wait for the
reply.
"""

from __future__ import annotations

import contextlib
import os
import queue
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from markscheme.errors import ModelError
from markscheme.models.chat import ChatReply, ChatRequest
from markscheme.models.database import Cursor, Database, connect
from markscheme.models.records import key_of, reply_from, reply_record, request_record

LEASE_SECONDS = 60.0
"""How long a claim holds unless it is renewed. A dead process of this machine loses its claims at
once; one of another machine after this long."""

_RENEW_SECONDS = 15.0
_KEYS_A_QUERY = 500
_LARGEST_COMMIT = 2_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """A request to a model, under its key."""

    key: str
    model: str
    revision: str
    request: ChatRequest

    @classmethod
    def of(cls, model: str, revision: str, request: ChatRequest) -> Asked:
        """With the key worked out."""
        return cls(
            key=key_of(model, revision, request), model=model, revision=revision, request=request
        )


OnKept = Callable[[ChatReply], None]
"""Told, once a reply is on disk, the reply to use."""


@dataclass(frozen=True, slots=True)
class _Write:
    asked: Asked
    reply: ChatReply
    then: OnKept


_Kept = tuple[OnKept, ChatReply]


class Ledger:
    """Replies in a SQLite file or a PostgreSQL database.

    Example:
        >>> import tempfile, pathlib
        >>> ledger = Ledger(pathlib.Path(tempfile.mkdtemp()) / "ledger.sqlite")
        >>> ledger.find(["0" * 32])
        {}
        >>> ledger.close()
    """

    def __init__(self, location: str | Path) -> None:
        """Open, and make if need be.

        Args:
            location: a path, or `postgresql://user@host/database`.

        Raises:
            ModelError: it cannot be opened.
            MissingExtraError: PostgreSQL's driver is not installed.
        """
        # Two connections: what is read and claimed need not wait for what is written.
        self._quick = connect(location, durable=False)
        self._durable: Database = connect(location, durable=True)
        self.shown = self._quick.shown
        self._owner = f"{socket.gethostname()}|{os.getpid()}|{uuid.uuid4().hex}"
        self._claimed: set[str] = set()
        self._queue: queue.SimpleQueue[_Write | threading.Event | None] = queue.SimpleQueue()
        self._trouble: BaseException | None = None
        self._renewed = time.monotonic()
        self._to_sync: queue.SimpleQueue[list[_Kept] | threading.Event | None] = queue.SimpleQueue()
        self._threads = [
            threading.Thread(target=life, name="markscheme-ledger", daemon=True)
            for life in (self._write, self._sync)
        ]
        for thread in self._threads:
            thread.start()

    def __repr__(self) -> str:
        return f"Ledger({self.shown!r})"

    # --- reading ------------------------------------------------------------------------------

    def find(self, keys: Iterable[str]) -> dict[str, ChatReply]:
        """Replies that are there, by key."""
        wanted = list(keys)

        def work(cursor: Cursor) -> dict[str, ChatReply]:
            return {key: _read(text) for key, text in _stored(cursor, wanted)}

        return self._quick.transact(work, writes=False) if wanted else {}

    def rows(self, columns: str, table: str = "replies") -> Iterator[tuple[Any, ...]]:
        """All rows of a keyed table in order of key, a thousand at a time; the key comes first."""
        last = ""
        sql = f"SELECT key, {columns} FROM {table} WHERE key > ? ORDER BY key LIMIT 1000"  # noqa: S608

        def work(cursor: Cursor) -> list[tuple[Any, ...]]:
            cursor.execute(sql, (last,))
            return cursor.fetchall()

        while page := self._quick.transact(work, writes=False):
            yield from page
            last = page[-1][0]

    def query(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Rows of a query of our own."""

        def work(cursor: Cursor) -> list[tuple[Any, ...]]:
            cursor.execute(sql, values)
            return cursor.fetchall()

        return self._quick.transact(work, writes=False)

    def change(self, work: Callable[[Cursor], object]) -> None:
        """Do `work` in one transaction, durably."""
        self._durable.transact(work, writes=True)
        self._durable.sync()

    # --- claims -------------------------------------------------------------------------------

    def claim(self, keys: Sequence[str]) -> tuple[set[str], dict[str, ChatReply]]:
        """Claim what is about to be asked: the keys that are now ours, and replies that came in
        since. The rest is being asked by another process."""
        ordered = sorted(keys)
        until = time.time() + LEASE_SECONDS
        self._drop_claims_of_the_dead()

        def work(cursor: Cursor) -> tuple[set[str], dict[str, ChatReply]]:
            cursor.executemany(
                "INSERT INTO claims (key, owner, valid_until) VALUES (?, ?, ?) "
                "ON CONFLICT (key) DO UPDATE "
                "SET owner = excluded.owner, valid_until = excluded.valid_until "
                "WHERE claims.valid_until < ? OR claims.owner = excluded.owner",
                [(key, self._owner, until, time.time()) for key in ordered],
            )
            # Looked for after claiming: who had a claim before may have just replied.
            found = {key: _read(text) for key, text in _stored(cursor, ordered)}
            _delete_claims(cursor, sorted(found), self._owner)
            mine: set[str] = set()
            for some in _pieces(ordered):
                marks = ",".join("?" * len(some))
                cursor.execute(
                    f"SELECT key FROM claims WHERE owner = ? AND key IN ({marks})",  # noqa: S608
                    (self._owner, *some),
                )
                mine |= {row[0] for row in cursor.fetchall()}
            return mine, found

        mine, found = self._quick.transact(work, writes=True)
        self._claimed |= mine
        return mine, found

    def release(self, keys: Iterable[str]) -> None:
        """Give up claims on what was not asked after all."""
        ours = sorted(self._claimed & set(keys))
        if ours:
            self._quick.transact(
                lambda cursor: _delete_claims(cursor, ours, self._owner), writes=True
            )
            self._claimed -= set(ours)

    def _drop_claims_of_the_dead(self) -> None:
        host = socket.gethostname()
        dead = []
        for (owner,) in self.query("SELECT DISTINCT owner FROM claims"):
            where, pid, _ = owner.split("|")
            if where == host and not _alive(int(pid)):
                dead.append(owner)
        if dead:
            self._quick.transact(
                lambda cursor: cursor.executemany(
                    "DELETE FROM claims WHERE owner = ?", [(owner,) for owner in dead]
                ),
                writes=True,
            )

    def _renew(self) -> None:
        until = time.time() + LEASE_SECONDS
        self._quick.transact(
            lambda cursor: cursor.execute(
                "UPDATE claims SET valid_until = ? WHERE owner = ?", (until, self._owner)
            ),
            writes=True,
        )

    # --- writing ------------------------------------------------------------------------------

    def put(self, asked: Asked, reply: ChatReply, then: OnKept = lambda _: None) -> None:
        """Keep a reply; `then` is called with it, from another thread, once it is on disk.

        A reply that is there already stays, and is the one that `then` gets. A failed reply is
        logged and not kept as an answer: the next run asks again.

        Raises:
            ModelError: an earlier reply could not be written.
        """
        if self._trouble is not None:
            raise self._trouble
        self._queue.put(_Write(asked, reply, then))

    def flush(self) -> None:
        """Return when everything put so far is on disk and was handed on.

        Raises:
            ModelError: something could not be written.
        """
        done = threading.Event()
        self._queue.put(done)
        while not done.wait(0.1):  # In pieces, so that an interrupt is heard.
            pass
        if self._trouble is not None:
            raise self._trouble

    def close(self) -> None:
        """Write what is left and close."""
        self._queue.put(None)
        for thread in self._threads:
            thread.join()
        self._quick.close()
        self._durable.close()

    def _write(self) -> None:
        """The committing thread's life: everything that came in meanwhile is the next commit.

        So a single reply is committed at once, and a flood shares the cost.
        """
        stop = False
        while not stop:
            batch: list[_Write] = []
            ends: list[threading.Event] = []
            try:
                item = self._queue.get(timeout=_RENEW_SECONDS)
                while True:
                    if isinstance(item, _Write):
                        batch.append(item)
                    elif item is None:
                        stop = True
                    else:
                        ends.append(item)
                    if stop or ends or len(batch) >= _LARGEST_COMMIT:
                        break
                    item = self._queue.get_nowait()
            except queue.Empty:
                pass
            try:
                if batch and self._trouble is None:
                    self._to_sync.put(self._commit(batch))
                if self._claimed and time.monotonic() - self._renewed > _RENEW_SECONDS:
                    self._renewed = time.monotonic()
                    self._renew()
            except Exception as error:  # Handed to whoever puts or flushes next.
                self._trouble = error
            for end in ends:
                self._to_sync.put(end)
        self._to_sync.put(None)

    def _sync(self) -> None:
        """The other thread's life: once the disk has a commit, its replies are handed on."""
        stop = False
        while not stop:
            items = [self._to_sync.get()]
            with contextlib.suppress(queue.Empty):
                while True:
                    items.append(self._to_sync.get_nowait())
            handed = [one for item in items if isinstance(item, list) for one in item]
            try:
                if handed and self._trouble is None:
                    self._durable.sync()
                    for then, reply in handed:
                        then(reply)
            except Exception as error:  # Handed to whoever puts or flushes next.
                self._trouble = error
            for item in items:
                if isinstance(item, threading.Event):
                    item.set()
                stop = stop or item is None

    def _commit(self, batch: list[_Write]) -> list[_Kept]:
        """Write replies and failures, drop their claims; gives what to hand on to whom."""
        kept = {item.asked.key: item for item in batch if item.reply.status in ("ok", "refused")}
        failed = [item for item in batch if item.reply.status == "failed"]
        now = time.time()
        texts = {key: orjson.dumps(reply_record(kept[key].reply)).decode() for key in sorted(kept)}
        rows = [_row(kept[key], text, now) for key, text in texts.items()]

        def work(cursor: Cursor) -> dict[str, str]:
            if rows:
                cursor.executemany(
                    "INSERT INTO replies (key, model, revision, request, reply, status, "
                    "tokens_in, tokens_out, cost_usd, created_at) "
                    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO NOTHING",
                    rows,
                )
            if failed:
                cursor.executemany(
                    "INSERT INTO failures (key, model, revision, reply, error, created_at) "
                    "VALUES (?, ?, ?, ?, ?, ?)",
                    [_failure(item, now) for item in failed],
                )
            _delete_claims(cursor, sorted(item.asked.key for item in batch), self._owner)
            return dict(_stored(cursor, list(texts)))

        stored = self._durable.transact(work, writes=True)
        self._claimed -= {item.asked.key for item in batch}
        return [(item.then, self._to_use(item, texts, stored)) for item in batch]

    def _to_use(self, item: _Write, ours: dict[str, str], stored: dict[str, str]) -> ChatReply:
        """The reply itself, unless another one was there first."""
        key = item.asked.key
        if item.reply.status == "failed" or stored.get(key) == ours.get(key):
            return item.reply
        return _read(stored[key])


def _pieces(keys: Sequence[str]) -> Iterator[Sequence[str]]:
    """As many keys at a time as one query may name."""
    return (keys[at : at + _KEYS_A_QUERY] for at in range(0, len(keys), _KEYS_A_QUERY))


def _row(item: _Write, text: str, now: float) -> tuple[Any, ...]:
    asked, reply = item.asked, item.reply
    request = orjson.dumps(request_record(asked.request)).decode()
    counts = (reply.tokens_in, reply.tokens_out, reply.cost_usd)
    return (asked.key, asked.model, asked.revision, request, text, reply.status, *counts, now)


def _failure(item: _Write, now: float) -> tuple[Any, ...]:
    text = orjson.dumps(reply_record(item.reply)).decode()
    asked = item.asked
    return (asked.key, asked.model, asked.revision, text, item.reply.error or "", now)


def _stored(cursor: Cursor, keys: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Key and text of the replies that are there."""
    for some in _pieces(keys):
        marks = ",".join("?" * len(some))
        cursor.execute(f"SELECT key, reply FROM replies WHERE key IN ({marks})", some)  # noqa: S608
        yield from ((row[0], row[1]) for row in cursor.fetchall())


def _delete_claims(cursor: Cursor, keys: Sequence[str], owner: str) -> None:
    if keys:
        cursor.executemany(
            "DELETE FROM claims WHERE key = ? AND owner = ?", [(key, owner) for key in keys]
        )


def _read(text: str) -> ChatReply:
    try:
        return reply_from(orjson.loads(text))
    except (TypeError, ValueError) as error:
        raise ModelError(f"the ledger holds a reply that cannot be read: {error}") from None


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
