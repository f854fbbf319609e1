"""What judges share: rows that are left out, votes, sums of what is known."""

from __future__ import annotations

import polars as pl
import pytest

from markscheme.contract import parse_judge
from markscheme.engine.execute import apply
from markscheme.errors import JudgeError
from markscheme.judges.outcomes import (
    Opinion,
    Vote,
    decided,
    judged_rows,
    known_sum,
    with_nearest_references,
)

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
