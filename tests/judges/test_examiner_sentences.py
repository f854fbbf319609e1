"""What the examiner says of an answer, in sentences a person understands."""

from __future__ import annotations

import pytest

import markscheme

WHY = [
    ("Does the policy cover flood damage?", "No", "Yes, it covers flood damage.",
     "it affirms what the reference denies"),
    ("Is the bridge open?", "Yes", "No, the bridge is closed.",
     "it denies what the reference affirms"),
    ("Does the policy cover flood damage?", "The policy does not cover flood damage.",
     "The policy covers flood damage.", "it affirms what the reference denies"),
    ("Is SSO included in Basic?", "SSO is included in the Basic plan.",
     "SSO is not included in the Basic plan.", "it denies what the reference affirms"),
    ("Who beat whom?", "Germany beat England", "England beat Germany",
     "the same words in another order, which says something else"),
    ("Which countries border it?", "Brazil, Colombia and Ecuador", "Ecuador, Peru, Bolivia",
     "Peru and Bolivia where the reference has Brazil and Colombia"),
    ("When was the battle?", "14 October 1066", "It was in January 1066.",
     "January 1066 where the reference has 14 October 1066"),
]  # fmt: skip


@pytest.mark.parametrize(("question", "reference", "answer", "why"), WHY)
def test_what_makes_it_wrong_is_said(question: str, reference: str, answer: str, why: str) -> None:
    found = markscheme.mark(question, [reference], answer)
    assert not found.verdict
    assert why in (found.explanation or "")


def test_nothing_is_said_twice() -> None:
    same = markscheme.mark("What is the notice period?", ["30 days"], "30 days")
    assert (same.explanation or "").endswith("the answer is the reference '30 days'")
    month = markscheme.mark("When was the battle?", ["14 October 1066"], "In January 1066.")
    assert "another number or date" not in (month.explanation or "")


def test_an_answer_that_has_the_reference_contains_it() -> None:
    found = markscheme.mark("Who wrote Emma?", ["Jane Austen"], "Jane Austen wrote Emma in 1815.")
    assert "the answer contains the reference 'Jane Austen'" in (found.explanation or "")


@pytest.mark.parametrize(
    ("question", "reference", "answer"),
    [
        ("Can I return a sale item?", "No, sale items are final.", "All sales stay final."),
        ("Can I return it?", "No, sale items are final.", "No, what is on sale can't be returned."),
    ],
)
def test_who_gives_the_reason_alone_neither_affirms_nor_denies(
    question: str, reference: str, answer: str
) -> None:
    found = markscheme.mark(question, [reference], answer)
    assert "what the reference" not in (found.explanation or "")


def test_the_reason_of_a_no_is_an_answer() -> None:
    reference = "No, it is a star."
    assert markscheme.mark("Is the Sun a planet?", [reference], "It's a star.").verdict
    assert not markscheme.mark("Is the Sun a planet?", [reference], "It is not a star.").verdict
    assert not markscheme.mark("Is the Sun a planet?", [reference], "It is a planet.").verdict
