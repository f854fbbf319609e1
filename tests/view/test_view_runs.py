"""The folder of runs behind the viewer: what is found, how far it is, and labels beside it."""

from __future__ import annotations

import fcntl
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import polars as pl
import pytest

import markscheme
from markscheme.engine import RunFolder
from markscheme.engine.run_folder import Bound
from markscheme.errors import DataError, RunError
from markscheme.tables import load_labels
from markscheme.view import RunLabels, runs_of
from markscheme.view.runs import Given, with_given

ROWS = [
    {"id": str(n), "question": f"{n}?", "references": ["yes"], "answer": said, "system": "one"}
    for n, said in enumerate(["yes", "no", "yes"])
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    top = tmp_path / "runs"
    markscheme.judge(ROWS, ["exact_match", "contains"], out=top / "first")
    shutil.copytree(top / "first", top / "deep" / "second")
    return top


def write_lines(file: Path, rows: list[dict[str, Any]]) -> None:
    file.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))


def unfinished(folder: Path) -> Path:
    """The first run as it was after one judge."""
    run = folder / "first"
    judgments = pl.read_parquet(run / "judgments.parquet")
    plan = orjson.loads((run / "run.json").read_bytes())
    (run / "run.json").write_bytes(orjson.dumps({**plan, "state": "running"}))
    (run / "parts").mkdir()
    shutil.copy(run / "answers.parquet", run / "parts" / "answers-000000.parquet")
    one = judgments.filter(pl.col("judge") == "exact_match")
    pieces = RunFolder(run)
    with pieces.writing():
        pieces.write_part("chunk-000000-000-00000000", one.head(1), Bound())
        pieces.write_part(
            "judgments-000000-000", one, Bound(), instead_of=["chunk-000000-000-00000000"]
        )
    (run / "judgments.parquet").unlink()
    return run


def test_every_run_below_a_folder_is_found_with_its_figures(folder: Path) -> None:
    (folder / "no run").mkdir()
    found = {run.name: run for run in runs_of(folder)}
    assert set(found) == {"first", "deep/second"}
    assert found["first"].state == "done"
    assert found["first"].answers == 3
    assert [one["accuracy"] for one in found["first"].figures] == [pytest.approx(2 / 3)] * 2
    assert [run.name for run in runs_of(folder / "first")] == ["first"]


def test_a_damaged_run_is_listed_with_what_is_wrong(folder: Path) -> None:
    (folder / "first" / "run.json").write_text("{")
    found = {run.name: run for run in runs_of(folder)}
    assert found["first"].state == "unreadable"
    assert "run.json is damaged" in found["first"].problem


def test_a_folder_that_cannot_be_read_hides_no_other(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "locked").mkdir()
    known = Path.iterdir

    def listed(place: Path) -> Any:
        if place.name == "locked":  # a root's tests may read everything
            raise PermissionError(13, "Permission denied", str(place))
        return known(place)

    monkeypatch.setattr(Path, "iterdir", listed)
    found = {run.name: run for run in runs_of(folder)}
    assert set(found) == {"first", "deep/second", "locked"}
    assert (found["first"].state, found["locked"].state) == ("done", "unreadable")
    assert "Permission denied" in found["locked"].problem


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="markscheme judge"):
        runs_of(tmp_path / "nothing")


