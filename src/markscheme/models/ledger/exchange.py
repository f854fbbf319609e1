"""Ledgers as files to share: export, import, what is in one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import orjson

from markscheme.contract import ChatReply
from markscheme.errors import BadRowsError, DataError, Problem
from markscheme.models.ledger.ledger import (
    Ledger,
    LedgerEntry,
    is_whole,
    reply_from,
    request_from,
)
from markscheme.tables import whole_file


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


def export_ledger(ledger: Ledger, path: Path) -> int:
    """Write every reply as a line of JSON, in order of key; returns how many.

    A line has `key`, `model`, `revision`, `digest`, `request`, `reply`: prompts and replies in
    full, so look before you publish. Two ledgers with the same replies give the same bytes. Entries
    that were changed are left out; `ledger.changed` has their keys.

    Raises:
        DataError: the file cannot be written, or is the ledger.
    """
    with suppress(OSError):  # it is not there yet, or the ledger is a server's
        if path.samefile(ledger.shown):
            raise DataError(f"{path} is the ledger itself; export it to another file")
    count = 0
    try:
        with whole_file(path) as temporary, temporary.open("wb") as stream:
            for key, model, revision, digest, request, reply in ledger.rows(
                "model, revision, digest, request, reply"
            ):
                if not is_whole(key, reply, digest):
                    ledger.changed.add(key)
                    continue
                head = orjson.dumps(
                    {"key": key, "model": model, "revision": revision}
                    | ({"digest": digest} if digest else {})
                )
                stream.write(
                    head[:-1]
                    + b',"request":'
                    + request.encode()
                    + b',"reply":'
                    + reply.encode()
                    + b"}\n"
                )
                count += 1
    except OSError as error:
        raise DataError(f"cannot write {path}: {error.strerror}") from None
    return count


def read_export(path: Path, *, signed: bool = True) -> Iterator[tuple[LedgerEntry, ChatReply]]:
    """What the lines of an exported ledger hold.

    Args:
        path: the file.
        signed: whether lines must be signed where a secret is set.

    Raises:
        BadRowsError: after the last line, naming every malformed one.
        DataError: the file cannot be read.
    """
    problems = []
    try:
        with path.open("rb") as stream:
            for number, text in enumerate(stream, start=1):
                if not text.strip():
                    continue
                try:
                    yield _line(text, signed=signed)
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


def _line(text: bytes, *, signed: bool) -> tuple[LedgerEntry, ChatReply]:
    record: dict[str, Any] = orjson.loads(text)
    entry = LedgerEntry.of(record["model"], record["revision"], request_from(record["request"]))
    if entry.key != record["key"]:
        raise ValueError("the key does not belong to the request; the line was changed")
    stored = orjson.dumps(record["reply"]).decode()
    early = "digest" not in record and not signed  # version 0.1.0 wrote none
    if not early and not is_whole(entry.key, stored, record.get("digest"), signed=signed):
        raise ValueError("the digest does not belong to the reply, or the line is not signed")
    reply = reply_from(record["reply"])
    if reply.status not in ("ok", "refused"):
        raise ValueError(f"a reply with status {reply.status!r} is not an answer")
    return entry, reply


def import_ledger(ledger: Ledger, path: Path) -> int:
    """Add the replies of an exported file; those that are there already stay. Returns how many
    lines were read. They need not be signed: to import a file is to trust it, and its entries are
    signed where a secret is set.

    Raises:
        BadRowsError: naming malformed lines; nothing is imported then.
        DataError: the file cannot be read.
    """
    count = sum(1 for _ in read_export(path, signed=False))
    ledger.put_all(read_export(path, signed=False))
    ledger.flush()
    return count


def ledger_stats(ledger: Ledger) -> list[ModelStats]:
    """What a ledger holds, one record per model and revision, in order of name."""
    rows = ledger.query(
        "SELECT model, revision, COUNT(status), "
        "SUM(CASE WHEN status = 'refused' THEN 1 ELSE 0 END), SUM(failed), "
        "CAST(COALESCE(SUM(tokens_in), 0) AS BIGINT), "
        "CAST(COALESCE(SUM(tokens_out), 0) AS BIGINT), SUM(cost_usd), "
        "MIN(created_at), MAX(created_at) FROM ("
        "SELECT model, revision, status, tokens_in, tokens_out, cost_usd, created_at, 0 AS failed "
        "FROM replies UNION ALL "
        "SELECT model, revision, NULL, NULL, NULL, NULL, NULL, 1 FROM failures"
        ") AS every GROUP BY model, revision"
    )
    names = [one.name for one in fields(ModelStats)]
    ordered = sorted(rows, key=lambda row: row[:2])
    return [ModelStats(**dict(zip(names, row, strict=True))) for row in ordered]


def failure_reasons(ledger: Ledger, most: int = 10) -> list[tuple[str, int]]:
    """The commonest reasons why replies did not come, with how often."""
    rows = ledger.query(
        "SELECT error, COUNT(*) FROM failures GROUP BY error ORDER BY COUNT(*) DESC, error LIMIT ?",
        (most,),
    )
    return [(str(error), int(count)) for error, count in rows]
