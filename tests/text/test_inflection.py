"""The light stemmer."""

from __future__ import annotations

import pytest

from markscheme.text.inflection import stem


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("city", "cities"), ("box", "boxes"), ("church", "churches"), ("cat", "cats"),
        ("walk", "walked"), ("walk", "walking"), ("run", "running"), ("wife", "wives"),
        ("child", "children"), ("win", "won"), ("colour", "color"),
        ("kilometre", "kilometers"), ("phenomenon", "phenomena"), ("wrote", "written"),
    ],
)  # fmt: skip
def test_forms_of_one_word_meet(one: str, other: str) -> None:
    assert stem(one) == stem(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("bus", "busy"), ("glass", "gas"), ("king", "kin"), ("red", "reed"), ("man", "mane")],
)
def test_different_words_stay_apart(one: str, other: str) -> None:
    assert stem(one) != stem(other)


@pytest.mark.parametrize("word", ["", "a", "us", "is", "gas", "x1", "d'or", "österreich"])
def test_short_and_odd_words_do_no_harm(word: str) -> None:
    assert isinstance(stem(word), str)
    assert bool(stem(word)) == bool(word)
