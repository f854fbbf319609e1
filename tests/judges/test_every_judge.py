"""What every registered judge must keep to, whoever wrote it."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from markscheme.contract.grammar import parse_judge
from markscheme.contract.registry import judges
from markscheme.engine.execute import apply
from markscheme.models import Models
from markscheme.tables import OUTCOME, STATUSES, ReadOptions, read_answers
from markscheme.testing import ScriptedChat, check_judge

OFFLINE = [name for name, found in judges().items() if found.needs.nothing]


def table(answers: list[str | None]) -> pl.DataFrame:
    return read_answers(
        [
            {
                "question": "What is the capital of France?",
                "references": ["Paris in France", "Paname"],
                "answer": text,
                "id": str(index),
            }
            for index, text in enumerate(answers)
        ]
    )


@pytest.fixture(params=OFFLINE)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_there_are_judges() -> None:
    wanted = {
        "exact_match", "contains", "token_f1", "regex", "rouge1", "rouge2", "rougeL", "bleu",
        "char_similarity",
    }  # fmt: skip
    assert wanted <= set(OFFLINE)


ASKING = [name for name, found in judges().items() if found.needs.chat and "'" not in found.example]


@pytest.mark.parametrize("judge", sorted({*OFFLINE, *ASKING}))
def test_it_keeps_to_the_contract(judge: str) -> None:
    """Name, signature, rows, order, statuses, an empty table, declared needs: see `check_judge`."""
    check_judge(judges()[judge].example)


@pytest.mark.parametrize("judge", sorted({*OFFLINE, *ASKING}))
def test_an_answer_that_was_not_given_is_wrong_without_a_call(judge: str) -> None:
    """Null or blank, as a crashed pipeline writes it, whatever judge or model would say of it."""
    chat = ScriptedChat(replies=lambda _: "Yes")
    answers = table([None, "", " \n", "\u00a0"]).with_columns(context=pl.lit("Paris."))
    patterns = answers.with_columns(
        references=pl.lit([".*"], dtype=pl.List(pl.String)), reference_kind=pl.lit("regex")
    )
    for rows in (answers, patterns):
        found = apply(parse_judge(judges()[judge].example), rows, Models(chat=chat))
        assert found["verdict"].to_list() == [False] * 4
        assert found["explanation"].unique().to_list() == ["no answer was given"]
    assert not chat.seen


def test_an_answer_that_was_not_given_since_the_call_failed_is_not_judged(tmp_path: Path) -> None:
    """An empty cell of CSV is no answer, and no error either."""
    file = tmp_path / "a.csv"
    file.write_text("question,references,answer,err\nq,r,,timeout\nq,r,, \nq,r,r,\nq,r,r,late\n")
    answers = read_answers(file, ReadOptions(columns={"answer_error": "err"}))
    found = apply(parse_judge("exact_match"), answers)
    assert found["verdict"].to_list() == [None, False, True, True]
    assert found["explanation"][0] == "the call of the system failed: timeout"


def test_the_reference_itself_is_right(name: str) -> None:
    judge = parse_judge(judges()[name].example)
    assert apply(judge, table(["Paris in France"]))["verdict"].to_list() == [True]


def test_something_else_is_wrong(name: str) -> None:
    judge = parse_judge(judges()[name].example)
    assert apply(judge, table(["Quetzalcoatlus northropi"]))["verdict"].to_list() == [False]


def test_a_table_judged_at_once_equals_its_rows_one_by_one(name: str) -> None:
    """Also where questions, lists of references and answers differ, and some are the same."""
    judge = parse_judge(judges()[name].example)
    answers = read_answers(
        [
            {"question": question, "references": references, "answer": answer}
            for question, references in (
                ("What is the capital of France?", ["Paris", "Paris in France"]),
                ("What is the capital of France?", ["Paris\x1eParis in France"]),
                ("How far is it?", ["3 km"]),
                ("Why is the sky blue?", ["Air scatters blue light more than red light."]),
            )
            for answer in (
                "Paris",
                "It is Paris in France.",
                "3,000 m",
                None,
                "Paris",
                "",
                "not red",
            )
        ]
    )
    alone = [apply(judge, row) for row in answers.iter_slices(1)]
    assert pl.concat(alone).equals(apply(judge, answers))


WORDS = st.sampled_from(
    ["Paris", "in", "France", "Paname", "not", "no", "I think", "3", "1,000 km", "12 March 1984",
     "Pa\u0301ris", "or", ",", ".", "(", "\u200d", "\u202e", "巴黎", "باريس", "½", "-", "\n", "the"]
)  # fmt: skip
GENERATED = st.text(
    st.characters(exclude_categories=("Cs",), exclude_characters="\x00"), max_size=40
)
SAID = st.lists(WORDS, max_size=9).map(" ".join) | GENERATED


@settings(
    deadline=None,
    max_examples=6,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
    suppress_health_check=list(HealthCheck),
)
@given(said=st.lists(st.none() | SAID, min_size=4, max_size=9), cut=st.integers(1, 3))
def test_any_text_is_judged_the_same_in_any_order_and_batch(
    name: str, said: list[str | None], cut: int
) -> None:
    judge = parse_judge(judges()[name].example)
    answers = table(said)
    outcomes = apply(judge, answers)
    assert outcomes.columns == list(OUTCOME)
    assert outcomes.height == answers.height
    statuses = outcomes["status"].cast(pl.String)
    assert set(statuses) <= set(STATUSES)
    assert (statuses == "judged").all()
    assert not outcomes["verdict"].filter(answers["answer"].is_null()).any()
    for figure, most in (("score", 1), ("marks", 2)):  # Marks may hold a bonus.
        assert outcomes[figure].drop_nulls().is_between(0, most).all(), figure
    assert apply(judge, answers.reverse()).reverse().equals(outcomes)
    assert pl.concat([apply(judge, answers[:cut]), apply(judge, answers[cut:])]).equals(outcomes)
