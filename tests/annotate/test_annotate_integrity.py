"""Whatever is done to a project's database: its exports are right, or there is one error."""

from __future__ import annotations

import asyncio
import json
import shutil
import sqlite3
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from annotate_helpers import answers, place, server, write_rows
from crowd import crowd
from label_damage import DAMAGES, Truth, as_owner, copy, damage, edit_rating, exports, labelled
from markscheme.annotate.database import Store
from markscheme.annotate.options import AnnotateOptions
from markscheme.cli import run
from markscheme.errors import RunError
from markscheme.tables import file_digest
from markscheme.tables import seal as sealing

OLD = Path(__file__).parents[1] / "storage" / "recorded" / "project-0.1.0.sql"


@pytest.fixture(scope="module")
def right(tmp_path_factory: pytest.TempPathFactory) -> Truth:
    return labelled(tmp_path_factory.mktemp("right"))


def test_what_was_not_damaged_is_exported(right: Truth, tmp_path: Path) -> None:
    for of in (right.closed, right.killed):
        said, found = exports(copy(of, tmp_path / "copy.sqlite"))
        assert not said
        assert found == right.exports


@pytest.mark.parametrize("kind", DAMAGES)
def test_damage_is_detected_or_changes_nothing(kind: str, right: Truth, tmp_path: Path) -> None:
    found = Counter(damage(kind, 1000 + seed, right, tmp_path) for seed in range(3))
    assert not found["silent"] + found["traceback"], found


def test_an_edited_or_deleted_rating_is_detected(right: Truth, tmp_path: Path) -> None:
    assert {edit_rating(number, right, tmp_path) for number in range(3)} == {"detected"}


