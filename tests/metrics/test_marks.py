"""Gaps, credit and marks: Yao & Barbosa 2024, section 4 and appendix D."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from markscheme.errors import UnknownNameError
from markscheme.metrics.partial_marks import (
    BONUS,
    HALVES,
    PARTIAL,
    credit,
    expected_marks,
    gap,
    marks,
)

COUNTS = pl.DataFrame(
    {
        "steps": [3, 1, None],
        "info": [1, 2, None],
        "assumptions": [0, 4, None],
        "difficulty": [2, None, 5],
    }
)
RELATIONS = ("superior", "equivalent", "inferior", "incorrect")
SHARES = st.floats(0, 1)


@pytest.mark.parametrize(
    ("scheme", "wanted"),
    [
        ("CIA", [33.0, 36.0, None]),
        ("C", [30.0, 10.0, None]),
        ("IA", [3.0, 26.0, None]),
        ("difficulty", [2.0, None, 5.0]),
    ],
)
def test_weights_are_the_papers(scheme: str, wanted: list[float | None]) -> None:
    assert gap(COUNTS, scheme).to_list() == wanted


def test_unknown_schemes_are_named() -> None:
    with pytest.raises(UnknownNameError, match="'CIA'"):
        gap(COUNTS, "CAI")
    with pytest.raises(UnknownNameError, match="scheme of marks"):
        credit(pl.Series([1.0]), "steps")


@pytest.mark.parametrize("scheme", HALVES)
def test_credit_halves(scheme: str) -> None:
    half = HALVES[scheme]
    assert credit(pl.Series([0.0, half, 2 * half, None]), scheme).to_list() == [1, 0.5, 0.25, None]


@given(gaps=st.lists(st.floats(0, 500), min_size=2, max_size=20), scheme=st.sampled_from(["CIA"]))
def test_a_larger_gap_never_has_more_credit(gaps: list[float], scheme: str) -> None:
    found = credit(pl.Series(sorted(gaps)), scheme).to_list()
    assert found == sorted(found, reverse=True)
    assert all(0 <= one <= 1 for one in found)


def test_marks_by_relation() -> None:
    relations = pl.Series([*RELATIONS, "inferior", None])
    credits = pl.Series([0.5, None, 0.5, None, None, 0.5])
    assert marks(relations, credits).to_list() == [1 + BONUS / 2, 1, 0.5, 0, None, None]


def test_sure_tests_give_the_marks_of_their_relation() -> None:
    entails, entailed = pl.Series([1.0, 1.0, 0.0, 0.0]), pl.Series([0.0, 1.0, 1.0, 0.0])
    assert expected_marks(entails, entailed).to_list() == [1 + BONUS, 1, PARTIAL, 0]


@given(s=SHARES, i=SHARES, more=SHARES)
def test_expected_marks_are_bounded_and_rise_with_what_the_answer_entails(
    s: float, i: float, more: float
) -> None:
    higher = s + (1 - s) * more
    low, high = expected_marks(pl.Series([s, higher]), pl.Series([i, i])).to_list()
    assert 0 <= low <= high + 1e-12
    assert high <= 1 + BONUS + 1e-12


def test_unknown_chances_have_no_marks() -> None:
    assert expected_marks(pl.Series([None, 1.0]), pl.Series([1.0, 1.0])).to_list() == [None, 1.0]
