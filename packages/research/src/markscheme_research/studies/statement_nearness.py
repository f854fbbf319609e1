"""How near made statements are to those that people wrote: BLEU, ROUGE, how many are the same."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from markscheme.metrics import bleu_matches, rouge1, rouge2, rouge_l
from markscheme.text import normalise_series


@dataclass(frozen=True, kw_only=True)
class Nearness:
    """Means over `pairs` statements, each from 0 to 1; `missing` of them were not made.

    Attributes:
        bleu: of the corpus, as sacrebleu.
        rouge1, rouge2, rouge_l: mean F-measures.
        exact: share equal after normalisation (case, marks and articles apart).
        pairs, missing: how many; a statement that was not made scores 0 in all measures.
    """

    bleu: float
    rouge1: float
    rouge2: float
    rouge_l: float
    exact: float
    pairs: int
    missing: int


def nearness(made: pl.Series, gold: pl.Series) -> Nearness:
    """Compare n made statements (String, null where none was made) with n of people's (String).

    The measures are those of Yao & Barbosa 2024, Table 8.
    """
    texts = made.fill_null("")
    listed = gold.to_frame("gold").select(pl.concat_list("gold")).to_series()
    empty = made.is_empty()

    def mean(scores: pl.Series) -> float:
        value = scores.fill_null(0.0).mean()
        return 0.0 if empty or not isinstance(value, float) else value

    return Nearness(
        bleu=corpus_bleu(texts, gold),
        rouge1=mean(rouge1(texts, listed)),
        rouge2=mean(rouge2(texts, listed)),
        rouge_l=mean(rouge_l(texts, listed)),
        exact=mean((normalise_series(texts) == normalise_series(gold)).cast(pl.Float64)),
        pairs=made.len(),
        missing=made.null_count(),
    )


def corpus_bleu(texts: pl.Series, references: pl.Series) -> float:
    """BLEU of n texts (String, no nulls) against n references, from 0 to 1; 0 for no texts.

    Equal to sacrebleu's `corpus_bleu` with its defaults, divided by 100 (Papineni et al. 2002; Post
    2018): counts are added up over the corpus first, orders without a match are smoothed
    exponentially, and a corpus too short to have four-grams scores 0.

    >>> corpus_bleu(pl.Series(["the cat sat on a mat"]), pl.Series(["the cat sat on a mat"]))
    1.0
    """
    if texts.is_empty():
        return 0.0
    matched, length, reference_length = bleu_matches(texts, references)
    correct = matched.sum(axis=1)
    possible = np.maximum(length - np.arange(len(matched))[:, None], 0).sum(axis=1)
    if not correct[0] or not possible.all():
        return 0.0
    missed = correct == 0
    precision = np.where(missed, 1 / 2.0 ** np.cumsum(missed), correct) / possible
    brevity = min(0.0, 1 - reference_length.sum() / length.sum())
    return float(np.exp(brevity + np.log(precision).mean()))
