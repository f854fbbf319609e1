"""The ledger: kept before use, shared between processes, exported, imported, replayed."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from markscheme.contract import ChatReply, ChatRequest, Message
from markscheme.errors import BadRowsError, ModelError
from markscheme.models.chat.cached import CachedChat
from markscheme.models.chat.scripted import ScriptedChat
from markscheme.models.ledger.exchange import (
    export_ledger,
    failure_reasons,
    import_ledger,
    ledger_stats,
    read_export,
)
from markscheme.models.ledger.ledger import SCHEMA, Ledger, LedgerEntry
from markscheme.models.sources import ModelOptions, Models
from postgres import PASSWORD, running

YES = ChatReply(
    status="ok", text="Yes \u0000 é", finish_reason="stop", tokens_in=3, tokens_out=1,
    cost_usd=0.5, seconds=0.25, token_logprobs=({"Yes": -0.125},), model="m-1",
)  # fmt: skip


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Replies on their way to a server are kept under the folder one is in."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def postgres() -> Iterator[str]:
    with running() as url:
        yield url


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.proof(area="models"))])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty ledger's location, in both databases."""
    if request.param == "sqlite":
        return str(tmp_path / "new" / "ledger.sqlite")
    import psycopg

    url: str = request.getfixturevalue("postgres")
    name = f"test_{time.time_ns()}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return url.replace("/postgres", f"/{name}")


def request(text: str, **fields: Any) -> ChatRequest:
    return ChatRequest(messages=(Message(role="user", content=text),), **fields)


def asked(text: str) -> LedgerEntry:
    return LedgerEntry.of("m", "r", request(text))


def test_a_reply_is_there_for_everybody_once_it_is_handed_on(place: str) -> None:
    ledger, other = Ledger(place), Ledger(place)
    seen: list[dict[str, ChatReply]] = []
    one = asked("a")
    ledger.put(one, YES, lambda _kept: seen.append(other.find([one.key])))
    ledger.flush()
    assert seen == [{one.key: YES}]
    ledger.close()
    again = Ledger(place)
    assert again.find([one.key, "0" * 32]) == {one.key: YES}
    again.close()
    other.close()


def test_the_first_reply_stays_and_everybody_uses_it(place: str) -> None:
    ledger, other = Ledger(place), Ledger(place)
    ledger.put(asked("a"), YES)
    ledger.flush()
    kept: list[ChatReply] = []
    other.put(asked("a"), ChatReply(status="ok", text="No"), kept.append)
    other.flush()
    assert kept == [YES]
    ledger.close()
    other.close()


def test_failures_are_logged_and_not_kept(place: str) -> None:
    ledger = Ledger(place)
    for _ in range(2):
        ledger.put(asked("a"), ChatReply(status="failed", error="HTTP 500: x"))
    ledger.put(asked("b"), ChatReply(status="refused", error="no", tokens_in=5))
    ledger.flush()
    assert ledger.find([asked("a").key]) == {}
    assert ledger.find([asked("b").key])[asked("b").key].status == "refused"
    assert failure_reasons(ledger) == [("HTTP 500: x", 2)]
    (stats,) = ledger_stats(ledger)
    assert (stats.replies, stats.refused, stats.failures, stats.tokens_in) == (1, 1, 2, 5)
    ledger.close()


def test_a_claim_keeps_others_away_until_it_is_answered_or_released(place: str) -> None:
    one, two = Ledger(place), Ledger(place)
    keys = [asked(text).key for text in "abcd"]
    assert one.claim(keys[:3]) == (set(keys[:3]), {})
    assert two.claim(keys) == ({keys[3]}, {})
    one.put(asked("a"), YES)
    one.flush()
    one.release(keys)
    assert two.claim(keys) == (set(keys[1:]), {keys[0]: YES})
    one.close()
    two.close()


