"""What judges share: rows that are left out, votes, sums of what is known."""

from __future__ import annotations

import polars as pl
import pytest

from markscheme.contract import parse_judge
from markscheme.engine.execute import apply
from markscheme.errors import JudgeError
from markscheme.judges.outcomes import (
    MOST_READ,
    MOST_REFERENCES,
    MOST_TESTED,
    Opinion,
    Vote,
    decided,
    judged_rows,
    known_sum,
    noting_references,
    with_nearest_references,
)
from markscheme.tables import read_answers

YES: Opinion = (True, 0.9, "equivalent", 1.0)
NO: Opinion = (False, 0.2, "incorrect", None)


def test_rows_are_judged_in_parts_and_the_others_say_why_not() -> None:
    answers = pl.DataFrame({"answer": ["a", "b", "cc", "d"]})
    sizes: list[int] = []

    def judge(part: pl.DataFrame) -> pl.DataFrame:
        sizes.append(part.height)
        return part.select(
            status=pl.repeat("judged", part.height), score=pl.repeat(1.0, part.height)
        )

    why_not = pl.when(pl.col("answer") == "b").then(pl.lit("no b"))
    found = judged_rows(answers, why_not, judge, rows_at_once=2)
    assert sizes == [2, 1]
    assert found["status"].to_list() == ["judged", "skipped", "judged", "judged"]
    assert found["explanation"].to_list() == [None, "no b", None, None]
    failed = judged_rows(
        answers, pl.lit("all"), judge, rows_at_once=2, status=pl.lit("failed")
    )  # nothing is left to judge
    assert failed["status"].to_list() == ["failed"] * 4
    assert judged_rows(answers[:0], why_not, judge, rows_at_once=2).height == 0
    assert sizes == [2, 1]


def test_answers_without_a_kind_of_reference_are_plain_text_to_every_judge() -> None:
    rows = pl.DataFrame(
        {"question": ["Why?"] * 3, "references": [["so"]] * 3, "answer": ["so", "so", "no"]}
    )
    for name in ("listwise_examiner(encoder=never)", "examiner(depth=fast)", "regex", "contains"):
        outcomes = apply(parse_judge(name), rows)
        assert outcomes["status"].to_list() == ["judged"] * 3, name


def test_the_nearest_references_keep_their_grades_and_are_of_each() -> None:
    near = [f"it is so {number}" for number in range(6)]
    rows = pl.DataFrame(
        {
            "answer": ["It is so", "It is so", None],
            "references": [["no", *near, "never so"], ["no"], None],
            "reference_grades": [[0, 2, 2, 2, 2, 2, 2, 0], None, None],
        }
    )
    read = with_nearest_references(rows, 4)
    assert read["references"].to_list() == [["no", *near[:2], "never so"], ["no"], []]
    assert read["reference_grades"].to_list() == [[0, 2, 2, 0], None, None]
    plain = with_nearest_references(rows.drop("reference_grades"), 4)
    assert plain["references"].to_list()[0] == near[:4]
    assert with_nearest_references(rows, 8) is rows


def test_a_reference_that_is_the_answer_stays_first() -> None:
    """Then those whose words are all in it, of these the ones with most words."""
    ruled = {"answer": "Is it? so", "references": ["so", "it", "so is it", "no", " Is it? so\n"]}
    for most, kept in ((1, [4]), (2, [2, 4]), (3, [0, 2, 4])):
        read = with_nearest_references(pl.DataFrame([ruled]), most)["references"].to_list()
        assert read == [[ruled["references"][place] for place in kept]]
    signs = pl.DataFrame({"answer": ["?!"], "references": [["??", "!", "?!"]]})
    assert with_nearest_references(signs, 1)["references"].to_list() == [["?!"]]


