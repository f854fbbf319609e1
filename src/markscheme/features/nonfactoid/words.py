"""Which words two texts share, for many pairs of texts at once."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from markscheme.text import contains, runs

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

BUCKETS = 2**15
STEM = 6
_LONGEST = 20_000
"""Characters of a text that are read: a text of megabytes costs no more than some pages."""


@dataclass(frozen=True, kw_only=True)
class Rarity:
    """How rare words are: inverse document frequencies by hash of the word.

    `table` has `BUCKETS` values; words that share a bucket share a rarity.
    """

    table: Floats

    def of(self, words: list[str]) -> Floats:
        """The rarity of each word."""
        return self.table[[zlib.crc32(word.encode()) % BUCKETS for word in words]]

    @classmethod
    def measure(cls, texts: pl.Series) -> Rarity:
        """Rarities over texts (String), each of which counts once."""
        sets = WordSets.of(texts, rarity=None)
        seen = np.bincount(sets.words, minlength=len(sets.vocabulary)).astype(np.float64)
        table = np.zeros(BUCKETS)
        place = np.array(
            [zlib.crc32(word.encode()) % BUCKETS for word in sets.vocabulary], np.int64
        )
        np.maximum.at(table, place, seen)
        return cls(table=np.log((len(texts) + 1) / (table + 0.5)))


@dataclass(frozen=True, kw_only=True)
class WordSets:
    """The distinct words of each of n texts, words being cut to their first six letters.

    Attributes:
        vocabulary: the words.
        words: words of text 0, of text 1, ..., as places in the vocabulary, ascending in a text.
        starts: where each text's words begin in `words`; one more than there are texts.
        weight: rarity of each word of the vocabulary.
    """

    vocabulary: list[str]
    words: Integers
    starts: Integers
    weight: Floats

    @classmethod
    def of(cls, texts: pl.Series, *, rarity: Rarity | None) -> WordSets:
        """The word sets of texts (String, no nulls)."""
        frame = (
            pl.DataFrame({"text": texts})
            .with_row_index("place")
            .select(
                "place",
                pl.col("text")
                .str.slice(0, _LONGEST)
                .str.to_lowercase()
                .str.extract_all(r"[\p{L}\p{N}]+")
                .alias("word"),
            )
            .explode("word", empty_as_null=False)
            .with_columns(pl.col("word").str.slice(0, STEM))
            .unique()
        )
        vocabulary = frame["word"].unique().sort()
        coded = frame.select(
            "place",
            pl.col("word").replace_strict(
                vocabulary, np.arange(len(vocabulary)), return_dtype=pl.Int64
            )
            if len(vocabulary)
            else pl.lit(0, dtype=pl.Int64).alias("word"),
        ).sort("place", "word")
        places = coded["place"].to_numpy().astype(np.int64)
        listed = vocabulary.to_list()
        return cls(
            vocabulary=listed,
            words=coded["word"].to_numpy().astype(np.int64),
            starts=np.searchsorted(places, np.arange(len(texts) + 1)).astype(np.int64),
            weight=np.ones(len(listed)) if rarity is None else rarity.of(listed),
        )

    def totals(self) -> tuple[Floats, Floats]:
        """Number of distinct words of each text, and their summed rarity."""
        count = np.diff(self.starts).astype(np.float64)
        summed = np.concatenate([[0.0], np.cumsum(self.weight[self.words])])
        # Rounded because differences of a running sum depend on what precedes.
        return count, np.round(summed[self.starts[1:]] - summed[self.starts[:-1]], 6)

    def spread(self, texts: Integers) -> tuple[Integers, Integers]:
        """The words of each of some texts: (place among `texts`, word)."""
        owner, place = runs(self.starts[texts], np.diff(self.starts)[texts])
        return owner, self.words[place]

    def holds(self, texts: Integers, words: Integers) -> npt.NDArray[np.bool_]:
        """Whether text `texts[i]` has word `words[i]`."""
        base = len(self.vocabulary) + 1
        owner = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
        return contains(owner * base + self.words, texts * base + words)

    def shared(self, left: Integers, right: Integers) -> Floats:
        """Summed rarity of the words that texts `left[i]` and `right[i]` have in common."""
        owner, words = self.spread(left)
        both = self.holds(right[owner], words)
        return np.round(np.bincount(owner[both], self.weight[words[both]], minlength=len(left)), 6)

    def shared_with_any(self, left: Integers, owner: Integers, right: Integers) -> Floats:
        """Summed rarity of the words of `left[i]` that any text `right[j]` with owner i has."""
        place, words = self.spread(left)
        pair, theirs = self.spread(right)
        base = len(self.vocabulary) + 1
        union = np.unique(owner[pair] * base + theirs)
        both = contains(union, place * base + words)
        return np.round(np.bincount(place[both], self.weight[words[both]], minlength=len(left)), 6)
