"""The ledger: every reply a model ever gave, on disk before anybody uses it.

A reply's key is a hash of the model, its revision and every field of the request, so a changed
prompt or model never meets a stale answer, and the same question is never paid for twice. Several
processes may share a ledger: each claims what it is about to ask, and the others wait for the
reply.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import hmac
import itertools
import os
import queue
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import orjson

from markscheme.contract import ChatReply, ChatRequest, Image, Message
from markscheme.errors import ModelError, signature_wanted
from markscheme.models.chat import is_logprob
from markscheme.storage import Cursor, Database, Row, Schema, connect, is_postgres
from markscheme.tables import mark_of

# --- Requests and replies as plain values, and the key under which a reply is stored --------------


_FIELDS = tuple(field.name for field in dataclasses.fields(ChatRequest))
_IMAGE_FIELDS = ("media_type", "sha256", "size", "width", "height")
_NUMBERS = ("temperature", "top_p")
_REPLY_FIELDS = tuple(field.name for field in dataclasses.fields(ChatReply))


def request_record(request: ChatRequest) -> dict[str, Any]:
    """Every field of a request that is set, as JSON can hold it.

    Fields that are None are left out, so that a field added later does not change the keys of
    requests that do not use it.
    """
    record: dict[str, Any] = {}
    for name in _FIELDS:
        value = getattr(request, name)
        if name == "messages":
            value = [_message_record(one) for one in value]
        elif name in _NUMBERS and value is not None:
            value = float(value)  # 0 and 0.0 are one temperature
        if value is not None:
            record[name] = value
    return record


def request_from(record: Mapping[str, Any]) -> ChatRequest:
    """The request that `request_record` wrote.

    Raises:
        KeyError, TypeError: the record is not one of a request.
    """
    values = dict(record)
    messages = tuple(_message_from(message) for message in values.pop("messages"))
    # What was left out as None must not come back as a default.
    absent = dict.fromkeys(("temperature", "top_p", "seed", "schema"))
    return ChatRequest(messages=messages, **{**absent, **values})


def _message_record(message: Message) -> dict[str, Any]:
    """A message with the hashes of its images in place of their bytes."""
    record: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.images:
        record["images"] = [
            {name: getattr(one, name) for name in _IMAGE_FIELDS} for one in message.images
        ]
    return record


def _message_from(record: Mapping[str, Any]) -> Message:
    values = dict(record)
    images = tuple(Image(**one) for one in values.pop("images", ()))
    return Message(**values, images=images)


def key_of(model: str, revision: str, request: ChatRequest) -> str:
    """32 hexadecimal digits that identify a model, its revision and every field of a request."""
    whole = {"model": model, "revision": revision, "request": request_record(request)}
    text = orjson.dumps(whole, option=orjson.OPT_SORT_KEYS)
    return blake2b(text, digest_size=16).hexdigest()


def reply_record(reply: ChatReply) -> dict[str, Any]:
    """Every field of a reply that is set, as JSON can hold it."""
    record = {name: getattr(reply, name) for name in _REPLY_FIELDS}
    return {name: value for name, value in record.items() if value is not None}


def reply_from(record: Mapping[str, Any]) -> ChatReply:
    """The reply that `reply_record` wrote.

    Raises:
        TypeError: the record is not one of a reply.
    """
    values = dict(record)
    places = values.get("token_logprobs")
    if places is not None:
        # Ledgers of versions that stored any number may hold some that are no log-probabilities.
        right = all(is_logprob(number) for place in places for number in dict(place).values())
        values["token_logprobs"] = tuple(dict(place) for place in places) if right else None
    return ChatReply(**values)


def digest_of(key: str, reply: str) -> str:
    """What an entry carries: a digest of its key, which is one of the request, and of its reply.

    Where a secret is set, a signature comes after it, which nobody can make without the secret.
    """
    digest = _plain_digest(key, reply)
    return f"{digest} {mark_of({'key': key, 'reply': reply})}" if signature_wanted() else digest


def _plain_digest(key: str, reply: str) -> str:
    return hashlib.sha256(orjson.dumps({"key": key, "reply": reply})).hexdigest()


def is_whole(key: str, reply: str, digest: str | None, *, signed: bool = True) -> bool:
    """Whether an entry is as it was written.

    Args:
        key: of the request.
        reply: its text.
        digest: what the entry carries.
        signed: whether it must be signed where a secret is set.
    """
    wanted = digest_of(key, reply)
    if signed and signature_wanted():
        return hmac.compare_digest(str(digest).encode(), wanted.encode())
    return str(digest).partition(" ")[0] == wanted.partition(" ")[0]


# --- The SQL on the ledger's tables ---------------------------------------------------------------


def _add_digests(cursor: Cursor) -> None:
    """Digests of the entries of version 0.1.0, which wrote none; unsigned, as they were."""
    cursor.execute("SELECT key, reply FROM replies")
    texts = [(key, reply) for key, reply in cursor.fetchall() if isinstance(reply, str)]
    digests = [(_plain_digest(key, reply), key) for key, reply in texts]
    cursor.executemany("UPDATE replies SET digest = ? WHERE key = ?", digests)


SCHEMA = Schema(
    kind="ledger",
    package="markscheme.models.ledger",
    table="migrations",
    lock=7106204431,
    error=ModelError,
    programs={3: _add_digests},
)
"""The ledger's tables."""

