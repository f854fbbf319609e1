"""Random damage to a project's database, and edits by somebody who knows it."""

from __future__ import annotations

import random
import shutil
import sqlite3
import traceback
from collections.abc import Callable, Iterable
from contextlib import closing, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any, get_args

from annotate_helpers import answers, place, write_rows
from markscheme.annotate.options import AnnotateOptions, Kind
from markscheme.cli import run

PAGE = 4096
FILES = ("", "-wal")
"""What a database consists of: the file, and where its server was killed SQLite's log."""


@dataclass(frozen=True)
class Truth:
    """A project: its files after the end of the server, after SIGKILL, and what it exports."""

    closed: Path
    killed: Path
    exports: dict[str, bytes]


def copy(of: Path, to: Path) -> Path:
    """A copy of a database with its log, and of nothing else that was there."""
    for end in (*FILES, "-shm"):
        Path(f"{to}{end}").unlink(missing_ok=True)
    for end in FILES:
        if Path(f"{of}{end}").exists():
            shutil.copy(f"{of}{end}", f"{to}{end}")
    return to


def labelled(folder: Path, items: int = 40) -> Truth:
    """A project in which Ann, Ben and Kim have labelled, changed, taken back and settled."""
    folder.mkdir(exist_ok=True)
    rows = answers(items)
    gold = [row | {"question": f"gold {n}", "label": 1} for n, row in enumerate(rows[:2])]
    setup = AnnotateOptions(
        file=write_rows(folder / "a.jsonl", rows),
        gold=write_rows(folder / "gold.jsonl", gold),
        gold_every=2,  # So that small projects have labels of gold items.
        order="file",
        annotators=("Ann", "Ben"),
        adjudicators=("Kim",),
    )
    with place(folder / "labels.sqlite", setup) as made:
        for number, name in enumerate(("Ann", "Ben", "Kim")):
            worker = made.worker(name)
            for step in range(items):
                if not worker.item or (name == "Ben" and step > items - 6):
                    break
                say = "cannot_tell" if step % 11 == 5 else str(int((step * (number + 2)) % 5 > 1))
                worker.say(say, note=f"note {step}" if step % 3 == 0 else "")
                if step % 9 == 4:
                    worker.undo()
        killed = copy(folder / "labels.sqlite", folder / "killed.sqlite")
    said, right = exports(folder / "labels.sqlite")
    assert not said, said
    return Truth(folder / "labels.sqlite", killed, right)


def exports(project: Path, kinds: Iterable[str] = get_args(Kind)) -> tuple[str, dict[str, bytes]]:
    """What becomes of these exports and of going on: what was printed, and the files by kind.

    Raises:
        AssertionError: a command ended otherwise than with code 0, or with code 2 and one error.
    """
    found: dict[str, bytes] = {}
    out = project.parent / "out.jsonl"
    commands = {k: ["annotate-export", str(project), "--as", k, "-o", str(out)]
                for k in kinds}  # fmt: skip
    for kind, command in (*commands.items(), ("", ["annotate", "--project", str(project),
                                                   "--no-serve"])):  # fmt: skip
        said = StringIO()
        try:
            with redirect_stdout(said), redirect_stderr(said):
                code = run(command)
        except BaseException as error:
            raise AssertionError(traceback.format_exc()) from error
        text = said.getvalue()
        assert code in (0, 2), text
        assert "Traceback" not in text, text
        if code == 2:
            assert "error" in text.lower(), text
            assert project.name in " ".join(text.split()), text
            return text, {}
        if kind:
            found[kind] = out.read_bytes()
    return "", found


def outcome(project: Path, right: dict[str, bytes]) -> str:
    """`detected`, `harmless`, `silent` or `traceback`."""
    try:
        said, found = exports(project)
    except AssertionError:
        return "traceback"
    return "detected" if said else "harmless" if found == right else "silent"


def as_owner(project: Path, work: Callable[[sqlite3.Connection], object]) -> None:
    """Change a database as somebody who knows that its triggers can be dropped and made again."""
    with closing(sqlite3.connect(project)) as plain, plain:
        guards = plain.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
        kept = guards.fetchall()
        for name, _ in kept:
            plain.execute(f"DROP TRIGGER {name}")
        work(plain)
        for _, sql in kept:
            plain.execute(sql)


