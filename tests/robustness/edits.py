"""Edits by somebody who knows the formats: finished runs, labels, their exports, ledgers, weights.

Each maker takes an empty folder and gives a function that makes one edit of what it made there,
with every digest made again or none, reads it, and says `refused`, `harmless` or `accepted`.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from unittest.mock import patch
from warnings import catch_warnings, simplefilter

import polars as pl
from piece_edits import CHANGES, KEY, judged, source

from label_damage import SET, as_owner, copy, labelled
from label_damage import outcome as of_exports
from markscheme.agreement.sources import labelled_table
from markscheme.annotate.database import Store
from markscheme.cli import run
from markscheme.contract import ChatReply, ChatRequest, Message
from markscheme.errors import MarkschemeError, UnsealedWarning
from markscheme.judges.listwise.listwise_examiner import ListwiseWeights
from markscheme.manifests import MANIFEST, write_manifest
from markscheme.models.ledger.exchange import export_ledger, read_export
from markscheme.models.ledger.ledger import Ledger, LedgerEntry, digest_of
from markscheme.tables.seal import (
    check_run,
    file_digest,
    read_sealed,
    sealed,
    sealed_lines,
)
from markscheme.view import RunLabels
from run_damage import change_json, changed, files_of, flip_file, sealed_again

Attempt = Callable[[random.Random, bool], str]
"""An edit from a seed, with every digest made again without the secret or not, and its outcome."""


@contextmanager
def without_secret() -> Iterator[None]:
    """What somebody can compute who does not have it."""
    with patch.dict(os.environ):
        os.environ.pop(KEY, None)
        yield


def outcome(right: Callable[[], bool]) -> str:
    """`refused` for one error of ours, else whether what was read is right: `harmless`."""
    try:
        return "harmless" if right() else "accepted"
    except MarkschemeError:
        return "refused"


def _line(chance: random.Random, lines: list[bytes]) -> int:
    """Another value in a line, a line gone, in the place of another, or twice; which line."""
    place = chance.randrange(len(lines))
    match chance.randrange(6):
        case 0:
            del lines[place]
        case 1:
            lines.insert(place, lines[chance.randrange(len(lines))])
        case 2:
            other = chance.randrange(len(lines))
            lines[place], lines[other] = lines[other], lines[place]
        case _:
            edited = changed(chance, json.loads(lines[place]))
            lines[place] = json.dumps(edited).encode() + b"\n"
    return min(place, len(lines) - 1)


def runs(folder: Path) -> Attempt:
    """The judgments of a finished run, or one of its files of JSON."""
    work = folder / "run"
    judged(source(folder / "a.jsonl"), work)
    right, table = files_of(work), work / "judgments.parquet"

    def attempt(chance: random.Random, forged: bool) -> str:
        for name, content in right.items():
            (work / name).write_bytes(content)
        if forged or chance.random() < 0.7:
            change = chance.choice(list(CHANGES.values()))
            change(chance, pl.read_parquet(table)).write_parquet(table)
        else:
            change_json(chance, chance.choice(sorted(work.glob("*.json"))))
        if forged:
            with without_secret():
                sealed_again(work)
        return outcome(lambda: bool(check_run(work)) and table.read_bytes() == right[table.name])

    return attempt


def labels(folder: Path) -> Attempt:
    """A row of a labelling project's database, changed or deleted."""
    made, project = labelled(folder / "made"), folder / "labels.sqlite"

    def attempt(chance: random.Random, forged: bool) -> str:
        def edit(plain: sqlite3.Connection) -> None:
            before = list(plain.iterdump())
            while list(plain.iterdump()) == before:
                table, _, rest = chance.choice(SET).partition(" SET ")
                change, _, which = rest.partition(" WHERE ")
                rows = plain.execute(f"SELECT rowid FROM {table} WHERE {which} ORDER BY rowid")
                (row,) = chance.choice(rows.fetchall() or [(1,)])
                what = f"UPDATE OR REPLACE {table} SET {change}"
                if chance.random() < 0.2:
                    what = f"DELETE FROM {table}"
                plain.execute(f"{what} WHERE rowid = {row}")

        as_owner(copy(made.closed, project), edit)
        try:
            if forged:
                with without_secret():
                    Store(project, adopt=True).close()
            Store(project).close()
        except MarkschemeError:
            return "refused"
        found = "silent" if forged else of_exports(project, made.exports)
        return {"detected": "refused", "silent": "accepted"}.get(found, found)

    return attempt


def of_labels(file: Path, right: bytes) -> str:
    """`warned` too: that nothing shows whether they were changed."""
    with catch_warnings():
        simplefilter("error", UnsealedWarning)
        try:
            return outcome(
                lambda: bool(labelled_table(str(file)).height) and file.read_bytes() == right
            )
        except UnsealedWarning:
            return "warned"


def exports(folder: Path) -> Attempt:
    """A line of exported labels; of their seals, some are removed where digests are made again."""
    file = folder / "labels.jsonl"
    assert run(["annotate-export", str(labelled(folder / "made").closed), "-o", str(file)]) == 0
    seal = folder / "labels.jsonl.seal.json"
    right, kept, said = file.read_bytes(), seal.read_bytes(), read_sealed(seal)

    def attempt(chance: random.Random, forged: bool) -> str:
        lines = right.splitlines(keepends=True)
        _line(chance, lines)
        file.write_bytes(b"".join(lines))
        seal.write_bytes(kept)
        if forged and chance.random() < 0.2:
            seal.unlink()
        elif forged:
            with without_secret():
                seal.write_bytes(sealed({**said, "file": file_digest(file)}))
        return of_labels(file, right)

    return attempt


