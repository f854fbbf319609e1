"""Answers laid out against each of their references, and the way back: the best of each answer."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from markscheme.text import SPACES

Indices = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Pairs:
    """One answer-reference pair a position, in the order of the answers.

    `counts` holds the number of references of each answer (null references are left out);
    `answers` is one text an answer, `references` one text a pair.
    """

    answers: pl.Series
    references: pl.Series
    counts: Indices

    @classmethod
    def of(cls, answers: pl.Series, references: pl.Series) -> Pairs:
        """Pair each of n answers (String) with its references (List(String)), both of length n."""
        lists = references.cast(pl.List(pl.String))
        flat = lists.explode(empty_as_null=False, keep_nulls=False)
        if flat.null_count():
            lists = lists.list.drop_nulls()
            flat = flat.drop_nulls()
        counts = lists.list.len().fill_null(0).to_numpy().astype(np.int64)
        return cls(answers=answers, references=flat, counts=counts)

    def map(self, text: Callable[[pl.Series], pl.Series]) -> Pairs:
        """The same pairs with `text` applied to every answer once and to every reference."""
        return Pairs(
            answers=text(self.answers), references=text(self.references), counts=self.counts
        )

    def spread(self, per_answer: pl.Series) -> pl.Series:
        """A value an answer repeated to a value a pair."""
        if (self.counts == 1).all():
            return per_answer
        return per_answer.gather(np.repeat(np.arange(len(self.counts)), self.counts))

    def best(self, per_pair: pl.Series) -> pl.Series:
        """The highest of each answer's pairs as Float64; null without references or answer."""
        scores = per_pair.cast(pl.Float64).fill_null(float("nan")).to_numpy()
        answered = self.counts > 0
        best = np.full(len(self.counts), np.nan)
        if answered.any():
            starts = (np.cumsum(self.counts) - self.counts)[answered]
            best[answered] = np.maximum.reduceat(scores, starts)
        return pl.Series("score", best).fill_nan(None)


def by_pieces(
    function: Callable[[pl.Series, pl.Series], pl.Series],
    left: pl.Series,
    right: pl.Series,
    *,
    size: int,
) -> pl.Series:
    """`function` of two equally long String columns, in pieces of about so many bytes.

    Token-level work needs some fifty times the memory of its text; this bounds it.
    """
    piece = pl.select(
        (left.str.len_bytes() + right.str.len_bytes()).fill_null(0).cum_sum() // size
    ).to_series()
    edges = [0, *((piece.diff() != 0).arg_true().to_list()), len(left)]
    parts = [
        function(left[start:stop], right[start:stop]) for start, stop in itertools.pairwise(edges)
    ]
    return pl.concat(parts)


def as_written(
    scores: pl.Series,
    normalised: Pairs,
    raw: Pairs,
    compare: Callable[[pl.Series, pl.Series], pl.Series],
) -> pl.Series:
    """A score a pair, with references that normalise to nothing compared as they are written.

    `compare` gets the answers and references of those pairs (two String columns of one length),
    trimmed and in lower case.
    """
    empty = (normalised.references == "").arg_true()
    if not len(empty):
        return scores
    answers, references = (
        texts.gather(empty).str.to_lowercase().str.strip_chars(" " + SPACES)
        for texts in (raw.spread(raw.answers), raw.references)
    )
    return scores.scatter(empty, compare(answers, references).cast(scores.dtype))
