"""How much of a reference an answer covers, in order: the recall half of ROUGE-L."""

from __future__ import annotations

import numpy as np
import polars as pl
from rapidfuzz.distance import LCSseq
from rapidfuzz.process import cpdist

from markscheme.metrics import token_grams


def rouge_l_recall(answers: pl.Series, references: pl.Series) -> pl.Series:
    """Longest common subsequence of words over the reference's length (Lin 2004, equation 2).

    Unlike the F-measure it does not fall as an answer says more than its reference.

    Args:
        answers, references: String, of equal length; no nulls. Words are lower-cased runs of ASCII
            letters and digits.

    Returns:
        Float64, 0 to 1; 0 where the reference has no word.
    """
    sides = pl.DataFrame({"answer": answers, "reference": references}).select(
        pl.all().str.to_lowercase().str.extract_all("[a-z0-9]+")
    )
    left, right = token_grams(sides["answer"], sides["reference"])
    common = cpdist(
        left.sequences(), right.sequences(), scorer=LCSseq.similarity, dtype=np.int64, workers=-1
    )
    sizes = right.counts()
    return pl.Series(np.divide(common, sizes, where=sizes > 0, out=np.zeros(len(common))))
