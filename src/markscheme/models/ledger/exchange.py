"""Ledgers as files to share: export, import, and what is in one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from markscheme.contract import ChatReply
from markscheme.errors import BadRowsError, DataError, Problem
from markscheme.models.ledger.entries import key_of, reply_from, request_from
from markscheme.models.ledger.ledger import Ledger, LedgerEntry

_SQLITE_MAGIC = b"SQLite format 3\x00"


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """One line of an exported ledger."""

    entry: LedgerEntry
    reply: ChatReply

    @property
    def key(self) -> str:
        """The reply's key."""
        return self.entry.key


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelStats:
    """What a ledger holds of one model."""

    model: str
    revision: str
    replies: int
    refused: int
    failures: int
    tokens_in: int
    tokens_out: int
    cost_usd: float | None
    first: float | None
    last: float | None


def is_export(path: Path) -> bool:
    """Whether a file is an exported ledger rather than a SQLite one."""
    with path.open("rb") as stream:
        return stream.read(len(_SQLITE_MAGIC)) != _SQLITE_MAGIC


def export_ledger(ledger: Ledger, path: Path) -> int:
    """Write every reply as a line of JSON, in order of key; returns how many.

    A line has `key`, `model`, `revision`, `request`, `reply`: prompts and replies in full, so look
    before you publish. Two ledgers with the same replies give the same bytes.

    Raises:
        DataError: the file cannot be written.
    """
    count = 0
    temporary = path.with_name(path.name + ".part")
    try:
        with temporary.open("wb") as stream:
            for key, model, revision, request, reply in ledger.rows(
                "model, revision, request, reply"
            ):
                head = orjson.dumps({"key": key, "model": model, "revision": revision})
                stream.write(
                    head[:-1] + b',"request":' + request.encode() + b',"reply":'
                    + reply.encode() + b"}\n"
                )  # fmt: skip
                count += 1
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
    except OSError as error:
        raise DataError(f"cannot write {path}: {error.strerror}") from None
    return count


def read_export(path: Path) -> Iterator[Line]:
    """The lines of an exported ledger.

    Raises:
        BadRowsError: after the last line, naming every malformed one.
        DataError: the file cannot be read.
    """
    problems = []
    try:
        with path.open("rb") as stream:
            for number, text in enumerate(stream, start=1):
                try:
                    yield _line(text)
                except (KeyError, TypeError, ValueError, AttributeError) as error:
                    problems.append(
                        Problem(
                            source=str(path),
                            line=number,
                            message=f"no line of an exported ledger: {_reason(error)}",
                        )
                    )
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}") from None
    if problems:
        raise BadRowsError(problems)


def _reason(error: Exception) -> str:
    return f"no {error}" if isinstance(error, KeyError) else str(error)


def _line(text: bytes) -> Line:
    record: dict[str, Any] = orjson.loads(text)
    request = request_from(record["request"])
    key = key_of(record["model"], record["revision"], request)
    if key != record["key"]:
        raise ValueError("the key does not belong to the request; the line was changed")
    reply = reply_from(record["reply"])
    if reply.status not in ("ok", "refused"):
        raise ValueError(f"a reply with status {reply.status!r} is no answer")
    entry = LedgerEntry(
        key=key, model=record["model"], revision=record["revision"], request=request
    )
    return Line(entry=entry, reply=reply)


def import_ledger(ledger: Ledger, path: Path) -> int:
    """Add the replies of an exported file; those that are there already stay. Returns how many
    lines were read.

    Raises:
        BadRowsError: naming malformed lines; nothing is imported then.
        DataError: the file cannot be read.
    """
    count = sum(1 for _ in read_export(path))
    ledger.put_all((line.entry, line.reply) for line in read_export(path))
    ledger.flush()
    return count


def ledger_stats(ledger: Ledger) -> list[ModelStats]:
    """What a ledger holds, a record a model and revision, in order of name."""
    failures = {
        (model, revision): count
        for model, revision, count in ledger.query(
            "SELECT model, revision, COUNT(*) FROM failures GROUP BY model, revision"
        )
    }
    rows = ledger.query(
        "SELECT model, revision, COUNT(*), SUM(CASE WHEN status = 'refused' THEN 1 ELSE 0 END), "
        "COALESCE(SUM(tokens_in), 0), COALESCE(SUM(tokens_out), 0), SUM(cost_usd), "
        "MIN(created_at), MAX(created_at) FROM replies GROUP BY model, revision"
    )
    found = {
        (model, revision): ModelStats(
            model=model,
            revision=revision,
            replies=replies,
            refused=refused,
            failures=failures.get((model, revision), 0),
            tokens_in=int(tokens_in),
            tokens_out=int(tokens_out),
            cost_usd=cost,
            first=first,
            last=last,
        )
        for model, revision, replies, refused, tokens_in, tokens_out, cost, first, last in rows
    }
    for (model, revision), count in failures.items():
        empty = ModelStats(
            model=model, revision=revision, replies=0, refused=0, failures=count, tokens_in=0,
            tokens_out=0, cost_usd=None, first=None, last=None,
        )  # fmt: skip
        found.setdefault((model, revision), empty)
    return [found[name] for name in sorted(found)]


def failure_reasons(ledger: Ledger, most: int = 10) -> list[tuple[str, int]]:
    """The commonest reasons why replies did not come, with how often."""
    rows = ledger.query(
        "SELECT error, COUNT(*) FROM failures GROUP BY error ORDER BY COUNT(*) DESC, error LIMIT ?",
        (most,),
    )
    return [(str(error), int(count)) for error, count in rows]
