"""Likeness of characters, the best over the references."""

from __future__ import annotations

import numpy as np
import polars as pl
from rapidfuzz.distance import Indel

from markscheme.metrics.pairs import Pairs, as_written, by_pieces, likeness, without_repeats
from markscheme.text import normalise_series


def char_similarity(answers: pl.Series, references: pl.Series) -> pl.Series:
    """Highest normalised Indel similarity of the SQuAD-normalised texts over the references.

    Twice the longest common subsequence of characters over both lengths (RapidFuzz's `ratio`
    divided by 100). A reference that normalises to nothing ("A", "*") is compared with the answer
    as both are written, upper and lower case alike.

    Args:
        answers: n texts (String).
        references: n lists of texts (List(String)).

    Returns:
        n scores (Float64, 0 to 1) in order; null where the answer is null or has no reference.
    """
    raw = Pairs.of(answers, references)
    pairs = raw.map(normalise_series)
    scores = _similarity(pairs.spread(pairs.answers), pairs.references)
    return pairs.best(as_written(scores, pairs, raw, _similarity))


def _similarity(answers: pl.Series, references: pl.Series) -> pl.Series:
    return by_pieces(_of_pairs, answers, references, size=2**23)


def _of_pairs(answers: pl.Series, references: pl.Series) -> pl.Series:
    distinct, owner = without_repeats(answers)
    scores = likeness(
        distinct.fill_null("").to_list(),
        references.to_list(),
        owner,
        scorer=Indel.normalized_similarity,
        dtype=np.float64,
    )
    return pl.Series(scores).set(answers.is_null(), None)
