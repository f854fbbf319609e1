"""Features of the alignment one by one."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from markscheme.features.alignment.batch import Rarity
from markscheme.features.alignment.features import Matrix, alignment
from markscheme.features.alignment.registry import FEATURES

RARITY = Rarity([], np.zeros(0, dtype=np.float32), 5.0)
BRIDGE = "Who designed the bridge?"


def row(question: str, reference: str | list[str], answer: str) -> Matrix:
    references = [reference] if isinstance(reference, str) else reference
    return alignment(pl.Series([question]), pl.Series([references]), pl.Series([answer]), RARITY)[0]


def feature(name: str, question: str, reference: str | list[str], answer: str) -> float:
    return float(row(question, reference, answer)[0, list(FEATURES).index(name)])


def test_rows_do_not_see_each_other() -> None:
    questions = [BRIDGE, "When did it open?", BRIDGE, "Which metal is it?"]
    references = [["Ada Stone"], ["1905"], ["Carl Reed", "Reed"], ["iron"]]
    answers = ["Carl Reed, not Ada Stone.", "In 1904, before 1905", "", "tin, iron, lead"]
    together = alignment(pl.Series(questions), pl.Series(references), pl.Series(answers), RARITY)[0]
    for place, one in enumerate(zip(questions, references, answers, strict=True)):
        assert np.array_equal(row(*one)[0], together[place])


@pytest.mark.parametrize(
    ("reference", "answer", "value"),
    [
        ("No", "It is not a planet.", 0),
        ("No", "No, it is a star.", 1),
        ("No", "Yes, it is a planet.", -1),
        ("No", "I do not know.", -2),
        ("No", "I cannot answer this.", -2),
        ("Nein", "Das weiß ich nicht.", -2),
        ("Sí", "Claro, aceptamos PayPal.", 1),
        ("Yes", "I'm not sure whether it is.", -2),
        ("No", "Bananas do not grow in Norway.", 0),
        ("a star", "No, it is a star.", 0),
    ],
)
def test_yes_against_no(reference: str, answer: str, value: float) -> None:
    assert feature("polarity", "Is the Sun a planet?", reference, answer) == value
