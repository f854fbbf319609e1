"""Figures on questions that trained a judge do not pass unmarked: judge, agree, compare, report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import markscheme
from markscheme.agreement import AgreeResult, agree, compare
from markscheme.cli import run
from markscheme.results import Table, lineage_note, scope_notes
from trained_questions import trained_questions

NEW = [f"Who built the bridge of Zorvex{n:02d}?" for n in range(30)]


def rows() -> list[dict[str, Any]]:
    """60 answers to 60 questions, half of which trained the examiner; all labelled."""
    return [
        {
            "question": question, "references": ["Ada Quist"], "system": f"s{n % 2}",
            "answer": "Ada Quist" if n % 3 else "Bo Lind", "label": float(n % 3 > 0 or n % 5 == 0),
        }
        for n, question in enumerate(sum(zip(trained_questions(30), NEW, strict=True), ()))
    ]  # fmt: skip


@pytest.fixture(scope="module")
def judged() -> markscheme.Result:
    """Those answers by a judge that learned and by one that did not."""
    return markscheme.judge(rows(), ["examiner(depth=fast)", "exact_match"])


def of_training(found: AgreeResult) -> Table:
    title = "On questions that a judge was trained on, its figures may be too high"
    return next(one for one in found.tables if one.title == title)


def test_a_run_says_how_many_questions_trained_a_judge_with_both_figures(
    judged: markscheme.Result,
) -> None:
    record = next(one for one in judged.run.records if one["system"] == "(all)")
    assert (record["questions"], record["learned_questions"]) == (60, 30)
    assert (record["learned_answers"], record["rest_judged"]) == (30, 30)
    rest = judged.judgments.filter(pl.col("judge") == record["judge"], pl.col("scope") == "inside")
    assert record["rest_accuracy"] == pytest.approx(rest["verdict"].mean())
    assert record["rest_accuracy_low"] < record["rest_accuracy"] < record["rest_accuracy_high"]
    lines = scope_notes(judged.run.judgments, judged.run.records)
    names = "({!r}, {!r}, {!r} and 27 more)".format(
        *(one["question"] for one in rows() if one["question"] not in NEW)
    )
    named = scope_notes(judged.run.judgments, judged.run.records, judged.answers.lazy())
    assert named[-1].startswith(f"30 of 60 questions trained examiner(depth=fast) {names}; on the ")
    assert lines == [
        "30 of 60 questions trained examiner(depth=fast); on the rest: "
        f"{100 * record['rest_accuracy']:.1f}% accepted (on all: {100 * record['accuracy']:.1f}%)"
    ]


def test_a_judge_that_learned_nothing_has_no_such_figures(judged: markscheme.Result) -> None:
    exact = [one for one in judged.run.records if one["judge"] == "exact_match"]
    assert exact
    assert not any("learned_questions" in one for one in exact)


def test_agreement_is_given_on_all_questions_and_on_the_rest(judged: markscheme.Result) -> None:
    found = agree(judged)
    parts = found.data["scope"]["examiner(depth=fast)"]
    assert list(parts) == ["all", "rest", "learned from", "inside"]
    assert (parts["all"].questions, parts["rest"].questions) == (60, 30)
    table = of_training(found)
    assert [row[1] for row in table.rows] == ["all", "did not train it", "trained it"]
    assert table.notes[-1].endswith(
        " for each part: further questions like these, according to the labels of its own answers"
    )
    assert table.header[-2:] == ("wrong yes", "wrong no")
    whole, rest = (100 * parts[name].left_out["accuracy"].value for name in ("all", "rest"))
    first = [one["question"] for one in rows() if one["question"] not in NEW][:3]
    assert table.notes[0] == (
        f"30 of 60 questions trained examiner(depth=fast) ({', '.join(map(repr, first))} and 27 "
        "more); on the rest: "
        f"{rest:.1f}% as people say (on all: {whole:.1f}%)"
    )


def test_answers_that_were_not_given_make_no_part_of_the_rest() -> None:
    """They are inside no judge's field, and the rest would be listed once more without them."""
    found = agree(markscheme.judge([*rows()[:-1], {**rows()[-1], "answer": " "}], "examiner"))
    assert found.data["scope"]["examiner"]["inside"].answers == 29
    assert [row[1] for row in of_training(found).rows] == ["all", "did not train it", "trained it"]


def test_judgments_saved_as_csv_have_the_parts_of_their_run(tmp_path: Path) -> None:
    """CSV has no null: an answer that was not given had a part of its own, called ''."""
    file = tmp_path / "judgments.csv"
    judged = markscheme.judge([*rows()[:-1], {**rows()[-1], "answer": " "}], "examiner(depth=fast)")
    judged.judgments.write_csv(file)
    labels = judged.answers.select("answer_id", "label")
    assert agree(file, labels).data["scope"] == agree(judged.judgments, labels).data["scope"]


def test_a_column_scope_of_another_tool_says_nothing_of_training(tmp_path: Path) -> None:
    file = tmp_path / "judged.csv"
    kinds = ("in-domain", "out-of-domain")
    lines = (f"q{n},a{n},{n % 3 // 2},{n % 2},{kinds[n % 2]}\n" for n in range(24))
    file.write_text("question,answer,verdict,label,scope\n" + "".join(lines))
    assert run(["agree", str(file)]) == 0
    assert "scope" not in agree(file).data


