"""Small words and word order as features."""

from __future__ import annotations

import numpy as np
import pytest

from markscheme.features.wording import WORDING, wording_features


def feature(name: str, reference: str, answer: str, question: str = "What holds?") -> float:
    row = wording_features([question], [reference], [answer])
    assert row.shape == (1, len(WORDING))
    return float(row[0, list(WORDING).index(name)])


@pytest.mark.parametrize(
    ("name", "reference", "answer", "value"),
    [
        ("negations_differ", "The policy does not cover floods.", "The policy covers floods.", 1),
        ("negations_differ", "SSO isn't included.", "SSO is not included.", 0),
        ("negations_differ", "SSO is included.", "It's not true that SSO is not included.", 0),
        ("condition_lacking", "You may enter unless it rains.", "You may enter.", 1),
        ("condition_new", "You may enter.", "You may enter if it rains.", 1),
        ("quantity_lacking", "All members pay.", "Some members pay.", 1),
        ("quantity_new", "All members pay.", "Some members pay.", 1),
        ("time_lacking", "Pay before May.", "Pay after May.", 1),
        ("comparison_new", "A is heavier, B lower.", "A is heavier, B higher.", 1),
        ("order_inverted", "Germany beat England", "England beat Germany", 1),
        ("order_inverted", "Germany beat England", "Germany beat England 2-1", 0),
        ("first_shared_moved", "Germany beat England", "England beat Germany", 1),
        ("content_jaccard", "red brick", "red brick", 1),
        ("shared_words", "red brick", "blue stone", 0),
        ("verbatim", "A pro-rata refund, less a 10% fee.", "Pro-rata refund less 10% fee", 1),
        ("verbatim", "the “old” mill", "The 'old' mill!", 1),
        ("verbatim", "-5%", "5%", 0),
        ("verbatim", "C++", "C", 0),
        ("verbatim", "A", "a", 1),
        ("verbatim", "1,000", "1000", 0),
        ("verbatim", "...", "?", 0),
    ],
)
def test_columns(name: str, reference: str, answer: str, value: float) -> None:
    assert feature(name, reference, answer) == value


def test_the_sentence_nearest_to_the_reference_is_read() -> None:
    answer = "It rained all day. The policy covers floods. Nothing else is known."
    assert feature("negations_answer", "The policy covers floods.", answer) == 0


def test_rows_are_equal_alone_and_together_and_empty_texts_are_read() -> None:
    rows = [("q", "a b", "b a"), ("", "", ""), ("q", "not a", "a")]
    together = wording_features(*zip(*rows, strict=True))
    for place, (question, reference, answer) in enumerate(rows):
        assert np.array_equal(
            together[place], wording_features([question], [reference], [answer])[0]
        )
    assert np.isfinite(together).all()
