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

from markscheme.contract import ChatReply
from markscheme.errors import BadRowsError, DataError, ModelError, Problem
from markscheme.models.chat.openai_format import is_refusal
from markscheme.models.chat.profiles import BATCH_SHARE, ModelProfile, ModelTable
from markscheme.models.chat.reading import MalformedReplyError
from markscheme.models.chat.wire import Sending, body_of, read_reply, wire_of
from markscheme.models.ledger import Ledger, LedgerEntry, request_from, request_record


@dataclass(kw_only=True)
class BatchRead:
    """What a results file held."""

    replies: int = 0
    failed: int = 0
    cost_usd: float = 0.0
    reasons: dict[str, int] = field(default_factory=dict)


def write_batch(
    entries: Iterable[LedgerEntry], path: Path, ledger: Ledger, profile: ModelProfile
) -> int:
    """Write requests as a batch file, equal ones once, and remember them; returns how many.

    What the model's profile says that it lacks is left out.

    Raises:
        ModelError: the model's protocol has no batch files of this form.
        DataError: the file cannot be written.
        ModelError: the ledger cannot.
    """
    if profile.protocol not in ("chat", "responses", "completions"):
        raise ModelError(
            f"{profile.name}: batch files are written for OpenAI's protocols only, not for "
            f"{profile.protocol!r}; ask it without a batch"
        )
    wire = wire_of(profile)
    distinct = {one.key: one for one in entries}
    _remember(ledger, distinct.values())
    temporary = path.with_name(path.name + ".part")
    try:
        with temporary.open("wb") as stream:
            for one in distinct.values():
                line = {
                    "custom_id": one.key,
                    "method": "POST",
                    "url": f"/v1{wire.path}",
                    "body": body_of(
                        wire,
                        Sending(
                            request=one.request,
                            profile=profile,
                            limit=one.request.max_tokens + profile.room,
                            without=frozenset(profile.lacks),
                            limit_name=profile.limit_name,
                        ),
                    ),
                }
                stream.write(orjson.dumps(line) + b"\n")
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
    except OSError as error:
        raise DataError(f"cannot write {path}: {error.strerror}") from None
    return len(distinct)


def read_batch(
    path: Path, ledger: Ledger, models: ModelTable, *, share: float | None = None
) -> BatchRead:
    """Read a results file into the ledger.

    Requests that failed are logged, and stay missing for the next batch or run.

    Args:
        path: the provider's output file, or its error file.
        ledger: the ledger that the batch was written with.
        models: protocols and prices of the models.
        share: what a batched call costs as a share of an ordinary one; None for the model's own,
            else a half.

    Raises:
        BadRowsError: lines that are no results, or of requests that this ledger did not write;
            what can be read is stored nevertheless.
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
            key, line = _line(text)
            entry = _remembered(ledger, key)
            profile = models.profile(entry.model)
            reply = _reply(line, profile)
        except (KeyError, TypeError, ValueError) as error:
            reason = f"it has no {error}" if isinstance(error, KeyError) else str(error)
            problems.append(
                Problem(source=str(path), line=number, message=f"no result of a batch: {reason}")
            )
            continue
        price = profile.price
        if price and reply.tokens_in is not None and reply.tokens_out is not None:
            whole = price.cost(
                reply.tokens_in,
                reply.tokens_out,
                cached=reply.tokens_cached or 0,
                reasoning=reply.tokens_reasoning or 0,
            )
            own = BATCH_SHARE if price.batch is None else price.batch
            cost = whole * (own if share is None else share)
            reply = replace(reply, cost_usd=cost)
            found.cost_usd += cost
        if reply.status == "failed":
            found.failed += 1
            reason = reply.error or ""
            found.reasons[reason] = found.reasons.get(reason, 0) + 1
        else:
            found.replies += 1
        ledger.put(entry, reply)
    ledger.flush()
    if problems:
        raise BadRowsError(problems)
    return found


def _line(text: bytes) -> tuple[str, dict[str, Any]]:
    """A line of a results file, and its key."""
    line: Any = orjson.loads(text)
    if not isinstance(line, dict):
        raise ValueError("it is no JSON object")
    key = line["custom_id"]
    if not isinstance(key, str):
        raise ValueError("its custom_id is no text")
    return key, line


def _reply(line: Mapping[str, Any], profile: ModelProfile) -> ChatReply:
    """The reply in a line of a results file."""
    response = line.get("response")
    if not isinstance(response, dict):
        return _failed(line.get("error"))
    body = response.get("body")
    if response.get("status_code") != 200:
        error = body.get("error") if isinstance(body, dict) else None
        return _failed(error or line.get("error"), response.get("status_code"))
    try:
        return read_reply(wire_of(profile), body)
    except MalformedReplyError as error:
        return ChatReply(status="failed", error=str(error))


def _failed(error: object, status: object = None) -> ChatReply:
    found = error if isinstance(error, Mapping) else {}
    detail = str(found.get("message") or found.get("code") or "no reason given")
    where = f"HTTP {status}: " if status else ""
    return ChatReply(
        status="refused" if is_refusal(found) else "failed", error=f"batch: {where}{detail}"
    )


def _remember(ledger: Ledger, entries: Iterable[LedgerEntry]) -> None:
    """Note which requests go into a batch file."""
    rows = [
        (
            one.key,
            one.model,
            one.revision,
            orjson.dumps(request_record(one.request)).decode(),
            time.time(),
        )
        for one in entries
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
