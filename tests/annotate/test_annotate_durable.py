"""What was acknowledged is there: after SIGKILL, under a crowd, and in PostgreSQL."""

from __future__ import annotations

import asyncio
import signal
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from annotate_helpers import Place, Server, Worker, answers, fields_of, place, server, write_rows
from crowd import crowd
from markscheme.annotate.database import Store
from markscheme.annotate.exports import export
from markscheme.annotate.options import AnnotateOptions
from markscheme.annotate.quality import quality
from markscheme.annotate.setup import prepare
from markscheme.errors import RunError
from markscheme.models.ledger.ledger import Ledger

Make = Callable[..., Place]


def tokens(running: Server) -> list[str]:
    """Tokens of everybody who labels."""
    return [link.partition("#")[2] for name, link in running.links.items() if name.startswith("p")]


def saved(path: Path) -> dict[tuple[int, int], float]:
    """Labels in the file, by person and item."""
    with sqlite3.connect(path) as plain:
        rows = plain.execute(
            "SELECT person_id, item_id, value FROM ratings WHERE state = 'labelled'"
        )
        return {(person, item): value for person, item, value in rows}


def check(told: list[dict[str, Any]], kept: dict[tuple[int, int], float]) -> None:
    """Every acknowledged label is there, and is what was said."""
    for label in told:
        assert kept[label["person"], label["item"]] == label["value"]


def people(count: int) -> list[str]:
    """The command line's words for that many annotators."""
    return [word for n in range(count) for word in ("-a", f"p{n}")]


@pytest.mark.proof(area="cluster")
@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_in_good_order(tmp_path: Path, sign: signal.Signals) -> None:
    """The store is closed (SQLite's log is brought into the file), and the exit code is 0."""
    file = write_rows(tmp_path / "a.jsonl", answers(2))
    running = Server(file, "--project", str(tmp_path / "labels.sqlite"), *people(2),
                     log=tmp_path / "log")  # fmt: skip
    running.process.send_signal(sign)
    assert running.process.wait(60) == 0, running.log.read_text()
    assert not [one.name for one in tmp_path.glob("labels.sqlite-*")]
    assert "Traceback" not in running.log.read_text()


@pytest.mark.proof(area="cluster")
def test_no_acknowledged_label_is_lost_when_the_server_is_killed(tmp_path: Path) -> None:
    """SIGKILL twice in the middle of the work; each time the rest goes on where it was."""
    file = write_rows(tmp_path / "a.jsonl", answers(200))
    kept = tmp_path / "labels.sqlite"
    told: list[dict[str, Any]] = []
    names: list[str] = []
    for killed_after in (40, 120):
        log = tmp_path / f"server-{killed_after}.log"
        running = Server(file, "--project", str(kept), *people(8), log=log)
        names = names or tokens(running)
        finished: list[dict[str, Any]] = []
        work = threading.Thread(
            target=lambda r=running, f=finished, n=tuple(names): f.extend(
                asyncio.run(crowd(r.address, list(n), 60, 0.0))
            )
        )
        work.start()
        while work.is_alive() and len(saved(kept)) < killed_after:
            work.join(0.02)
        running.kill()
        work.join()
        told += finished
        check(told, saved(kept))
    assert len(told) >= 100
    with server(file, "--project", str(kept), log=tmp_path / "last.log") as running:
        told += asyncio.run(crowd(running.address, names, 200, 0.0))
    labels = saved(kept)
    check(told, labels)
    assert len(labels) >= 400, "two people an item, all items"
    with sqlite3.connect(kept) as plain:
        assert plain.execute("SELECT sum(rated) FROM people").fetchone()[0] == len(labels)
        counts = plain.execute("SELECT taken, rated, count(*) FROM items GROUP BY taken, rated")
        assert counts.fetchall() == [(2, 2, 200)]
        assert plain.execute("PRAGMA integrity_check").fetchone()[0] == "ok"


@pytest.mark.proof(area="cluster")
def test_fifty_people_and_five_thousand_labels_and_none_is_lost(tmp_path: Path) -> None:
    file = write_rows(tmp_path / "a.jsonl", answers(2500))
    kept = tmp_path / "labels.sqlite"
    with server(file, "--project", str(kept), *people(50), log=tmp_path / "log") as running:
        told = asyncio.run(crowd(running.address, tokens(running), 1000, 0.05))
    labels = saved(kept)
    check(told, labels)
    # Two of each item's people, and a third where the two disagree.
    assert len(told) == len(labels) >= 5000
    with sqlite3.connect(kept) as plain:
        counts = plain.execute(
            "SELECT count(*) FROM ratings WHERE part = 'first' GROUP BY item_id"
        ).fetchall()
    assert counts == [(2,)] * 2500


