"""What a judge may be used for: the dangerous cell first, and what a gate by it is worth."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import markscheme
from markscheme.agreement import agree, fitness_line
from markscheme.cli import run
from markscheme.errors import AgreementError, DataError


def world(*, kind: float, blind: float, questions: int = 150) -> pl.DataFrame:
    """Answers of two systems, labelled by two people; the judge accepts wrong ones of `chatty`.

    Args:
        kind: how often it accepts a wrong answer of `chatty`; of `plain` 5%.
        blind: how often it rejects a right answer.
        questions: that both answered.
    """
    rng = np.random.default_rng(3)
    rows = []
    for system, accuracy, wrong in (("plain", 0.7, 0.05), ("chatty", 0.6, kind)):
        truth = rng.random(questions) < accuracy
        said = np.where(truth, rng.random(questions) >= blind, rng.random(questions) < wrong)
        second = truth ^ (rng.random(questions) < 0.04)
        rows.append(
            pl.DataFrame(
                {"question": [f"q{n}" for n in range(questions)],
                 "answer": [f"{system} {n}" for n in range(questions)], "system": system,
                 "judge": "judge", "verdict": said, "label": truth.astype(int),
                 "annotator1": truth.astype(int), "annotator2": second.astype(int)}
            )
        )  # fmt: skip
    return pl.concat(rows)


def test_the_dangerous_cell_comes_first_and_names_the_system() -> None:
    (one,) = agree(world(kind=0.6, blind=0.05)).fitness
    first, danger, least, gate, order, again = one.sentences
    assert first.startswith("judge, by labels of 2 people an answer, two of whom agree on 9")
    assert first.endswith("% of 300 answers:")
    assert danger.startswith("it accepts ")
    assert ", more than that of chatty's " in danger
    assert set(one.dangerous) == {"chatty"}
    assert one.least_right_found is not None
    assert 0.85 < one.least_right_found < 0.95
    assert "right answers and" in least
    assert one.off.low is not None
    assert one.off.low > 0
    assert "points more than people, and a gate on its share is off by as much" in gate
    assert "another order than people do" in order
    assert one.order is False
    assert again.startswith("check again when")


def test_a_judge_that_is_as_strict_as_people_may_gate() -> None:
    (one,) = agree(world(kind=0.05, blind=0.01, questions=1500)).fitness
    assert one.dangerous == {}
    assert "its share of accepted answers is people's to" in one.gate
    assert one.order is True
    assert one.signature is None


def test_few_wrong_answers_say_nothing_of_their_kind() -> None:
    rows = world(kind=0.5, blind=0.0).filter((pl.col("label") == 1) | (pl.int_range(pl.len()) < 8))
    (one,) = agree(rows.drop("annotator1", "annotator2")).fitness
    assert one.wrong_accepted.value is None
    assert one.least_wrong_found is None
    assert "people reject too few answers" in one.sentences[1]
    assert "labels of one person or of persons unknown" in one.sentences[0]


def test_no_verdict_no_statement() -> None:
    grades = world(kind=0.5, blind=0.0).with_columns(
        label=pl.int_range(pl.len()) % 4, score=pl.int_range(pl.len()) % 7 / 7
    )
    assert agree(grades.drop("annotator1", "annotator2"), per_question=True).fitness == ()


def test_agree_writes_it_into_the_run_and_a_gate_says_it(
    example: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    judge = ["judge", str(example), "-j", "contains", "-q", "--fail-under", "0.1", "-o"]
    assert run([*judge, "labelled"]) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert "nothing says how far contains agrees with people here" in said
    assert run(["agree", "labelled"]) == 0
    assert "What the judge may be used for" in capsys.readouterr().out
    known = json.loads(Path("labelled", "fitness.json").read_text())
    assert known["contains"]["signature"] == markscheme.open_run("labelled").table["signature"][0]
    assert run([*judge, "nightly", "--fitness", "labelled"]) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert "contains, by labels of 3 people an answer" in said
    assert "of wrong answers; it recognises at least" in said
    assert run(["judge", str(example), "-j", "token_f1", "-q", "--fail-under", "0", "-o", "other",
                "--fitness", "labelled/fitness.json"]) == 0  # fmt: skip
    assert "says nothing of token_f1; it is of 'contains'" in capsys.readouterr().err
    assert run(["judge", str(example), "-o", "bare", "--fitness", "labelled"]) == 2


def test_a_statement_of_another_judge_or_no_statement_is_said(tmp_path: Path) -> None:
    (one,) = agree(world(kind=0.5, blind=0.0)).fitness
    file = agree(world(kind=0.5, blind=0.0)).write_fitness(tmp_path / "mine.json")
    assert fitness_line("judge", "any", file).startswith(f"judge, by {one.labels}: it accepts")
    table = json.loads(file.read_text())
    table["judge"]["signature"] = "old"
    file.write_text(json.dumps(table))
    assert "with signature old, and this run's is new: agree again" in fitness_line(
        "judge", "new", file
    )
    said = ["a", "b", "c"]
    wrong: tuple[object, ...] = (
        [1], {}, {"judge": {}}, {"judge": {"labels": "l", "sentences": 3}}, {"judge": 1},
        {"judge": {"labels": 5, "sentences": said}},
        {"judge": {"labels": "l", "sentences": said[:2]}},
    )  # fmt: skip
    for statements in wrong:
        file.write_text(json.dumps(statements))
        with pytest.raises(AgreementError, match="holds no statements of fitness"):
            fitness_line("judge", "new", file)
    file.write_text("[1]")
    with pytest.raises(AgreementError, match="holds no statements of fitness"):
        fitness_line("judge", "new", file)
    for text in ("{", "[" * 100_000, '{"judge": NaN}', " " * 10_000_001):
        file.write_text(text)
        with pytest.raises(DataError, match="cannot be read as a statement of fitness"):
            fitness_line("judge", "new", file)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(DataError, match="there is no such file"):
        fitness_line("judge", "new", tmp_path / "pipe")


def test_a_statement_of_fitness_cannot_say_more_than_its_line(tmp_path: Path) -> None:
    file = tmp_path / "fitness.json"
    said = ["first", "\x1b[2Jred\ngate passed: all fine " + "y" * 100_000, "last"]
    file.write_text(json.dumps({"judge": {"labels": "l" * 100_000, "sentences": said}}))
    line = fitness_line("judge", "new", file)
    assert line.isprintable()
    assert len(line) < 3000


def test_a_run_into_which_nothing_can_be_written_is_agreed_with_all_the_same(
    example: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["judge", str(example), "-j", "contains", "-q", "-o", "run"]) == 0
    Path("run", "fitness.json").mkdir()
    assert run(["agree", "run"]) == 0
    said = capsys.readouterr()
    assert "What the judge may be used for" in said.out
    assert "note: cannot write run/fitness.json" in said.err
