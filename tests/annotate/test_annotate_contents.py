"""Wrong values in a project's database, after `--adopt` too: one error that names the value, or
everything else is exported and shown as it was."""

from __future__ import annotations

import json
import random
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import get_args

import pytest

from annotate_helpers import Place, Worker, answers, place, write_rows
from label_damage import Truth, as_owner, copy, exports, labelled, one_row
from markscheme.annotate import tables as t
from markscheme.annotate.database import Store
from markscheme.annotate.options import AnnotateOptions, Kind
from markscheme.cli import run
from markscheme.errors import RunError

COLUMNS = [f"{table.name}.{column.name}" for table in t.metadata.sorted_tables
           for column in table.columns]  # fmt: skip
VALUES = (
    *("'text'", "'7'", "''", "'null'", "'{}'", "'{'", "'[]'", "'[7]'", '\'["a", "b"]\''),
    *("'" + "[" * 5000 + "'", "x'00ff'", "CAST(x'ff41' AS TEXT)", "NULL", "'\u202etxet \x1b[2J'"),
    *("-1", "0", "1", "2", "0.5", "1e300", "-1e300", "9e999", "4611686018427387904", "1000000000"),
)
SCALES = pytest.mark.parametrize("scale", ["verdict", "rank"])
TABLES = pytest.mark.parametrize("table", [table.name for table in t.metadata.sorted_tables])
SHOWN_IN = {
    "settings.title": "",
    "people.name": "annotator annotators",
    "items.question": "question references",
    "items.texts": "answer references",
    "items.final": "label final_label references",
    "sources.answer_id": "answer_id",
    "sources.system": "system",
    "sources.refs": "references",
    "sources.inclusion_probability": "inclusion_probability",
    "sources.stratum": "stratum",
    "ratings.value": "said label annotator_labels label_before_suggestion",
    "ratings.ranks": "said label annotator_labels label_before_suggestion final_label",
    "ratings.value_before": "label_before_suggestion",
    "ratings.suggested": "label_before_suggestion",
    "ratings.note": "note",
    "ratings.saved_at": "at annotators annotator_labels",
    "ratings.seconds": "seconds",
}
"""Columns of exports in which a value is seen; everything else stays as it was."""

REFERRING = ("sources.item_id", "sources.text_place", "ratings.item_id", "ratings.person_id")
"""Another valid value makes of an answer or rating another's, which is adopted as any edit is."""


def ranked(folder: Path) -> Truth:
    """A project in which Ann and Ben have ranked the answers of three systems."""
    folder.mkdir()
    setup = AnnotateOptions(
        file=write_rows(folder / "a.jsonl", answers(4, systems=3)),
        scale="rank",
        annotators=("Ann", "Ben"),
    )
    project = folder / "labels.sqlite"
    with place(project, setup) as made:
        for name in ("Ann", "Ben"):
            worker = made.worker(name)
            for n in range(4):
                said = {f"rank{place}": str((place + n) % 3 + 1) for place in range(3)}
                worker.say("ranks" if n < 3 else "cannot_tell", **said)
    return truth(project, ("labels", "ratings", "audit"))


def truth(project: Path, kinds: Sequence[str] = get_args(Kind)) -> Truth:
    """A project with suggestions too, whose columns can all be null."""

    def change(plain: sqlite3.Connection) -> None:
        said = "INSERT INTO suggestions SELECT id, 'judge', NULL, 'score 0.50', NULL FROM items"
        plain.execute(said)
        plain.execute("PRAGMA writable_schema = ON")
        plain.execute("UPDATE sqlite_master SET sql = replace(sql, ' NOT NULL', '')")

    as_owner(project, change)
    Store(project, adopt=True).close()
    said, right = exports(project, kinds)
    assert not said, said
    return Truth(project, project, right)


@pytest.fixture(scope="module")
def projects(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Truth]:
    folder = tmp_path_factory.mktemp("right")
    return {
        "verdict": truth(labelled(folder / "verdict", 6).closed),
        "rank": ranked(folder / "rank"),
    }


def put(chance: random.Random, project: Path, column: str, value: str) -> bool:
    """Put a value into a row; whether the database took it."""
    table, _, name = column.partition(".")

    def change(plain: sqlite3.Connection) -> None:
        for row in one_row(chance, plain, table, "1"):
            plain.execute(f"UPDATE {table} SET {name} = {value} WHERE rowid = {row}")

    try:
        as_owner(project, change)
    except sqlite3.IntegrityError:
        return False
    return True


def without(content: bytes, columns: str) -> list[str]:
    """The rows of an export, without some columns, in one order."""
    rows = [json.loads(line) for line in content.splitlines()]
    return sorted(json.dumps({k: v for k, v in row.items() if k not in columns.split()})
                  for row in rows)  # fmt: skip