REPLY_COLUMNS = (
    "key, model, revision, request, reply, status, tokens_in, tokens_out, cost_usd, created_at, "
    "digest"
)

_COLUMNS = REPLY_COLUMNS.count(",") + 1
_KEYS_A_QUERY = 500


def pieces(keys: Sequence[str]) -> Iterator[Sequence[str]]:
    """As many keys at a time as one query may name."""
    return (keys[at : at + _KEYS_A_QUERY] for at in range(0, len(keys), _KEYS_A_QUERY))


def insert_replies(cursor: Cursor, rows: Sequence[Row]) -> dict[str, ChatReply]:
    """Add the replies whose keys are new or have an entry that was changed, in one order for all
    processes.

    Returns:
        Replies that the table now has, by key; empty if all were new, which needs no second look.
    """
    if not rows:
        return {}
    insert = f"INSERT INTO replies ({REPLY_COLUMNS}) VALUES ({', '.join('?' * _COLUMNS)}) "  # noqa: S608
    cursor.executemany(f"{insert} ON CONFLICT (key) DO NOTHING", rows)
    if cursor.rowcount == len(rows):
        return {}
    there, changed = stored(cursor, [row[0] for row in rows])
    if changed:
        cursor.executemany("DELETE FROM replies WHERE key = ?", [(key,) for key in sorted(changed)])
        cursor.executemany(insert, [row for row in rows if row[0] in changed])
    return there


def stored(cursor: Cursor, keys: Sequence[str]) -> tuple[dict[str, ChatReply], set[str]]:
    """Replies that are there, by key, and keys of entries that are not as they were written."""
    found: dict[str, ChatReply] = {}
    changed: set[str] = set()
    for some in pieces(keys):
        marks = ",".join("?" * len(some))
        cursor.execute(
            f"SELECT key, reply, digest FROM replies WHERE key IN ({marks})",  # noqa: S608
            some,
        )
        for key, text, digest in cursor.fetchall():
            reply = _read(key, text, digest)
            if reply is None:
                changed.add(key)
            else:
                found[key] = reply
    return found, changed


def delete_claims(cursor: Cursor, keys: Sequence[str], owner: str) -> None:
    """Drop claims of one owner."""
    if keys:
        cursor.executemany(
            "DELETE FROM claims WHERE key = ? AND owner = ?", [(key, owner) for key in keys]
        )


# --- The ledger: every reply a model ever gave, on disk before anybody uses it --------------------


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
                self._database = connect(self._path, SCHEMA, durable=True)
            return self._database


LEASE_SECONDS = 60.0
"""How long a claim holds unless it is renewed. A dead process of this machine loses its claims at
once; one of another machine after this long."""

_SQLITE_MAGIC = b"SQLite format 3\x00"
_RENEW_SECONDS = 15.0
_LARGEST_COMMIT = 2_000
_REST_SECONDS = 0.005


@dataclass(frozen=True, kw_only=True, slots=True)
class LedgerEntry:
    """A request to a model, under its key."""

    key: str
    model: str
    revision: str
    request: ChatRequest

    @classmethod
    def of(cls, model: str, revision: str, request: ChatRequest) -> LedgerEntry:
        """With the key worked out."""
        return cls(
            key=key_of(model, revision, request), model=model, revision=revision, request=request
        )


OnStored = Callable[[ChatReply], None]
"""Called with the reply to use once it is on disk."""


@dataclass(frozen=True, slots=True)
class _Write:
    entry: LedgerEntry
    reply: ChatReply
    then: OnStored


