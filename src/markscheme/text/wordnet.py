"""What WordNet knows of words: which mean the same, and which the opposite.

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
from markscheme.text.lexicon import contains, runs

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
    """Sorted arrays: pairs (word, meaning), and pairs of opposites."""

    word: Longs
    meaning: Longs
    opposite: Longs

    def meanings(self, keys: Iterable[str]) -> tuple[Longs, Longs]:
        """The meanings of each stem or run of stems: (place in `keys`, meaning), by place."""
        wanted = np.array([code(one) for one in keys], dtype=np.int64)
        low = np.searchsorted(self.word, wanted, side="left")
        count = np.searchsorted(self.word, wanted, side="right") - low
        owner, place = runs(low, count)
        return owner, self.meaning[place]

    def opposites(self, ones: Sequence[str], others: Sequence[str]) -> npt.NDArray[np.bool_]:
        """Whether ones[i] and others[i], stems, mean the opposite."""
        pairs = [code(one) << 32 | code(other) for one, other in zip(ones, others, strict=True)]
        return contains(self.opposite, np.array(pairs, dtype=np.uint64).astype(np.int64))


@cache
def thesaurus() -> Thesaurus:
    """WordNet, read once a process."""
    with reading_weights(FILE), np.load(FILE) as packed:
        opposite = packed["opposite"].astype(np.uint64)
        pairs = (opposite[:, 0] << np.uint64(32) | opposite[:, 1]).astype(np.int64)
        return Thesaurus(
            word=np.cumsum(packed["word"].astype(np.int64)),
            meaning=packed["meaning"].astype(np.int64),
            opposite=np.sort(pairs),
        )
