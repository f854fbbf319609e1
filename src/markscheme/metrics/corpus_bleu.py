"""BLEU of a whole corpus, one reference a text.

Equal to sacrebleu's `corpus_bleu` with its defaults, divided by 100 (Papineni et al. 2002; Post
2018): counts are added up over the corpus first, orders without a match are smoothed
exponentially, and a corpus too short to have four-grams scores 0.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from markscheme.metrics.bleu import ORDERS, matches


def corpus_bleu(texts: pl.Series, references: pl.Series) -> float:
    """BLEU of n texts (String, no nulls) against n references, from 0 to 1; 0 for no texts.

    >>> corpus_bleu(pl.Series(["the cat sat on a mat"]), pl.Series(["the cat sat on a mat"]))
    1.0
    """
    if texts.is_empty():
        return 0.0
    matched, length, reference_length = matches(texts, references)
    correct = matched.sum(axis=1)
    possible = np.maximum(length - np.arange(ORDERS)[:, None], 0).sum(axis=1)
    if not correct[0] or not possible.all():
        return 0.0
    missed = correct == 0
    precision = np.where(missed, 1 / 2.0 ** np.cumsum(missed), correct) / possible
    brevity = min(0.0, 1 - reference_length.sum() / length.sum())
    return float(np.exp(brevity + np.log(precision).mean()))