def test_a_long_answer_is_compared_with_fewer_references() -> None:
    long = "a " * (MOST_READ // 20)
    rows = pl.DataFrame({"answer": [long, long, None], "references": [["b"] * 50, ["b"], None]})
    assert with_nearest_references(rows)["references"].list.len().to_list() == [10, 1, 0]
    one = rows[1:2]
    assert with_nearest_references(one) is one, "a single reference is always read"


def test_long_references_are_fewer() -> None:
    many = ["no " * 30, "it is " * 15, "it was " * 12]
    rows = pl.DataFrame({"answer": ["It is", "It is", None], "references": [many, many[:1], None]})
    for characters, kept in ((84 + 90, [1, 2]), (90, [1]), (10, [1])):
        read = with_nearest_references(rows, characters=characters)["references"].to_list()
        assert read == [[many[place] for place in kept], many[:1], []]
    assert with_nearest_references(rows, characters=1_000) is rows
    one = rows[1:2]
    assert with_nearest_references(one, characters=10) is one


def test_outcomes_say_how_many_references_were_read() -> None:
    rows = pl.DataFrame(
        {"answer": ["a", "b", "c"], "references": [["a", "b", "c"], ["b"], ["a", "b", "c"]]}
    )
    read = with_nearest_references(rows, 2)
    outcomes = pl.DataFrame(
        {"status": ["judged", "judged", "skipped"], "explanation": ["as it is", None, "no"]}
    )
    noted = noting_references(outcomes, rows, read)
    said = "as it is; the nearest 2 of 3 references were read"
    assert noted["explanation"].to_list() == [said, None, "no"]
    assert noted.columns == outcomes.columns
    assert noting_references(outcomes, rows, rows) is outcomes


@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("examiner(depth=fast)", MOST_REFERENCES),
        ("examiner", MOST_REFERENCES),
        ("entailment", MOST_TESTED),
        ("claims", MOST_TESTED),
    ],
)
def test_of_very_many_references_the_nearest_are_compared(name: str, most: int) -> None:
    """Verdict and score are those of an answer with these alone, and the right one is among them;
    with as many as are read nothing is left out and nothing said."""
    judge = parse_judge(name)
    others = [f"{number} Zorvex" for number in range(most - 1)]
    row = {"question": "Who built it?", "answer": "It was built by Ada Quist."}
    few, many = ([*others[:count], "Ada Quist", *others[count:]] for count in (20, most // 2))
    crowd = read_answers([{**row, "references": one} for one in ([*few, *others], many)])
    found = apply(judge, crowd)
    alone = apply(judge, with_nearest_references(crowd, most))
    for column in ("status", "score", "verdict", "relation"):
        assert found[column].to_list() == alone[column].to_list(), column
    assert found["verdict"].to_list() == [True, True]
    note = f"the nearest {most} of {2 * most - 1} references were read"
    assert found["explanation"][0] == f"{alone['explanation'][0]}; {note}"
    assert found["explanation"][1] == alone["explanation"][1]


@pytest.mark.parametrize("name", ["examiner", "embedding_cosine", "listwise_examiner", "rouge1"])
def test_a_threshold_is_a_share(name: str) -> None:
    with pytest.raises(JudgeError, match=r"threshold=2\.0 must lie between 0 and 1"):
        parse_judge(f"{name}(threshold=2)")


@pytest.mark.parametrize(
    ("opinions", "vote", "verdict"),
    [
        ([YES, YES, NO], "majority", True),
        ([YES, NO, NO], "majority", False),
        ([YES, NO], "majority", True),  # a tie, and the mean score is above a half
        ([YES, NO, NO], "mean", False),
        ([YES, YES, NO], "mean", True),
    ],
)
def test_several_decide_together(opinions: list[Opinion], vote: Vote, verdict: bool) -> None:
    found = decided(opinions, vote=vote, accept_from=0.5)
    assert (found["status"], found["verdict"]) == ("judged", verdict)
    assert found["score"] == pytest.approx(sum(one[1] for one in opinions) / len(opinions))
    assert found["relation"] == ("equivalent" if verdict else "incorrect")
    assert found["marks"] == 1.0  # of those that give some


def test_a_tie_that_the_scores_do_not_decide_is_no_verdict() -> None:
    opposite: Opinion = (False, 0.1, "incorrect", 0.0)
    assert decided([YES, opposite], vote="majority", accept_from=0.5) == {"status": "unparsed"}
    found = decided([YES, opposite], vote="mean", accept_from=0.5)
    assert found["verdict"] is True


def test_no_relation_is_that_of_those_who_disagree() -> None:
    found = decided([NO, NO], vote="mean", accept_from=0.1)
    assert (found["verdict"], found["relation"]) == (True, None)
    assert decided([NO], vote="mean", accept_from=0.5, score=0.8)["score"] == 0.8


def test_an_unknown_figure_is_no_zero() -> None:
    table = pl.DataFrame({"a": [1.0, None, None], "b": [2.0, 3.0, None]})
    assert table.select(known_sum("a", "b")).to_series().to_list() == [3.0, 3.0, None]
