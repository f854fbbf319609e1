"""A text's sentences."""

from __future__ import annotations

import doctest
import sys

import pytest

from markscheme.text.answer_pieces import reads_as_sentence, sentences

WHOLE = [
    "Dr. J. R. Smith Jr. of St. Mary's, e.g., earned approx. $3.5 million.",
    "The U.S. Navy paid $2. 2 billion for it.",
    "It weighs 4.54 kg (approx. 10 lb.) when dry.",
    "Mr. A. Smith (b. 1970) lives in Rome.",
    "He asked “Are you sure? ” and left.",
]


@pytest.mark.parametrize("text", WHOLE)
def test_abbreviations_initials_and_decimals_end_no_sentence(text: str) -> None:
    assert sentences(text) == [text]


def test_years_and_abbreviations_may_end_a_sentence() -> None:
    assert sentences("It fell in 1970. 12 people saw it.") == [
        "It fell in 1970.", "12 people saw it."
    ]  # fmt: skip
    assert sentences("He left the U.S. It was late.") == ["He left the U.S.", "It was late."]


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        ("It is in Rome", True), ("He didn't come", True), ("Ann wrote the whole book.", True),
        ("The Kanawha River.", False), ("the year it was built", True), ("Rome", False),
        ("War Is Over Now", False), ("", False), ("Gone with the Wind", False),
    ],
)  # fmt: skip
def test_sentences_are_told_from_names_and_phrases(answer: str, sentence: bool) -> None:
    assert reads_as_sentence(answer) is sentence


def test_the_examples_of_the_docstrings_hold() -> None:
    assert doctest.testmod(sys.modules[sentences.__module__]).failed == 0