_Written = tuple[OnStored, ChatReply]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Step:
    """Work for the ledger's thread: replies committed here that wait for the disk, replies to
    commit elsewhere, and whom to tell when all before is done."""

    written: Sequence[_Written] = ()
    writes: Sequence[_Write] = ()
    done: threading.Event | None = None


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
        self._quick = connect(location, SCHEMA, durable=False)
        self._durable: Database = connect(location, SCHEMA, durable=True)
        self.shown: str = self._quick.shown
        self._owner = f"{socket.gethostname()}|{os.getpid()}|{uuid.uuid4().hex}"
        self._claimed: set[str] = set()
        self._trouble: BaseException | None = None
        self.changed: set[str] = set()
        """Keys of entries that were looked for and are not as they were written."""
        self._renewed = time.monotonic()
        self._spool = Spool.of(self.shown) if is_postgres(location) else None
        self._take_over()
        self._queue: queue.SimpleQueue[_Step | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._finish, name="markscheme-ledger", daemon=True)
        self._thread.start()

    def __repr__(self) -> str:
        return f"Ledger({self.shown!r})"

    # --- reading ------------------------------------------------------------------------------

    def find(self, keys: Iterable[str]) -> dict[str, ChatReply]:
        """Replies that are there, by key. One that was changed is not there; see `changed`."""
        wanted = list(keys)
        if not wanted:
            return {}
        found, changed = self._quick.transact(lambda cursor: stored(cursor, wanted), writes=False)
        self.changed |= changed
        return found

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
        """Claim requests that are about to be sent: the keys that are now ours, and replies that
        arrived since. The rest is being sent by another process."""
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
            found, _ = stored(cursor, ordered)
            delete_claims(cursor, sorted(found), self._owner)
            mine: set[str] = set()
            for some in pieces(ordered):
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
        """Give up claims on requests that were not sent after all."""
        ours = sorted(self._claimed & set(keys))
        if ours:
            self._quick.transact(
                lambda cursor: delete_claims(cursor, ours, self._owner), writes=True
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
            self._take_over()
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

    def put(self, entry: LedgerEntry, reply: ChatReply, then: OnStored = lambda _: None) -> None:
        """Keep a reply: on return no kill of this process can lose it.

        `then` is called with it, from another thread, once a power cut cannot either. A reply that
        is there already stays, and is the one that `then` gets. A failed reply is logged and not
        stored as an answer: the next run sends the request again.

        Raises:
            ModelError: this or an earlier reply could not be written.
        """
        self._put([_Write(entry, reply, then)])

    def put_all(self, replies: Iterable[tuple[LedgerEntry, ChatReply]]) -> None:
        """Keep many replies, at a fraction of the time that `put` would take for each.

        Raises:
            ModelError: something could not be written.
        """
        source = iter(replies)
        while some := list(itertools.islice(source, _LARGEST_COMMIT)):
            self._put([_Write(entry, reply, lambda _: None) for entry, reply in some])

    def _put(self, writes: list[_Write]) -> None:
        if self._trouble is not None:
            raise self._trouble
        if self._spool is not None:
            self._spool.keep(_rows(writes))
            self._queue.put(_Step(writes=writes))
            return
        try:
            self._queue.put(_Step(written=self._commit(writes)))
        except ModelError as error:
            self._trouble = error
            raise

    def flush(self) -> None:
        """Return when everything put so far is on disk and was handed on.

        Raises:
            ModelError: something could not be written.
        """
        done = threading.Event()
        self._queue.put(_Step(done=done))
        while not done.wait(0.1):  # In pieces, so that an interrupt is heard.
            pass
        if self._trouble is not None:
            raise self._trouble

    def close(self) -> None:
        """Write what is left and close."""
        self._queue.put(None)
        self._thread.join()
        self._quick.close()
        self._durable.close()
        if self._spool is not None:
            self._spool.close()

    def _finish(self) -> None:
        """The other thread's life: once a database's disk has replies, they are handed on.

        Whatever came in meanwhile is the next to be done, so a single reply waits for nothing and a
        flood shares the disk's time.
        """
        stop = False
        while not stop:
            steps = self._next_steps()
            stop = steps[-1:] == [None]
            work = [step for step in steps if step is not None]
            try:
                if self._trouble is None:
                    self._hand_on(work)
                if self._claimed and time.monotonic() - self._renewed > _RENEW_SECONDS:
                    self._renewed = time.monotonic()
                    self._renew()
            except Exception as error:  # Raised by the next `put` or `flush`.
                self._trouble = error
            for step in work:
                if step.done is not None:
                    step.done.set()
            if work and not stop:
                time.sleep(_REST_SECONDS)  # While a disk is at it, commits are slower.

    def _next_steps(self) -> list[_Step | None]:
        """What there is to do, None last if that is all there will be; [] if claims are due."""
        steps: list[_Step | None] = []
        size = 0
        with contextlib.suppress(queue.Empty):
            steps.append(self._queue.get(timeout=_RENEW_SECONDS))
            while (last := steps[-1]) is not None and size < _LARGEST_COMMIT:
                size += len(last.writes)
                steps.append(self._queue.get_nowait())
        return steps

    def _hand_on(self, steps: list[_Step]) -> None:
        written = [one for step in steps for one in step.written]
        writes = [write for step in steps for write in step.writes]
        if written:
            self._durable.sync()
        if writes:
            written += self._commit(writes)
            if self._spool is not None:
                self._spool.drop(item.entry.key for item in writes)
        for then, reply in written:
            then(reply)

    def _commit(self, batch: list[_Write]) -> list[_Written]:
        """Write replies and failures, drop their claims; gives what to hand on to whom."""
        failed = [item for item in batch if item.reply.status == "failed"]
        rows = _rows(batch)

        def work(cursor: Cursor) -> dict[str, ChatReply]:
            there = insert_replies(cursor, rows)
            if failed:
                now = time.time()
                cursor.executemany(
                    "INSERT INTO failures (key, model, revision, reply, error, created_at) "
                    "VALUES (?, ?, ?, ?, ?, ?)",
                    [_failure(item, now) for item in failed],
                )
            delete_claims(cursor, sorted(item.entry.key for item in batch), self._owner)
            return there

        there = self._durable.transact(work, writes=True)
        self._claimed -= {item.entry.key for item in batch}
        return [(item.then, self._to_use(item, there)) for item in batch]

    def _to_use(self, item: _Write, there: dict[str, ChatReply]) -> ChatReply:
        """The reply itself, unless another one was there first."""
        if item.reply.status == "failed":
            return item.reply
        return there.get(item.entry.key, item.reply)

    def _take_over(self) -> None:
        """Commit replies that processes of this machine had spooled when they died."""
        if self._spool is not None:
            for rows in self._spool.waiting():
                self._durable.transact(lambda cursor: insert_replies(cursor, rows), writes=True)  # noqa: B023
                self._spool.drop(row[0] for row in rows)


def _rows(batch: Sequence[_Write]) -> list[Row]:
    """What is stored of some replies, one row a key, in order of key."""
    answers = {item.entry.key: item for item in batch if item.reply.status in ("ok", "refused")}
    now = time.time()
    return [_row(answers[key], now) for key in sorted(answers)]


def _row(item: _Write, now: float) -> Row:
    entry, reply = item.entry, item.reply
    request = orjson.dumps(request_record(entry.request)).decode()
    text = orjson.dumps(reply_record(reply)).decode()
    counts = (reply.tokens_in, reply.tokens_out, reply.cost_usd, now)
    digest = digest_of(entry.key, text)
    return (entry.key, entry.model, entry.revision, request, text, reply.status, *counts, digest)


def _failure(item: _Write, now: float) -> tuple[Any, ...]:
    text = orjson.dumps(reply_record(item.reply)).decode()
    entry = item.entry
    return (entry.key, entry.model, entry.revision, text, item.reply.error or "", now)


def _read(key: str, text: str, digest: str | None) -> ChatReply | None:
    """The reply of an entry; None where it is not as it was written."""
    try:
        return reply_from(orjson.loads(text)) if is_whole(key, text, digest) else None
    except (AttributeError, TypeError, ValueError):  # No text, or no reply, without a digest.
        return None


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def open_ledger(place: str | None = None, *, must_exist: bool = False) -> Ledger:
    """The ledger at a path or PostgreSQL URL, or the default one.

    Raises:
        ModelError: it cannot be opened, or must exist and does not.
    """
    from markscheme.models import default_ledger

    where = place or default_ledger()
    if must_exist and not is_postgres(where):
        if not Path(where).is_file():
            raise ModelError(
                f"there is no ledger {where}; a run with a language model makes one, --ledger "
                "names another"
            )
        with Path(where).open("rb") as stream:
            if not _SQLITE_MAGIC.startswith(stream.read(len(_SQLITE_MAGIC))):
                raise ModelError(
                    f"{where} is no ledger; an exported one is imported first: 'markscheme llm "
                    f"ledger import {where} --ledger FILE'"
                )
    return Ledger(where)
