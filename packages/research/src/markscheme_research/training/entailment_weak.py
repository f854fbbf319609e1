"""Directed pairs out of people's verdicts: what was accepted entails the reference or follows
from it, what was rejected does neither.

People say whether an answer is right, not which way it entails the reference. Where the alignment
settles that, it is taken from there; the rest is guessed by the trees, at least one way for each
accepted answer, and learned from in the next round.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from markscheme.features.alignment import Rarity
from markscheme.features.entailment import NAMES, entailment_features

Array = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float32]

_REFERENCES = 6
"""References of an answer that are looked at."""
_ALL_STATED = 0.97
"""Share of the reference's key words, near spellings counted, from which all of it is stated."""
_MORE_STATED = 3
"""Telling words beyond question and reference from which an answer surely says more."""
_REWORDED = 3
"""Telling words up to which an accepted answer that lacks the reference's says it differently."""

_COLUMN = {name: place for place, name in enumerate(NAMES)}


@dataclass(frozen=True, slots=True)
class WeakPairs:
    """Answers against their references, both ways.

    Arrays over (answer, reference): `row` (place of the answer in the table), `accepted`, `best`
    (the reference of its row that fits best); features `entails` (the answer is the premise) and
    `entailed` (the reference is).
    """

    row: npt.NDArray[np.int64]
    accepted: npt.NDArray[np.bool_]
    best: npt.NDArray[np.bool_]
    entails: Matrix
    entailed: Matrix

    @classmethod
    def of(cls, answers: pl.DataFrame, rarity: Rarity) -> WeakPairs:
        """Every answer of a labelled table with each of its first references."""
        pairs = (
            answers.with_row_index("row")
            .with_columns(pl.col("references").list.head(_REFERENCES))
            .explode("references")
        )
        q, a, r = (pairs[name].to_list() for name in ("question", "answer", "references"))
        both = entailment_features(q + q, a + r, r + a, rarity)
        entails, entailed = both[: len(pairs)], both[len(pairs) :]
        row = pairs["row"].to_numpy().astype(np.int64)
        return cls(
            row=row,
            accepted=(pairs["label"] >= 0.5).to_numpy(),
            best=_best(row, entails),
            entails=entails,
            entailed=entailed,
        )

    @property
    def weight(self) -> Array:
        """What each pair weighs: a rejected answer as much as one, however many references."""
        references = np.bincount(self.row)[self.row]
        return np.where(self.accepted, 1.0, 1.0 / references)

    def certain(self) -> tuple[Array, Array]:
        """Labels both ways where verdict and alignment settle them, else NaN."""
        stated = (self.entails[:, _COLUMN["soft_recall"]] >= _ALL_STATED) | (
            self.entails[:, _COLUMN["packed_contained"]] > 0
        )
        more = self.entails[:, _COLUMN["adds_words"]]
        right = self.accepted & self.best
        entails, entailed = (np.where(self.accepted, np.nan, 0.0) for _ in range(2))
        entails[right & stated] = 1.0
        entailed[right & stated & (more == 0)] = 1.0
        entailed[right & stated & (more >= _MORE_STATED)] = 0.0
        # In other words, but not in many more, or a part of the reference and nothing else.
        shared = self.entails[:, _COLUMN["common_words"]] > 0
        entailed[right & ~stated & (more == 0) & shared] = 1.0
        reworded = right & ~stated & np.isnan(entailed) & (more <= _REWORDED)
        entails[reworded] = entailed[reworded] = 1.0
        return entails, entailed

    def guessed(self, odds: Callable[[Matrix], Array]) -> tuple[Array, Array]:
        """The certain labels, and those that trees give the rest.

        An accepted answer that would entail nothing and follow from nothing gets the likelier of
        the two, and no label the other way.
        """
        entails, entailed = self.certain()
        right = self.accepted & self.best
        one, other = odds(self.entails), odds(self.entailed)
        entails = np.where(right & np.isnan(entails), one > 0, entails)
        entailed = np.where(right & np.isnan(entailed), other > 0, entailed)
        neither = right & (entails != 1) & (entailed != 1)
        entails[neither] = np.where(one >= other, 1.0, np.nan)[neither]
        entailed[neither] = np.where(one >= other, np.nan, 1.0)[neither]
        return entails, entailed


def _best(row: npt.NDArray[np.int64], entails: Matrix) -> npt.NDArray[np.bool_]:
    """Of each answer's references the one it fits best, as the examiner ranks them."""
    weights = {
        "exact": 4.0, "contained": 2.0, "packed_contained": 1.0, "key_recall": 2.0, "recall": 0.3,
        "partial_ratio": 0.5,
    }  # fmt: skip
    rank = sum(weight * entails[:, _COLUMN[name]] for name, weight in weights.items())
    order = np.lexsort((-np.asarray(rank), row))
    first = np.ones(len(order), dtype=bool)
    first[1:] = row[order][1:] != row[order][:-1]
    best = np.zeros(len(order), dtype=bool)
    best[order[first]] = True
    return best
