"""Answers as claims: what is split, what must not be."""

from __future__ import annotations

import doctest
import json
import random
import re
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from markscheme_research.statements.claim_splitting import MOST, claims, pieces


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ("It is so. The parts are:\n1. a wing\n2. a tail. It moves.",
         [("", "It is so."), ("The parts are:", "a wing"), ("The parts are:", "a tail."),
          ("", "It moves.")]),
        ("There are two: 1. Red 2. Green",
         [("There are two:", "Red"), ("There are two:", "Green")]),
        ("It is 1. Red in May. 3. Green in June.",
         [("", "It is 1."), ("", "Red in May."), ("", "3."), ("", "Green in June.")]),
        (" \n ...", []),
    ],
)  # fmt: skip
def test_items_come_with_the_line_that_introduces_them(
    answer: str, found: list[tuple[str, str]]
) -> None:
    assert list(pieces(answer)) == found


@given(st.text(max_size=200))
def test_any_text_is_cut_into_pieces_of_it(answer: str) -> None:
    for _, piece in pieces(answer):
        assert piece
        assert piece in answer


SPLIT = [
    ("Little Polveir won in 1989. It was his fourth attempt.",
     ["Little Polveir won in 1989.", "It was his fourth attempt."]),
    ("It fell in 1970 .  This was late .", ["It fell in 1970 .", "This was late ."]),
    ("The mill was built in 1811, and it burned down in 1866.",
     ["The mill was built in 1811", "it burned down in 1866."]),
    ("Ann wrote the book; the film was made by Bea.",
     ["Ann wrote the book", "the film was made by Bea."]),
    ("The first was red, but the second was blue, while the third was lost.",
     ["The first was red", "the second was blue", "the third was lost."]),
    ("The parts are:\n1. a wing\n2. a tail, which moves\n- fins",
     ["The parts are a wing", "The parts are a tail, which moves", "The parts are fins"]),
    ("There are three colours: 1. Red 2. Green 3. Blue",
     [f"There are three colours: {one}" for one in ("Red", "Green", "Blue")]),
    ("1. Adenine\n2. Guanine", ["Adenine", "Guanine"]),
    ("Paris. Would you like to know more?", ["Paris."]),
    ("He asked “Are you sure? ” and left.", ["He asked “Are you sure? ” and left."]),
]  # fmt: skip


@pytest.mark.parametrize(("answer", "wanted"), SPLIT)
def test_claims_are_sentences_clauses_and_items(answer: str, wanted: list[str]) -> None:
    assert [one.text for one in claims(answer)] == wanted


WHOLE = [
    "Dr. J. R. Smith Jr. of St. Mary's, e.g., earned approx. $3.5 million.",
    "The U.S. Navy paid $2. 2 billion for it.",
    "It weighs 4.54 kg (approx. 10 lb.) when dry.",
    "Mr. A. Smith (b. 1970) lives in Rome.",
    "Tom and Ann met in Rome.",
    "It was a fight between Ali and Frazier that lasted long.",
    "We find out that Luke and Leia are siblings.",
    "He said that he and Gracie Hart broke up.",
    "Rey lasted a total of 1 hour and 2 minutes in one match.",
    "If it rains and the roof leaks, we are wet.",
    "\"It rained and we were wet\" is what Ann said.",
    "It was shot in Rome and in Paris.",
    "The film stars Ann Lee, Bea Low, and Cy Moe.",
    "She wrote, directed and produced it.",
]  # fmt: skip


@pytest.mark.parametrize("answer", WHOLE)
def test_abbreviations_decimals_and_names_are_not_torn(answer: str) -> None:
    assert [one.text for one in claims(answer)] == [answer]


def test_fragments_are_told_from_sentences_and_sentences_are_numbered() -> None:
    found = claims("Paris. It is the capital, and it is large. 12 million")
    assert [one.fragment for one in found] == [True, False, False, True]
    assert [one.sentence for one in found] == [0, 1, 1, 2]


@pytest.mark.parametrize("answer", ["", " \n ", "...", "???", "- \n-"])
def test_nothing_claims_nothing(answer: str) -> None:
    assert claims(answer) == []


@pytest.mark.proof(area="attacks")
def test_only_so_many_claims_and_none_is_lost() -> None:
    found = claims("It rained there. " * 200)
    assert len(found) == MOST + 1
    assert sum(one.text.count("rained") for one in found) == 200
    assert len(claims("x" * 1_000_000)) == 1
    assert len(claims("A and B were and C was; " * 3_000)) <= MOST + 1


@given(st.text(max_size=200))
def test_any_text_is_split_without_trouble(answer: str) -> None:
    for one in claims(answer):
        assert one.text.strip() == one.text
        assert one.text


@given(st.lists(st.sampled_from(["Ann came in.", "Rome fell.", "It is 4.5 m."]), max_size=6))
def test_sentences_are_found_again(parts: list[str]) -> None:
    assert [one.text for one in claims(" ".join(parts))] == parts


JOINING = {"and", "but", "while", "whereas", "although", "though"}


def words_of(text: str) -> set[str]:
    return set(re.findall(r"\w+", text))


def test_claims_of_the_example_keep_every_word(example: Path) -> None:
    rows = [json.loads(line) for line in example.read_text("utf-8").splitlines()]
    answers = [str(row["answer"]) for row in rows if row["answer"]]
    # Longer ones, as chatty systems give them: sentences of two answers one after the other.
    ended = [answer.rstrip(". ") + "." for answer in answers]
    answers += [" ".join(random.Random(n).sample(ended, 2)) for n in range(200)]
    counted = 0
    for answer in answers:
        if "?" not in answer and "\n" not in answer and ":" not in answer:
            kept = words_of(" ".join(one.text for one in claims(answer)))
            assert words_of(answer) - kept <= JOINING, answer
            counted += 1
    assert counted > 250


def test_real_answers_keep_every_word(data_dir: Path) -> None:
    rows = json.loads((data_dir / "evouna" / "NQ.json").read_text(encoding="utf-8"))
    answers = [row["answer_newbing"] for row in rows if row["answer_newbing"]]
    listed = [claims(answer) for answer in answers]
    assert 1.8 < sum(map(len, listed)) / len(answers) < 2.8
    for answer, found in zip(answers, listed, strict=True):
        if "?" not in answer and "\n" not in answer and ":" not in answer:
            kept = words_of(" ".join(one.text for one in found))
            assert words_of(answer) - kept <= JOINING


def test_the_examples_of_the_docstrings_hold() -> None:
    assert doctest.testmod(sys.modules[claims.__module__]).failed == 0
