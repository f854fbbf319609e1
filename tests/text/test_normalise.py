"""The column version of the normalisation equals the scalar, and the scalar equals SQuAD's."""

from __future__ import annotations

import re
import string
import sys

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from markscheme.text.normalisation import (
    AGREED_RANGES,
    normalise,
    normalise_series,
    split_expr,
)

ALL = [chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code <= 0xDFFF]

nasty = st.lists(
    st.one_of(
        st.sampled_from(
            ["a", "A", "an", "AN", "the", "The", "tHE", "than", "o'the", "_the_", "a_b"]
        ),
        st.sampled_from(
            [" ", "  ", "\t\n", "\x1c", "\x1d", "\x1e", "\x1f", "\x85", "\xa0", "\u2003"]
        ),
        st.sampled_from(
            ["\u200b", "\ufeff", "\u180e", "\u3000", "\u2028", "\x00", "\x7f", "\u0301"]
        ),
        st.sampled_from(["İ", "ı", "Σ", "ΑΣ", "ΑΣ.", "ß", "ẞ", "K", "Å", "Ǆ", "ﬁ", "ſ", "é", "É"]),
        st.sampled_from(
            [
                "’",
                "“the”",
                "–",
                "…",
                "中文",
                "한글",
                "の",
                "ไทย",
                "عرب",
                "😀",
                "👩‍🔬",
                "²",
                "①",
                "ª",
            ]
        ),
        st.sampled_from(list(string.punctuation)),
        st.characters(exclude_categories=["Cs"]),
    ),
    max_size=12,
).map("".join)


def as_squad_describes_it(text: str) -> str:
    """The four published steps, one after the other."""
    lowered = text.lower()
    without_marks = "".join(c for c in lowered if c not in set(string.punctuation))
    without_articles = re.sub(r"\b(a|an|the)\b", " ", without_marks)
    return " ".join(without_articles.split())


@given(st.lists(nasty, max_size=30))
def test_column_equals_scalar(texts: list[str]) -> None:
    column = pl.Series("x", texts, dtype=pl.String)
    expected = [normalise(text) for text in texts]
    assert normalise_series(column).to_list() == expected
    tokens = normalise_series(column).to_frame().select(split_expr(pl.col("x")))["x"].to_list()
    assert tokens == [text.split() for text in expected]


@given(nasty)
def test_scalar_follows_the_published_steps(text: str) -> None:
    assert normalise(text) == as_squad_describes_it(text)


@pytest.mark.proof(area="attacks")
@pytest.mark.parametrize("shape", ["B{} a", "x {0}An the{0}"])
def test_every_code_point_in_every_place(shape: str) -> None:
    texts = [shape.format(character) for character in ALL]
    got = normalise_series(pl.Series(texts))
    expected = pl.Series([normalise(text) for text in texts])
    assert got.equals(expected), [
        (t, g, e) for t, g, e in zip(texts, got, expected, strict=True) if g != e
    ][:5]


def test_agreed_ranges_are_ordered_and_leave_out_the_quarrels() -> None:
    edges = [edge for bounds in AGREED_RANGES for edge in bounds]
    assert edges == sorted(edges)
    for quarrel in "İΣ":
        assert not any(low <= ord(quarrel) <= high for low, high in AGREED_RANGES)


def test_known_cases() -> None:
    assert normalise("The  Beatles' (UK)") == "beatles uk"
    assert normalise("a\xa0an\u2003the") == ""
    assert normalise("U.S.A.") == "usa"
    assert normalise("Theatre") == "theatre"
    assert normalise("¿Qué?") == "¿qué"


def test_nulls_names_and_order_are_kept() -> None:
    column = pl.Series("answer", ["The b", None, "ΑΣ c", "", None])
    got = normalise_series(column)
    assert got.name == "answer"
    assert got.to_list() == ["b", None, "ας c", "", None]
    assert normalise_series(pl.Series("x", [], dtype=pl.String)).to_list() == []
    assert normalise_series(pl.Series("x", [None], dtype=pl.String)).to_list() == [None]


def test_a_long_column_keeps_its_order() -> None:
    texts = [f"The {number} É{number}" for number in range(50_000)]
    got = normalise_series(pl.Series("x", texts)).to_list()
    assert got == [f"{number} é{number}" for number in range(50_000)]


def test_one_megabyte_answer() -> None:
    text = "The É a " * 131_072
    assert normalise_series(pl.Series([text])).to_list() == [normalise(text)]


def test_texts_that_repeat_are_normalised_as_if_each_stood_alone() -> None:
    texts = ["The A", "b  c", None, "", "\u0130x the \xc9", "a"]
    column = pl.Series("x", texts * 500)
    got = normalise_series(column)
    assert got.name == "x"
    assert got.to_list() == [None if one is None else normalise(one) for one in texts] * 500