@pytest.mark.proof(area="attacks")
def test_150_damages_and_31_edits(
    right: Truth, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    """Records a table of docs/robustness.md."""

    def record(kind: str, found: Counter[str]) -> None:
        row = f"{kind} | {found.total()} | {found['detected']} | {found['harmless']}"
        record_property("label damage", row)

    total: Counter[str] = Counter()
    for kind, (count, _) in DAMAGES.items():
        found = Counter(damage(kind, seed, right, tmp_path) for seed in range(count))
        record(kind, found)
        total += found
    edits = Counter(edit_rating(number, right, tmp_path) for number in range(31))
    record("ratings edited or deleted", edits)
    assert total.total() == 150
    assert not total["silent"] + total["traceback"], total
    assert edits == {"detected": 31}


def test_a_project_that_was_changed_goes_on_as_it_is_where_that_is_wanted(
    right: Truth, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project = copy(right.closed, tmp_path / "p.sqlite")
    as_owner(project, lambda plain: plain.execute("DELETE FROM ratings WHERE item_id = 1"))
    with pytest.raises(RunError, match=r"rating of item 1 by .*--adopt"):
        Store(project)
    assert run(["annotate", "--project", str(project), "--adopt", "--no-serve"]) == 0
    assert "continued as it is" in capsys.readouterr().out
    assert not exports(project)[0]


def test_with_a_secret_no_digests_made_anew_are_accepted(
    right: Truth, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without one, who makes all of the chain anew is not found."""
    project = copy(right.closed, tmp_path / "p.sqlite")

    def forge() -> None:
        as_owner(project, lambda plain: plain.execute("UPDATE items SET final = 1 - final"))
        Store(project, adopt=True).close()

    monkeypatch.setenv("MARKSCHEME_SEAL_KEY", "secret")
    with pytest.raises(RunError, match="is not signed with that in MARKSCHEME_SEAL_KEY"):
        Store(project)
    Store(project, adopt=True).close()
    assert not exports(project)[0]
    monkeypatch.delenv("MARKSCHEME_SEAL_KEY")
    assert "is signed with another" in exports(project)[0], "nobody goes on without the secret"
    forge()
    Store(project).close()
    monkeypatch.setenv("MARKSCHEME_SEAL_KEY", "secret")
    with pytest.raises(RunError, match="is not signed"):
        Store(project)
    old = tmp_path / "old.sqlite"
    with sqlite3.connect(old) as plain:
        plain.executescript(OLD.read_text(encoding="utf-8"))
    plain.close()
    with pytest.raises(RunError, match="no trail of its changes"):
        Store(old)


def test_a_project_whose_trail_was_taken_out_is_no_early_version(
    right: Truth, tmp_path: Path
) -> None:
    project = copy(right.closed, tmp_path / "p.sqlite")
    for statement in (
        "DROP TABLE trail",
        "ALTER TABLE events DROP COLUMN digest",
        "DELETE FROM annotate_migrations WHERE number = 4",
        "UPDATE items SET final = 1 - final",
    ):
        as_owner(project, lambda plain, statement=statement: plain.execute(statement))
    with pytest.raises(RunError, match=r"no trail of its changes.*--adopt"):
        Store(project)


def test_nothing_is_signed_that_follows_a_forged_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MARKSCHEME_SEAL_KEY", "secret")
    setup = AnnotateOptions(file=write_rows(tmp_path / "a.jsonl", answers()), annotators=("Ann",))
    with place(tmp_path / "p.sqlite", setup) as made:
        ann = made.worker("Ann")
        assert ann.say("1").is_success
        made.store.write(lambda c: c.execute(text("UPDATE trail SET digest = 'x'")))
        assert ann.say("1").status_code == 503


@pytest.mark.parametrize("secret", ["", "secret"])
def test_an_export_can_be_checked_against_its_project_later(
    secret: str, right: Truth, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setenv("MARKSCHEME_SEAL_KEY", secret)
    project, out = copy(right.closed, tmp_path / "p.sqlite"), tmp_path / "out.csv"
    Store(project, adopt=True).close()
    export = ["annotate-export", str(project), "-o", str(out)]
    assert run(export) == 0
    assert run(["annotate", "--project", str(project), "-a", "New", "--no-serve"]) == 0
    capsys.readouterr()
    assert run([*export, "--check"]) == 0
    assert "changes since: 1" in capsys.readouterr().out
    other = labelled(tmp_path / "other", 4).closed if not secret else None
    if other is not None:
        assert run(["annotate-export", str(other), "-o", str(out), "--check"]) == 2
        assert "another project" in capsys.readouterr().err
    seal = tmp_path / "out.csv.seal.json"
    said = json.loads(seal.read_text())
    assert bool(said["signature"]) == bool(secret)
    out.write_bytes(out.read_bytes() + b"more\n")
    assert run([*export, "--check"]) == 2
    assert "was changed since it was exported" in capsys.readouterr().err
    seal.write_text("{}")
    assert run([*export, "--check"]) == 2
    assert "error" in capsys.readouterr().err


def exported(project: Path, out: Path) -> Path:
    assert run(["annotate-export", str(project), "-o", str(out)]) == 0
    return out


@pytest.mark.parametrize("secret", ["", "secret"])
def test_statistics_refuse_labels_that_were_changed_since_they_were_exported(
    secret: str, right: Truth, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setenv("MARKSCHEME_SEAL_KEY", secret)
    project = copy(right.closed, tmp_path / "p.sqlite")
    Store(project, adopt=True).close()
    labels = exported(project, tmp_path / "labels.jsonl")
    rows = [json.loads(line) for line in labels.read_text().splitlines()]
    judged = write_rows(
        tmp_path / "judged.jsonl",
        [
            {name: row[name] for name in ("answer_id", "question", "answer", "system")}
            | {"judge": judge, "verdict": number % 3 > 0}
            for judge in ("one", "other")
            for number, row in enumerate(rows)
        ],
    )
    commands = [[name, str(judged), "--labels", str(labels)] for name in ("agree", "compare")]
    commands.append(["estimate", str(judged), "--judge", "one", "--labels", str(labels)])
    for command in commands:
        assert run(command) == 0, command
    whole = labels.read_bytes()
    edited = [row | {"label": None if row["label"] is None else 1 - row["label"]} for row in rows]
    for content in (
        "".join(json.dumps(row) + "\n" for row in edited).encode(),
        b"".join(whole.splitlines(keepends=True)[:-1]),
    ):
        labels.write_bytes(content)
        for command in commands:
            capsys.readouterr()
            assert run(command) == 2, command
            assert "was changed since it was exported" in " ".join(capsys.readouterr().err.split())
    labels.write_bytes(whole)
    seal = tmp_path / "labels.jsonl.seal.json"
    said = json.loads(seal.read_text())
    labels.write_bytes(b"".join(whole.splitlines(keepends=True)[:-1]))
    seal.write_text(json.dumps(said | {"file": file_digest(labels)}))
    capsys.readouterr()
    # Who makes the seal anew is found with a secret alone.
    assert run(commands[0]) == (2 if secret else 0)
    if secret:
        assert "is not signed with the secret" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("secret", ["", "secret"])
def test_labels_without_a_seal_are_named_where_seals_are_checked(
    secret: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    """Inverted, and their seal deleted; or another tool's, which never have one."""
    monkeypatch.setenv("MARKSCHEME_SEAL_KEY", secret)
    labels = exported(labelled(tmp_path / "made").closed, tmp_path / "labels.jsonl")
    rows = [json.loads(line) for line in labels.read_text().splitlines()]
    judged = write_rows(
        tmp_path / "judged.jsonl",
        [
            {name: row[name] for name in ("answer_id", "question")} | {"judge": "one", "verdict": 1}
            for row in rows
        ],
    )

    def shown(*command: str) -> int:
        capsys.readouterr()
        assert run([*command, str(judged), "--labels", str(labels)]) == 0
        text = " ".join(capsys.readouterr().err.split())
        return text.count(f"labels: {labels} has no seal, and MARKSCHEME_SEAL_KEY is set")

    digested: list[Path] = []

    def digest(file: Path) -> dict[str, Any]:
        digested.append(file)
        return file_digest(file)

    with monkeypatch.context() as counted:
        counted.setattr(sealing, "file_digest", digest)
        assert shown("agree") == 0
    assert digested == [labels], "once, with a secret too"
    (tmp_path / "labels.jsonl.seal.json").unlink()
    labels.write_text(
        "".join(
            json.dumps(row | {"label": None if row["label"] is None else 1 - row["label"]}) + "\n"
            for row in rows
        )
    )
    assert shown("agree") == bool(secret)
    assert shown("estimate", "--judge", "one") == bool(secret)


def test_changes_that_were_cut_off_are_found_by_an_export_that_has_them(
    right: Truth, tmp_path: Path, capsys: Any
) -> None:
    """The last event taken out, and the end of the trail set back: the project by itself is sound,
    as it was before that event."""
    project = copy(right.closed, tmp_path / "p.sqlite")
    assert run(["annotate", "--project", str(project), "-a", "New", "--no-serve"]) == 0
    before = copy(right.closed, tmp_path / "before.sqlite")
    out = exported(project, tmp_path / "out.csv")

    def cut(plain: sqlite3.Connection) -> None:
        last, start = plain.execute(
            "SELECT max(id), (SELECT start FROM trail) FROM events"
        ).fetchone()
        plain.execute("DELETE FROM events WHERE id = ?", (last,))
        plain.execute("DELETE FROM people WHERE name = 'New'")
        digest = plain.execute("SELECT digest FROM events WHERE id = ?", (last - 1,)).fetchone()[0]
        plain.execute("UPDATE trail SET last = ?, digest = ?", (last - 1, digest))
        assert start < last

    as_owner(project, cut)
    for cut_off in (project, before):
        Store(cut_off).close()
        capsys.readouterr()
        assert run(["annotate-export", str(cut_off), "-o", str(out), "--check"]) == 2
        assert "changes that this one has not" in " ".join(capsys.readouterr().err.split())


def test_an_older_copy_of_a_project_is_found_by_an_export_made_since(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    """Its end was signed once, so that the secret does not help: by itself the copy is sound."""
    monkeypatch.setenv("MARKSCHEME_SEAL_KEY", "secret")
    setup = AnnotateOptions(file=write_rows(tmp_path / "a.jsonl", answers(10)), annotators=("Ann",))
    project, older = tmp_path / "p.sqlite", tmp_path / "older.sqlite"
    with place(project, setup) as made:
        ann = made.worker("Ann")
        for step in range(8):
            assert ann.say("1").is_success
            if step == 3:
                copy(project, older)
    export = ["annotate-export", str(project), "-o", str(tmp_path / "labels.jsonl")]
    assert run(export) == 0
    copy(older, project)
    unnoticed = exported(project, tmp_path / "fewer.jsonl")
    assert len(unnoticed.read_bytes().splitlines()) == 4
    capsys.readouterr()
    assert run([*export, "--check"]) == 2
    assert "changes that this one has not" in " ".join(capsys.readouterr().err.split())


@pytest.mark.proof(area="attacks")
def test_sigkill_in_the_middle_of_writing(tmp_path: Path) -> None:
    """Four times: all that was acknowledged is there, and the chain holds."""
    file = write_rows(tmp_path / "a.jsonl", answers(200))
    kept = tmp_path / "labels.sqlite"
    told: list[dict[str, Any]] = []
    names: list[str] = []
    for round_ in range(4):
        people = [word for n in range(4) for word in ("-a", f"p{n}")]
        with server(file, "--project", str(kept), *people, log=tmp_path / "log") as running:
            links = running.links.items()
            names = names or [link.partition("#")[2] for name, link in links if name != "admin"]
            work = threading.Thread(
                target=lambda at=running.address, names=names: told.extend(
                    asyncio.run(crowd(at, names, 100, 0.0))
                )
            )
            work.start()
            work.join(0.5 + 0.3 * round_)
            running.kill()
            work.join()
        for end in ("", "-wal"):  # What is found without SQLite's log, as with it.
            if Path(f"{kept}{end}").exists():
                shutil.copy(f"{kept}{end}", f"{tmp_path}/copy.sqlite{end}")
        Store(tmp_path / "copy.sqlite").close()
        with sqlite3.connect(tmp_path / "copy.sqlite") as plain:
            rows = plain.execute("SELECT person_id, item_id, value FROM ratings").fetchall()
        labels = {(person, item): value for person, item, value in rows}
        assert all(labels[one["person"], one["item"]] == one["value"] for one in told)
    assert len(told) > 20