def test_progress_counts_what_is_on_disk(folder: Path) -> None:
    run = unfinished(folder)
    (found,) = [one for one in runs_of(folder) if one.name == "first"]
    assert found.state == "stopped"
    now = RunFolder(run).progress()
    assert now.answers == 3
    assert now.judged == {"exact_match": 3, "contains": 0}
    assert now.accepted == {"exact_match": pytest.approx(2 / 3), "contains": None}
    assert now.cost_usd is None
    with (run / ".lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert RunFolder(run).progress().state == "running"
    assert RunFolder(run).progress().state == "stopped"


def test_a_label_is_kept_beside_the_run_and_read_by_the_statistics(folder: Path) -> None:
    labels = RunLabels(folder / "first")
    labels.give("0", 1)
    labels.give("1", 1, "a synonym")
    labels.give("2", 0)
    labels.give("2", None)
    assert labels.path == folder / "first.labels.jsonl"
    assert {name: one.label for name, one in labels.all().items()} == {"0": 1, "1": 1}
    assert RunLabels(folder / "first").all()["1"].comment == "a synonym"
    found = markscheme.agree(folder / "first", labels.path)
    assert found.frame["answers"].to_list() == [2, 2]


def test_each_label_of_an_answer_stays_in_the_file_and_its_last_one_counts(folder: Path) -> None:
    labels = RunLabels(folder / "first")
    for name, label in (("0", 1), ("1", 1), ("2", 1), ("0", 0), ("2", None)):
        labels.give(name, label)
    rows = [orjson.loads(line) for line in labels.path.read_bytes().splitlines()]
    made = [(row["answer_id"], row["label"]) for row in rows]
    assert made == [("0", 1), ("1", 1), ("2", 1), ("0", 0), ("2", None)]
    assert {name: one.label for name, one in labels.all().items()} == {"0": 0, "1": 1}
    for sealed in (True, False):
        if not sealed:
            write_lines(
                labels.path, [{k: v for k, v in row.items() if k != "seal"} for row in rows]
            )
        for source in (labels.path, pl.read_ndjson(labels.path)):
            found = load_labels(source)
            assert dict(found.select("answer_id", "label").iter_rows()) == {
                "0": 0,
                "1": 1,
                "2": None,
            }
        assert markscheme.agree(folder / "first", labels.path).frame["answers"].to_list() == [2, 2]
    two = pl.read_ndjson(labels.path).with_columns(annotator=pl.int_range(pl.len()))
    labels_of_people = load_labels(two)["annotator_labels"].list.drop_nulls().to_list()
    assert labels_of_people == [[1, 0], [1], [1]], "in a table of several people each label is one"


CHANGES: dict[str, Callable[[list[dict[str, Any]]], list[dict[str, Any]]]] = {
    "a label": lambda rows: [row | {"label": 1 - row["label"]} for row in rows],
    "a comment": lambda rows: [*rows[:-1], rows[-1] | {"comment": "x"}],
    "a line less": lambda rows: rows[:-1],
    "the label before the last one": lambda rows: [*rows[:2], rows[-1]],
    "a line twice": lambda rows: [*rows, rows[0]],
    "another order": lambda rows: rows[::-1],
    "a seal less": lambda rows: [{**rows[0], "seal": None}, *rows[1:]],
}


@pytest.mark.parametrize("secret", ["", "secret"])
@pytest.mark.parametrize("change", CHANGES)
def test_labels_that_were_changed_are_one_error_wherever_they_are_read(
    tmp_path: Path, secret: str, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MARKSCHEME_SEAL_KEY", secret)
    run = tmp_path / "run"
    markscheme.judge(ROWS, ["exact_match"], out=run)
    labels = RunLabels(run)
    for name, label in (("0", 1), ("1", 0), ("2", 0), ("2", 1)):
        labels.give(name, label)
    assert markscheme.agree(run, labels.path).frame["answers"].to_list() == [3]
    rows = [orjson.loads(line) for line in labels.path.read_bytes().splitlines()]
    write_lines(labels.path, CHANGES[change](rows))
    for read in (labels.all, lambda: labels.give("0", 0)):
        with pytest.raises(RunError, match="was changed since the viewer wrote it"):
            read()
    for read in (markscheme.agree, markscheme.estimate):
        with pytest.raises(RunError, match="was changed since the viewer wrote it"):
            read(run, labels.path)


def test_with_a_secret_only_labels_that_were_written_with_it_are_read(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MARKSCHEME_SEAL_KEY", raising=False)
    labels = RunLabels(folder / "first")
    labels.give("0", 1)
    monkeypatch.setenv("MARKSCHEME_SEAL_KEY", "secret")
    with pytest.raises(RunError, match="with another MARKSCHEME_SEAL_KEY"):
        labels.all()
    row = orjson.loads(labels.path.read_bytes())
    del row["seal"]
    write_lines(labels.path, [row])
    with pytest.raises(RunError, match="has no seal, and MARKSCHEME_SEAL_KEY is set"):
        labels.all()
    monkeypatch.delenv("MARKSCHEME_SEAL_KEY")
    assert labels.all()["0"].label == 1, "as earlier versions wrote it"
    labels.give("1", 0)
    assert all("seal" in orjson.loads(line) for line in labels.path.read_bytes().splitlines())


def test_labels_given_here_go_before_those_of_the_file() -> None:
    answers = pl.DataFrame(
        {"answer_id": ["a", "b"], "label": [0.0, 0.0], "annotator_labels": [[0.0], [0.0]]}
    )
    assert with_given(answers, {}).equals(answers)
    given = {"a": Given(label=1, comment="", labelled_at=0.0),
             "b": Given(label=None, comment="why?", labelled_at=0.0)}  # fmt: skip
    found = with_given(answers, given)
    assert found["label"].to_list() == [1.0, 0.0]
    assert found["annotator_labels"].to_list() == [None, [0.0]]


@pytest.mark.parametrize(
    "line",
    ["{}", "[]", '{"answer_id": "1", "label": 0.5}', '{"answer_id": "1", "label": 7}'],
)
def test_a_damaged_file_of_labels_is_named_with_its_line(folder: Path, line: str) -> None:
    labels = RunLabels(folder / "first")
    labels.give("0", 1)
    labels.path.write_text(f"{labels.path.read_text()}{line}\n")
    with pytest.raises(DataError, match=r"labels\.jsonl, line 2"):
        labels.all()


def test_looking_at_a_run_refuses_no_writer(folder: Path) -> None:
    run = RunFolder(folder / "first")
    with (run.path / ".lock").open("rb") as looking:
        fcntl.flock(looking, fcntl.LOCK_SH)
        threading.Timer(0.01, fcntl.flock, [looking, fcntl.LOCK_UN]).start()
        with run.locked():
            assert run.is_held()
    assert not run.is_held()
    assert not RunFolder(folder / "nothing").is_held()
