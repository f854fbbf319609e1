"""Likeness of characters, the best over the references."""

from __future__ import annotations

import numpy as np
import polars as pl
from rapidfuzz.distance import Indel
from rapidfuzz.process import cpdist

from markscheme.metrics.pairs import Pairs
from markscheme.text import normalise_series


def char_similarity(answers: pl.Series, references: pl.Series) -> pl.Series:
    """Highest normalised Indel similarity of the SQuAD-normalised texts over the references.

    Twice the longest common subsequence of characters over both lengths (RapidFuzz's `ratio`
    divided by 100); 1 for two texts that normalise to nothing.

    Args:
        answers: n texts (String).
        references: n lists of texts (List(String)).

    Returns:
        n scores (Float64, 0 to 1) in order; null where the answer is null or has no reference.
    """
    return char_similarity_of(Pairs.of(answers, references).map(normalise_series))


def char_similarity_of(pairs: Pairs) -> pl.Series:
    """`char_similarity` of pairs already normalised."""
    spread = pairs.spread(pairs.answers)
    scores = cpdist(
        spread.fill_null("").to_list(),
        pairs.references.to_list(),
        scorer=Indel.normalized_similarity,
        dtype=np.float64,
        workers=-1,
    )
    return pairs.best(pl.Series(scores).set(spread.is_null(), None))
