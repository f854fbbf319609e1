"""ROUGE-1, ROUGE-2 and ROUGE-L on columns, the best F-measure over the references.

Equal to the `rouge-score` package with `use_stemmer=False` (Lin 2004): lower-cased runs of ASCII
letters and digits are the tokens, so a text without any, such as one in Chinese, scores 0. Every
function takes n answers (String) and n lists of references (List(String)) and gives n scores
(Float64, 0 to 1) in the same order; null where the answer is null or has no reference.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import polars as pl
from rapidfuzz.distance import LCSseq
from rapidfuzz.process import cpdist

from markscheme.metrics.overlap import Grams, Integers, longer, shared, token_grams
from markscheme.metrics.pairs import Pairs, by_pieces

PIECE_BYTES = 2**23


def rouge1(answers: pl.Series, references: pl.Series) -> pl.Series:
    """F-measure of shared tokens, counted with repeats."""
    return _best(partial(_rouge_n, order=1), answers, references)


def rouge2(answers: pl.Series, references: pl.Series) -> pl.Series:
    """F-measure of shared pairs of neighbouring tokens, counted with repeats."""
    return _best(partial(_rouge_n, order=2), answers, references)


def rouge_l(answers: pl.Series, references: pl.Series) -> pl.Series:
    """F-measure of the longest common subsequence of tokens."""
    return _best(_rouge_l, answers, references)


def _best(
    score: Callable[[pl.Series, pl.Series], pl.Series], answers: pl.Series, references: pl.Series
) -> pl.Series:
    pairs = Pairs.of(answers, references)
    spread = pairs.spread(pairs.answers)
    scores = by_pieces(score, spread, pairs.references, size=PIECE_BYTES)
    return pairs.best(scores.set(spread.is_null(), None))


def _tokens(answers: pl.Series, references: pl.Series) -> tuple[Grams, Grams]:
    sides = pl.DataFrame({"answer": answers, "reference": references}).select(
        pl.all().str.to_lowercase().str.extract_all("[a-z0-9]+")
    )
    return token_grams(sides["answer"], sides["reference"])


def _f_measure(common: Integers, left: Integers, right: Integers) -> pl.Series:
    """2PR / (P + R), which is twice what is common over both sizes; 0 where nothing is common."""
    return pl.Series(
        np.divide(2 * common, left + right, where=common > 0, out=np.zeros(len(common)))
    )


def _rouge_n(answers: pl.Series, references: pl.Series, *, order: int) -> pl.Series:
    grams = tokens = _tokens(answers, references)
    for length in range(2, order + 1):
        grams = longer(grams, tokens, order=length)
    left, right = grams
    return _f_measure(shared(left, right), left.counts(), right.counts())


def _rouge_l(answers: pl.Series, references: pl.Series) -> pl.Series:
    left, right = _tokens(answers, references)
    common = cpdist(
        left.sequences(), right.sequences(), scorer=LCSseq.similarity, dtype=np.int64, workers=-1
    )
    return _f_measure(common, left.counts(), right.counts())
