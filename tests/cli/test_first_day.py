"""What a new user meets first: what is installed, what is printed next, what is listed and why."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import polars as pl
import pytest

import markscheme
from markscheme.analysis import rejection
from markscheme.cli import run
from markscheme.cli.app import notes
from markscheme.cli.options import Quiet

Captured = pytest.CaptureFixture[str]

ROWS = [
    ("1", "Who wrote Emma?", "Jane Austen", "Jane Austen", "a", 1),
    ("1", "Who wrote Emma?", "Jane Austen", "Emily Bronte", "b", 0),
    ("2", "When did it open?", "1975", "In 1975.", "a", 1),
    ("2", "When did it open?", "1975", "In 1985.", "b", 0),
    ("3", "Is it open?", "No", "No", "a", 1),
    ("3", "Is it open?", "No", "Perhaps", "b", None),
]


@pytest.fixture
def answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    names = ("nr", "question", "gold", "answer", "model", "human")
    file = Path("bot.csv")
    pl.DataFrame(ROWS, names, orient="row").write_csv(file)
    return file


def call(captured: Captured, *words: str | Path, code: int = 0) -> tuple[str, str]:
    captured.readouterr()
    assert run(list(map(str, words))) == code
    shown = captured.readouterr()
    return shown.out, shown.err


def judged(captured: Captured, file: Path, *more: str) -> str:
    return call(captured, "judge", file, "-j", "contains", "-o", "runs/bot", *more)[1]


@pytest.mark.parametrize("module", ["altair", "fastapi"])
def test_a_base_install_says_at_once_what_a_page_needs(
    module: str, answers: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    shown = judged(capsys, answers)
    assert "with the extras 'report' and 'web' installed" in shown
    _, told = call(capsys, "view", "nowhere", code=2)
    assert "in a checkout pip install '.[report,web]'" in told
    if module == "altair":
        assert "(needs the extra 'report')" in shown
        _, told = call(capsys, "report", "nowhere", code=2)
        assert "the report needs an extra: pip install 'markscheme[report]', or in a " in told


def test_next_commands_can_be_pasted(answers: Path, capsys: Captured) -> None:
    lines = judged(capsys, answers).partition("next:\n")[2].splitlines()
    assert len(lines) > 3
    assert all(line.startswith("  markscheme ") and "  # " in line for line in lines)


def test_a_terminal_shows_notes_and_errors_without_a_broken_word(
    answers: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    piped = judged(capsys, answers)
    _, error = call(capsys, "judge", answers, "-j", "contains", "-o", "out.csv", code=2)
    monkeypatch.setattr(notes, "_force_terminal", True)
    monkeypatch.setattr(notes, "no_color", True)
    monkeypatch.setattr(notes, "width", 60)
    screen = io.StringIO()
    monkeypatch.setattr(notes, "_file", screen)
    assert run(["judge", str(answers), "-j", "contains", "-o", "out.csv"]) == 2
    assert run(["judge", str(answers), "-j", "contains", "-o", "runs/other", "--workers", "1"]) == 0
    shown = screen.getvalue()
    assert set(error.split()[1:]) <= set(shown.split())
    assert max(map(len, shown.partition("error")[2].splitlines()[:3])) <= 60
    read = piped[piped.index("bot.csv read") : piped.index("written")]
    assert set(read.split()) <= set(shown.split())
    assert "\n  markscheme failures runs/other --rejected" in shown


def test_a_run_is_no_file(answers: Path, capsys: Captured) -> None:
    _, told = call(capsys, "judge", answers, "-j", "contains", "-o", "out.csv", code=2)
    assert "--out out writes a folder" in told
    assert not Path("out.csv").exists()


def test_quiet_prints_results_and_no_notes(answers: Path, capsys: Captured) -> None:
    assert judged(capsys, answers, "-q").strip() == ""
    assert "no notes" in Quiet.__metadata__[0].help
    rows = answers.read_text() + "4,,gold,answer,a,\n"
    answers.write_text(rows)
    _, told = call(capsys, "judge", answers, "-j", "contains", "-o", "runs/two", "-q",
                   "--on-bad-row", "skip")  # fmt: skip
    assert "1 bad rows were skipped" in told
    assert "note:" not in told


def test_accepted_answers_are_listed_with_the_reasons(answers: Path, capsys: Captured) -> None:
    judged(capsys, answers)
    shown, _ = call(capsys, "failures", "runs/bot", "--accepted")
    assert "Accepted answers (3)" in shown
    assert "In 1975." in shown
    assert "1985" not in shown
    found = markscheme.failures("runs/bot", accepted=True)
    assert found.frame["system"].to_list() == ["a"] * 3
    assert "explanation" in found.frame.columns


def test_failures_are_those_of_the_judges_that_were_run(answers: Path, capsys: Captured) -> None:
    judged(capsys, answers)
    shown, _ = call(capsys, "failures", "runs/bot")
    assert "exact match" not in shown
    assert "contains: no verdict contradicts a label" in shown
    shown, _ = call(capsys, "failures", "runs/bot", "--judge-errors", "--format", "csv")
    assert "error" not in shown.replace("no errors", "")


def test_rejected_answers_name_the_system(answers: Path, capsys: Captured) -> None:
    judged(capsys, answers)
    found = markscheme.failures("runs/bot", rejected=True, by="system")
    counts = next(table for table in found.tables if table.title == "Rejected answers by system")
    assert [row[1:4] for row in counts.rows] == [("a", "3", "0"), ("b", "3", "3")]
    listing = found.tables[-1]
    assert listing.header[0] == "system"
    assert {row[0] for row in listing.rows} == {"b"}


def test_an_answer_of_a_run_is_explained_by_its_id(answers: Path, capsys: Captured) -> None:
    judged(capsys, answers)
    shown, _ = call(capsys, "explain", "runs/bot", "2:b", "--depth", "fast")
    assert "In 1985." in shown
    _, told = call(capsys, "explain", "runs/bot", code=2)
    assert "The ids are 1:a, 1:b" in told
    _, told = call(capsys, "explain", "-q", "Who?", code=2)
    assert "-r REFERENCE" in told
    _, told = call(capsys, "explain", "runs/bot", "2:b", "-a", "In 1975.", code=2)
    assert "RUN and the ID of one of its answers, or -q, -r and -a, not both" in told


def test_what_failures_lists_can_be_explained(answers: Path, capsys: Captured) -> None:
    judged(capsys, answers)
    shown, _ = call(capsys, "failures", "runs/bot", "--rejected")
    (listed,) = {word for word in shown.split() if word in ("1:b", "2:b", "3:b")} & {"2:b"}
    shown, _ = call(capsys, "explain", "runs/bot", listed, "--depth", "fast")
    lines = shown.splitlines()
    assert [line.partition(":")[0] for line in lines[:3]] == ["question", "reference", "answer"]
    assert lines[2] == "answer: In 1985."


def test_labels_are_matched_by_the_number_of_the_question_and_the_system(
    answers: Path, capsys: Captured
) -> None:
    unlabelled = Path("unlabelled.csv")
    pl.read_csv(answers).drop("human").write_csv(unlabelled)
    pl.read_csv(answers).select("nr", "model", "human").drop_nulls().write_csv("labels.csv")
    judged(capsys, unlabelled)
    found = markscheme.agree("runs/bot", labels="labels.csv")
    assert found.frame["answers"].to_list() == [5]


def test_rows_without_a_number_or_with_one_twice_are_judged() -> None:
    names = ("nr", "question", "references", "answer", "system")
    rows = [dict(zip(names, row[:5], strict=True)) for row in ROWS]
    lacking = [*rows, {**rows[0], "nr": None, "question": "Who?"}]
    found = markscheme.judge(lacking, "contains").answers
    assert found.height == 7
    assert found["answer_id"].n_unique() == 7


@pytest.mark.parametrize(
    ("question", "reference", "answer", "evidence"),
    [
        (
            "How long is the warranty on the battery?",
            "2 years or 500 charge cycles, whichever comes first",
            "The battery is covered for 2 years.",
            "2 years agrees; 500 is not clearly in the answer",
        ),
        (
            "What does error code E07 mean?",
            "The speed sensor is misaligned",
            "The display has lost contact with the speed sensor's magnet, it is out of position.",
            "says 'sensor', 'speed' of 'The speed sensor is misaligned', at greater length",
        ),
    ],
)
def test_evidence_fits_a_rejection_and_quotes_whole_words(
    question: str, reference: str, answer: str, evidence: str
) -> None:
    assert rejection(question, [reference], answer).evidence == evidence


def test_flips_name_the_side_that_evidence_is_about(tmp_path: Path) -> None:
    sides = [
        [{"question": f"q{n}", "references": ["1975"], "answer": answer, "system": "a"}
         for n, answer in enumerate(said)]
        for said in (["In 1975.", "In 1985."], ["In 1985.", "In 1975."])
    ]  # fmt: skip
    base, new = (markscheme.judge(side, "contains") for side in sides)
    flips = markscheme.diff(base, new).tables[-1]
    column = flips.header.index("rejected")
    assert [(row[0], row[column]) for row in flips.rows] == [("worse", "new"), ("better", "base")]


def test_labels_that_a_plan_has_already_are_announced(answers: Path, capsys: Captured) -> None:
    judged(capsys, answers)
    _, told = call(capsys, "plan-labels", "runs/bot", "--count", "1", "--out", "todo.csv")
    assert "5 of its answers have a label already; fill in the column 'label' of the others" in told
