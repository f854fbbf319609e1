"""References amended by labels, and what exact match makes of answers then."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import markscheme
from markscheme.errors import AgreementError, DataError
from markscheme.tables.answers import read_answers
from markscheme_research.studies import amend, amend_references, match_amended


def labels(*rows: tuple[str, str, float | None]) -> pl.DataFrame:
    return pl.DataFrame(
        rows,
        schema={"question": pl.String, "answer": pl.String, "label": pl.Float64},
        orient="row",
    )


def questions(*rows: tuple[str, list[str]]) -> pl.DataFrame:
    return pl.DataFrame(
        rows, schema={"question": pl.String, "references": pl.List(pl.String)}, orient="row"
    )


def test_accepted_join_and_rejected_leave() -> None:
    amended = amend_references(
        questions(("q", ["a", "b"]), ("r", ["x"])),
        labels(("q", "c", 1.0), ("q", "b", 0.0), ("q", "e", None), ("q", "a", 1.0)),
    )
    assert amended["references"].to_list() == [["a", "c"], ["x"]]
    assert amended["references_added"].to_list() == [1, 0]
    assert amended["references_removed"].to_list() == [1, 0]


def test_a_rejected_answer_takes_its_lower_case_form_only_when_it_is_not_there_itself() -> None:
    both = amend_references(questions(("q", ["Paris", "paris"])), labels(("q", "Paris", 0.0)))
    assert both["references"].to_list() == [["paris"]]
    lower = amend_references(questions(("q", ["paris", "PARIS"])), labels(("q", "Paris", 0.0)))
    assert lower["references"].to_list() == [["PARIS"]]


def test_all_references_may_leave_and_none_are_known_then() -> None:
    # An empty list would say that the question has no answer, and reward those who decline.
    amended = amend_references(questions(("q", ["a"])), labels(("q", "a", 0.0)))
    assert amended["references"].to_list() == [None]
    assert amended["references_removed"].to_list() == [1]


def test_accepted_answers_join_where_there_was_no_reference() -> None:
    table = pl.DataFrame(
        {"question": ["q", "r", "s"], "references": [None, ["a", None, "a"], None]},
        schema={"question": pl.String, "references": pl.List(pl.String)},
    )
    amended = amend_references(table, labels(("q", "c", 1.0), ("r", "a", 1.0), ("r", "x", 0.0)))
    assert amended["references"].to_list() == [["c"], ["a"], []]
    assert amended["references_added"].to_list() == [1, 0, 0]
    assert amended["references_removed"].to_list() == [0, 0, 0]


def test_rows_of_one_question_are_amended_each_on_its_own() -> None:
    amended = amend_references(questions(("q", ["a"]), ("q", ["b"])), labels(("q", "c", 1.0)))
    assert amended["references"].to_list() == [["a", "c"], ["b", "c"]]


def test_contradictions_grades_and_strangers_are_errors() -> None:
    table = questions(("q", ["a"]))
    with pytest.raises(AgreementError, match=r"contradictory labels: 'q', 'c'\."):
        amend_references(table, labels(("q", "c", 1.0), ("q", "c", 0.0)))
    with pytest.raises(AgreementError, match="are grades"):
        amend_references(table, labels(("q", "c", 3.0)))
    with pytest.raises(AgreementError, match="none of the labels"):
        amend_references(table, labels(("other", "c", 1.0)))


def test_no_answer_is_wrong_even_where_nothing_is_a_reference() -> None:
    answers = questions(("q", [""]), ("q", ["a"])).with_columns(
        pl.Series("answer", [None, "a"], dtype=pl.String)
    )
    found = match_amended(answers, labels(("q", "z", 1.0)))
    assert found.to_list() == [False, True]
    rows = [
        {"question": "q", "references": ["the"], "answer": None},
        {"question": "q", "references": ["the"], "answer": "a", "label": 1},
    ]
    assert amend(rows).systems["before"].to_list() == [0.5]


words = st.sampled_from(["a", "A", "b", "B", "c", "ab", "AB"])


@given(
    st.lists(words, max_size=4),
    st.dictionaries(words, st.booleans(), min_size=1, max_size=6),
)
def test_amending_follows_the_rule_word_by_word(
    references: list[str], verdicts: dict[str, bool]
) -> None:
    expected = list(dict.fromkeys([*references, *(w for w, good in verdicts.items() if good)]))
    pool = set(expected)
    for word, good in verdicts.items():
        if not good:
            gone = word if word in pool else word.lower()
            expected = [kept for kept in expected if kept != gone]
    amended = amend_references(
        questions(("q", references)), labels(*(("q", w, float(g)) for w, g in verdicts.items()))
    )
    assert amended["references"].to_list() == [expected or ([] if not references else None)]


def test_labels_of_a_project_amend_patterns_and_leave_them_patterns(
    cli: Callable[..., str], tmp_path: Path
) -> None:
    """`annotate-export --as references` made plain texts of patterns."""
    labelled, answers = tmp_path / "labelled.jsonl", tmp_path / "answers.jsonl"
    rows = [
        {"id": f"a{n}", "question": question, "references": [r"19\d\d"], "system": "s",
         "reference_kind": "regex", "answer": answer, "label": label}
        for n, (question, answer, label) in enumerate(
            (("When?", "in the year '84", 1), ("When?", "1984", 1), ("When?", "in 84", 0),
             ("Until when?", "1990", None))
        )
    ]  # fmt: skip
    pl.DataFrame(rows).write_ndjson(labelled)
    pl.DataFrame(rows).drop("label").write_ndjson(answers)
    project, out, amended = tmp_path / "project", tmp_path / "labels.jsonl", tmp_path / "a.jsonl"
    cli("annotate", labelled, "--project", project, "--annotator", "Ann", "--no-serve")
    said = cli("annotate-export", project, "--as", "references", "-o", out, code=2)
    assert "'markscheme annotate-export --as labels' and 'markscheme research amend' now" in said
    cli("annotate-export", project, "--as", "labels", "-o", out)
    said = cli("research", "amend", answers, "--labels", out, "-o", amended)
    assert "2 added, 0 removed" in said
    table = read_answers(str(amended))
    assert table["reference_kind"].to_list() == ["regex"] * 4
    verdicts = markscheme.judge(amended, "regex").judgments["verdict"]
    assert verdicts.to_list() == [True, True, False, True]


def test_a_blank_answer_that_people_accept_is_no_reference() -> None:
    """Every other blank answer would match it."""
    rows = [
        {"question": "Who rules France?", "references": ["nobody"], "answer": answer, "label": 1,
         "system": system}
        for answer, system in ((" ", "a"), ("There is no king of France.", "b"))
    ]  # fmt: skip
    found = amend(rows)
    assert found.questions["references"].to_list() == [["nobody", "There is no king of France."]]


def test_questions_that_lose_every_reference_are_counted_and_are_not_answerless() -> None:
    row = {"question": "Capital of Peru?", "references": ["Cusco"], "answer": "Cusco", "label": 0}
    amended = amend([row, {**row, "answer": "I do not know."}])
    assert amended.counts["questions_without_references"] == 1
    assert "1 question has no reference left" in str(amended)
    with pytest.raises(DataError, match="no references"):
        markscheme.judge(amended.frame, "exact_match")
