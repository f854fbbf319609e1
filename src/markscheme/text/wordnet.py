"""What WordNet knows of words: which mean the same, which the opposite, which are words at all.

`wordnet.npz` is made by `recipes/wordnet.py` from WordNet 3.1 (Princeton
University; its licence occurs in `wordnet-licence.txt`). Words are stored as 32-bit hashes in
sorted arrays, which load at once; about one unknown word in 30,000 is taken for a known one.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from markscheme.errors import reading_weights
from markscheme.text.inflection import stem

Longs = npt.NDArray[np.int64]

FILE = Path(__file__).with_name("wordnet.npz")


def code(text: str) -> int:
    """A word's hash."""
    return zlib.crc32(text.encode())


def key(lemma: str) -> str:
    """What words of one family and one lemma share: the stems of its words."""
    return " ".join(stem(word) for word in lemma.lower().replace("-", " ").split())


@dataclass(frozen=True, slots=True)
class Thesaurus:
    """Sorted arrays: pairs (word, meaning), words that exist, pairs of opposites."""

    word: Longs
    meaning: Longs
    known: Longs
    opposite: Longs

    def meanings(self, keys: Iterable[str]) -> tuple[Longs, Longs]:
        """The meanings of each stem or run of stems: (place in `keys`, meaning), by place."""
        wanted = np.array([code(one) for one in keys], dtype=np.int64)
        low = np.searchsorted(self.word, wanted, side="left")
        count = np.searchsorted(self.word, wanted, side="right") - low
        owner = np.repeat(np.arange(len(wanted)), count)
        ends = np.cumsum(count)
        inner = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - count, count)
        return owner, self.meaning[inner + np.repeat(low, count)]

    def exist(self, words: Sequence[str]) -> npt.NDArray[np.bool_]:
        """Whether each lower-case word is an English word or a well-known name."""
        return _contains(self.known, np.array([code(word) for word in words], dtype=np.int64))

    def opposites(self, ones: Sequence[str], others: Sequence[str]) -> npt.NDArray[np.bool_]:
        """Whether ones[i] and others[i], stems, mean the opposite."""
        pairs = [code(one) << 32 | code(other) for one, other in zip(ones, others, strict=True)]
        return _contains(self.opposite, np.array(pairs, dtype=np.uint64).astype(np.int64))


def _contains(ordered: Longs, wanted: Longs) -> npt.NDArray[np.bool_]:
    if not len(ordered):
        return np.zeros(len(wanted), dtype=bool)
    place = np.minimum(np.searchsorted(ordered, wanted), len(ordered) - 1)
    return np.asarray(ordered[place] == wanted)


@cache
def thesaurus() -> Thesaurus:
    """WordNet, read once a process."""
    with reading_weights(FILE), np.load(FILE) as packed:
        opposite = packed["opposite"].astype(np.uint64)
        pairs = (opposite[:, 0] << np.uint64(32) | opposite[:, 1]).astype(np.int64)
        return Thesaurus(
            word=np.cumsum(packed["word"].astype(np.int64)),
            meaning=packed["meaning"].astype(np.int64),
            known=np.cumsum(packed["known"].astype(np.int64)),
            opposite=np.sort(pairs),
        )
