"""Given names: nicknames and initials."""

from __future__ import annotations

import pytest

from markscheme.text.names import SUFFIXES, TITLES, full_forms, same_given_name, spelled_alike


@pytest.mark.parametrize(
    ("one", "other"),
    [("bill", "william"), ("william", "bill"), ("nick", "nicholas"), ("bob", "robert"),
     ("liz", "elizabeth"), ("anna", "anna"), ("j", "john"), ("john", "j")],
)  # fmt: skip
def test_the_same_given_name(one: str, other: str) -> None:
    assert same_given_name(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("john", "robert"), ("j", "k"), ("j", "robert"), ("zzz", "qqq"), ("isaac", "helmut")],
)
def test_other_given_names(one: str, other: str) -> None:
    assert not same_given_name(one, other)


def test_a_word_that_is_no_name_has_no_forms() -> None:
    assert full_forms("quantum") == frozenset()


def test_titles_are_lower_case_words_apart_from_suffixes() -> None:
    assert {"sir", "dr", "president"} <= TITLES
    assert {"jr", "sr"} <= SUFFIXES
    assert not TITLES & SUFFIXES
    assert all(word == word.lower() for word in TITLES | SUFFIXES)


@pytest.mark.parametrize(
    ("answer", "read"),
    [
        ("It's Budapset, I think.", "It's Budapest, I think."),
        ("budapset", "Budapest"),
        ("Budapesst", "Budapesst"),
        ("Budaepts", "Budaepts"),
        ("Marian", "Marian"),
    ],
)
def test_two_neighbouring_letters_of_a_name_may_change_place(answer: str, read: str) -> None:
    assert spelled_alike(answer, ["Budapest", "Marina"], {"marian"}) == read
    assert spelled_alike(answer, [], ()) == answer


def test_figures_that_change_place_are_another_code() -> None:
    assert spelled_alike("It is AB1243C.", ["AB1234C"], ()) == "It is AB1243C."
