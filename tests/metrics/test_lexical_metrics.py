"""Exact match, containment and token F1 equal the official formulas, row by row."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import squad_formulas as squad
from markscheme.metrics.lexical import contains, exact_match, token_f1

words = st.sampled_from(
    ["the", "a", "b", "b.", "C", "c", "dog", "Dog's", "é", "É", "中文", "-", "x y"]
)
text = st.one_of(st.lists(words, max_size=20).map(" ".join), st.text(max_size=8))
rows = st.lists(st.tuples(text, st.lists(text, min_size=1, max_size=4)), max_size=12)

METRICS = [(exact_match, squad.exact_match), (contains, squad.contains), (token_f1, squad.token_f1)]


@pytest.mark.parametrize(("column", "scalar"), METRICS)
@given(table=rows)
def test_column_equals_formula(
    column: Callable[[pl.Series, pl.Series], pl.Series],
    scalar: Callable[[str, str], float],
    table: list[tuple[str, list[str]]],
) -> None:
    answers, references = [row[0] for row in table], [row[1] for row in table]
    got = column(*squad.columns(answers, references))
    assert got.dtype == pl.Float64
    assert got.to_list() == pytest.approx(squad.best(scalar, answers, references), abs=1e-12)


@pytest.mark.parametrize("metric", [exact_match, contains, token_f1])
def test_missing_things_are_null_and_order_is_kept(
    metric: Callable[[pl.Series, pl.Series], pl.Series],
) -> None:
    answers = ["x", None, "x", "x", "", "y"]
    references = [["x"], ["x"], [], None, ["y", None], [None]]
    assert metric(*squad.columns(answers, references)).to_list() == [1, None, None, None, 0, None]
    assert metric(*squad.columns([], [])).to_list() == []


def test_known_cases() -> None:
    answers, references = squad.columns(
        ["The Beatles were a band", "started", "anything", "A"],
        [["Beatles"], ["art"], ["The"], ["the"]],
    )
    assert contains(answers, references).to_list() == [1, 1, 1, 1]
    assert contains(answers, references, empty_reference="verbatim").to_list() == [1, 1, 0, 0]
    assert exact_match(answers, references).to_list() == [0, 0, 0, 1]
    assert exact_match(answers, references, empty_reference="verbatim").to_list() == [0, 0, 0, 0]
    assert token_f1(answers, references).to_list() == [0.5, 0, 0, 0]
    same = squad.columns(["The ", "", "*"], [["the"], ["the"], ["*", "star"]])
    assert token_f1(*same).to_list() == [0, 0, 0]
    assert token_f1(*same, empty_reference="verbatim").to_list() == [1, 0, 1]


def test_references_that_normalise_to_nothing_verbatim() -> None:
    answers, references = squad.columns(
        ["blood type A+", "blood type A-positive", "an asterisk (*)", "", "dog"],
        [["A+", "AB+"], ["A+", "AB+"], ["*"], ["the"], ["A+", "dog"]],
    )
    assert contains(answers, references, empty_reference="verbatim").to_list() == [1, 0, 1, 0, 1]
    assert contains(answers, references).to_list() == [1, 1, 1, 1, 1]


def test_repeats_on_both_sides_are_counted_once_each() -> None:
    answers, references = squad.columns(["b b b c", "b c"], [["b b d"], ["b b b b"]])
    assert token_f1(answers, references).to_list() == pytest.approx([4 / 7, 2 / 6])


def test_long_references_equal_the_formula() -> None:
    answers = [f"word{n % 7} é " * (n % 40) for n in range(200)]
    references = [[f"word{n % 5} é other " * (n % 13), f"word{n}"] for n in range(200)]
    got = token_f1(*squad.columns(answers, references)).to_list()
    assert got == pytest.approx(squad.best(squad.token_f1, answers, references), abs=1e-12)
