"""The two label protocols: direct and amended references."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from markscheme.agreement.protocols import amend_references, match_amended
from markscheme.errors import AgreementError, DataError

HUMAN = [71.4, 75.8, 58.8, 64.8, 65.8, 70.1, 66.5, 73.1, 69.4, 67.1, 73.1, 71.4]
BEM = [63.5, 59.5, 52.5, 58.1, 59.5, 62.5, 60.8, 65.8, 63.1, 62.1, 64.5, 63.8]
DAVINCI = [77.1, 67.8, 55.1, 61.5, 63.1, 66.1, 63.1, 70.4, 67.1, 64.8, 68.4, 68.4]


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


def test_all_references_may_leave() -> None:
    amended = amend_references(questions(("q", ["a"])), labels(("q", "a", 0.0)))
    assert amended["references"].to_list() == [[]]
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
    with pytest.raises(DataError, match="lacks 'answer', 'label'"):
        amend_references(table, table)


def test_no_answer_is_wrong_even_where_nothing_is_a_reference(
    exact_match: Callable[[pl.DataFrame], pl.Series],
) -> None:
    answers = questions(("q", [""]), ("q", ["a"])).with_columns(
        pl.Series("answer", [None, "a"], dtype=pl.String)
    )
    assert match_amended(answers, labels(("q", "z", 1.0)), exact_match).to_list() == [False, True]


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
    assert amended["references"].to_list() == [expected]


@pytest.mark.parametrize(
    ("measure", "printed"), [("human", HUMAN), ("bem", BEM), ("davinci", DAVINCI)]
)
def test_amended_references_give_table_1(
    nq301_scores: pl.DataFrame, measure: str, printed: list[float]
) -> None:
    means = nq301_scores.group_by("system", maintain_order=True).agg(
        pl.col(measure).cast(pl.Float64).mean(), pl.len()
    )
    assert means["len"].to_list() == [301] * 12
    ours = [round(round(100 * mean, 2), 1) for mean in means[measure]]
    assert ours == printed
