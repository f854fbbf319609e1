"""Which questions a judge learned from, as hashes, so that figures on them do not pass unmarked.

A judge that learned declares `lineage()`; a run marks its judgments on those questions in
the column `scope`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from markscheme.errors import ModelError, reading_weights
from markscheme.text import stem, unaccented

LINEAGE = "lineage.npy"
"""The file of a weights folder that holds the hashes."""

_WORD = re.compile(r"\w+")
_POSSESSIVE = re.compile(r"['’]s\b")
_SMALL_WORDS = """
the of and to in is was were are for with that which who what when where how did does do has have
had by from on at it his her their its be been an a as or this these please
"""
_SMALL = frozenset(_SMALL_WORDS.split())
_LONG = 5
"""Words, small ones apart, from which one more or less makes a near-duplicate."""
_MOST = 40
"""Words, small ones apart, from which a text is taken whole."""
_ROUND = (1 << 64) - 1
_SHORTER = 0x9E3779B97F4A7C15
"""Marks the hash of a question that lacks a word, so that two of those never meet."""

Hashes = npt.NDArray[np.uint64]


@lru_cache(65_536)
def _word_hash(word: str) -> int:
    return int.from_bytes(blake2b(stem(word).encode(), digest_size=8).digest(), "little")


def _words(question: str) -> list[tuple[str, int]]:
    """A question's words with hashes, without case, accents, marks, small words and endings."""
    found = set(_WORD.findall(_POSSESSIVE.sub("", unaccented(question.lower()))))
    words = (found - _SMALL) or found
    return [(word, key) for key, word in {_word_hash(word): word for word in words}.items()]


def _keys(question: str) -> tuple[int, list[int]]:
    """The hash of a question, and those of the question less one word that is no number."""
    words = _words(question)
    whole = sum(key for _, key in words) & _ROUND
    if not _LONG <= len(words) <= _MOST:
        return whole, []
    return whole, [(whole - key) & _ROUND for word, key in words if not word.isdigit()]


@dataclass(frozen=True, eq=False)
class Lineage:
    """The questions that a judge learned from. None of them can be read from it.

    Two questions are the same where their words are: case, accents, marks, order, plurals, verb
    endings and small words apart. Of five words and more, one that only one of them has, and that
    is no number, makes them near-duplicates, which count as the same.

    Attributes:
        hashes: sorted, of the questions and of what each is less one word; None where it is not
            known what the judge learned from.
    """

    hashes: Hashes | None

    @classmethod
    def of(cls, questions: Iterable[str | None]) -> Lineage:
        """The lineage of a judge that learned from these questions."""
        found: set[int] = set()
        for question in set(questions):
            if question and question.strip():
                whole, shorter = _keys(question)
                found.add(whole)
                found.update(one ^ _SHORTER for one in shorter)
        return cls(np.array(sorted(found), np.uint64))

    @property
    def size(self) -> int:
        """How many hashes there are."""
        return 0 if self.hashes is None else len(self.hashes)

    @property
    def known(self) -> bool:
        """Whether it is known what the judge learned from."""
        return self.hashes is not None

    def has(self, questions: Sequence[str | None]) -> npt.NDArray[np.bool_]:
        """Whether the judge learned from each question or a near-duplicate, shape (questions,)."""
        if self.hashes is None or not len(self.hashes):
            return np.zeros(len(questions), bool)
        number: dict[str, int] = {}
        place = [number.setdefault(one or "", len(number)) for one in questions]
        owner: list[int] = []
        keys: list[int] = []
        for one, at in number.items():
            if one.strip():
                whole, shorter = _keys(one)
                wanted = [whole, whole ^ _SHORTER, *shorter]
                keys += wanted
                owner += [at] * len(wanted)
        from markscheme.text import contains  # with the lexicon, which few commands need

        found = np.zeros(len(number), bool)
        found[np.array(owner, int)[contains(self.hashes, np.array(keys, np.uint64))]] = True
        return np.asarray(found[np.array(place, int)] if place else found)

    def __or__(self, other: Lineage) -> Lineage:
        """Of a judge made of two; unknown where either is."""
        if self.hashes is None or other.hashes is None:
            return UNKNOWN_LINEAGE
        return Lineage(np.union1d(self.hashes, other.hashes))

    def save(self, folder: Path) -> None:
        """Write it next to a judge's weights.

        Raises:
            ValueError: it is unknown.
        """
        if self.hashes is None:
            raise ValueError("an unknown lineage cannot be saved")
        np.save(folder / LINEAGE, self.hashes, allow_pickle=False)

    @classmethod
    def load(cls, folder: Path) -> Lineage:
        """That of the weights in a folder; unknown where they carry none.

        Raises:
            ModelError: the file is damaged.
        """
        path = folder / LINEAGE
        if not path.is_file():
            return UNKNOWN_LINEAGE
        with reading_weights(path):
            found = np.load(path, allow_pickle=False)
        if found.dtype != np.uint64 or found.ndim != 1:
            raise ModelError(f"{path} holds no hashes of questions; copy the weights again")
        return cls(np.sort(found))


UNKNOWN_LINEAGE = Lineage(None)
"""Of weights that do not say what they learned from."""


@runtime_checkable
class HasLineage(Protocol):
    """A judge that learned from questions, and says which."""

    def lineage(self) -> Lineage | None:
        """What the judge learned from; None where, with these parameters, it learned nothing."""
        ...
