"""Batch files as OpenAI and its likes take them: written for what is missing, read back when done.

A provider answers a batch within a day at a lower price. What was written is remembered in the
ledger, so that the results file alone is enough to read the replies back.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

import orjson

from markscheme.contract import ChatReply
from markscheme.errors import DataError, ModelError, Problem
from markscheme.models.chat.batch_chat import failed, read_result
from markscheme.models.chat.batch_services import (
    BATCH_PROTOCOLS,
    OPENAI_PROTOCOLS,
    Caller,
    OpenAIBatches,
    openai_result,
)
from markscheme.models.chat.cached import cost_of
from markscheme.models.chat.http import HttpClient
from markscheme.models.chat.profiles import ModelProfile, ModelTable, batch_share
from markscheme.models.chat.wire import Sending, body_of, wire_of
from markscheme.models.ledger import Ledger, LedgerEntry, request_from, request_record
from markscheme.tables import whole_file


@dataclass(kw_only=True)
class BatchCounts:
    """What a batch file or a results file holds.

    Attributes:
        done: requests that were written, or replies that were read.
        failed: requests that cannot be sent, or that got no reply.
        cost_usd: of the replies.
        reasons: how often each reason of a failure occurred.
        problems: lines of a results file that are no results, or of requests that the ledger did
            not write.
    """

    done: int = 0
    failed: int = 0
    cost_usd: float = 0.0
    reasons: dict[str, int] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def store(self, ledger: Ledger, entry: LedgerEntry, reply: ChatReply) -> None:
        """Put a reply into the ledger, and count it."""
        if reply.status == "failed":
            self.failed += 1
            reason = reply.error or ""
            self.reasons[reason] = self.reasons.get(reason, 0) + 1
        else:
            self.done += 1
        self.cost_usd += reply.cost_usd or 0.0
        ledger.put(entry, reply)


def write_batch(
    entries: Iterable[LedgerEntry], path: Path, ledger: Ledger, profile: ModelProfile
) -> BatchCounts:
    """Write requests as a batch file, equal ones once, and remember them.

    What the model's profile says that it lacks is left out. A request whose images cannot be sent
    is not written: the ledger has it as failed.

    Raises:
        ModelError: the model's protocol has no batch files of this form, a request is for another
            model, or the ledger cannot be written.
        DataError: the file cannot be written.
    """
    if profile.protocol not in OPENAI_PROTOCOLS:
        served = profile.protocol in BATCH_PROTOCOLS
        raise ModelError(
            f"{profile.name}: batch files are written for OpenAI's protocols only, not for "
            f"{profile.protocol!r}; "
            + ("use 'markscheme judge --batch'" if served else "ask it without a batch")
        )
    wire = wire_of(profile)
    service = OpenAIBatches(Caller(HttpClient(timeout=0, connections=0), profile, wire))
    counts = BatchCounts()
    written = []
    try:
        with whole_file(path) as temporary:
            with temporary.open("wb") as stream:
                for entry in {entry.key: entry for entry in entries}.values():
                    if entry.model != profile.name:  # Its reply would be stored as another's.
                        raise ModelError(
                            f"a judge asks {entry.model!r}, and a batch file is for one model, "
                            f"here {profile.name!r}; write a file for each model, with the judges "
                            "that ask it"
                        )
                    try:
                        body = body_of(wire, Sending.first(entry.request, profile))
                    except DataError as error:
                        counts.store(ledger, entry, failed(str(error)))
                        continue
                    stream.write(service.line(entry.key, body))
                    written.append(entry)
            _remember(ledger, written)
    except OSError as error:
        raise DataError(f"cannot write {path}: {error.strerror}") from None
    ledger.flush()
    counts.done = len(written)
    return counts


def read_batch(
    path: Path, ledger: Ledger, models: ModelTable, *, share: float | None = None
) -> BatchCounts:
    """Read a results file into the ledger.

    Requests that failed, and those to which reasoning left no room for a reply, are logged, and
    stay missing for the next batch or run. What is no result is in the counts' `problems`.

    Args:
        path: the provider's output file, or its error file.
        ledger: the ledger that the batch was written with.
        models: protocols and prices of the models.
        share: what a batched call costs as a share of an ordinary one, where the server does not
            bill it itself; None for the model's own, else a half.

    Raises:
        DataError: the file cannot be read.
    """
    counts = BatchCounts()
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}") from None
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            result = openai_result(line)
            entry = _remembered(ledger, result.key)
        except ValueError as error:
            message = f"no result of a batch: {error}"
            counts.problems.append(Problem(source=str(path), line=number, message=message))
            continue
        profile = models.profile(entry.model)
        sending = Sending.first(entry.request, profile)
        reply, otherwise = read_result(sending, result)
        own = batch_share(profile.price) if share is None else share
        reply = replace(reply, cost_usd=cost_of(reply, profile.price, share=own))
        if reply.status == "ok" and otherwise is not None:
            # A run sends it once more with room; as a stored reply it would be the last word.
            why = (
                f"no text within {sending.limit:,} tokens, which reasoning took; set 'room' for "
                f"{entry.model!r} in a model file (--models) or judge without a batch file"
            )
            reply = replace(reply, status="failed", error=why)
        counts.store(ledger, entry, reply)
    ledger.flush()
    return counts


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