def test_claims_of_the_dead_fall(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from markscheme.models.ledger import ledger as module

    dead, heir = Ledger(place), Ledger(place)
    key = asked("a").key
    process = multiprocessing.get_context("spawn").Process(target=print)
    process.start()
    process.join()
    host, _, rest = dead._owner.split("|")
    dead._owner = f"{host}|{process.pid}|{rest}"
    dead.claim([key])
    assert heir.claim([key]) == ({key}, {})
    monkeypatch.setattr(module, "LEASE_SECONDS", -1.0)
    elsewhere = Ledger(place)
    elsewhere._owner = "another-host|1|x"
    heir.release([key])
    elsewhere.claim([key])  # expired before it began
    assert heir.claim([key]) == ({key}, {})
    for ledger in (dead, heir, elsewhere):
        ledger.close()


def test_export_and_import_carry_everything(place: str, tmp_path: Path) -> None:
    ledger = Ledger(place)
    for number in range(2_500):
        ledger.put(asked(f"question {number}"), YES)
    ledger.flush()
    assert export_ledger(ledger, tmp_path / "a.jsonl") == 2_500
    copy = Ledger(tmp_path / "copy.sqlite")
    assert import_ledger(copy, tmp_path / "a.jsonl") == 2_500
    export_ledger(copy, tmp_path / "b.jsonl")
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()
    ledger.close()
    copy.close()


def test_migrations_are_applied_once_by_whoever_comes_first(place: str) -> None:
    troubles: list[BaseException] = []

    def use() -> None:
        try:
            Ledger(place).close()
        except BaseException as error:
            troubles.append(error)

    threads = [threading.Thread(target=use) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not troubles
    ledger = Ledger(place)
    assert [n for (n,) in ledger.query("SELECT number FROM migrations")] == list(
        SCHEMA.migrations("sqlite")
    )
    ledger.change(lambda cursor: cursor.execute("INSERT INTO migrations VALUES (9999)"))
    ledger.close()
    with pytest.raises(ModelError, match="made by a newer markscheme"):
        Ledger(place)


def test_migrations_are_numbered_without_a_gap() -> None:
    assert list(SCHEMA.migrations("sqlite")) == list(range(1, len(SCHEMA.migrations("sqlite")) + 1))


def test_equal_requests_are_asked_once_and_known_ones_never(place: str) -> None:
    script = ScriptedChat(replies=lambda text: f"re {text}")
    ledger = Ledger(place)
    chat = CachedChat(model=script, ledger=ledger)
    asking = [request(text) for text in ("a", "b", "a")]
    assert [reply.text for reply in chat.complete(asking)] == ["re a", "re b", "re a"]
    assert [one.last_user for one in script.seen] == ["a", "b"]
    before = chat.complete(asking)
    assert before == chat.complete(asking)
    assert len(script.seen) == 2
    assert chat.complete([request("a", sample=1)])[0].text == "re a"
    assert len(script.seen) == 3
    other = CachedChat(model=ScriptedChat(replies=lambda _: "new", revision="2"), ledger=ledger)
    assert other.complete(asking)[0].text == "new"
    ledger.close()


def test_what_another_is_asking_is_waited_for(place: str) -> None:
    """Two runs side by side on one ledger: every question is paid once, both get all replies."""
    counts: list[str] = []

    def slow(text: str) -> str:
        time.sleep(0.002)
        counts.append(text)
        return f"re {text}"

    asking = [request(str(number)) for number in range(200)]
    found: dict[int, list[str | None]] = {}

    def run(which: int) -> None:
        ledger = Ledger(place)
        order = asking if which == 0 else asking[::-1]
        chat = CachedChat(model=ScriptedChat(replies=slow), ledger=ledger)
        found[which] = [reply.text for reply in chat.complete(order)]
        ledger.close()

    threads = [threading.Thread(target=run, args=(which,)) for which in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert sorted(counts) == sorted(str(number) for number in range(200))
    assert found[0] == found[1][::-1] == [f"re {number}" for number in range(200)]


def test_a_recording_answers_and_says_what_it_lacks(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    ledger = Ledger(path)
    ledger.put(asked("a"), YES)
    ledger.flush()
    export_ledger(ledger, tmp_path / "a.jsonl")
    ledger.close()

    def recorded(source: str, revision: str = "") -> Models:
        options = ModelOptions(
            model="m", revision=revision, ledger=str(tmp_path / source), replay=True
        )
        return Models(options=options)

    with contextlib.closing(recorded("ledger.sqlite", "r")) as models:
        a, b = models.chat().complete([request("a"), request("b")])
    assert a == YES
    assert b.status == "failed"
    assert "has no reply of m r to this request" in str(b.error)
    with contextlib.closing(recorded("ledger.sqlite")) as models:
        assert models.chat().complete([request("a")])[0].status == "failed"
    with pytest.raises(ModelError, match="there is no ledger"):
        recorded("nowhere").chat()
    assert not (tmp_path / "nowhere").exists()
    with pytest.raises(ModelError, match=r"llm ledger import .*a\.jsonl"):
        recorded("a.jsonl").chat()


def test_a_model_object_whose_replies_are_replayed_is_sent_nothing(tmp_path: Path) -> None:
    script = ScriptedChat(replies=lambda text: f"re {text}")
    for replay, texts in ((False, "a"), (True, "ab")):
        options = ModelOptions(ledger=str(tmp_path / "ledger.sqlite"), replay=replay)
        with contextlib.closing(Models(chat=script, options=options)) as models:
            found = models.chat().complete([request(text) for text in texts])
    assert [reply.status for reply in found] == ["ok", "failed"]
    assert len(script.seen) == 1


def test_a_changed_export_is_refused_whole(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.sqlite")
    for text in "abc":
        ledger.put(asked(text), YES)
    ledger.flush()
    path = tmp_path / "a.jsonl"
    export_ledger(ledger, path)
    lines = path.read_text().splitlines()
    lines[1] = lines[1].replace('"max_tokens":512', '"max_tokens":513')
    lines.append("not json")
    lines.append('{"key":"k","model":"m","revision":"","request":{},"reply":{}}')
    path.write_text("\n".join(lines))
    target = Ledger(tmp_path / "target.sqlite")
    with pytest.raises(BadRowsError) as caught:
        import_ledger(target, path)
    assert [problem.line for problem in caught.value.problems] == [2, 4, 5]
    assert "the key does not belong to the request" in str(caught.value)
    assert "--on-bad-row" not in str(caught.value)
    assert list(target.rows("model")) == []
    with pytest.raises(BadRowsError):
        list(read_export(path))
    ledger.close()
    target.close()


def test_blank_lines_of_an_export_are_passed_over(tmp_path: Path) -> None:
    """One at the end, as editors leave it, refused the whole file."""
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.put(asked("a"), YES)
    ledger.flush()
    path = tmp_path / "a.jsonl"
    export_ledger(ledger, path)
    path.write_text(f"\n{path.read_text()} \n\n")
    target = Ledger(tmp_path / "target.sqlite")
    assert import_ledger(target, path) == 1
    ledger.close()
    target.close()


def test_nothing_more_is_asked_once_the_ledger_cannot_be_written(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    ledger = Ledger(path)
    with sqlite3.connect(path) as connection:
        connection.execute("DROP TABLE replies")
        connection.execute("CREATE TABLE replies (key TEXT, reply TEXT)")
    script = ScriptedChat(replies=lambda _: "Yes")
    chat = CachedChat(model=script, ledger=ledger)
    with pytest.raises(ModelError, match="does not work"):
        chat.complete([request(str(number)) for number in range(100_000)])
    assert len(script.seen) < 50_000
    ledger.close()


def test_places_that_are_none_are_named_without_their_password(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("not a database, but long enough to be taken for one" * 50)
    for location in (tmp_path / "text", "mysql://me:hunter2@host/db"):
        with pytest.raises(ModelError) as caught:
            Ledger(location)
        assert "hunter2" not in str(caught.value)


@pytest.mark.proof(area="models")
def test_a_servers_password_is_never_shown(postgres: str) -> None:
    wrong = postgres.replace("/postgres", "/nosuch")
    with pytest.raises(ModelError, match="cannot be opened") as caught:
        Ledger(wrong)
    ledger = Ledger(postgres)
    assert PASSWORD not in str(caught.value) + repr(ledger) + ledger.shown
    with pytest.raises(ModelError) as caught:
        ledger.query("SELECT nonsense")
    assert PASSWORD not in str(caught.value)
    ledger.close()


@pytest.mark.proof(area="models")
def test_a_broken_connection_is_made_again(postgres: str) -> None:
    import psycopg

    ledger = Ledger(postgres)
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
        )
    ledger.put(asked("after the break"), YES)
    ledger.flush()
    assert ledger.find([asked("after the break").key])
    ledger.close()


@pytest.mark.proof(area="models")
def test_what_a_killed_process_had_not_brought_to_the_server_is_brought(postgres: str) -> None:
    """The process dies by SIGKILL while the server takes its time; both that run's successor and a
    run that was there all along have the reply, and need not ask."""
    witness = Ledger(postgres)
    script = (
        "import os, sys, time\n"
        "from test_ledger import YES, asked\n"
        "from markscheme.models.ledger.ledger import Ledger\n"
        "ledger = Ledger(sys.argv[1])\n"
        "ledger._durable.transact = lambda *_, **__: time.sleep(60)\n"
        "ledger.claim([asked('under way').key])\n"
        "ledger.put(asked('under way'), YES)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    ended = subprocess.run([sys.executable, "-c", script, postgres], env=environment, check=False)
    assert ended.returncode == -9
    key = asked("under way").key
    assert witness.find([key]) == {}
    assert witness.claim([key]) == (set(), {key: YES})
    heir = Ledger(postgres)
    assert heir.find([key]) == {key: YES}
    (spool,) = Path("runs").glob("to-ledger-*.sqlite")
    with sqlite3.connect(spool) as connection:
        assert connection.execute("SELECT COUNT(*) FROM replies").fetchall() == [(0,)]
    assert PASSWORD.encode() not in spool.read_bytes()
    heir.close()
    witness.close()


def test_a_reply_is_committed_when_put_returns(tmp_path: Path) -> None:
    """Seen by another connection at once: nothing stands between the reply and a SIGKILL."""
    ledger = Ledger(tmp_path / "ledger.sqlite")
    with sqlite3.connect(tmp_path / "ledger.sqlite") as other:
        for number in range(20):
            ledger.put(asked(str(number)), YES)
            (count,) = other.execute("SELECT COUNT(*) FROM replies").fetchone()
            assert count == number + 1
    ledger.close()


def test_a_long_log_is_brought_into_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from markscheme.storage import database

    monkeypatch.setattr(database, "_LONGEST_LOG", 100_000)
    ledger = Ledger(tmp_path / "ledger.sqlite")
    for number in range(200):
        ledger.put(asked(str(number)), YES)
        if number % 20 == 19:
            ledger.flush()
    assert (tmp_path / "ledger.sqlite-wal").stat().st_size < 200_000
    assert (tmp_path / "ledger.sqlite").stat().st_size > 100_000
    assert len(list(ledger.rows("model"))) == 200
    ledger.close()


def test_models_say_how_to_name_one(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="pass --model NAME"):
        Models().chat()
    script = ScriptedChat(replies={})
    with pytest.raises(ModelError, match="no chat model named 'x' was given; there is scripted"):
        Models(chat=script).chat("x")
    models = Models(chat=script, named={"x": ScriptedChat(replies={}, name="x")})
    assert models.chat("x").name == "x"
    assert models.chat() is models.chat()
    kept = Models(chat=script, options=ModelOptions(ledger=str(tmp_path / "l.sqlite")))
    kept.chat().complete([request("a")])
    assert kept.ledger().query("SELECT COUNT(*) FROM failures") == [(1,)]
    kept.close()


def test_replies_are_handed_on_once_the_disk_has_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = Ledger(tmp_path / "ledger.sqlite")
    events: list[str] = []
    real = os.fsync

    def slow(handle: int) -> None:
        time.sleep(0.05)
        events.append("disk")
        real(handle)

    monkeypatch.setattr(os, "fsync", slow)
    for text in "abc":
        ledger.put(asked(text), YES, lambda _kept: events.append("use"))
        ledger.flush()
    assert events == ["disk", "use"] * 3
    ledger.close()


# --- Entries that somebody changed ----------------------------------------------------------------


def _changed(path: str, sql: str) -> None:
    with sqlite3.connect(path) as database:
        database.execute(sql)
    database.close()


def _asked(path: str, *, replies: str = "no") -> tuple[ChatReply, dict[str, int]]:
    """The reply that a model with this ledger gives, and what is noted."""
    models = Models(chat=ScriptedChat(replies=lambda _: replies), options=ModelOptions(ledger=path))
    (reply,) = models.chat().complete([ChatRequest(messages=(Message(role="user", content="q"),))])
    remarks = dict(models.budget.remarks)
    models.close()
    return reply, remarks


CHANGES = {
    "the reply": "UPDATE replies SET reply = replace(reply, 'yes', 'nay')",
    "the digest": "UPDATE replies SET digest = 'x'",
    "the reply, without a digest": (
        "UPDATE replies SET reply = replace(reply, 'yes', 'nay'), digest = NULL"
    ),
    "no reply": "UPDATE replies SET reply = '[]', digest = NULL",
    "bytes": "UPDATE replies SET reply = x'00ff'",
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("secret", ["", "secret"])
def test_a_changed_entry_is_not_there_and_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str, secret: str
) -> None:
    monkeypatch.setenv("MARKSCHEME_SEAL_KEY", secret)
    path = str(tmp_path / "ledger.sqlite")
    assert _asked(path, replies="yes")[0].text == "yes"
    assert _asked(path)[0].text == "yes"
    _changed(path, CHANGES[change])
    reply, remarks = _asked(path)
    assert reply.text == "no"
    assert list(remarks.values()) == [1]
    assert _asked(path, replies="never") == (reply, {})


def test_a_ledger_of_0_1_0_is_read_and_needs_signatures_where_a_secret_is_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, other = str(tmp_path / "ledger.sqlite"), str(tmp_path / "other.sqlite")
    _asked(path, replies="yes")
    _changed(path, "ALTER TABLE replies DROP COLUMN digest")
    _changed(path, "DELETE FROM migrations WHERE number = 3")
    assert _asked(path)[0].text == "yes"
    ledger = Ledger(path)
    export_ledger(ledger, tmp_path / "replies.jsonl")
    ledger.close()
    monkeypatch.setenv("MARKSCHEME_SEAL_KEY", "secret")
    with pytest.raises(BadRowsError, match="not signed"):
        list(read_export(tmp_path / "replies.jsonl"))
    ledger = Ledger(other)
    assert import_ledger(ledger, tmp_path / "replies.jsonl") == 1
    ledger.close()
    assert _asked(other)[0].text == "yes"
    assert _asked(path)[0].text == "no"
    monkeypatch.delenv("MARKSCHEME_SEAL_KEY")
    assert _asked(other)[0].text == "yes"


def test_an_exported_line_whose_reply_was_changed_is_named(tmp_path: Path) -> None:
    path, file = str(tmp_path / "ledger.sqlite"), tmp_path / "replies.jsonl"
    _asked(path, replies="yes")
    ledger = Ledger(path)
    export_ledger(ledger, file)
    file.write_text(file.read_text().replace("yes", "nay"))
    with pytest.raises(BadRowsError, match="digest does not belong"):
        import_ledger(ledger, file)
    ledger.close()
