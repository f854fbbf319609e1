"""Which questions a judge learned from, and how its judgments say so."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from markscheme.contract import (
    LINEAGE,
    UNKNOWN_LINEAGE,
    Lineage,
    ModelSource,
    Needs,
    register,
    run_judge,
)
from markscheme.errors import ModelError
from markscheme.models import Models

QUESTIONS = (
    "Who wrote Emma?",
    "Who won the men's world cup of football in 2018?",
    "Where does the sun rise first in the United States mainland?",
)


@pytest.mark.parametrize(
    ("question", "learned"),
    [
        ("who was it that wrote 'Emma'", True),
        ("Who writes EMMA", True),
        ("Who wrote Persuasion?", False),
        ("who won the world cup of football in 2018?", True),
        ("Who won the men's football world cup final in 2018", True),
        ("Who won the men's world cup of football in 2014?", False),
        ("Who won the women's world cup of football in 2018?", False),
        ("Where does the sun rise in the United States?", False),
        ("", False),
        (None, False),
    ],
)
def test_a_question_is_known_by_its_words(question: str | None, learned: bool) -> None:
    assert Lineage.of(QUESTIONS).has([question]).tolist() == [learned]


def test_what_a_denial_asks_is_another_question() -> None:
    lineage = Lineage.of(["Is it so?"])
    assert lineage.has(["Is it so?", "Is it not so?"]).tolist() == [True, False]


def test_hashes_do_not_hold_the_questions(tmp_path: Path) -> None:
    Lineage.of(QUESTIONS).save(tmp_path)
    content = (tmp_path / LINEAGE).read_bytes()
    assert b"emma" not in content.lower()
    assert Lineage.load(tmp_path).has(list(QUESTIONS)).all()


def test_weights_without_hashes_have_an_unknown_lineage(tmp_path: Path) -> None:
    assert not Lineage.load(tmp_path).known
    assert not (Lineage.of(QUESTIONS) | UNKNOWN_LINEAGE).known


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    (tmp_path / LINEAGE).write_bytes(b"no array")
    with pytest.raises(ModelError, match=r"lineage\.npy is damaged"):
        Lineage.load(tmp_path)
    np.save(tmp_path / LINEAGE, np.zeros(3))
    with pytest.raises(ModelError, match="holds no hashes of questions"):
        Lineage.load(tmp_path)


@register("taught_test_judge", needs=Needs(chat=False, weights="required"))
@dataclass(frozen=True, kw_only=True)
class Taught:
    """Accepts everything; learned from `QUESTIONS`, or says nothing of what it learned from.

    Attributes:
        told: whether its lineage is known.
    """

    told: bool = True

    def judge(self, answers: pl.DataFrame, models: ModelSource) -> pl.DataFrame:
        """Accept, but skip blank answers."""
        blank = pl.col("answer") == ""
        return answers.select(
            verdict=pl.when(~blank).then(pl.lit(value=True)),
            status=pl.when(blank).then(pl.lit("skipped")).otherwise(pl.lit("judged")),
        )

    def lineage(self) -> Lineage:
        """That of `QUESTIONS`."""
        return Lineage.of(QUESTIONS) if self.told else UNKNOWN_LINEAGE


def table(*questions: str, answer: str = "a") -> pl.DataFrame:
    """Answers to questions."""
    return pl.DataFrame(
        {
            "question": list(questions),
            "references": [["r"]] * len(questions),
            "answer": [answer] * len(questions),
        }
    )


def test_judgments_of_a_judge_that_learned_say_whether_their_question_trained_it() -> None:
    found = run_judge(Taught(), table("Who wrote Emma?", "Who wrote Walden?"), Models())
    assert found["scope"].to_list() == ["learned from", "new"]


def test_what_is_not_judged_has_no_scope() -> None:
    found = run_judge(Taught(), table("Who wrote Emma?", answer=""), Models())
    assert found["scope"].to_list() == [None]


def test_judgments_of_weights_that_do_not_say_are_unknown() -> None:
    found = run_judge(Taught(told=False), table("Who wrote Emma?"), Models())
    assert found["scope"].to_list() == ["unknown"]


def test_a_judge_of_judges_hands_on_what_trained_them() -> None:
    from markscheme.contract import parse_judge

    answers = table("Who wrote Emma?", "Who wrote Walden?")
    panel = parse_judge("panel(judges=[taught_test_judge, exact_match])")
    assert run_judge(panel, answers, Models())["scope"].to_list() == ["learned from", "new"]
    cascade = parse_judge("cascade(first=exact_match, then=taught_test_judge, reject=-1)")
    assert run_judge(cascade, answers, Models())["scope"].to_list() == ["learned from", "new"]
