"""BLEU of a whole corpus, one reference a text.

Equal to sacrebleu's `corpus_bleu` with its defaults, divided by 100 (Papineni et al. 2002; Post
2018): counts are added up over the corpus first, orders without a match are smoothed
exponentially, and a corpus too short to have four-grams scores 0.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from markscheme.metrics.overlap import Integers, longer, shared, token_grams
from markscheme.metrics.pairs import Pairs, by_pieces
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
    pairs = Pairs.of(answers, references)
    spread = pairs.spread(pairs.answers)
    scores = by_pieces(_bleu, spread, pairs.references, size=PIECE_BYTES)
    return pairs.best(scores.set(spread.is_null(), None))


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
    return pl.Series(_scores(*matches(answers, references)))


def matches(answers: pl.Series, references: pl.Series) -> tuple[Integers, Integers, Integers]:
    """What BLEU counts of n pairs of texts.

    Returns the runs of 1 to ORDERS tokens that the texts of a pair share, shape (ORDERS, n), and
    how many tokens the answers and the references have, each of shape (n,).
    """
    sides = pl.DataFrame({"answer": answers, "reference": references}).select(
        answer=tokens_13a(pl.col("answer")), reference=tokens_13a(pl.col("reference"))
    )
    tokens = token_grams(sides["answer"], sides["reference"])
    lengths = [side.counts() for side in tokens]
    grams = tokens
    matched = [shared(*tokens)]
    for order in range(2, ORDERS + 1):
        # Longer runs are shared only where shorter ones are.
        going_on = matched[-1] > 0
        tokens = (tokens[0].of_texts(going_on), tokens[1].of_texts(going_on))
        grams = (grams[0].of_texts(going_on), grams[1].of_texts(going_on))
        grams = longer(grams, tokens, order=order)
        matched.append(shared(*grams))
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
