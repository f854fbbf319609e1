"""Batch files as OpenAI and its likes take them: written for what is missing, read back when done.

A provider answers a batch within a day at a lower price. What was written is remembered in the
ledger, so that the results file alone is enough to read the replies back.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import orjson

from markscheme.errors import BadRowsError, DataError, Problem
from markscheme.models.chat.openai_format import (
    MalformedReplyError,
    body_of,
    is_refusal,
    reply_of,
)
from markscheme.models.chat.prices import Price, price_of
from markscheme.models.chat.protocol import ChatReply
from markscheme.models.ledger import Ledger, LedgerEntry, request_from, request_record

BATCH_SHARE = 0.5
"""What a batched call costs beside an ordinary one, at OpenAI and others in 2025."""


@dataclass(kw_only=True)
class BatchRead:
    """What a results file held."""

    replies: int = 0
    failed: int = 0
    cost_usd: float = 0.0
    reasons: dict[str, int] = field(default_factory=dict)


def write_batch(asked: Iterable[LedgerEntry], path: Path, ledger: Ledger) -> int:
    """Write requests as a batch file, equal ones once, and remember them; returns how many.

    Raises:
        DataError: the file cannot be written.
        ModelError: the ledger cannot.
    """
    distinct = {one.key: one for one in asked}
    _remember(ledger, distinct.values())
    temporary = path.with_name(path.name + ".part")
    try:
        with temporary.open("wb") as stream:
            for one in distinct.values():
                line = {
                    "custom_id": one.key,
                    "method": "POST",
                    "url": "/v1/chat/completions",
                    "body": body_of(one.request, one.model),
                }
                stream.write(orjson.dumps(line) + b"\n")
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
    except OSError as error:
        raise DataError(f"cannot write {path}: {error.strerror}") from None
    return len(distinct)


def read_batch(
    path: Path, ledger: Ledger, prices: Mapping[str, Price], *, share: float = BATCH_SHARE
) -> BatchRead:
    """Read a results file into the ledger.

    Requests that failed are logged, and stay missing for the next batch or run.

    Args:
        path: the provider's output file, or its error file.
        ledger: the ledger that the batch was written with.
        prices: dollars for tokens.
        share: what a batched call costs beside an ordinary one.

    Raises:
        BadRowsError: lines that are no results, or of requests that this ledger did not write;
            what can be read is kept all the same.
        DataError: the file cannot be read.
    """
    found = BatchRead()
    problems = []
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}") from None
    for number, text in enumerate(lines, start=1):
        if not text.strip():
            continue
        try:
            key, reply = _result(text)
            asked = _remembered(ledger, key)
        except (KeyError, TypeError, ValueError) as error:
            reason = f"it has no {error}" if isinstance(error, KeyError) else str(error)
            problems.append(
                Problem(source=str(path), line=number, message=f"no result of a batch: {reason}")
            )
            continue
        price = price_of(asked.model, prices)
        if price and reply.tokens_in is not None and reply.tokens_out is not None:
            cost = price.cost(reply.tokens_in, reply.tokens_out) * share
            reply = replace(reply, cost_usd=cost)
            found.cost_usd += cost
        if reply.status == "failed":
            found.failed += 1
            reason = reply.error or ""
            found.reasons[reason] = found.reasons.get(reason, 0) + 1
        else:
            found.replies += 1
        ledger.put(asked, reply)
    ledger.flush()
    if problems:
        raise BadRowsError(problems)
    return found


def _result(text: bytes) -> tuple[str, ChatReply]:
    """Key and reply in a line of a results file."""
    line: Any = orjson.loads(text)
    if not isinstance(line, dict):
        raise ValueError("it is no JSON object")
    key = line["custom_id"]
    if not isinstance(key, str):
        raise ValueError("its custom_id is no text")
    response = line.get("response")
    if not isinstance(response, dict):
        return key, _failed(line.get("error"))
    body = response.get("body")
    if response.get("status_code") != 200:
        error = body.get("error") if isinstance(body, dict) else None
        return key, _failed(error or line.get("error"), response.get("status_code"))
    try:
        return key, reply_of(body)
    except MalformedReplyError as error:
        return key, ChatReply(status="failed", error=str(error))


def _failed(error: object, status: object = None) -> ChatReply:
    found = error if isinstance(error, Mapping) else {}
    said = str(found.get("message") or found.get("code") or "no reason given")
    where = f"HTTP {status}: " if status else ""
    return ChatReply(
        status="refused" if is_refusal(found) else "failed", error=f"batch: {where}{said}"
    )


def _remember(ledger: Ledger, asked: Iterable[LedgerEntry]) -> None:
    """Note which requests go into a batch file."""
    rows = [
        (
            one.key,
            one.model,
            one.revision,
            orjson.dumps(request_record(one.request)).decode(),
            time.time(),
        )
        for one in asked
    ]
    ledger.change(
        lambda cursor: cursor.executemany(
            "INSERT INTO batched (key, model, revision, request, created_at) "
            "VALUES (?, ?, ?, ?, ?) ON CONFLICT (key) DO NOTHING",
            rows,
        )
    )


def _remembered(ledger: Ledger, key: str) -> LedgerEntry:
    """The request that went into a batch file under a key.

    Raises:
        ValueError: none did.
    """
    rows = ledger.query("SELECT model, revision, request FROM batched WHERE key = ?", (key,))
    if not rows:
        raise ValueError(f"this ledger wrote no request {key!r}; name the ledger that did")
    model, revision, request = rows[0]
    return LedgerEntry(
        key=key, model=model, revision=revision, request=request_from(orjson.loads(request))
    )
