"""What the answer claims and what it only mentions: features one by one."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from markscheme.features.alignment.batch import Rarity
from markscheme.features.alignment.claims import ruled, usurped
from markscheme.features.alignment.features import Matrix, alignment, compute_features
from markscheme.features.alignment.registry import CLAIMED, EXAMINED, FEATURES

TOLD = "The bridge was designed by Ada Stone, a pupil of Carl Reed."
RARITY = Rarity([], np.zeros(0, dtype=np.float32), 5.0)
BRIDGE = "Who designed the bridge?"


def row(question: str, reference: str | list[str], answer: str) -> Matrix:
    references = [reference] if isinstance(reference, str) else reference
    return compute_features(
        pl.Series([question]), pl.Series([references]), pl.Series([answer]), RARITY
    )[0]


def feature(name: str, question: str, reference: str | list[str], answer: str) -> float:
    return float(row(question, reference, answer)[0, list(EXAMINED).index(name)])


@pytest.mark.parametrize(
    ("name", "reference", "answer", "value"),
    [
        ("asked_clause_match", "Ada Stone", TOLD, 1),
        ("asked_clause_match", "Carl Reed", TOLD, 0),
        ("asked_clause_match", "Max Hill", "The bridge was designed by Ada Stone.", -1),
        ("first_of_kind", "Carl Reed", TOLD, 0),
        ("match_aside", "Carl Reed", TOLD, 1),
        ("match_claimed", "Ada Stone", "The bridge was designed by Ada Stone.", 2),
        ("match_at_focus", "Ada Stone", "The bridge was designed by Ada Stone.", 1),
        ("rival_runs", "Ada Stone", "It was the British architect Ada Stone.", 0),
        ("rival_runs", "Ada Stone", "It was Carl Reed and Ada Stone.", 1),
        ("given_name", "Nora Stone", "N. Stone", 1),
        ("given_name", "Ada Stone", "Carl Stone", 0),
        ("given_name", "Ada Stone", "Stone", -1),
        ("belief_before", "Ada Stone", "Many people think Ada Stone did, but it was Carl Reed.", 1),
        ("last_claim", "Ada Stone", "Many people think Ada Stone did, but it was Carl Reed.", -1),
        ("last_claim", "Carl Reed", "Many people think Ada Stone did, but it was Carl Reed.", 1),
        ("denied_near", "Ada Stone", "It was not Ada Stone.", 1),
        ("denied_near", "Ada Stone", "Ada Stone? No, never.", 2),
        ("ignorance", "Ada Stone", "I cannot say whether it was Ada Stone.", 2),
        ("ignorance", "Ada Stone", "I do not know much of it, but Ada Stone did.", 1),
        ("bare_items", "Ada Stone", "Ada Stone, Carl Reed, Max Hill", 3),
        ("bare_strangers", "Ada Stone", "Ada Stone, Carl Reed, Max Hill", 2),
        ("wordless", "Ada Stone", "?!", 1),
    ],
)  # fmt: skip
def test_claims_about_names(name: str, reference: str, answer: str, value: float) -> None:
    assert feature(name, BRIDGE, reference, answer) == value


def test_slips_strangers_synonyms_and_opposites() -> None:
    where = "In which country is Linz?"
    assert feature("slip_recall", where, "Austria", "Austira") > 0.6
    assert feature("stranger_like", where, "Austria", "Austira") == 0
    assert feature("stranger_like", where, "Austria", "Australia") > 0.6
    assert feature("slip_recall", where, "Austria", "Australia") == 0
    assert feature("meaning_recall", "What did he do?", "buy it", "purchase it") == 1
    assert feature("opposites", "What is it like?", "hot", "cold") == 1
    assert feature("alias", "Who painted it?", "Raphael", "It was Raffaello Sanzio.") == 1
    many = "Name two colours."
    assert feature("beyond_count", many, ["red", "blue"], "red, blue, green, pink") == 2


@pytest.mark.parametrize(
    ("name", "question", "reference", "answer", "value"),
    [
        ("quantity", "How hot is it?", "100 °C", "212 degrees Fahrenheit", 1),
        ("quantity", "How hot is it?", "100 °C", "100 °F", 0),
        ("quantity", "How long is it?", "50 kilometres", "50km", 1),
        ("quantity", "How large is it?", "1 kilobyte", "8,000 bits", 1),
        ("quantity", "How heavy is it?", "1 kilogram", "1 pound", 0),
        ("polarity", "Did she finish it?", "no", "She left it unfinished.", 1),
        ("polarity", "Did she finish it?", "no", "She finished it.", -1),
        ("rival_at_focus", BRIDGE, "Carl Reed", TOLD, 1),
        ("match_at_focus", BRIDGE, "Ada Stone", TOLD, 1),
        ("match_aside", BRIDGE, "Carl Reed", TOLD, 1),
    ],
)
def test_amounts_yes_or_no_and_what_stands_in_the_place_of_the_answer(
    name: str, question: str, reference: str, answer: str, value: float
) -> None:
    assert feature(name, question, reference, answer) == value


def test_something_else_in_the_place_of_the_answer() -> None:
    assert usurped(row(BRIDGE, "Carl Reed", TOLD))[0]
    assert not usurped(row(BRIDGE, "Ada Stone", TOLD))[0]
    assert not usurped(row(BRIDGE, ["Carl Reed", "Reed"], TOLD))[0], "several things may be meant"


def test_rules() -> None:
    assert ruled(row(BRIDGE, "Carl Reed", TOLD))[0] < 0
    assert ruled(row(BRIDGE, "Ada Stone", "?!"))[0] < 0
    assert ruled(row("Which mark?", "?", "?"))[0] > 0
    assert np.isnan(ruled(row(BRIDGE, "Ada Stone", TOLD))[0])


def test_the_examiner_sees_the_alignment_first() -> None:
    columns = (pl.Series([BRIDGE]), pl.Series([["Ada Stone"]]), pl.Series(["Miss Stone"]))
    every, plain = compute_features(*columns, RARITY)[0], alignment(*columns, RARITY)[0]
    assert every.shape == (1, len(FEATURES) + len(CLAIMED))
    assert np.array_equal(every[:, : len(FEATURES)], plain)


def test_rows_do_not_see_each_other() -> None:
    questions = [BRIDGE, "When did it open?", BRIDGE, "Which metal is it?"]
    references = [["Ada Stone"], ["1905"], ["Carl Reed", "Reed"], ["iron"]]
    answers = ["Carl Reed, not Ada Stone.", "In 1904, before 1905", "", "tin, iron, lead"]
    together = compute_features(
        pl.Series(questions), pl.Series(references), pl.Series(answers), RARITY
    )[0]
    for place, one in enumerate(zip(questions, references, answers, strict=True)):
        assert np.array_equal(row(*one)[0], together[place])


@pytest.mark.parametrize(
    ("reference", "answer", "value"),
    [
        ("No", "It is not a planet.", 1),
        ("No", "No, it is a star.", 1),
        ("No", "Yes, it is a planet.", -1),
        ("No", "I do not know.", -2),
        ("No", "I cannot answer this.", -2),
        ("Yes", "I'm not sure whether it is.", -2),
        ("No", "Bananas do not grow in Norway.", -2),
        ("Yes", "Bananas grow in Ecuador.", -2),
        ("Yes", "undoubtedly", 1),
    ],
)
def test_an_answer_that_declines_or_speaks_of_something_else_says_neither_yes_nor_no(
    reference: str, answer: str, value: float
) -> None:
    assert feature("polarity", "Is the Sun a planet?", reference, answer) == value
