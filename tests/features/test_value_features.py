"""Typed values as features: outcome, confidence, kinds and counts of a comparison."""

from __future__ import annotations

import numpy as np
import pytest

from markscheme.features.values import VALUES, compare_rows, value_features


def feature(name: str, question: str, reference: str | list[str], answer: str) -> float:
    references = [reference] if isinstance(reference, str) else reference
    row = value_features(compare_rows([question], [references], [answer]), [references], [answer])
    assert row.shape == (1, len(VALUES))
    return float(row[0, list(VALUES).index(name)])


@pytest.mark.parametrize(
    ("name", "question", "reference", "answer", "value"),
    [
        ("value_outcome", "How much did it cost?", "$200", "-$200", -1),
        ("value_outcome", "How much did it cost?", "$200", "200 dollars", 1),
        ("value_decided", "When was it?", "2021-03-14", "April 14, 2021", -1),
        ("value_decided", "When was it?", "2021-03-14", "14 March 2021", 1),
        ("value_is_time", "When was it?", "2021-03-14", "14 March 2021", 1),
        ("value_is_number", "What is the share?", "0.165", "16.5%", 1),
        ("value_is_list", "Which two were they?", "Ann and Bob", "Ann", 1),
        ("values_conflicting", "When was it?", "2021-03-14", "April 14, 2021", 1),
        ("value_outcome", "Who wrote Emma?", "Jane Austen", "Charlotte Brontë", 0),
        ("value_compared", "Who wrote Emma?", "Jane Austen", "Charlotte Brontë", 0),
    ],
)
def test_columns(name: str, question: str, reference: str, answer: str, value: float) -> None:
    assert feature(name, question, reference, answer) == value


def test_confidence_has_the_sign_of_the_outcome() -> None:
    cost = "How much did it cost?"
    assert feature("value_confidence", cost, "$200", "-$200") <= -0.5
    assert feature("value_confidence", cost, "$200", "$200") >= 0.5


def test_the_most_favourable_reference_counts() -> None:
    assert feature("value_outcome", "How much?", ["5 kg", "7 kg"], "7 kg") == 1


def test_rows_are_equal_alone_and_together_and_empty_texts_are_read() -> None:
    questions = ["How much?", "How much?", ""]
    references = [["5 kg"], ["7 kg"], []]
    answers = ["5 kg", "5 kg", ""]
    together = value_features(compare_rows(questions, references, answers), references, answers)
    alone = [
        value_features(compare_rows([q], [r], [a]), [r], [a])[0]
        for q, r, a in zip(questions, references, answers, strict=True)
    ]
    assert np.array_equal(together, np.array(alone))
    assert not together[2].any()
    assert value_features([], [], []).shape == (0, len(VALUES))


def test_a_value_alone_is_told_from_one_among_words() -> None:
    asked, reference = "What is it?", "180 g/mole"
    assert feature("value_alone", asked, reference, "180 g/mol") > 0.9
    assert feature("value_alone", asked, reference, "-180 g/mol") < 0
    assert feature("value_alone", asked, reference, "it is about 180 g/mol") == 0