SET = (
    "ratings SET value = 1 - value WHERE state = 'labelled'",
    "ratings SET note = note || 'x' WHERE state = 'labelled'",
    "ratings SET state = 'cannot_tell', value = NULL WHERE state = 'labelled'",
    "ratings SET seconds = 1.25 WHERE state = 'labelled'",
    "ratings SET saved_at = saved_at - 86400 WHERE state = 'labelled'",
    "ratings SET part = 'third' WHERE state = 'labelled' AND part = 'first'",
    "ratings SET person_id = 3 WHERE person_id = 2 AND item_id = 40",
    "ratings SET suggested = 1, value_before = 0 WHERE state = 'labelled'",
    "ratings SET value = x'00ff' WHERE state = 'labelled'",
    "ratings SET ranks = 'no JSON' WHERE state = 'labelled'",
    "items SET final = 1 - final WHERE final IS NOT NULL",
    "items SET stage = 'open', final = NULL WHERE stage = 'settled'",
    "items SET stage = 'gold' WHERE stage = 'settled'",
    "items SET question = 'Another?' WHERE 1",
    "items SET texts = '[\"other\"]' WHERE 1",
    "items SET texts = '{' WHERE 1",
    "items SET refs = '7' WHERE 1",
    "items SET gold = 0 WHERE stage = 'gold'",
    "sources SET answer_id = 'q0-s0' WHERE 1",
    "sources SET system = 'system-9' WHERE 1",
    "sources SET item_id = 1 WHERE 1",
    "sources SET text_place = 5 WHERE 1",
    "people SET name = 'Eve' WHERE 1",
    "people SET role = 'admin' WHERE 1",
    "people SET token_hash = 'x' WHERE 1",
    "settings SET value = '3' WHERE name = 'per_item'",
    "settings SET value = '\"none\"' WHERE name = 'scale'",
    "settings SET value = '' WHERE name = 'title'",
    "events SET detail = '{}' WHERE 1",
    "events SET person_id = 2 WHERE person_id = 3",
    "events SET at = at + 1 WHERE 1",
)
INSERT = (
    "INSERT OR REPLACE INTO ratings SELECT item_id, 4, 'first', state, value, ranks, value_before,"
    " suggested, note, version, shown_at, saved_at, seconds FROM ratings WHERE state = 'labelled'"
    " AND person_id = 2 AND rowid = {row}",
    "INSERT INTO events (at, action, detail) VALUES (1, 'label', '{}')",
    "INSERT INTO sources (item_id, text_place, row_place, answer_id, refs)"
    " VALUES (1, 0, 99, 'new', '[]')",
    "INSERT INTO settings VALUES ('order', 'x') ON CONFLICT DO UPDATE SET value = '7'",
    "INSERT INTO people (name, role, token_hash, active, rated, first_rated, skipped, since_gold,"
    " created_at) VALUES ('Eve', 'annotator', 'x', 1, 0, 0, 0, 0, 0)",
)
SCHEMA = (
    "DROP TABLE ratings", "DROP TABLE events", "DROP TABLE suggestions", "DROP TABLE settings",
    "DROP INDEX events_by_item", "ALTER TABLE ratings RENAME COLUMN value TO worth",
    "ALTER TABLE ratings DROP COLUMN seconds", "ALTER TABLE items RENAME TO things",
    "DROP TRIGGER events_are_not_deleted", "DELETE FROM annotate_migrations",
    "INSERT INTO annotate_migrations VALUES ('x')", "INSERT INTO annotate_migrations VALUES (99)",
    "CREATE TRIGGER t AFTER INSERT ON ratings BEGIN UPDATE ratings SET value = 1; END",
    "CREATE TABLE more (a)", "ALTER TABLE people ADD COLUMN more",
)  # fmt: skip


def one_row(
    chance: random.Random, plain: sqlite3.Connection, table: str, which: str, *, last: bool = False
) -> list[int]:
    """The rowid of one of the rows that fulfil a condition; none where none does."""
    rows = plain.execute(f"SELECT rowid FROM {table} WHERE {which} ORDER BY rowid").fetchall()
    return [rows[-1][0] if last else chance.choice(rows)[0]] if rows else []


def _flip(chance: random.Random, file: Path) -> None:
    content = bytearray(file.read_bytes())
    for _ in range(chance.choice((1, 1, 3, 10))):
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    file.write_bytes(content)


