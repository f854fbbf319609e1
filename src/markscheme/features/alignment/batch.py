"""Answers as arrays: every different text encoded once, and pairs of answer and reference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from markscheme.text import CAPITAL, NUMBER, STOPWORD, Floats, Known, Lexicon, Longs, Texts, encode

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Rarity:
    """How rare words are in ordinary questions and answers: inverse document frequencies.

    `words` are canonical words in order, `idf` their values; unknown words get `unknown`.
    """

    words: list[str]
    idf: Floats
    unknown: float

    def of(self, canon_words: Sequence[str]) -> Floats:
        """The inverse document frequency of each canonical word."""
        known = dict(zip(self.words, self.idf.tolist(), strict=True))
        unknown = self.unknown
        return np.array([known.get(word, unknown) for word in canon_words], dtype=np.float32)


@dataclass(frozen=True, slots=True)
class Batch:
    """A table of answers as arrays.

    `question`, `answer` (one a row) and `reference` (one a pair) point into the different texts of
    `texts`; pairs of row i are `first[i]` to `first[i + 1]`; `row` is each pair's row.
    """

    lexicon: Lexicon
    known: Known
    idf: Floats
    texts: Texts
    raw: list[str]
    question: Longs
    answer: Longs
    reference: Longs
    first: Longs
    row: Longs

    @classmethod
    def of(
        cls,
        questions: pl.Series,
        references: pl.Series,
        answers: pl.Series,
        rarity: Rarity,
    ) -> Batch:
        """Encode a table. A row without references gets one empty reference."""
        filled = pl.select(
            pl.when(references.list.len() == 0)
            .then(pl.lit([""]))
            .otherwise(references)
            .alias("references")
        ).to_series()
        counts = filled.list.len().to_numpy().astype(np.int64)
        every = pl.concat([questions, answers, filled.explode()], how="vertical").cast(pl.String)
        codes = _codes(every)
        number, raw = codes
        lexicon = Lexicon()
        texts = encode(raw, lexicon)
        rows = len(questions)
        return cls(
            lexicon=lexicon,
            known=lexicon.known(),
            idf=rarity.of(lexicon.canon_words),
            texts=texts,
            raw=raw,
            question=number[:rows],
            answer=number[rows : 2 * rows],
            reference=number[2 * rows :],
            first=np.concatenate([[0], np.cumsum(counts)]),
            row=np.repeat(np.arange(rows), counts),
        )

    @property
    def canon(self) -> Array:
        """Canonical word of each word of the texts."""
        return self.known.canon[self.texts.word]

    @property
    def kind(self) -> Array:
        """Kind bits of each word of the texts."""
        return self.known.kind[self.texts.word]


def _codes(texts: pl.Series) -> tuple[Longs, list[str]]:
    seen: dict[str, int] = {}
    number = np.array(
        [seen.setdefault(text, len(seen)) for text in texts.to_list()], dtype=np.int64
    )
    return number, list(seen)


def spread(start: Longs, chosen: Longs) -> tuple[Longs, Longs]:
    """All words of chosen texts: for each word which choice it belongs to, and its flat place."""
    counts = start[chosen + 1] - start[chosen]
    owner = np.repeat(np.arange(len(chosen)), counts)
    ends = np.cumsum(counts)
    place = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - counts, counts)
    return owner, place + np.repeat(start[chosen], counts)


class Occurrences:
    """Where canonical words occur in texts: a sorted index over (text, word)."""

    def __init__(self, texts: Texts, canon: Array, vocabulary: int) -> None:
        owner = np.repeat(np.arange(len(texts.count)), texts.count)
        self._size = np.int64(max(vocabulary, 1))
        keys = owner * self._size + canon
        order = np.argsort(keys, kind="stable")
        self._keys = keys[order]
        self._places = order
        self._start = texts.start

    def within(self, text: Longs, canon: Array) -> npt.NDArray[np.bool_]:
        """Whether text[i] has the word canon[i]."""
        wanted = text * self._size + canon
        if not len(self._keys):
            return np.zeros(len(wanted), dtype=bool)
        found = np.minimum(np.searchsorted(self._keys, wanted), len(self._keys) - 1)
        return np.asarray((self._keys[found] == wanted) & (canon >= 0))

    def hits(self, text: Longs, canon: Array) -> tuple[Longs, Longs]:
        """Every occurrence of canon[i] in text[i]: (i, place in the text), by i, then place."""
        wanted = text * self._size + canon
        low = np.searchsorted(self._keys, wanted, side="left")
        high = np.searchsorted(self._keys, wanted, side="right")
        counts = np.where(canon >= 0, high - low, 0)
        owner = np.repeat(np.arange(len(wanted)), counts)
        ends = np.cumsum(counts)
        inner = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - counts, counts)
        flat = self._places[inner + np.repeat(low, counts)]
        return owner, flat - self._start[text[owner]]


def content(kind: Array) -> npt.NDArray[np.bool_]:
    """Words that carry meaning: no function words."""
    return np.asarray((kind & STOPWORD) == 0)


def entity_like(kind: Array) -> npt.NDArray[np.bool_]:
    """Words that may name something: capitalised words and numbers."""
    return np.asarray((kind & (CAPITAL | NUMBER)) > 0)