def test_where_no_question_trained_a_judge_none_is_called_too_high() -> None:
    """Answers outside the judge's field make the table all the same."""
    some = [one for one in rows() if one["question"] in NEW]
    odd = [{**one, "answer": "Ada Quist. " * 400} for one in some[:8]]
    found = agree(markscheme.judge([*odd, *some[8:]], "examiner"))
    assert {"inside", "outside"} <= set(found.data["scope"]["examiner"])
    assert "trained" not in " ".join(table.title for table in found.tables)
    assert any(
        table.title == "Agreement inside and outside a judge's field" for table in found.tables
    )


def test_judges_are_compared_on_the_rest_too(judged: markscheme.Result) -> None:
    found = compare(judged)
    assert len(found.rest) == len(found.pairs) == 1
    assert (found.pairs[0].shared, found.rest[0].shared) == (60, 30)
    assert found.data["learned_questions"] == 30
    assert "30 of 60 questions trained one of these judges" in str(found)


def test_judges_are_compared_in_the_same_order_without_the_questions_that_trained_one() -> None:
    """A pair was turned round where the first judge lacks the first answer that is left."""
    rows: list[dict[str, Any]] = [
        {"question": f"q{n}", "answer": "x", "judge": judge, "verdict": n % 3 > 0, "label": 1,
         "scope": "learned from" if n < 20 else "inside"}
        for n in range(60) for judge in ("a", "b") if (n, judge) != (20, "a")
    ]  # fmt: skip
    found = compare(pl.DataFrame(rows))
    assert [(one.first, one.second) for one in found.rest] == [("a", "b")]
    assert any("without them all conclusions are the same" in one for one in found.tables[0].notes)


def test_where_the_rest_changes_nothing_a_line_takes_the_place_of_a_table() -> None:
    every = [
        {"question": f"q{n}", "answer": "x", "system": system, "judge": "j", "scope": "inside",
         "verdict": n % 10 < right}
        for system, right in (("a", 9), ("b", 5)) for n in range(200)
    ]  # fmt: skip
    every[0]["scope"] = every[200]["scope"] = "learned from"
    found = compare(every, systems=True)
    assert len(found.rest) == 1
    assert len(found.tables) == 1
    [line] = [note for note in found.tables[0].notes if "trained this judge" in note]
    assert line.startswith(
        "1 of 200 questions trained this judge ('q0'), and may flatter it; without "
    )
    for row in every:
        if int(row["question"][1:]) % 10 in (5, 6, 7, 8):
            row["scope"] = "learned from"
    found = compare(every, systems=True)
    assert [table.title.endswith("that trained no judge") for table in found.tables] == [
        False,
        True,
    ]


def test_on_the_rest_a_pair_has_the_order_that_it_has_over_all() -> None:
    every = [
        {"question": f"q{n}", "answer": "x", "system": system, "judge": "j", "verdict": n % 10 < 7,
         "scope": "inside" if n else "learned from"}
        for n in range(200) for system in ("ab" if n == 0 else "ba")
    ]  # fmt: skip
    found = compare(every, systems=True)
    assert [(one.first, one.second) for one in (*found.pairs, *found.rest)] == [("a", "b")] * 2
    assert len(found.tables) == 1, "nothing changed but the order of the rows"


def test_systems_are_compared_on_the_rest_too() -> None:
    every = [one | {"system": system} for one in rows() for system in ("a", "b")]
    result = markscheme.judge(every, "examiner(depth=fast)")
    found = compare(result, systems=True)
    assert (found.pairs[0].shared, found.rest[0].shared) == (60, 30)


def test_where_no_other_question_is_left_it_is_said() -> None:
    learned = [one for one in rows() if one["question"] not in NEW]
    result = markscheme.judge(learned, ["examiner(depth=fast)", "exact_match"])
    assert (
        "none is left to judge it by" in scope_notes(result.run.judgments, result.run.records)[-1]
    )
    found = compare(result)
    assert found.rest == ()
    assert "too few others are left" in str(found)


def test_what_is_not_known_is_said() -> None:
    line = lineage_note("j", questions=9, trained=None, figure="accepted", whole="1%", rest=None)
    assert line is not None
    assert "its weights do not say" in line


def test_the_terminal_and_the_report_say_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = tmp_path / "a.jsonl", tmp_path / "run"
    path.write_text("".join(json.dumps(one) + "\n" for one in rows()))
    assert run(["judge", str(path), "-j", "examiner(depth=fast)", "--out", str(out)]) == 0
    told = capsys.readouterr()
    assert "30 of 60 questions trained examiner(depth=fast)" in told.err
    assert run(["report", str(out), "--out", str(tmp_path / "r.html")]) == 0
    page = (tmp_path / "r.html").read_text()
    assert page.count("30 of 60 questions trained examiner(depth=fast)") == 2
    figures = json.loads((out / "summary.json").read_text())["figures"]
    assert figures[-1]["learned_questions"] == 30
    parts = json.loads(agree(str(out)).to_json())["scope"]["examiner(depth=fast)"]
    assert parts["rest"]["questions"] == 30


def test_questions_that_trained_are_counted_among_those_compared() -> None:
    half = [one | {"label": one["label"] if n < 20 else None} for n, one in enumerate(rows())]
    found = compare(markscheme.judge(half, ["examiner(depth=fast)", "exact_match"]))
    assert (found.pairs[0].questions, found.rest[0].questions) == (20, 10)
    assert "10 of 20 questions trained one of these judges" in str(found)
    assert found.data["learned_questions"] == 10
