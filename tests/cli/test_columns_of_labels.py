"""Columns of a user's own in files of answers and of labels, and what one command advises next."""

from __future__ import annotations

import csv
import io
import re
import shlex
from pathlib import Path

import pytest

from markscheme.cli import run

Captured = pytest.CaptureFixture[str]

ANSWERS = """nr,frage,soll,ist,wer,note
1,Which country?,France/Frankreich,France,a,y
2,Which country?,France/Frankreich,Spain,b,n
3,Capital of Peru?,Lima,Lima it is,a,y
4,Capital of Peru?,Lima,Quito,b,n
5,Capital of Chile?,Santiago,Santiago,a,y
6,Capital of Chile?,Santiago,the city of Santiago,b,n
"""
LABELS = """frage,ist,wer,urteil
Which country?,France,a,right
Which country?,Spain,b,wrong
Capital of Peru?,Lima it is,a,right
Capital of Peru?,Quito,b,wrong
Capital of Chile?,Santiago,a,right
Capital of Chile?,the city of Santiago,b,right
"""
NAMES = "question=frage,references=soll,answer=ist,system=wer"
OF_LABELS = ["--columns", "question=frage,answer=ist,system=wer", "--label-column", "urteil"]


@pytest.fixture(autouse=True)
def judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> str:
    """What judging the answers said; the run is in `run`."""
    monkeypatch.chdir(tmp_path)
    Path("answers.csv").write_text(ANSWERS)
    Path("labels.csv").write_text(LABELS)
    assert run(["judge", "answers.csv", "-j", "exact_match", "--columns", NAMES, "-o", "run"]) == 0
    return capsys.readouterr().err


@pytest.mark.parametrize(
    "command",
    [
        ["agree", "run"],
        ["estimate", "run"],
        ["compare", "run", "--systems"],
        ["failures", "run"],
        ["rank", "run"],
        ["report", "run", "--out", "page.html"],
    ],
    ids=" ".join,
)
def test_labels_with_columns_of_their_own_are_read_by_every_command(
    command: list[str], capsys: Captured
) -> None:
    assert run([*command, "--labels", "labels.csv", *OF_LABELS]) == 0, capsys.readouterr().err


def test_columns_may_be_given_in_parts(capsys: Captured) -> None:
    parts = [word for pair in NAMES.split(",") for word in ("--columns", pair)]
    assert run(["judge", "answers.csv", "-j", "exact_match", *parts, "-o", "run"]) == 0
    assert "6 judgments were reused from an earlier run" in capsys.readouterr().err
    assert run(["judge", "answers.csv", *parts, "--columns", "answer=wer"]) == 2
    assert "--columns gives answer twice, as 'ist' and as 'wer'" in capsys.readouterr().err


def test_labels_of_a_system_called_otherwise_are_matched_by_the_texts(capsys: Captured) -> None:
    """A table without a column of systems has its file's name there once it is exported."""
    rows = list(csv.DictReader(io.StringIO(LABELS)))
    with Path("export.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["question", "answer", "system", "label"])
        writer.writerows([row["frage"], row["ist"], "export", row["urteil"]] for row in rows)
    assert run(["agree", "run", "--labels", "export.csv"]) == 0
    assert "6 judgments matched with labels by question and answer" in capsys.readouterr().out


def test_references_with_a_slash_and_the_systems_column_are_told(judged: str) -> None:
    assert "references with '/' are read as one; --reference-separator '/' splits them" in judged
    assert "system = wer" in judged


@pytest.mark.parametrize(
    ("text", "several"),
    [
        ("Paris/Rome", True),
        ("km/h", False),
        ("3/4", False),
        ("and/or", False),
        ("he/she", False),
        ("There is no minimum age for 25 km/h models", False),
        ("10 euros/month", False),
        ("03/03/2022", False),
        ("Ann/Anne,x\nWho?,Ben/Benno", True),
        ("Ann/Anne,x\nWho?,km/h", False),
    ],
)
def test_a_slash_within_a_reference_is_told_where_names_stand_on_both_sides(
    text: str, several: bool, capsys: Captured
) -> None:
    Path("one.csv").write_text(f"question,reference,answer\nWhich?,{text},x\n")
    assert run(["judge", "one.csv", "-j", "exact_match", "-o", "one"]) == 0
    assert ("references with '/'" in capsys.readouterr().err) == several


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--columns", "label=note"], "a finished run on other answers (not the same: label)"),
        (["--clean", "none"], "a run with --clean formatting, not none"),
        (["-j", "contains"], "a run with exact_match, not exact_match, contains"),
        (["--reference-separator", "/"], "(not the same: references)"),
    ],
)
def test_what_a_folders_run_differs_in_is_said(
    more: list[str], said: str, capsys: Captured
) -> None:
    names = ["--columns", f"{NAMES},answer_id=nr"]
    first = ["judge", "answers.csv", "-j", "exact_match", *names, "-o", "again", "-q"]
    assert run(first) == 0
    capsys.readouterr()
    assert run([*first, *more]) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert said in told
    assert "{" not in told


def test_a_run_that_could_not_begin_leaves_its_folder_free(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    asked = ["judge", "answers.csv", "--columns", NAMES, "-o", "free", "-q"]
    assert run([*asked, "-j", "llm_grader", "-m", "gpt-4o"]) == 2
    assert not Path("free").exists()
    assert run([*asked, "-j", "exact_match"]) == 0


def test_what_is_advised_next_works_with_grades_and_without_labels(
    judged: str, capsys: Captured
) -> None:
    rows = "".join(f"q{n},a,{'a' if n % 2 else 'b'},{1 + n % 5}\n" for n in range(8))
    Path("grades.csv").write_text(f"question,reference,answer,grade\n{rows}")
    assert run(["judge", "grades.csv", "-j", "exact_match", "-o", "graded"]) == 0
    told = capsys.readouterr().err
    assert "agree graded --positive-from 3" in told
    for said in (judged, told):
        advised = re.findall(r"^ +(markscheme .*?)  #.*$", said, re.M)
        assert len(advised) == 3
        for line in advised:
            assert run(shlex.split(line)[1:]) == 0, line


def test_comparing_systems_begins_with_a_sentence(capsys: Captured) -> None:
    assert run(["compare", "run", "--systems"]) == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert re.match(r"The judge alone accepts a most often: \d+ points more than b \(", first)


def test_a_model_given_as_a_judge_is_answered_without_pythons_words(capsys: Captured) -> None:
    for name in ("gpt-4o", "qwen2.5:7b", "openai/gpt-4o"):
        assert run(["judge", "answers.csv", "-j", name]) == 2
        said = " ".join(capsys.readouterr().err.split())
        assert said.endswith(f"-j llm_grader -m {name}")
        assert "literal" not in said
