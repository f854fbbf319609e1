"""Answers as arrays: every different text encoded once, and which reference is best."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
from rapidfuzz import fuzz, process

from markscheme.text import (
    CAPITAL,
    NUMBER,
    STOPWORD,
    Floats,
    Known,
    Lexicon,
    Longs,
    Texts,
    contains,
    encode,
    runs,
)

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
        number, raw = _codes(every)
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


def spread(start: Longs, chosen: Longs, *, most: int | None = None) -> tuple[Longs, Longs]:
    """All words of chosen texts: for each word which choice it belongs to, and its flat place.

    With `most` only so many from the start of each text.
    """
    counts = start[chosen + 1] - start[chosen]
    if most is not None:
        counts = np.minimum(counts, most)
    return runs(start[chosen], counts)


class Occurrences:
    """Which canonical words occur in which texts: a sorted index over (text, word)."""

    def __init__(self, texts: Texts, canon: Array, vocabulary: int) -> None:
        owner = np.repeat(np.arange(len(texts.count)), texts.count)
        self._size = np.int64(max(vocabulary, 1))
        self._keys = np.sort(owner * self._size + canon)

    def within(self, text: Longs, canon: Array) -> npt.NDArray[np.bool_]:
        """Whether text[i] has the word canon[i]."""
        return np.asarray(contains(self._keys, text * self._size + canon) & (canon >= 0))


def content(kind: Array) -> npt.NDArray[np.bool_]:
    """Words that carry meaning: no function words."""
    return np.asarray((kind & STOPWORD) == 0)


def entity_like(kind: Array) -> npt.NDArray[np.bool_]:
    """Words that may name something: capitalised words and numbers."""
    return np.asarray((kind & (CAPITAL | NUMBER)) > 0)


# --- First look at every pair of answer and reference: cheap overlaps, and which reference is best ---


@dataclass(frozen=True, slots=True)
class Aligned:
    """What is known of every pair, and the pair with each row's best reference.

    Arrays of pairs: `exact`, `contained` (the reference occurs in the answer as a run of words),
    `packed` (so without spaces), `recall` (share of the reference's words), `key_recall` (share of
    the key words, by rarity: content words that the question lacks, else content words, else all).
    `best` is one pair a row. `normal` is each text as canonical words with spaces around.
    """

    exact: Array
    contained: Array
    packed: Array
    recall: Array
    key_recall: Array
    best: Array
    normal: list[str]
    in_texts: Occurrences


LONGEST_PART = 400
"""Characters of the shorter text that `partial_ratios` looks for in the longer one."""
_LONGEST_WITH_PART = 10_000
"""Characters of the longer text up to which so many are looked for; in one n times as long, n times
fewer, at least `_LEAST_PART`."""
_LEAST_PART = 64


def partial_ratios(ones: Sequence[str], others: Sequence[str]) -> Array:
    """How like the shorter text of each pair is to the likest part of the longer one, 0 to 1.

    Every place of the longer text is tried, at a cost that grows with the square of the shorter
    one: of that only the first characters are looked for (`LONGEST_PART`).
    """
    pairs = []
    for one, other in zip(ones, others, strict=True):
        shorter, longer = (one, other) if len(one) <= len(other) else (other, one)
        part = LONGEST_PART * _LONGEST_WITH_PART // max(len(longer), _LONGEST_WITH_PART)
        pairs.append((shorter[: max(part, _LEAST_PART)], longer))
    found = process.cpdist(
        [one for one, _ in pairs],
        [other for _, other in pairs],
        scorer=fuzz.partial_ratio,
        workers=1,
    )
    return np.asarray(found / 100)


def align(batch: Batch) -> Aligned:
    """Compare every pair of the batch."""
    canon = batch.canon
    in_texts = Occurrences(batch.texts, canon, len(batch.lexicon.canon_words))
    normal = _normal(batch, canon)
    pairs = len(batch.reference)
    answer = batch.answer[batch.row]
    question = batch.question[batch.row]

    owner, place = spread(batch.texts.start, batch.reference)
    word = canon[place]
    hit = in_texts.within(answer[owner], word)
    key = key_words(batch, owner, place, in_texts, question[owner], pairs)
    weight = batch.idf[word]
    recall = _share(owner, np.ones(len(owner)), hit, pairs)
    key_recall = _share(owner, weight * key, hit, pairs)

    references = [normal[one] for one in batch.reference]
    answers = [normal[one] for one in answer]
    exact = np.array([r == a for r, a in zip(references, answers, strict=True)], dtype=bool)
    contained = np.array(
        [len(r) > 1 and r in a for r, a in zip(references, answers, strict=True)], dtype=bool
    )
    tight = [text.replace(" ", "") for text in normal]
    packed = np.array(
        [
            len(tight[r]) > 3 and tight[r] in tight[a]
            for r, a in zip(batch.reference, answer, strict=True)
        ],
        dtype=bool,
    )
    likeness = np.ones(pairs)
    several = np.diff(batch.first)[batch.row] > 1  # A single reference is the best as it is.
    unsure = np.flatnonzero(~contained & several)
    if len(unsure):
        likeness[unsure] = partial_ratios(
            [references[i] for i in unsure], [answers[i] for i in unsure]
        )
    length = np.bincount(owner, weights=weight * hit, minlength=pairs)
    rank = (
        4.0 * exact
        + 2.0 * contained
        + packed
        + 2.0 * key_recall
        + 0.3 * recall
        + 0.5 * likeness
        + 0.01 * np.minimum(length, 40)
    )
    order = np.lexsort((-rank, batch.row))
    best = order[batch.first[:-1]]
    return Aligned(
        exact=exact,
        contained=contained,
        packed=packed,
        recall=recall,
        key_recall=key_recall,
        best=best,
        normal=normal,
        in_texts=in_texts,
    )


def key_words(
    batch: Batch, owner: Array, place: Array, in_texts: Occurrences, question: Array, pairs: int
) -> Array:
    """Which words of references decide: content words new to the question, else wider choices."""
    is_content = content(batch.kind[place])
    new = is_content & ~in_texts.within(question, batch.canon[place])
    has_new = np.bincount(owner, weights=new, minlength=pairs) > 0
    has_content = np.bincount(owner, weights=is_content, minlength=pairs) > 0
    return np.where(has_new[owner], new, np.where(has_content[owner], is_content, True))


def _share(owner: Array, weight: Array, hit: Array, pairs: int) -> Array:
    total = np.bincount(owner, weights=weight, minlength=pairs)
    part = np.bincount(owner, weights=weight * hit, minlength=pairs)
    return share(part, total)


def share(part: Array, whole: Array, empty: float = 0.0) -> Array:
    """part / whole, and `empty` where there is nothing to share."""
    filled = np.full(len(part), empty, dtype=np.float64)
    return np.asarray(np.divide(part, whole, out=filled, where=whole > 0))


def _normal(batch: Batch, canon: Array) -> list[str]:
    words = batch.lexicon.canon_words
    flat = [words[one] for one in canon.tolist()]
    start = batch.texts.start.tolist()
    return [f" {' '.join(flat[begin:end])} " for begin, end in itertools.pairwise(start)]
