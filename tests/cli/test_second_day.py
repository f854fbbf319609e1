"""What one command writes, the next one reads: finds of a stranger, from a file to figures."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

import markscheme
from markscheme.cli import run
from markscheme.errors import AgreementError, DataError, UnknownNameError
from markscheme.tables import FileOptions

Captured = pytest.CaptureFixture[str]
HEADER = "id,question,references,answer,label\n"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def call(captured: Captured, line: str, *more: str, code: int = 0) -> str:
    captured.readouterr()
    assert run([*line.split(), *more]) == code
    shown = captured.readouterr()
    return shown.out + shown.err


# --- repeated rows and labels ------------------------------------------------------------------


def repeated_rows() -> list[dict[str, object]]:
    """Forty answers, the right ones to the first twenty questions five times."""
    return [
        {
            "id": f"q{n}",
            "question": f"What is {n} plus {n}?",
            "references": [str(2 * n)],
            "answer": str(2 * n) if n % 2 else "no",
            "label": n % 2,
        }
        for n in range(40)
        for _ in range(5 if n < 20 and n % 2 else 1)
    ]


def test_a_label_by_id_is_of_every_repeat_of_its_answer() -> None:
    rows = repeated_rows()
    with_labels = markscheme.judge(rows, "contains")
    bare = [{k: v for k, v in row.items() if k != "label"} for row in rows]
    result = markscheme.judge(bare, "contains")
    once = pl.DataFrame(rows).unique("id").select("id", "label")
    own = markscheme.estimate(with_labels).estimates[0]
    for labels in (once, pl.DataFrame(rows)):
        found = markscheme.estimate(result, labels).estimates[0]
        assert (found.labelled, found.answers) == (own.labelled, own.answers) == (80, 80)
        assert found.figure == own.figure
    assert result.agree(once).frame["answers"][0] == 80


def test_a_sample_that_was_drawn_gains_no_repeats_and_other_texts_are_no_repeats() -> None:
    rows = repeated_rows()
    result = markscheme.judge([row | {"label": None} for row in rows], "contains")
    drawn = pl.DataFrame(rows).unique("id").select("id", "label", inclusion_probability=0.5)
    assert result.agree(drawn).frame["answers"][0] == 40
    named = [{"answer_id": f"x{end}", "question": "Who?", "references": ["Ann"], "answer": said}
             for end, said in (("", "Ann"), (" (row 2)", "Bob"))]  # fmt: skip
    labels = pl.DataFrame({"answer_id": ["x"], "label": [1]})
    assert markscheme.judge(named, "contains").agree(labels).frame["answers"][0] == 1


# --- a run that stopped because of its input ---------------------------------------------------


def test_the_remedy_for_rows_that_cannot_be_used_works_with_the_same_folder(
    capsys: Captured,
) -> None:
    head = HEADER.replace(",label", "")
    Path("a.csv").write_text(head + "1,Who wrote Emma?,Jane Austen,Austen\n")
    Path("b.csv").write_text(head + "1,Who wrote Emma?,Jane Austen,Jane Austen\n")
    said = call(capsys, "judge a.csv b.csv -j contains -o out", code=2)
    assert "pass --columns answer_id=none" in said
    said = call(capsys, "judge a.csv b.csv -j contains -o out --columns answer_id=none")
    assert "damaged" not in said
    found = pl.read_parquet("out/judgments.parquet")
    assert found.select("system", "verdict").rows() == [("a", False), ("b", True)]
    assert not Path("out/parts").exists()


def test_a_file_that_is_corrected_is_judged_into_the_same_folder(capsys: Captured) -> None:
    head, good = HEADER.replace(",label", ""), "1,Who wrote Emma?,Jane Austen,Austen\n"
    Path("a.csv").write_text(head + good)
    Path("b.csv").write_text(head + "2,,Jane Austen,Austen\n")
    assert "no question" in call(capsys, "judge a.csv b.csv -j contains -o out", code=2)
    Path("b.csv").write_text(head + good.replace("1,", "2,"))
    assert "damaged" not in call(capsys, "judge a.csv b.csv -j contains -o out")
    assert pl.read_parquet("out/judgments.parquet")["answer_id"].to_list() == ["1", "2"]


def test_an_interrupted_run_takes_no_other_answers() -> None:
    row = {"question": "Who?", "references": ["Ann"], "answer": "Ann"}

    class Stops:
        def __init__(self) -> None:
            self.calls = 0

        def __call__(self, _judged: int) -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        markscheme.judge([row], "contains", out="run", on_progress=Stops())
    if Path("run").exists():
        with pytest.raises(markscheme.MarkschemeError, match="unfinished run on other answers"):
            markscheme.judge([row | {"answer": "Bob"}], "contains", out="run")


# --- files of one command in another -----------------------------------------------------------


def test_errors_that_agree_writes_are_answers_for_judge(capsys: Captured) -> None:
    Path("a.csv").write_text(
        HEADER + "1,Who wrote Emma?,Jane Austen,,1\n2,Capital of France?,Paris,Lyon,1\n"
        "3,Capital of Spain?,Madrid,Madrid,0\n"
    )
    call(capsys, "judge a.csv -j contains -o r -q")
    call(capsys, "agree r --errors errors.csv -q")
    assert "skipped" not in call(capsys, "judge errors.csv -j contains -o r2")
    assert pl.read_parquet("r2/judgments.parquet")["status"].to_list() == ["judged"] * 3


def test_answers_by_id_may_repeat_a_row_but_not_an_id(capsys: Captured) -> None:
    Path("q.csv").write_text("id;question;references\n1;Who?;Ann\n2;Where?;Rome\n")
    Path("a.csv").write_text("id;answer\n1;Ann\n2;Rome\n2;Rome\n")
    said = call(capsys, "judge q.csv a.csv -j contains -o out")
    assert "a.csv: 1 row repeats an earlier one and is read once" in said
    assert pl.read_parquet("out/judgments.parquet")["verdict"].to_list() == [True, True]
    Path("a.csv").write_text("id;answer\n1;Ann\n2;Rome\n2;Oslo\n")
    said = call(capsys, "judge q.csv a.csv -j contains -o out2", code=2)
    assert "line 4: the id '2' has another answer already" in said


def test_a_file_with_names_of_its_own_is_explained(capsys: Captured) -> None:
    Path("f.csv").write_text("Nr;Frage;Soll;answer\n1;Who wrote Emma?;Jane Austen;Austen\n")
    names = "--columns question=Frage,references=Soll,answer_id=Nr"
    assert "Who wrote Emma?" in call(capsys, f"explain f.csv 1 {names} --depth fast")
    assert "no column for question and references" in call(capsys, "explain f.csv 1", code=2)


def test_diff_names_what_it_cannot_read(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("f.csv").write_text(HEADER + "1,Who?,Ann,Ann,1\n")
    monkeypatch.setattr("sys.stdin", io.StringIO(Path("f.csv").read_text()))
    assert "not from standard input" in call(capsys, "diff - f.csv -j contains", code=2)


@pytest.mark.parametrize("frame", [pl.DataFrame, pd.DataFrame, list])
def test_frames_and_rows_are_compared(frame: Callable[[list[dict[str, object]]], Any]) -> None:
    rows = [
        {"question": f"Who is {n}?", "references": ["Ann"], "answer": "Ann" if n % 2 else "Bob"}
        for n in range(6)
    ]
    found = markscheme.diff(frame(rows), frame(rows), judge="contains")
    assert (found.conclusion, found.new_rows) == ("no change shown", 6)


def test_exports_say_what_they_leave_out(capsys: Captured) -> None:
    Path("t.csv").write_text(
        HEADER + "1,Who wrote Emma?,Jane Austen,,0\n2,Capital of France?,Paris,Paris,1\n"
        "3,Capital of Spain?,Madrid,Lyon,\n"
    )
    call(capsys, "annotate t.csv -a A --project t.sqlite --no-serve")
    said = call(capsys, "annotate-export t.sqlite --as training --out training.csv")
    assert "1 labelled answer without a text left out" in said
    call(capsys, "annotate-export t.sqlite --as ratings --out ratings.csv")
    call(capsys, "judge t.csv -j contains -o r -q")
    said = call(capsys, "agree r --labels ratings.csv --annotators", code=2)
    assert "labels that came with the answers" in said


def test_commands_that_are_printed_can_be_pasted(capsys: Captured) -> None:
    Path("w.csv").write_text(
        "Frage;Erwartet;Bot v1;Bot v2\n"
        + "".join(f"What is {n} plus 1?;{n + 1};{n + 1};{n}\n" for n in range(30))
    )
    names = ("--columns", "question=Frage,references=Erwartet", "--answer-columns", "Bot v1,Bot v2")
    said = call(capsys, "judge w.csv -j contains", *names, "-o", "my runs/x y")
    assert "'markscheme view 'my runs/x y'' shows" in said
    plan = ("--for-difference", "Bot v1,Bot v2", "--count", "20", "--out", "p.csv")
    assert "--only 'Bot v1,Bot v2' --labels" in call(capsys, "plan-labels", "my runs/x y", *plan)
    said = call(capsys, "judge", "my runs/x y", "-j", "token_f1", code=2)
    assert "the answers in it are my runs/x y/answers.parquet" in said
    call(capsys, "judge", "my runs/x y/answers.parquet", "-j", "token_f1", "-o", "again", "-q")


# --- Python, and gates -------------------------------------------------------------------------


def test_judge_takes_the_options_of_reading_as_keywords_or_as_one_object() -> None:
    Path("w.csv").write_text("Frage;Erwartet;Bot v1;Bot v2\nWho?;Ann;Ann;Bob\n")
    names = {"question": "Frage", "references": "Erwartet"}
    columns = ["Bot v1", "Bot v2"]
    found = markscheme.judge("w.csv", "contains", columns=names, answer_columns=columns)
    options = FileOptions(columns=names, answer_columns=tuple(columns)).reading()
    for other in (
        markscheme.judge("w.csv", "contains", options),
        markscheme.judge("w.csv", "contains", options, on_bad_row="skip"),
    ):
        assert other.judgments["verdict"].to_list() == found.judgments["verdict"].to_list()
    assert found.judgments["system"].to_list() == columns
    with pytest.raises(DataError, match=r"Python: answer_columns=\['Bot v1', 'Bot v2'\]"):
        markscheme.judge("w.csv", "contains", columns=names)
    with pytest.raises(UnknownNameError, match="did you mean 'answer_columns'"):
        markscheme.judge("w.csv", "contains", columns=names, answer_colums=columns)


def test_a_gate_on_what_people_accept_fails_with_too_few_labels() -> None:
    rows = [
        {
            "question": f"What is {n} plus 1?",
            "references": [str(n + 1)],
            "answer": str(n + 1),
            "label": 1 if n % 5 == 0 else None,
        }
        for n in range(60)
    ]
    found = markscheme.estimate(markscheme.judge(rows, "contains"))
    ((said, passed),) = found.gates(0.1).items()
    assert not passed
    assert "too few labels for a share of all answers (12; 20 are needed)" in said
    with pytest.raises(AgreementError):
        found.gates(10)
