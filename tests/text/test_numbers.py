"""Numbers in words and digits."""

from __future__ import annotations

import pytest

from markscheme.text.numbers import merge_runs, word_value


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("7", 7), ("007", 7), ("1,250", 1250), ("1,250,000", 1250000), ("2.5", 2.5), ("4th", 4),
        ("22nd", 22), ("four", 4), ("Fourth", 4), ("TWELVE", 12), ("ninetieth", 90), ("twice", 2),
        ("million", 1e6), ("dozen", 12), ("II", 2), ("XIV", 14), ("MCMLXXXIV", 1984), ("٤٢", 42),
    ],
)  # fmt: skip
def test_a_word_that_is_a_number(word: str, value: float) -> None:
    assert word_value(word) == value


@pytest.mark.parametrize("word", ["", "cat", "I", "V", "mix", "IIII", "civic", "-", "fortnight"])
def test_a_word_that_is_none(word: str) -> None:
    assert word_value(word) is None


@pytest.mark.parametrize("word", ["9" * 400, "1.2.3", "²", "1,2,3"])
def test_odd_digits_do_no_harm(word: str) -> None:
    value = word_value(word)
    assert value is None or value >= 0


@pytest.mark.parametrize(
    ("text", "runs"),
    [
        ("twenty five", [(0, 2, 25)]),
        ("one hundred and one dalmatians", [(0, 4, 101)]),
        ("two thousand and four", [(0, 4, 2004)]),
        ("1.5 million people", [(0, 2, 1.5e6)]),
        ("three hundred thousand", [(0, 3, 300000)]),
        ("two million three hundred thousand", [(0, 5, 2.3e6)]),
        ("one two", []),
        ("five or six", []),
        ("four and seven years ago", []),
        ("no number here", []),
    ],
)
def test_words_that_form_one_number(text: str, runs: list[tuple[int, int, float]]) -> None:
    assert merge_runs(text.split()) == runs


def test_several_numbers_in_a_text() -> None:
    words = ["between", "twenty", "one", "and", "two", "hundred", "pupils"]
    assert merge_runs(words) == [(1, 2, 21.0), (4, 2, 200.0)]
