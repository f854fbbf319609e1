"""Modes never contradict what `mark` says of the same texts, and a refusal is a refusal."""

from __future__ import annotations

import pytest

from markscheme import mark
from markscheme.analysis.mode_detection import tag
from markscheme.analysis.rejections import REJECTIONS, rejection

REFUSALS = (
    "The context does not contain an answer", "N/A", "Das weiß ich nicht.", "I don't know.",
    "I'm sorry, but I cannot answer that question.", "Unable to determine from the given context.",
    "There is not enough information to answer.", "Je ne sais pas.", "unknown", "-",
    "The answer is not provided in the text.", "I could not find the answer.", "no answer",
)  # fmt: skip


@pytest.mark.parametrize(
    ("question", "reference"),
    [("How many people live there?", "42"), ("When did it open?", "5 May 1975"),
     ("Who wrote it?", "Jane Austen"), ("How far is it?", "100 km")],
)  # fmt: skip
@pytest.mark.parametrize("answer", REFUSALS)
def test_a_refusal_is_one_whatever_was_asked(question: str, reference: str, answer: str) -> None:
    assert rejection(question, [reference], answer).mode == "no_answer"


@pytest.mark.parametrize(
    ("question", "reference", "answer"),
    [("How many people live there?", "42", "Quite a few of them."),
     ("When did it open?", "5 May 1975", "In spring.")],
)  # fmt: skip
def test_an_answer_without_a_value_does_not_give_another_one(
    question: str, reference: str, answer: str
) -> None:
    found = rejection(question, [reference], answer)
    assert (found.mode, found.evidence[:16]) == ("missing", "the answer gives")


@pytest.mark.parametrize(
    ("question", "reference", "answer", "same"),
    [
        ("How far is it?", "100 km", "97 km", False),
        ("How many are there?", "twenty", "nineteen", False),
        ("How long is it?", "5 km", "6000 m", False),
        ("When was it signed?", "4 July 1776", "5 July 1776", False),
        ("How long is it?", "5 km", "5000 m", True),
        ("How many are there?", "twenty", "20", True),
        ("When was it signed?", "4 July 1776", "July 4, 1776", True),
    ],
)
def test_the_same_in_other_symbols_is_what_the_comparison_finds_the_same(
    question: str, reference: str, answer: str, same: bool
) -> None:
    verdict = mark(question, [reference], answer).verdict
    found = tag(question, [reference], answer)
    assert verdict is same
    assert (found is not None and found.mode == "symbolic_equivalence") is same
    if not same:
        assert rejection(question, [reference], answer).mode in ("number", "date")


@pytest.mark.parametrize(
    ("question", "reference", "answer", "mode"),
    [
        ("What is the CVE id?", "CVE-2021-44228", "CVE-2021-45046", "identifier"),
        ("Which protocol version?", "TLS 1.2", "TLS 1.3", "identifier"),
        ("How many moons?", "12", "14", "number"),
        ("How long is it?", "5 km", "7 km", "number"),
    ],
)
def test_a_rejection_is_of_the_kind_of_value_that_differs(
    question: str, reference: str, answer: str, mode: str
) -> None:
    found = rejection(question, [reference], answer)
    assert found.mode == mode
    assert mode in REJECTIONS


@pytest.mark.parametrize(
    ("reference", "answer"),
    [
        ("the 104th Congress", "Mexico"),
        ("two to three barrel vaults", "piers"),
        ("Yes, by seven metres.", "It is the taller of the two."),
        ("No, a second driver costs 9 euros.", "It doesn't. Adding another one is nine euros."),
    ],
)
def test_what_has_no_value_in_common_is_not_the_same_in_other_symbols(
    reference: str, answer: str
) -> None:
    found = tag("What does it say?", [reference], answer)
    assert found is None or found.mode != "symbolic_equivalence"
