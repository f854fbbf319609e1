"""Judges that measure overlap of words or characters: ROUGE, BLEU, character similarity."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import polars as pl

from markscheme.contract import ModelSource, register
from markscheme.judges.outcomes import LEXICAL, Thresholded, by_threshold
from markscheme.metrics import bleu, char_similarity, rouge1, rouge2, rouge_l


@dataclass(frozen=True, kw_only=True)
class Overlap(Thresholded):
    """A measure of the answer against its best reference, accepted at or above a threshold."""

    def judge(self, answers: pl.DataFrame, models: ModelSource) -> pl.DataFrame:
        scores = self.measure(answers["answer"], answers["references"])
        return by_threshold(answers, scores, self.threshold)

    @staticmethod
    @abstractmethod
    def measure(answers: pl.Series, references: pl.Series) -> pl.Series:
        """The score of each answer, 0 to 1; null where there is no reference."""


@register("rouge1", paper="Lin 2004", needs=LEXICAL, example="rouge1(threshold=0.3)")
@dataclass(frozen=True, kw_only=True)
class Rouge1(Overlap):
    """Highest ROUGE-1 F-measure over the references, accepted at or above a threshold.

    Equal to the rouge-score package without stemming.
    """

    measure = staticmethod(rouge1)


@register("rouge2", paper="Lin 2004", needs=LEXICAL, example="rouge2(threshold=0.3)")
@dataclass(frozen=True, kw_only=True)
class Rouge2(Overlap):
    """Highest ROUGE-2 F-measure over the references, accepted at or above a threshold.

    Equal to the rouge-score package without stemming. A text of one word has no pairs of words and
    scores 0, even if it equals the reference.
    """

    measure = staticmethod(rouge2)


@register("rougeL", paper="Lin 2004", needs=LEXICAL, example="rougeL(threshold=0.3)")
@dataclass(frozen=True, kw_only=True)
class RougeL(Overlap):
    """Highest ROUGE-L F-measure over the references, accepted at or above a threshold.

    Equal to the rouge-score package without stemming.
    """

    measure = staticmethod(rouge_l)


@register(
    "bleu", paper="Papineni et al. 2002; Post 2018", needs=LEXICAL, example="bleu(threshold=0.2)"
)
@dataclass(frozen=True, kw_only=True)
class Bleu(Overlap):
    """Highest sentence BLEU over the references, accepted at or above a threshold.

    Equal to sacrebleu's `sentence_bleu` against each reference by itself, divided by 100.
    """

    measure = staticmethod(bleu)


@register("char_similarity", needs=LEXICAL, example="char_similarity(threshold=0.9)")
@dataclass(frozen=True, kw_only=True)
class CharSimilarity(Overlap):
    """Highest likeness of characters over the references, accepted at or above a threshold.

    RapidFuzz's `ratio`, from 0 to 1: misspellings cost little.
    """

    threshold: float = 0.8

    measure = staticmethod(char_similarity)
