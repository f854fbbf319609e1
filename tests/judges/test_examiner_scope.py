"""Whether an answer lies in what the examiner learned, as the column `scope` tells."""

from __future__ import annotations

import polars as pl
import pytest

import markscheme
from markscheme.judges.examiner import Examiner, question_hash
from markscheme.judges.examiner.scope import language_of
from markscheme.models import Models

FRENCH = {
    "question": "Qui a écrit le roman « Les Misérables » ?",
    "references": ["C'est Victor Hugo qui l'a écrit."],
    "answer": "Il a été écrit par Victor Hugo.",
}
ENGLISH = {
    "question": "Who built the Zorvex bridge?",
    "references": ["Ada Quist"],
    "answer": "Ada Quist",
}


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Who wrote Les Misérables? Victor Hugo", None),
        ("Who wrote 'Der Zauberberg'? Thomas Mann", None),
        ("Where is the Plaza de la Revolución?", None),
        ("Wer hat den Roman geschrieben, und wann?", "German"),
        ("谁写了《红楼梦》?", "Chinese or Japanese"),
        ("Кто написал «Войну и мир»?", "Cyrillic script"),
        ("من كتب هذه الرواية؟", "Arabic script"),
        ("42", None),
    ],
)
def test_a_language_is_named_where_it_is_plainly_not_english(
    text: str, language: str | None
) -> None:
    assert language_of(text) == language


def test_what_lies_outside_is_told_with_its_reason() -> None:
    long = ENGLISH | {"answer": "Ada Quist built it. " * 100}
    judged = markscheme.judge([FRENCH, ENGLISH, long], "examiner(encoder=never)").judgments
    assert judged["scope"].to_list() == [
        "outside: the texts are in French", "inside", "outside: the answer has 400 words"
    ]  # fmt: skip
    assert set(judged["status"]) == {"judged"}


def test_what_lies_outside_can_be_left_not_judged() -> None:
    judged = markscheme.judge([FRENCH, ENGLISH], "examiner(outside=skip)").judgments
    first, second = judged.to_dicts()
    assert (first["status"], first["verdict"], first["score"]) == ("skipped", None, None)
    assert first["explanation"] == "outside: the texts are in French"
    assert (second["status"], second["verdict"]) == ("judged", True)


def test_questions_that_trained_it_are_told() -> None:
    """A contrast row of `training-data/` that the shipped weights learned from."""
    learned = {
        "question": "Are penguins able to fly?", "references": ["No"], "answer": "No, they swim."
    }  # fmt: skip
    other = learned | {"question": "Are qworls able to fly?"}
    judged = markscheme.judge([learned, other], "examiner(encoder=never)").judgments
    assert judged["scope"].to_list()[1] == "inside"


def test_near_duplicates_of_a_question_are_one() -> None:
    assert question_hash("Who wrote Emma?") == question_hash("who was it that wrote 'Emma'")
    assert question_hash("Who wrote Emma?") != question_hash("Who wrote Persuasion?")
    assert question_hash("Is it so?") != question_hash("Is it not so?")


def test_texts_beyond_the_limit_fail_by_name() -> None:
    rows = [ENGLISH | {"answer": "word " * 5_000_000}, ENGLISH]
    answers = pl.DataFrame(rows).with_columns(reference_kind=pl.lit("text"))
    judged = Examiner(encoder="never").judge(answers, Models())
    assert judged["status"].to_list() == ["failed", "judged"]
    assert str(judged["explanation"][0]).startswith("too long: 25000037 characters")


def test_scope_is_null_where_a_judge_makes_no_statement() -> None:
    judged = markscheme.judge([ENGLISH], "exact_match").judgments
    assert judged.schema["scope"] == pl.String
    assert judged["scope"].to_list() == [None]
