"""Pointwise, pairwise and listwise judges against a scripted model, and their parsers."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from markscheme.contract.grammar import judge_name, parse_judge, signature
from markscheme.engine.execute import apply
from markscheme.errors import JudgeError
from markscheme.judges.listwise.listwise import Listwise
from markscheme.judges.listwise.replies import read_rank, read_ten
from markscheme.judges.prompted import PAIR
from markscheme.models.chat.scripted import ScriptedChat
from markscheme.models.sources import Models
from markscheme.tables.answers import read_answers


def answers(references: list[str], grades: list[int] | None = None) -> pl.DataFrame:
    row = {
        "question": "Why is the sky blue?",
        "references": references,
        "answer": "Light scatters.",
    }
    return read_answers([row if grades is None else {**row, "reference_grades": grades}])


FOUR = answers(["bad", "best", "fair", "good"], [0, 3, 1, 2])


@pytest.mark.parametrize(
    ("reply", "rank"),
    [
        ("[[2]]", 2), ("[2]", 2), ("[[ 2 ]].", 2), ("Rank: 2", 2), ("rank 2 out of 5", 2),
        ("The answer ranks 2nd.", 2), ("2", 2), ("**2**", 2), ('{"rank": 2}', 2),
        ("I would place it second.", 2), ("[[#2]]", 2), ("[[2nd]]", 2), ("Its rank is **2**.", 2),
        ("Compared with 4 references, it should be ranked at position 2.", 2),
        ("<think>maybe [[4]]</think>[[2]]", 2), ("[[2]] because Reference 1 is better.", 2),
        ("[[1]]", 1), ("[[5]]", 5),
    ],
)  # fmt: skip
def test_a_rank_is_read(reply: str, rank: int) -> None:
    found = read_rank(reply, references=4)
    assert (found.status, found.score) == ("judged", pytest.approx((5 - rank) / 4))


@pytest.mark.parametrize(
    "reply", ["[[0]]", "[[6]]", "[[-1]]", "rank 17", "", "It is fine.", "[[2]] or [[3]]", "2 or 3"]
)
def test_no_rank_is_guessed(reply: str) -> None:
    found = read_rank(reply, references=4)
    assert (found.status, found.score) == ("unparsed", None)


@pytest.mark.parametrize(
    ("reply", "score"),
    [("[[A]]", 1), ("[[B]]", 0), ("[[tie]]", 0.5), ("B", 0), ("Answer A is better.", 1),
     ('{"winner": "B"}', 0), ("They are equally good.", 0.5), ("[[C]]", 0.5)],
)  # fmt: skip
def test_a_choice_is_read(reply: str, score: float) -> None:
    assert PAIR(reply).score == score


def test_contradicting_choices_and_marks_off_the_scale_are_unparsed() -> None:
    assert PAIR("[[A]] or [[B]]").status == "unparsed"
    assert read_ten("[[11]]").status == "unparsed"
    assert read_ten("[[10]]").score == 1.0


def test_listwise_asks_once_and_shows_the_list_best_first() -> None:
    chat = ScriptedChat(replies=lambda _: "[[2]]")
    found = apply(parse_judge("listwise"), FOUR, Models(chat=chat))
    assert found["score"].to_list() == [0.75]
    assert found["verdict"].to_list() == [True]
    assert len(chat.seen) == 1
    text = chat.seen[0].last_user
    assert text.index("best\n") < text.index("good\n") < text.index("fair\n") < text.index("bad\n")


def test_pairwise_asks_once_for_each_reference_and_weighs_by_grade() -> None:
    chat = ScriptedChat(replies=lambda text: "[[A]]" if "best" in text else "[[B]]")
    judge = parse_judge("pairwise(positions=answer_first)")
    found = apply(judge, FOUR, Models(chat=chat))
    assert len(chat.seen) == 4
    assert found["score"].to_list() == [pytest.approx(4 / (4 + 3 + 2 + 1))]


def test_pairwise_in_both_orders_turns_a_position_bias_into_ties() -> None:
    chat = ScriptedChat(replies=lambda _: "[[A]]")
    found = apply(parse_judge("pairwise(positions=both)"), FOUR, Models(chat=chat))
    assert len(chat.seen) == 8
    assert found["score"].to_list() == [0.5]


def test_positions_are_random_and_repeatable() -> None:
    many = answers([f"reference {number}" for number in range(40)])
    prompts = []
    for _ in range(2):
        chat = ScriptedChat(replies=lambda _: "[[A]]")
        score = apply(parse_judge("pairwise"), many, Models(chat=chat))["score"][0]
        prompts.append([request.last_user for request in chat.seen])
        assert 0.25 < score < 0.75
    assert prompts[0] == prompts[1]


def test_an_unread_comparison_leaves_the_row_unjudged() -> None:
    chat = ScriptedChat(replies=lambda text: "no idea" if "fair" in text else "[[A]]")
    found = apply(parse_judge("pairwise(repair=false)"), FOUR, Models(chat=chat))
    assert found["status"].to_list() == ["unparsed"]
    assert found["score"].to_list() == [None]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [("examples='a.jsonl', shown=-1", "shown=-1 must be at least 0"),
     ("shown=3", "shown=3 without examples")],
)  # fmt: skip
def test_a_wrong_number_of_shown_examples_is_refused(parameters: str, message: str) -> None:
    """-1 left out the last example, and a number of none had no effect."""
    with pytest.raises(JudgeError, match=message):
        parse_judge(f"listwise({parameters})")


def test_one_reference_makes_listwise_pairwise() -> None:
    single = answers(["Because of scattering."])
    said = []
    for name in ("listwise", "pairwise"):
        chat = ScriptedChat(replies=lambda _: "[[A]]")
        said.append(apply(parse_judge(name), single, Models(chat=chat)))
        assert "Which of two answers" in chat.seen[0].last_user
    same = ["status", "score", "verdict", "raw"]
    assert said[0].select(same).equals(said[1].select(same))


@pytest.mark.parametrize("parameters", ["", "(positions=both)"])
def test_one_reference_is_judged_as_by_pairwise_with_repairs_and_both_orders(
    parameters: str,
) -> None:
    """Next to a row with a list, whose rank is read as ever."""
    single = answers(["Because of scattering."])
    both = pl.concat([single, FOUR, single.with_columns(answer=pl.lit("It scatters."))])

    def script(text: str) -> str:
        if "a rank in your reply" in text:
            return "[[1]]"
        if text.startswith("I could not") or "It scatters." in text:
            return "[[A]]"
        return "[[2]]" if "best\n" in text else "Both have merits."

    columns = ["status", "score", "verdict", "explanation", "raw"]
    found, wanted = (
        apply(parse_judge(name + parameters), both, Models(chat=ScriptedChat(replies=script)))
        for name in ("listwise", "pairwise")
    )
    assert found[1, "score"] == 0.75
    for row in (0, 2):
        assert found[row, "status"] == "judged"
        assert found.select(columns).row(row) == wanted.select(columns).row(row)


def test_one_reference_is_sampled_as_a_list_is() -> None:
    single = answers(["Because of scattering."])
    judge = parse_judge("listwise(samples=4, temperature=0.7, vote=mean)")
    replies = iter(("[[2]]",) * 4 + ("[[A]]", "[[B]]", "[[C]]", "[[C]]"))
    for rows, score in ((FOUR, 0.75), (single, 0.5)):
        chat = ScriptedChat(replies=lambda _: next(replies))
        found = apply(judge, rows, Models(chat=chat))
        assert (len(chat.seen), found[0, "score"]) == (4, score)


def test_a_rank_out_of_range_is_asked_again_then_unparsed() -> None:
    chat = ScriptedChat(replies=lambda _: "[[9]]")
    found = apply(parse_judge("listwise"), FOUR, Models(chat=chat))
    assert found["status"].to_list() == ["unparsed"]
    assert len(chat.seen) == 2


def test_pointwise_with_and_without_references() -> None:
    for name, seen in (("pointwise", True), ("pointwise(references=hidden)", False)):
        chat = ScriptedChat(replies=lambda _: "[[10]]")
        assert apply(parse_judge(name), FOUR, Models(chat=chat))["score"].to_list() == [1.0]
        assert ("best" in chat.seen[0].last_user) is seen


def test_few_shot_shows_the_examples_and_refuses_leaks(tmp_path: Path) -> None:
    path = tmp_path / "shots.jsonl"
    shot = {"question": "Why do cats purr?", "references": ["x", "y"], "answer": "z", "rank": 2}
    path.write_text(json.dumps(shot) + "\n")
    judge = Listwise(examples=str(path))
    chat = ScriptedChat(replies=lambda _: "[[1]]")
    assert apply(judge, FOUR, Models(chat=chat))["score"].to_list() == [1.0]
    assert "Why do cats purr?" in chat.seen[0].last_user
    assert parse_judge(judge_name(judge)) == judge
    assert "shots=" in signature(judge)
    path = tmp_path / "leak.jsonl"
    path.write_text(json.dumps({**shot, "question": "Why is the sky blue?"}) + "\n")
    with pytest.raises(JudgeError, match="given away"):
        apply(Listwise(examples=str(path)), FOUR, Models(chat=chat))
    path = tmp_path / "rank.jsonl"
    path.write_text(json.dumps({**shot, "rank": 4}) + "\n")
    with pytest.raises(JudgeError, match=r"the rank 4 is not from 1 to 3.*references shots"):
        apply(Listwise(examples=str(path)), FOUR, Models(chat=chat))


@pytest.mark.parametrize("judge", ["listwise", "listwise(order=worst_first)", "pointwise"])
def test_no_order_is_stated_of_references_without_different_grades(judge: str) -> None:
    for equal in (answers(["x", "y"]), answers(["x", "y"], [2, 2])):
        chat = ScriptedChat(replies=lambda _: "[[2]]")
        apply(parse_judge(judge), equal, Models(chat=chat))
        assert "worst" not in chat.seen[0].last_user.split("<answer")[0]


def test_the_order_of_the_list_can_be_turned() -> None:
    for order, said in (("worst_first", "from worst to best"), ("shuffled", "no particular order")):
        chat = ScriptedChat(replies=lambda _: "[[2]]")
        apply(parse_judge(f"listwise(order={order})"), FOUR, Models(chat=chat))
        assert said in chat.seen[0].last_user
