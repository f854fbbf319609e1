"""The tokeniser, the lexicon and texts as arrays."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from markscheme.text.lexicon import (
    CAPITAL,
    MARK,
    NUMBER,
    STOPWORD,
    Lexicon,
    describe,
    encode,
)
from markscheme.text.tokens import LONGEST, NUMBER_SIGN, merged, split


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        ("The cat's hat.", ["The", "cat's", "hat", "."]),
        ("Zürich, Łódź", ["Zurich", ",", "Lodz"]),
        ("the U.S. Army", ["the", "US", "Army"]),
        ("J. R. R. Tolkien", ["J", "R", "R", "Tolkien"]),
        ("the United States of America", ["the", "USA"]),
        ("Washington, D.C.", ["Washington", ",", "DC"]), ("Washington D.C", ["Washington", "DC"]),
        ("sung by John Legend12.", ["sung", "by", "John", "Legend", "."]),
        ("in February 20161.", ["in", "February", "2016", "."]),
        ("built byThe Smiths", ["built", "by", "The", "Smiths"]),
        ("1946–47", ["1946", "1947"]),
        ("1970s", ["1970s"]),
        ("1,250.5 km", ["1,250.5", "km"]),
        ("4th of July", ["4th", "of", "July"]),
        ("twenty-five", ["twenty", "five"]),
        ("nullcy has a bacullna", ["nancy", "has", "a", "bacullna"]),
    ],
)  # fmt: skip
def test_split(text: str, words: list[str]) -> None:
    assert split(text) == words


@pytest.mark.parametrize("text", ["annul", "annulled", "nullified", "null"])
def test_real_words_with_null_keep_it(text: str) -> None:
    assert split(text) == [text]


def test_only_the_beginning_of_a_huge_text_is_read() -> None:
    assert len(split("word " * 100_000)) == LONGEST // 5


def test_numbers_of_several_words_become_one() -> None:
    assert merged(["about", "two", "hundred", "cats"]) == ["about", f"{NUMBER_SIGN}200.0", "cats"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("four", "4"), ("Fourth", "4"), ("4th", "IV"), ("twelve", "XII"), ("Jan", "January"),
        ("cities", "City"), ("km", "kilometres"), ("USA", "US"), ("Sr", "senior"),
        ("1,000", "1000"), ("cat's", "cat"), ("dozen", "12"), ("8,336,817", "8336817"),
        (f"{NUMBER_SIGN}{8.3 * 1e6!r}", "8300000"),
    ],
)  # fmt: skip
def test_words_that_say_the_same_share_a_form(one: str, other: str) -> None:
    assert describe(one)[0] == describe(other)[0]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("US", "us"),
        ("May", "may"),
        ("1970", "1970s"),
        ("4", "5"),
        ("cat", "car"),
        ("IV", "iv"),
        ("12345678", "12345687"),
        ("1234.5678", "1234.5687"),
        ("89370400440532013000", "89370400440532013001"),
    ],
)
def test_words_that_do_not_stay_apart(one: str, other: str) -> None:
    assert describe(one)[0] != describe(other)[0]


@pytest.mark.parametrize(
    ("word", "bits"),
    [("the", STOPWORD), ("London", CAPITAL), ("BBC", CAPITAL), ("1984", NUMBER),
     ("1,984", NUMBER), ("seven", NUMBER), ("June", 0), ("cat", 0)],
)  # fmt: skip
def test_kinds(word: str, bits: int) -> None:
    assert describe(word)[2] == bits


def test_marks_are_no_words() -> None:
    lexicon = Lexicon()
    texts = encode(["red, green and blue! All.", "", "one"], lexicon)
    assert not (lexicon.known().kind[texts.word] & MARK).any()
    assert texts.count.tolist() == [5, 0, 1]


def test_nothing_at_all() -> None:
    texts = encode([], Lexicon())
    assert texts.start.tolist() == [0]
    assert texts.word.size == 0


def test_a_text_is_encoded_alike_whatever_stands_beside_it() -> None:
    alone, together = Lexicon(), Lexicon()
    one = encode(["green, not red."], alone)
    other = encode(["It was blue,", "green, not red."], together)
    begin = int(other.start[1])
    assert [together.words[i] for i in other.word[begin:]] == [alone.words[i] for i in one.word]


def test_the_lexicon_numbers_words_once() -> None:
    lexicon = Lexicon()
    assert lexicon.ids(["cat", "cats", "cat"]) == [0, 1, 0]
    known = lexicon.known()
    assert known.canon[0] == known.canon[1] == lexicon.canon_id("cat")
    assert lexicon.canon_id("dog") == -1


@given(st.lists(st.text(max_size=60), max_size=6))
def test_any_text_can_be_encoded(texts: list[str]) -> None:
    lexicon = Lexicon()
    encoded = encode(texts, lexicon)
    assert len(encoded.start) == len(texts) + 1
    assert encoded.start[-1] == len(encoded.word)
    assert (encoded.count >= 0).all()
