"""Formatting of chat answers that nobody would call part of the answer, and what is never cut."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from markscheme.contract import plain_answers
from markscheme.engine import with_plain
from markscheme.text import without_formatting


def plain(answer: str, *references: str, question: str = "Which one?") -> str:
    """The answer as a judge that asks no chat model reads it, however it is asked for."""
    row = pl.DataFrame(
        {"question": [question], "references": [list(references)], "answer": [answer]},
        schema_overrides={"references": pl.List(pl.String)},
    )
    read = plain_answers(with_plain(row))["answer"][0]
    found = without_formatting(
        pl.Series([answer]),
        pl.Series([question]),
        pl.Series([list(references)], dtype=pl.List(pl.String)),
    )
    assert read == (answer if found[0] is None else found[0])
    return read


@pytest.mark.parametrize(
    ("answer", "left"),
    [
        ("France and Spain [3, 4]", "France and Spain"),
        ("88[2][5].", "88."),
        ("Paris[^1^](https://example.org/a_(b)).", "Paris"),
        ("Paris【4:0†handbook.md】.", "Paris."),
        ("Paris.\n\nSources:\n1. https://example.org/Rome\n2. Handbook, p. 4", "Paris."),
        ("**References**\n- [1] Guide", "**References**\n- Guide"),
        ("The **Rhône** 😊", "The Rhône 😊"),
        ("Paris.\nReferences:\n- [1] Guide", "Paris."),
        ("Paris. Would you like to know more about the museums there?", "Paris."),
        ("Paris. I hope this helps! Do you have any other questions?", "Paris."),
        ("Paris. Let me know if you need more.", "Paris."),
        ("The Rhône [2]\n\nSource: https://example.org\n\n", "The Rhône"),
    ],
)
def test_formatting_goes(answer: str, left: str) -> None:
    assert plain(answer, "x") == left


@pytest.mark.parametrize(
    ("answer", "references", "question"),
    [
        ("x lies in [1, 2].", ["1 ≤ x ≤ 2"], "Where does x lie?"),  # The mark is the answer.
        ("It says [1].", ["it"], "Which source is right, [1] or [2]?"),
        ("It prints `a[1]`.", ["the second element"], "What does it print?"),
        ("```\nb = a[1]\n```", ["the second element"], "What does it print?"),
        ("He asked: would you like tea?", ["He asked: would you like tea?"], "What was it?"),
        ("There are two.\nSources:\n- wind\n- water", ["wind, water"], "Name them."),
        ("[3]", ["three"], "How many?"),  # Nothing would be left.
        ("Element [104] is rutherfordium", ["it"], "Which?"),
        ("It fell to 2.5 [kg].", ["it"], "To what?"),
    ],
)
def test_what_question_or_reference_speak_of_stays(
    answer: str, references: list[str], question: str
) -> None:
    assert plain(answer, *references, question=question) == answer


@given(
    st.lists(st.sampled_from([
        "Lima", "88", " [2]", "[3, 4]", ".\n", "Sources:\n- a guide", "Would you like more?",
        " `a[1]` ", "【4:0†x】", " ", "wind",
    ]), max_size=9),
    st.lists(st.sampled_from(["Lima", "88", "[2]", "2 apples", "a guide", "wind"]), max_size=3),
)  # fmt: skip
def test_no_word_of_a_reference_is_lost(parts: list[str], references: list[str]) -> None:
    answer = "".join(parts)
    left = plain(answer, *references)
    for reference in references:
        assert (reference in left) == (reference in answer)
    assert plain(left, *references) == left or left != answer
    assert bool(left.strip()) == bool(answer.strip())


def test_rows_that_do_not_change_are_null() -> None:
    answers = pl.Series(["Lima", None, "Lima [1]", "[x]"])
    found = without_formatting(
        answers, pl.Series(["q"] * 4), pl.Series([["Lima"]] * 4, dtype=pl.List(pl.String))
    )
    assert found.to_list() == [None, None, "Lima", None]


@pytest.mark.parametrize(
    "unit",
    ["[1] ", "Sources: [", "\nSources:\n", "Would you like ", ". would you like a? ", "`[1]"],
)
def test_long_and_hostile_texts_end(unit: str) -> None:
    """Quadratic time would take minutes, and the limit of a test is one."""
    plain(unit * (200_000 // len(unit)), "Lima", "2")