def test_many_threads_share_commits_and_count_right(project: Make) -> None:
    made = project(answers(60), people=tuple(f"p{n}" for n in range(6)))

    def work(name: str) -> int:
        worker = made.worker(name)
        count = 0
        while worker.item:
            assert worker.say("1").status_code == 200
            count += 1
        return count

    with ThreadPoolExecutor(6) as pool:
        counts = list(pool.map(work, [f"p{n}" for n in range(6)]))
    assert sum(counts) == 120
    assert made.rows("SELECT count(*) FROM items WHERE stage = 'settled'") == [(60,)]
    assert made.rows("SELECT sum(rated) FROM people") == [(120,)]


@pytest.mark.proof(area="cluster")
def test_postgresql_does_all_that_sqlite_does(postgres_url: str, tmp_path: Path) -> None:
    file = write_rows(tmp_path / "a.jsonl", answers(7))
    setup = AnnotateOptions(
        file=file,
        order="file",
        annotators=("Ann", "Ben"),
        adjudicators=("Kim",),
    )
    Ledger(postgres_url).close()  # A ledger of replies may live in the same database.
    with place(postgres_url, setup) as made:
        assert "pw-7f3a" not in made.store.shown
        ann, ben = made.worker("Ann"), made.worker("Ben")
        form = fields_of(ann.html) | {"say": "1", "note": "nul \x00 inside"}
        assert ann.post("/label", **form).status_code == 200
        assert ann.post("/label", **form).status_code == 200
        conflict = ann.post("/label", **(form | {"say": "0"}))
        assert conflict.status_code == 409
        ann.look()
        while ann.item:
            ann.say("1")
        while ben.item:
            ben.say("0" if ben.answer.startswith("answer 3") else "1")
        kim = made.worker("Kim")
        assert kim.answer == "answer 3 of 0"
        kim.say("0")
        kim.undo()
        kim.say("1")
        assert made.rows("SELECT stage, count(*) FROM items GROUP BY stage") == [("settled", 7)]
        table = made.store.read(lambda c: export(c, made.ready.project, "labels")).table
        assert table["label"].to_list() == [1.0] * 7
        agreed = made.store.read(lambda c: quality(c, made.ready.project)).found
        assert agreed is not None
        assert agreed["items"] == 7
        for change in ("UPDATE events SET action = 'x'", "DELETE FROM events", "TRUNCATE events"):
            with pytest.raises(Exception, match="append-only"):
                made.store.write(lambda c, sql=change: c.execute(text(sql)))
    with place(postgres_url, AnnotateOptions(file=None, new_links=True)) as again:
        admin = Worker(again.client(), again.tokens["admin"])
        assert "Overview" in admin.http.get("/admin").text
    with pytest.raises(RunError) as refused:
        Store(postgres_url.replace("postgres:", "x:").rsplit("/", 1)[0] + "/missing")
    assert "pw-7f3a" not in str(refused.value)


@pytest.mark.proof(area="cluster")
def test_two_servers_share_a_postgresql_project(postgres_url: str, tmp_path: Path) -> None:
    """Two writers on one database: no item gets more people than it needs."""
    schema = f"{postgres_url}?options=-csearch_path%3Dtwo"
    plain = Store(postgres_url)
    plain.write(lambda c: c.execute(text("CREATE SCHEMA two")))
    plain.close()
    file = write_rows(tmp_path / "a.jsonl", answers(40))
    names = tuple(f"p{n}" for n in range(6))
    with place(schema, AnnotateOptions(file=file, annotators=names)) as one:
        other = Place(schema, AnnotateOptions(file=None))
        try:
            other.tokens = one.tokens

            def work(number: int) -> None:
                worker = (one, other)[number % 2].worker(f"p{number}")
                while worker.item:
                    assert worker.say("1").status_code == 200

            with ThreadPoolExecutor(6) as pool:
                list(pool.map(work, range(6)))
        finally:
            other.store.close()
        assert one.rows("SELECT count(*) FROM items WHERE rated = 2 AND taken = 2") == [(40,)]
        assert one.rows("SELECT sum(rated) FROM people") == [(80,)]


def test_a_database_of_another_kind_is_refused() -> None:
    with pytest.raises(RunError, match="postgresql://"):
        Store("mysql://me:secret@host/db")
    with pytest.raises(RunError) as refused:
        Store("postgresql://me:secret-word@127.0.0.1:1/none")
    assert "secret-word" not in str(refused.value)


def test_a_project_is_made_once_however_many_try(tmp_path: Path) -> None:
    file = write_rows(tmp_path / "a.jsonl", answers(5))
    stores = [Store(tmp_path / "p.sqlite") for _ in range(4)]

    def make(store: Store) -> int:
        try:
            return len(prepare(store, AnnotateOptions(file=file)).tokens)
        except RunError:
            return 0

    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(make, stores))
    for store in stores:
        store.close()
    assert sorted(made) == [0, 0, 0, 2]
