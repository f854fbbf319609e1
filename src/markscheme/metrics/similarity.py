"""Likeness of characters and of token vectors, the best over the references."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl
from rapidfuzz.distance import Indel
from rapidfuzz.process import cpdist

from markscheme.metrics.pairs import Pairs, as_written
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
    scores = cpdist(
        answers.fill_null("").to_list(),
        references.to_list(),
        scorer=Indel.normalized_similarity,
        dtype=np.float64,
        workers=-1,
    )
    return pl.Series(scores, dtype=pl.Float64).set(answers.is_null(), None)


# --- BERTScore from token vectors (Zhang et al. 2020, ICLR, section 3) ----------------------------


Vectors = npt.NDArray[np.float32]
Bools = npt.NDArray[np.bool_]
Tokens = tuple[Vectors, Bools]


def bertscore_f1(answer: Tokens, reference: Tokens) -> float:
    """Greedy matching of tokens by cosine: the harmonic mean of precision and recall.

    Each is the mean, over the tokens of one text, of the highest cosine with any token of the
    other. Tokens that only frame a text may be matched but have no weight, as in the authors'
    code without idf weights.

    Args:
        answer, reference: (tokens, width) vectors of length one, and which tokens are of the text.

    Returns:
        From -1 to 1; 0 where a text has no token of its own.
    """
    cosines = answer[0] @ reference[0].T
    if not answer[1].any() or not reference[1].any():
        return 0.0
    precision = float(cosines.max(axis=1)[answer[1]].mean())
    recall = float(cosines.max(axis=0)[reference[1]].mean())
    total = precision + recall
    return 2 * precision * recall / total if total > 0 else 0.0
