"""Months and decades."""

from __future__ import annotations

import pytest

from markscheme.text.numbers import MONTHS, decade_of, month_of


@pytest.mark.parametrize(
    ("word", "month"),
    [("January", 1), ("jan", None), ("Jan", 1), ("Sept", 9), ("december", 12), ("DEC", 12)],
)
def test_month_names(word: str, month: int | None) -> None:
    assert month_of(word) == month


@pytest.mark.parametrize("word", ["may", "march", "mar", "sep"])
def test_words_that_are_months_only_with_a_capital(word: str) -> None:
    assert month_of(word) is None
    assert month_of(word.capitalize()) == MONTHS[word]


def test_every_month_is_there() -> None:
    assert set(MONTHS.values()) == set(range(1, 13))


@pytest.mark.parametrize(
    ("word", "decade"),
    [("1970s", 1970), ("1970's", 1970), ("90s", 1990), ("1975s", None), ("1970", None),
     ("10s", None), ("s", None), ("cats", None)],
)  # fmt: skip
def test_decades(word: str, decade: int | None) -> None:
    assert decade_of(word) == decade
