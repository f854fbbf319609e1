"""Likeness of parts: the library's own figure, at a cost that long texts cannot run away with."""

from __future__ import annotations

import pytest
from rapidfuzz import fuzz

from markscheme.features.alignment.batch import LONGEST_PART, partial_ratios

SHORT = [("jane austen", "miss austen in 1815"), ("", "abc"), ("abc", ""), ("a b", "b a")]


@pytest.mark.parametrize(("one", "other"), SHORT)
def test_short_texts_get_the_librarys_figure(one: str, other: str) -> None:
    assert partial_ratios([one], [other])[0] == pytest.approx(fuzz.partial_ratio(one, other) / 100)


def test_of_two_long_texts_the_beginning_of_the_shorter_is_looked_for() -> None:
    part = "the river runs through the old city " * 20
    longer = "unrelated words come first, then " + part
    assert partial_ratios([part + "and this end is in no other text" * 9], [longer])[0] > 0.95
    assert len(part) > LONGEST_PART
    assert list(partial_ratios([part], [longer])) == list(partial_ratios([longer], [part]))