def _pages(chance: random.Random, file: Path) -> None:
    content = file.read_bytes()
    pages = [content[n : n + PAGE] for n in range(0, len(content), PAGE)]
    one, other = chance.sample(range(len(pages)), 2)
    how = chance.randrange(4)
    if how == 0:
        pages[one] = bytes(PAGE)
    elif how == 1:
        pages[one], pages[other] = pages[other], pages[one]
    elif how == 2:
        pages[one] = pages[other]
    else:
        del pages[one]
    file.write_bytes(b"".join(pages))


def _cut(chance: random.Random, file: Path) -> None:
    content = file.read_bytes()
    length = chance.randrange(len(content))
    file.write_bytes(content[: length // PAGE * PAGE if chance.random() < 0.5 else length])


def _edit(chance: random.Random, file: Path) -> None:
    table, _, rest = chance.choice(SET).partition(" SET ")
    change, _, which = rest.partition(" WHERE ")

    def edit(plain: sqlite3.Connection) -> None:
        for row in one_row(chance, plain, table, which):
            plain.execute(f"UPDATE OR REPLACE {table} SET {change} WHERE rowid = {row}")

    as_owner(file, edit)


def _delete(chance: random.Random, file: Path) -> None:
    table = chance.choice(
        ("ratings", "ratings", "events", "sources", "items", "people", "settings")
    )
    which = "state IN ('labelled', 'cannot_tell')" if table == "ratings" else "1"
    last = chance.random() < 0.5

    def delete(plain: sqlite3.Connection) -> None:
        for row in one_row(chance, plain, table, which, last=last):
            plain.execute(f"DELETE FROM {table} WHERE rowid = {row}")

    as_owner(file, delete)


def _insert(chance: random.Random, file: Path) -> None:
    statement = chance.choice(INSERT)

    def insert(plain: sqlite3.Connection) -> None:
        which = "state = 'labelled' AND person_id = 2"
        (row,) = one_row(chance, plain, "ratings", which)
        plain.execute(statement.replace("{row}", str(row)))

    as_owner(file, insert)


def _schema(chance: random.Random, file: Path) -> None:
    with closing(sqlite3.connect(file)) as plain, plain:
        plain.execute(chance.choice(SCHEMA))


def _log(chance: random.Random, file: Path) -> None:
    log = Path(f"{file}-wal")
    how = chance.choice((None, _flip, _cut))
    if how is None:
        log.unlink()
    else:
        how(chance, log)


DAMAGES: dict[str, tuple[int, Callable[[random.Random, Path], Any]]] = {
    "bytes flipped": (40, _flip),
    "pages emptied, swapped, doubled, cut out": (25, _pages),
    "file cut": (15, _cut),
    "a row edited": (30, _edit),
    "a row deleted": (12, _delete),
    "a row inserted": (8, _insert),
    "schema changed": (10, _schema),
    "SQLite's log removed, cut, flipped after SIGKILL": (10, _log),
}
"""How often each is tried among 150."""


def damage(kind: str, seed: int, right: Truth, work: Path) -> str:
    """Damage a copy, and what became of it."""
    how = DAMAGES[kind][1]
    project = copy(right.killed if how is _log else right.closed, work / "damaged.sqlite")
    how(random.Random(f"{kind} {seed}"), project)
    return outcome(project, right.exports)


def edit_rating(number: int, right: Truth, work: Path) -> str:
    """Edit or delete the n-th rating, and what follows from it in `items`."""
    project = copy(right.closed, work / "edited.sqlite")

    def change(plain: sqlite3.Connection) -> None:
        every = plain.execute(
            "SELECT item_id, person_id, value FROM ratings WHERE state = 'labelled' ORDER BY 1, 2"
        ).fetchall()
        item, person, value = every[number * 2 % len(every)]
        mine = f"WHERE item_id = {item} AND person_id = {person}"
        if number % 3 == 2:
            plain.execute(f"DELETE FROM ratings {mine}")
        else:
            plain.execute(f"UPDATE ratings SET value = {1 - value} {mine}")
        if number % 3:
            plain.execute(f"UPDATE items SET final = {1 - value} WHERE id = {item}")

    as_owner(project, change)
    return outcome(project, right.exports)
