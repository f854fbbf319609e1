"""One way of keeping tables for the ledger and for labelling projects; files of 0.1.0 open.

`recorded/` holds what version 0.1.0 had written, as SQL: a ledger with one reply and a project
with two items.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path
from urllib.parse import unquote

import pytest
from sqlalchemy import text

from markscheme.annotate.database import SCHEMA as PROJECT
from markscheme.annotate.database import Store
from markscheme.contract import ChatRequest, Message
from markscheme.errors import ModelError, RunError
from markscheme.models.ledger import Ledger, LedgerEntry
from markscheme.models.ledger.ledger import SCHEMA as LEDGER
from markscheme.storage import Schema, connect, open_sqlite
from markscheme.tables import is_address, redacted, without_secrets

RECORDED = Path(__file__).parent / "recorded"


def old_file(kind: str, folder: Path) -> tuple[Path, dict[str, list[tuple[object, ...]]]]:
    path = folder / f"{kind}.sqlite"
    with sqlite3.connect(path) as connection:
        connection.executescript((RECORDED / f"{kind}-0.1.0.sql").read_text(encoding="utf-8"))
    connection.close()
    return path, contents(path)


def contents(path: Path) -> dict[str, list[tuple[object, ...]]]:
    connection = sqlite3.connect(path)
    names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    found = {name: connection.execute(f"SELECT * FROM {name}").fetchall() for (name,) in names}
    connection.close()
    return found


def added(
    before: dict[str, list[tuple[object, ...]]], after: dict[str, list[tuple[object, ...]]]
) -> set[str]:
    """Tables that migrations added; every row of the others still begins as it did."""
    for name, rows in before.items():
        now = after[name][: len(rows)]
        assert [row[: len(old)] for row, old in zip(now, rows, strict=True)] == rows
        if not name.endswith("migrations"):
            assert len(after[name]) == len(rows) + (name == "events")
    return after.keys() - before.keys()


def test_a_ledger_of_0_1_0_opens_unchanged_and_its_keys_are_found(tmp_path: Path) -> None:
    path, before = old_file("ledger", tmp_path)
    request = ChatRequest(messages=(Message(role="user", content="recorded"),))
    ledger = Ledger(path)
    key = LedgerEntry.of("m", "r", request).key
    assert key == before["replies"][0][0]
    assert ledger.find([key])[key].text == "Yes"
    ledger.close()
    assert added(before, contents(path)) == {"batch_jobs", "batch_members"}


def test_a_project_of_0_1_0_opens_unchanged_and_can_be_written(tmp_path: Path) -> None:
    path, before = old_file("project", tmp_path)
    with pytest.raises(RunError, match="no trail of its changes"):
        Store(path)
    store = Store(path, adopt=True)
    asked = store.read(lambda c: c.execute(text("SELECT question FROM items ORDER BY id")).all())
    assert sorted(row[0] for row in asked) == ["Question 0?", "Question 1?"]
    assert added(before, contents(path)) == {"trail"}
    assert "continued as it is" in store.notes[0]
    kept = contents(path)["events"]
    store.write(lambda c: c.execute(text("UPDATE people SET active = 1 - active")))
    with pytest.raises(Exception, match="append-only"):
        store.write(lambda c: c.execute(text("DELETE FROM events")))
    store.close()
    assert contents(path)["events"] == kept
    with pytest.raises(RunError, match="the table people is not as its trail has it"):
        Store(path)


@pytest.mark.parametrize("schema", [LEDGER, PROJECT])
def test_what_a_newer_version_made_is_refused_by_both(schema: Schema, tmp_path: Path) -> None:
    database = connect(tmp_path / "a.sqlite", schema, durable=True)
    database.transact(
        lambda cursor: cursor.execute(f"INSERT INTO {schema.table} VALUES (999)"), writes=True
    )
    database.close()
    with pytest.raises(schema.error, match=f"the {schema.kind} .* newer markscheme"):
        connect(tmp_path / "a.sqlite", schema, durable=True)


@pytest.mark.parametrize(("schema", "error"), [(LEDGER, ModelError), (PROJECT, RunError)])
def test_messages_name_what_is_kept(schema: Schema, error: type[Exception], tmp_path: Path) -> None:
    with pytest.raises(error, match=rf"a {schema.kind} is a file or a postgresql:// URL"):
        connect("mysql://me:secret@host/db", schema, durable=True)
    (tmp_path / "folder").mkdir()
    with pytest.raises(error, match=f"the {schema.kind} .* cannot be opened"):
        connect(tmp_path / "folder", schema, durable=True)


def test_a_file_is_opened_with_the_settings_asked_for(tmp_path: Path) -> None:
    connection = open_sqlite(tmp_path / "new" / "a.sqlite", wait=1, pragmas=("foreign_keys = ON",))
    pragma = {
        name: connection.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("journal_mode", "foreign_keys")
    }
    assert pragma == {"journal_mode": "wal", "foreign_keys": 1}
    connection.close()


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:s3cret@host/db",
        "postgresql://me:a@s3cret@host/db",
        "postgresql://host/db?user=me&password=s3cret&connect_timeout=3",
        "postgresql://host/db?sslpassword=s3cret",
        "s3://bucket/answers.jsonl?X-Amz-Credential=s3cret%2Fb&X-Amz-Signature=s3cret",
        "https://host/answers.jsonl?sv=2024&sig=s3cret/s3cret%3D#token=s3cret",
    ],
)
def test_a_password_reaches_neither_address_nor_error(url: str) -> None:
    assert is_address(url)
    assert "s3cret" not in without_secrets(url)
    assert redacted(f"no entry\n for {url}", url).startswith(f"no entry for {url[:8]}")
    assert "s3cret" not in redacted(f"no entry for {url}", url)
    assert "s3cret" not in redacted(f"403, url='{unquote(url)}'", url)
    assert "s3cret" not in redacted("it said password=s3cret", "postgresql://host/db")


def test_a_path_is_shown_as_it_is() -> None:
    for path in ("answers?part=1.jsonl", "s3://bucket/part-?.parquet", "s3://bucket/year=2024/a"):
        assert without_secrets(path) == path