def pages(made: Place) -> Iterator[str]:
    """The pages that people and the admin load."""
    items = made.rows("SELECT id FROM items ORDER BY id DESC LIMIT 4")
    for token in made.tokens.values():
        worker = Worker(made.client(), token)
        paths = ["/", "/mine", *(f"/mine/{item}" for (item,) in items)]
        if worker.http.get("/").headers.get("location") == "/admin":
            paths = [f"/admin{path}" for path in (
                "", "/live", "/agreement", "/estimate", "/items?stage=all", "/export/ratings",
                "/items?stage=settled-disagreements&words=a", "/export/labels",
                *(f"/items/{item}" for (item,) in items))]  # fmt: skip
        for path in paths:
            response = worker.http.get(path)
            assert response.status_code < 500, (path, response.text)
            yield response.text


def attempt(right: Truth, work: Path, column: str, value: str, chance: random.Random) -> str:
    """What becomes of a value: `impossible`, `refused` or `right`."""
    project = copy(right.closed, work / "labels.sqlite")
    if not put(chance, project, column, value):
        return "impossible"
    try:
        Store(project, adopt=True).close()
    except RunError as error:
        table, _, name = column.partition(".")
        said = str(error)
        assert str(project) in said
        if name not in ("id", "texts"):  # Rows that refer to what is gone are named there.
            assert f"table {table} has " in said, said
            named = f"as {name} in the row with" in said or "has no row with name" in said
            assert named or column in REFERRING, said
        assert "restore" in said.lower(), said
        assert said.isprintable(), said
        return "refused"
    said, found = exports(project, right.exports)
    assert not said, said
    shown_in = SHOWN_IN.get(column, "")
    for kind, content in right.exports.items():
        if kind != "audit" and column not in REFERRING:
            assert without(found[kind], shown_in) == without(content, shown_in), kind
    with place(project, AnnotateOptions(new_links=True)) as made:
        assert all(pages(made))
    return "right"


def test_the_error_names_file_table_row_column_value_and_next_step(
    projects: dict[str, Truth], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project = copy(projects["rank"].closed, tmp_path / "labels.sqlite")
    for value in ("no JSON", "[1,2,9]"):
        change = f"UPDATE ratings SET ranks = '{value}' WHERE item_id = 2 AND person_id = 3"
        as_owner(project, lambda plain, change=change: plain.execute(change))
        before = project.read_bytes()
        for command in (
            ["annotate", "--project", str(project), "--adopt", "--no-serve"],
            ["annotate-export", str(project), "-o", str(tmp_path / "out.csv")],
        ):
            capsys.readouterr()
            assert run(command) == 2
            said = " ".join(capsys.readouterr().err.split())
            assert (
                f"{project.name} cannot be used: its table ratings has {value!r} as ranks" in said
            )
            assert "Restore a copy; or put it right with sqlite3" in said
        assert project.read_bytes() == before


def test_the_signature_of_another_secret_can_be_left_behind(
    projects: dict[str, Truth], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`--adopt` began no new chain, and the next start refused this one again."""
    project = copy(projects["verdict"].closed, tmp_path / "labels.sqlite")
    monkeypatch.setenv("MARKSCHEME_SEAL_KEY", "secret")
    Store(project, adopt=True).close()
    monkeypatch.delenv("MARKSCHEME_SEAL_KEY")
    assert "is signed with another" in exports(project)[0]
    Store(project, adopt=True).close()
    assert not exports(project)[0]


def every_attempt(scale: str, table: str, right: Truth, work: Path, most: int) -> Counter[str]:
    """What becomes of up to `most` values in each column of a table, chosen by the seed."""
    found: Counter[str] = Counter()
    for column in COLUMNS:
        chance = random.Random(f"{scale} {column}")
        if column.startswith(f"{table}."):
            for value in chance.sample(VALUES, most):
                print(column, value[:40])
                found[attempt(right, work, column, value, chance)] += 1
    return found


@SCALES
@TABLES
def test_a_wrong_value_is_named_or_changes_nothing_else(
    scale: str, table: str, projects: dict[str, Truth], tmp_path: Path
) -> None:
    assert every_attempt(scale, table, projects[scale], tmp_path, 1).total()


@pytest.mark.proof(area="attacks")
@pytest.mark.timeout(1800)
@SCALES
@TABLES
def test_every_value_in_every_column(
    scale: str,
    table: str,
    projects: dict[str, Truth],
    tmp_path: Path,
    record_property: Callable[[str, object], None],
) -> None:
    """Records how many were tried, refused, and changed nothing else."""
    found = every_attempt(scale, table, projects[scale], tmp_path, len(VALUES))
    tried = found["refused"] + found["right"]
    row = f"{scale}: {table} | {tried} | {found['refused']} | {found['right']}"
    record_property("label value", row)
    assert tried
