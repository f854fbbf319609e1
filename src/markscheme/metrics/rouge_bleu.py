"""Sentence BLEU and ROUGE on columns.

BLEU is equal to sacrebleu's `sentence_bleu` with its defaults, divided by 100 (Papineni et al.
2002; Post 2018): orders without a match are smoothed exponentially.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import numpy.typing as npt
import polars as pl
from rapidfuzz.distance import LCSseq

from markscheme.metrics.pairs import (
    Integers,
    Pairs,
    by_pieces,
    likeness,
    longer,
    pair_grams,
    shared,
)
from markscheme.text import SPACES as ODD_SPACES

ORDERS = 4
SPACES = " " + ODD_SPACES
PIECE_BYTES = 2**22

_MARKUP = {"<skipped>": "", "-\n": "", "\n": " "}
_ENTITIES = {"&quot;": '"', "&amp;": "&", "&lt;": "<", "&gt;": ">"}
_MARKS = '!"#$%&()*+/:;<=>?@[\\]^_`{|}~'
"""ASCII marks that are tokens of their own: all but apostrophe, comma, dash and full stop."""
_SPLITS = (
    (r"([^0-9])([.,])", "$1 $2 "),
    (r"([.,])([^0-9])", " $1 $2"),
    (r"([0-9])(-)", "$1 $2 "),
)


def bleu(answers: pl.Series, references: pl.Series) -> pl.Series:
    """Highest sentence BLEU of n answers (String) over their references (List(String)).

    Returns n scores (Float64, 0 to 1) in order; null where the answer is null or has no reference.
    """
    return _best(_bleu, answers, references)


def tokens_13a(text: pl.Expr) -> pl.Expr:
    """Tokens of mteval's tokeniser 13a as sacrebleu has it: List(String)."""
    line = text.str.strip_chars_end(SPACES)
    for old, new in (_MARKUP | _ENTITIES).items():
        line = line.str.replace_all(old, new, literal=True)
    line = pl.concat_str(pl.lit(" "), line, pl.lit(" "))
    line = line.str.replace_many(list(_MARKS), [f" {mark} " for mark in _MARKS])
    for pattern, replacement in _SPLITS:
        line = line.str.replace_all(pattern, replacement)
    return line.str.extract_all(f"[^{SPACES}]+")


def _bleu(answers: pl.Series, references: pl.Series) -> pl.Series:
    return pl.Series(_scores(*bleu_matches(answers, references)))


def bleu_matches(answers: pl.Series, references: pl.Series) -> tuple[Integers, Integers, Integers]:
    """What BLEU counts of n pairs of texts.

    Returns the runs of 1 to ORDERS tokens that the texts of a pair share, shape (ORDERS, n), and
    how many tokens the answers and the references have, each of shape (n,).
    """
    left, right, owner = pair_grams(answers, references, tokens_13a)
    lengths = left.counts()[owner], right.counts()
    grams = tokens = left, right
    matched = [shared(*tokens, owner)]
    for order in range(2, ORDERS + 1):
        # Longer runs are shared only where shorter ones are.
        going_on = matched[-1] > 0
        tokens = (left, tokens[1].of_texts(going_on))
        grams = longer((grams[0], grams[1].of_texts(going_on)), tokens, order=order)
        matched.append(shared(*grams, owner))
    return np.stack(matched), lengths[0], lengths[1]


def _scores(
    matched: Integers, length: Integers, reference_length: Integers
) -> npt.NDArray[np.float64]:
    """BLEU of each pair from its matches per order, shape (ORDERS, pairs), and its lengths."""
    possible = length - np.arange(ORDERS)[:, None]
    counted = possible > 0
    missed = counted & (matched == 0)
    halvings = 2.0 ** np.cumsum(missed, axis=0)
    precision = np.where(missed, 1 / halvings, matched) / np.where(counted, possible, 1)
    logs = np.log(precision, where=counted, out=np.zeros(precision.shape))
    any_match = matched[0] > 0
    safe_length = np.where(any_match, length, 1)
    brevity = np.minimum(0, 1 - reference_length / safe_length)
    scores = np.exp(brevity + logs.sum(axis=0) / np.minimum(safe_length, ORDERS))
    return np.where(any_match, scores, 0.0)


# --- ROUGE-1, ROUGE-2 and ROUGE-L on columns, the best figure over the references -----------------
# Equal to the `rouge-score` package with `use_stemmer=False` (Lin 2004): lower-cased runs of ASCII
# letters and digits are the tokens, so a text without any, such as one in Chinese, scores 0. Every
# function takes n answers (String) and n lists of references (List(String)) and gives n scores
# (Float64, 0 to 1) in the same order; null where the answer is null or has no reference.


def rouge1(answers: pl.Series, references: pl.Series) -> pl.Series:
    """F-measure of shared tokens, counted with repeats."""
    return _best(partial(_rouge_n, order=1), answers, references)


def rouge2(answers: pl.Series, references: pl.Series) -> pl.Series:
    """F-measure of shared pairs of neighbouring tokens, counted with repeats."""
    return _best(partial(_rouge_n, order=2), answers, references)


def rouge_l(answers: pl.Series, references: pl.Series, *, recall: bool = False) -> pl.Series:
    """F-measure of the longest common subsequence of tokens, or its `recall` alone.

    Recall is its length over the reference's (Lin 2004, equation 2): it does not fall as an answer
    says more than its reference, and is 0 where that has no token.
    """
    return _best(partial(_rouge_l, recall=recall), answers, references)


def _best(
    score: Callable[[pl.Series, pl.Series], pl.Series], answers: pl.Series, references: pl.Series
) -> pl.Series:
    pairs = Pairs.of(answers, references)
    spread = pairs.spread(pairs.answers)
    scores = by_pieces(score, spread, pairs.references, size=PIECE_BYTES)
    return pairs.best(scores.set(spread.is_null(), None))


def _words(text: pl.Expr) -> pl.Expr:
    return text.str.to_lowercase().str.extract_all("[a-z0-9]+")


def _f_measure(common: Integers, left: Integers, right: Integers) -> pl.Series:
    """2PR / (P + R), which is twice what is common over both sizes; 0 where nothing is common."""
    return pl.Series(
        np.divide(2 * common, left + right, where=common > 0, out=np.zeros(len(common)))
    )


def _rouge_n(answers: pl.Series, references: pl.Series, *, order: int) -> pl.Series:
    left, right, owner = pair_grams(answers, references, _words)
    grams = tokens = left, right
    for length in range(2, order + 1):
        grams = longer(grams, tokens, order=length)
    left, right = grams
    return _f_measure(shared(left, right, owner), left.counts()[owner], right.counts())


def _rouge_l(answers: pl.Series, references: pl.Series, *, recall: bool) -> pl.Series:
    left, right, owner = pair_grams(answers, references, _words)
    # No subsequence is longer than what is shared, so that one token or none is that long.
    common = shared(left, right, owner)
    several = np.flatnonzero(common > 1)
    reference = right.sequences()
    common[several] = likeness(
        left.sequences(),
        [reference[place] for place in several],
        owner[several],
        scorer=LCSseq.similarity,
        dtype=np.int64,
    )
    if recall:
        sizes = right.counts()
        return pl.Series(np.divide(common, sizes, where=sizes > 0, out=np.zeros(len(common))))
    return _f_measure(common, left.counts()[owner], right.counts())
