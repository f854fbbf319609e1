"""Which questions the examiner learns from, is tuned on and is tested on: fixed, by question.

The part of a question follows from a hash of its normalised text, so it is the same on every
machine, in every file and whatever else a file holds. Every question of NQ301 is test: the file
`nq301_questions.txt` has their hashes (nothing of the questions can be read back from them).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from hashlib import blake2b
from importlib.resources import files

import numpy as np
import polars as pl

from markscheme.text import normalise

PARTS = ("train", "development", "test")
DEVELOPMENT_FROM, TEST_FROM = 0.4374, 0.5467
"""Of the questions outside NQ301; with those in test, the parts are 40, 10 and 50 percent."""


def question_hash(question: str) -> str:
    """Sixteen hexadecimal digits of the hash of the normalised question."""
    return blake2b(normalise(question).encode(), digest_size=8).hexdigest()


def part_of(question: str) -> str:
    """`train`, `development` or `test`."""
    digest = question_hash(question)
    place = int(digest, 16) / 2**64
    if digest in held_out() or place >= TEST_FROM:
        return "test"
    return "development" if place >= DEVELOPMENT_FROM else "train"


def parts(questions: Iterable[str]) -> pl.Series:
    """The part of each question."""
    known: dict[str, str] = {}
    return pl.Series(
        "part",
        [known[q] if q in known else known.setdefault(q, part_of(q)) for q in questions],
        dtype=pl.Enum(PARTS),
    )


def pandas_halves(questions: Iterable[str], *, seed: int = 42) -> pl.Series:
    """`train` or `test` of each question, as pandas draws a half of the different ones.

    The split of Yao & Barbosa's trained judges (2024): the train part is what
    `pandas.Series(different).sample(frac=0.5, random_state=42)` draws of the different questions in
    order of their first places, so it depends on that order.
    """
    asked = list(questions)
    different = list(dict.fromkeys(asked))
    count = round(0.5 * len(different))
    # Pandas draws by NumPy's old generator, whose stream NumPy promises to keep.
    drawn = np.random.RandomState(seed).choice(len(different), size=count, replace=False)
    learned = {different[place] for place in drawn.tolist()}
    words = ["train" if question in learned else "test" for question in asked]
    return pl.Series("part", words, dtype=pl.Enum(PARTS))


def fold_key(question: str) -> int:
    """A number of 64 bits that sets the fold of a question, independent of its part."""
    digest = blake2b(normalise(question).encode(), digest_size=8, salt=b"folds").hexdigest()
    return int(digest, 16)


def fold_of(question: str, folds: int) -> int:
    """The fold of a question in cross-validation, independent of its part."""
    return fold_key(question) % folds


@cache
def held_out() -> frozenset[str]:
    """Hashes of the 301 questions of NQ301."""
    text = (
        files("markscheme_research.training")
        .joinpath("nq301_questions.txt")
        .read_text(encoding="utf-8")
    )
    return frozenset(text.split())