def viewer_labels(folder: Path) -> Attempt:
    """A line of labels made in the viewer; of some files all seals are removed, or all lines
    written again by another tool."""
    made = RunLabels(folder / "run")
    for number in range(45):
        made.give(str(number % 40), number % 2, f"comment {number}")
    file, right = made.path, made.path.read_bytes()

    def attempt(chance: random.Random, forged: bool) -> str:
        lines = right.splitlines(keepends=True)
        _line(chance, lines)
        rows = [json.loads(line) for line in lines]
        if forged:
            plain = [{name: row[name] for name in row if name != "seal"} for row in rows]
            with without_secret():
                content = sealed_lines(plain)
            if chance.random() < 0.2:
                content = b"".join(json.dumps(row).encode() + b"\n" for row in plain)
        elif chance.random() < 0.2:
            content = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
        else:
            content = b"".join(lines)
        file.write_bytes(content)
        return of_labels(file, right)

    return attempt


def _ledger(folder: Path) -> tuple[Ledger, dict[str, ChatReply]]:
    """A ledger of 40 replies."""
    ledger, replies = Ledger(folder / "ledger.sqlite"), {}
    for number in range(40):
        message = Message(role="user", content=f"Is answer {number} right?")
        entry = LedgerEntry.of("m", "r", ChatRequest(messages=(message,), seed=number))
        said = "Yes" if number % 3 else "No"
        replies[entry.key] = ChatReply(status="ok", text=said, tokens_in=number, cost_usd=0.5)
        ledger.put(entry, replies[entry.key])
    ledger.flush()
    return ledger, replies


def ledgers(folder: Path) -> Attempt:
    """An entry of a ledger: its reply, that of another entry there, or its digest."""
    ledger, replies = _ledger(folder)
    rows = {key: (reply, digest) for key, reply, digest in ledger.rows("reply, digest")}

    def put(key: str, reply: str, digest: str | None) -> None:
        with closing(sqlite3.connect(folder / "ledger.sqlite")) as plain, plain:
            values = (reply, digest, key)
            plain.execute("UPDATE replies SET reply = ?, digest = ? WHERE key = ?", values)

    def attempt(chance: random.Random, forged: bool) -> str:
        key, other = chance.sample(sorted(rows), 2)
        reply, digest = rows[key]
        match chance.randrange(4):
            case 0:
                reply, digest = rows[other]
            case 1 if not forged:
                digest = chance.choice([None, "x", rows[other][1], rows[key][1][:64]])
            case _:
                reply = json.dumps(changed(chance, json.loads(reply)))
        if forged:
            with without_secret():
                digest = digest_of(key, reply)
        put(key, reply, digest)
        found = ledger.find([key])
        put(key, *rows[key])
        return outcome(lambda: found[key] == replies[key]) if found else "refused"

    return attempt


def ledger_exports(folder: Path) -> Attempt:
    """A line of an exported ledger."""
    (ledger, replies), file = _ledger(folder), folder / "ledger.jsonl"
    export_ledger(ledger, file)
    right = file.read_bytes()

    def again(line: bytes) -> bytes:
        """With its key and digest made again, where it is still a line of a ledger."""
        try:
            record = json.loads(line)
            request = ChatRequest(
                **record["request"]
                | {"messages": tuple(Message(**one) for one in record["request"]["messages"])}
            )
            key = LedgerEntry.of(record["model"], record["revision"], request).key
            reply = json.dumps(record["reply"], separators=(",", ":"), ensure_ascii=False)
            with without_secret():
                made = {"key": key, "digest": digest_of(key, reply)}
            return json.dumps(record | made, ensure_ascii=False).encode() + b"\n"
        except (AttributeError, KeyError, TypeError, ValueError):
            return line

    def attempt(chance: random.Random, forged: bool) -> str:
        lines = right.splitlines(keepends=True)
        place = _line(chance, lines)
        if forged:
            lines[place] = again(lines[place])
        file.write_bytes(b"".join(lines))
        return outcome(
            lambda: all(replies.get(entry.key) == reply for entry, reply in read_export(file))
        )

    return attempt


def weights(folder: Path) -> Attempt:
    """A file of a judge's weights, as training writes them; of some, the manifest is removed."""
    work = folder / "weights"
    shutil.copytree(ListwiseWeights.shipped, work)
    write_manifest(work)
    right = files_of(work)

    def attempt(chance: random.Random, forged: bool) -> str:
        for name in (MANIFEST, *ListwiseWeights.files):
            (work / name).write_bytes(right[name])
        file = work / chance.choice(ListwiseWeights.files)
        (change_json if file.suffix == ".json" else flip_file)(chance, file)
        if forged and chance.random() < 0.2:
            (work / MANIFEST).unlink()
        elif forged:
            with without_secret():
                write_manifest(work)
        return outcome(
            lambda: ListwiseWeights(work).path(file.name).read_bytes() == right[file.name]
        )

    return attempt


FORMATS: dict[str, tuple[int, Callable[[Path], Attempt]]] = {
    "finished runs": (622, runs),
    "labelling projects": (250, labels),
    "exported labels": (700, exports),
    "labels of the viewer": (300, viewer_labels),
    "ledgers": (1000, ledgers),
    "exported ledgers": (1000, ledger_exports),
    "weights": (600, weights),
}
"""With how many edits each is tried among 5,000, of which 528 are edits of pieces."""
