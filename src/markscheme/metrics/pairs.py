"""Answers against each of their references: laid out, tokens in common, the best of each."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
from rapidfuzz.process import cdist, cpdist

from markscheme.text import SPACES

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Pairs:
    """One answer-reference pair a position, in the order of the answers.

    `counts` holds the number of references of each answer (null references are left out);
    `answers` is one text an answer, `references` one text a pair.
    """

    answers: pl.Series
    references: pl.Series
    counts: Integers

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
        """One value per answer, repeated to one value per pair."""
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

    Token-level work needs some fifty times the memory of its text; this bounds it. A text of `left`
    that follows itself counts once, as `function` reads it once (`without_repeats`).
    """
    texts, owner = without_repeats(left)
    sizes = right.str.len_bytes().fill_null(0).to_numpy().astype(np.int64)
    begins = np.flatnonzero(np.diff(owner, prepend=-1))
    sizes[begins] += texts.str.len_bytes().fill_null(0).to_numpy()
    piece = pl.Series(np.cumsum(sizes) // size)
    edges = [0, *((piece.diff() != 0).arg_true().to_list()), len(left)]
    parts = [
        function(left[start:stop], right[start:stop]) for start, stop in itertools.pairwise(edges)
    ]
    return pl.concat(parts)


def without_repeats(texts: pl.Series) -> tuple[pl.Series, Integers]:
    """Texts (String) but for those that equal the one before, and the place in them of each.

    An answer follows itself once for each of its references: what is done with its text is so done
    once.
    """
    runs = texts.rle().struct.unnest()
    return runs["value"], np.repeat(np.arange(runs.height), runs["len"].to_numpy())


def as_written(
    scores: pl.Series,
    normalised: Pairs,
    raw: Pairs,
    compare: Callable[[pl.Series, pl.Series], pl.Series],
) -> pl.Series:
    """One score per pair, with references that normalise to nothing compared as they are written.

    `compare` gets the answers and references of those pairs (two String columns of one length),
    trimmed and in lower case.
    """
    empty = (normalised.references == "").arg_true()
    if not len(empty):
        return scores
    # Before an answer is repeated for each of its references, which takes no memory.
    raw = raw.map(lambda texts: texts.str.to_lowercase().str.strip_chars(" " + SPACES))
    answers, references = raw.spread(raw.answers).gather(empty), raw.references.gather(empty)
    return scores.scatter(empty, compare(answers, references).cast(scores.dtype))


_MANY = 64
"""References of an answer from which on they are compared with it in a call of their own."""


def likeness(
    answers: Sequence[Any],
    references: Sequence[Any],
    owner: Integers,
    *,
    scorer: Callable[..., Any],
    dtype: npt.DTypeLike,
) -> npt.NDArray[Any]:
    """RapidFuzz's `scorer` of n references (texts or lists), each with `answers[owner[i]]`.

    `owner` ascends, shape (n,). So many calls as answers with very many references, and one for all
    others: `cpdist` reads an answer anew for each of its references, `cdist` once.
    """
    scores = np.zeros(len(owner), dtype)
    counts = np.bincount(owner, minlength=len(answers))
    few = np.flatnonzero(counts[owner] < _MANY)
    scores[few] = cpdist(
        [answers[place] for place in owner[few].tolist()],
        [references[place] for place in few.tolist()],
        scorer=scorer,
        dtype=dtype,
        workers=-1,
    )
    ends = np.cumsum(counts)
    for place in np.flatnonzero(counts >= _MANY).tolist():
        mine = slice(ends[place] - counts[place], ends[place])
        (scores[mine],) = cdist(
            [answers[place]], references[mine], scorer=scorer, dtype=dtype, workers=-1
        )
    return scores


# --- How many tokens, or runs of n tokens, two lists of tokens share, counted with repeats --------


@dataclass(frozen=True, kw_only=True)
class Grams:
    """Runs of n tokens of m texts, flat: the text each occurs in, its place there, its identity.

    Equal runs have equal identities on both sides of one `token_grams` call.
    """

    text: Integers
    identity: Integers
    texts: int

    def counts(self) -> Integers:
        """Number of runs in each text, shape (texts,)."""
        return np.bincount(self.text, minlength=self.texts).astype(np.int64)

    def of_texts(self, wanted: npt.NDArray[np.bool_]) -> Grams:
        """The runs of the texts that are wanted, shape (texts,); the other texts keep none."""
        retained = wanted[self.text]
        return Grams(text=self.text[retained], identity=self.identity[retained], texts=self.texts)

    def sequences(self) -> list[list[int]]:
        """The identities of each text as a list."""
        identities = self.identity.tolist()
        ends = np.cumsum(self.counts()).tolist()
        return [identities[start:stop] for start, stop in itertools.pairwise([0, *ends])]


def token_grams(left: pl.Series, right: pl.Series) -> tuple[Grams, Grams]:
    """Two List(String) columns as runs of one token, with common identities."""
    lengths = [side.list.len().fill_null(0).to_numpy().astype(np.int64) for side in (left, right)]
    flat = pl.concat(
        [side.explode(empty_as_null=False, keep_nulls=False) for side in (left, right)]
    )
    own_dictionary = pl.Categorical(pl.Categories.random())
    identity = flat.cast(own_dictionary).to_physical().to_numpy().astype(np.int64)
    cut = int(lengths[0].sum())
    left_grams, right_grams = (
        Grams(text=np.repeat(np.arange(len(length)), length), identity=ids, texts=len(length))
        for length, ids in zip(lengths, (identity[:cut], identity[cut:]), strict=True)
    )
    return left_grams, right_grams


def pair_grams(
    answers: pl.Series, references: pl.Series, split: Callable[[pl.Expr], pl.Expr]
) -> tuple[Grams, Grams, Integers]:
    """Tokens of the answers and of the references of n pairs (String), and which answer each
    reference is of, shape (n,).

    An answer that follows itself is split once.
    """
    distinct, owner = without_repeats(answers)
    left, right = (
        side.to_frame("text").select(split(pl.col("text"))).to_series()
        for side in (distinct, references)
    )
    return *token_grams(left, right), owner


def longer(
    grams: tuple[Grams, Grams], tokens: tuple[Grams, Grams], *, order: int
) -> tuple[Grams, Grams]:
    """Runs of `order` tokens from the runs one shorter and the tokens themselves."""
    base = 1 + max((int(side.identity.max(initial=0)) for side in tokens), default=0)
    texts: list[Integers] = []
    keys: list[Integers] = []
    for shorter, single in zip(grams, tokens, strict=True):
        inside = single.text[order - 1 :] == single.text[: max(0, len(single.text) - order + 1)]
        whole = shorter.text[1:] == shorter.text[:-1]
        texts.append(single.text[order - 1 :][inside])
        keys.append(shorter.identity[:-1][whole] * base + single.identity[order - 1 :][inside])
    dense = pl.Series(np.concatenate(keys)).rank("dense").to_numpy()
    cut = len(keys[0])
    left, right = (
        Grams(text=text, identity=ids.astype(np.int64), texts=side.texts)
        for text, ids, side in zip(texts, (dense[:cut], dense[cut:]), tokens, strict=True)
    )
    return left, right


def shared(left: Grams, right: Grams, owner: Integers | None = None) -> Integers:
    """Size of the multiset intersection of each text of `right` with its text of `left`.

    `owner` says which, shape (texts of `right`,); None pairs them one by one.
    """
    base = 1 + max(int(side.identity.max(initial=0)) for side in (left, right))
    (left_keys, left_counts), (right_keys, right_counts) = (
        np.unique(side.text * base + side.identity, return_counts=True) for side in (left, right)
    )
    if not len(left_keys):
        return np.zeros(right.texts, np.int64)
    text, identity = np.divmod(right_keys, base)
    wanted = right_keys if owner is None else owner[text] * base + identity
    place = np.searchsorted(left_keys, wanted).clip(max=len(left_keys) - 1)
    least = np.where(left_keys[place] == wanted, np.minimum(left_counts[place], right_counts), 0)
    return np.bincount(text, weights=least, minlength=right.texts).astype(np.int64)
