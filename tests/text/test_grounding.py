"""Statements are held to their input: good ones pass, what is about something else does not."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import grounding_figures
from markscheme.judges.entailment.grounding import ungrounded


def test_fewer_than_one_good_statement_in_two_hundred_is_refused() -> None:
    rows = grounding_figures.rows("good")
    refused = [row for row in rows if grounding_figures.refused(row)]
    assert len(rows) > 600
    assert len({(row["question"], row["answer"], row["statement"]) for row in rows}) == len(rows)
    assert len(refused) < 0.005 * len(rows), refused


def test_what_is_no_statement_of_its_answer_is_refused() -> None:
    rows = grounding_figures.rows("bad")
    passed = [row for row in rows if not grounding_figures.refused(row)]
    assert len(rows) > 150
    assert len(passed) <= 0.01 * len(rows), passed


def test_statements_of_other_rows_are_refused() -> None:
    rows = [row for row in grounding_figures.rows("good") if row["kind"] == "short"]
    others = [*rows[7:], *rows[:7]]
    passed = [
        (row["question"], other["statement"])
        for row, other in zip(rows, others, strict=True)
        if not grounding_figures.refused({**row, "statement": other["statement"]})
    ]
    assert passed == []


FORMS = [
    ("FDA", "The Food and Drug Administration does.", None),
    ("the Food and Drug Administration", "The FDA does.", None),
    ("FDA", "The Federal Reserve does.", "nothing of its input"),
    ("2.5 million", "Two and a half million do.", None),
    ("2.5 million", "Three million do.", "another value"),
    ("5,000 m", "It is 5 km.", None),
    ("Apollo 11", "Apollo 13 does.", "another value"),
    ("12 May 1990", "That of 12 May 1995 does.", "another value"),
    ("W", "The west does.", None),
    ("W", "The north does.", "nothing of its input"),
    ("Ann", "", "no words"),
    ("A", "It is A.", None),
    ("no", "No.", "nothing of its input"),
    ("Jane Austen", "Based on 2 references", "nothing of its input"),
    ("3", "Error 3", "no more than a number"),
]


@pytest.mark.parametrize(("answer", "text", "why"), FORMS)
def test_another_form_of_the_answer_is_the_answer(answer: str, text: str, why: str | None) -> None:
    found = ungrounded(text, of=answer, about="which approves it")
    assert (found is None) if why is None else (found is not None and why in found)


@given(st.text(max_size=80), st.text(max_size=80), st.text(max_size=80))
def test_any_three_texts_have_an_outcome(text: str, of: str, about: str) -> None:
    assert ungrounded(text, of=of, about=about) != ""


@pytest.mark.parametrize(
    "text", ["9" * 4000, "1e308 " * 300, "9" * 300 + "/3", "0." + "0" * 320 + "1"]
)
def test_numbers_of_any_size_are_compared(text: str) -> None:
    for other in ("0.0001", "9" * 300, "two and a half million", text):
        ungrounded(text, of=other, about="how many")
        ungrounded(other, of=text, about="how many")


def test_the_page_has_these_figures() -> None:
    page = (Path(__file__).parents[2] / "docs" / "entailment.md").read_text(encoding="utf-8")
    for name in ("good", "bad"):
        assert grounding_figures.figures(name) in page
