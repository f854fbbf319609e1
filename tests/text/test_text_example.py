"""What holds for the texts of the public data holds for the bundled example's too."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import polars as pl
import pytest

from markscheme.text.claim_splitting import claims
from markscheme.text.clean import clean_series

JOINING = {"and", "but", "while", "whereas", "although", "though"}


@pytest.fixture(scope="module")
def rows(example: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in example.read_text("utf-8").splitlines()]


def words_of(text: str) -> set[str]:
    return set(re.findall(r"\w+", text))


def test_claims_keep_every_word(rows: list[dict[str, object]]) -> None:
    answers = [str(row["answer"]) for row in rows if row["answer"]]
    # Longer ones, as chatty systems give them: sentences of two answers one after the other.
    sentences = [answer.rstrip(". ") + "." for answer in answers]
    answers += [" ".join(random.Random(n).sample(sentences, 2)) for n in range(200)]
    counted = 0
    for answer in answers:
        if "?" not in answer and "\n" not in answer and ":" not in answer:
            kept = words_of(" ".join(one.text for one in claims(answer)))
            assert words_of(answer) - kept <= JOINING, answer
            counted += 1
    assert counted > 250


def test_footnote_marks_go_and_short_answers_stay() -> None:
    said = pl.Series(
        ["It has two legs⁷.", "It was the Swan⁸ ⁹ of Hull.", "two", "Ann Lee", "10⁶ m"]
    )
    cleaned = clean_series(said)
    assert cleaned[:2].str.contains("[⁶-⁹]").sum() == 0
    assert cleaned[2:4].equals(said[2:4])
    assert clean_series(cleaned).equals(cleaned)
