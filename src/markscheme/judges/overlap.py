"""Judges that measure overlap of words or characters: ROUGE, BLEU, character similarity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from markscheme.judges.outcomes import by_threshold
from markscheme.registry import register


@register("rouge1", paper="Lin 2004", example="rouge1(threshold=0.3)")
@dataclass(frozen=True, kw_only=True)
class Rouge1:
    """Highest ROUGE-1 F-measure over the references, right from a threshold on.

    Equal to the rouge-score package without stemming.
    """

    threshold: float = 0.5

    def judge(self, answers: pl.DataFrame, models: Any) -> pl.DataFrame:  # noqa: ARG002
        from markscheme.metrics.rouge import rouge1

        return by_threshold(
            answers, rouge1(answers["answer"], answers["references"]), self.threshold
        )


@register("rouge2", paper="Lin 2004", example="rouge2(threshold=0.3)")
@dataclass(frozen=True, kw_only=True)
class Rouge2:
    """Highest ROUGE-2 F-measure over the references, right from a threshold on.

    Equal to the rouge-score package without stemming. A text of one word has no pairs of words and
    scores 0, even if it equals the reference.
    """

    threshold: float = 0.5

    def judge(self, answers: pl.DataFrame, models: Any) -> pl.DataFrame:  # noqa: ARG002
        from markscheme.metrics.rouge import rouge2

        return by_threshold(
            answers, rouge2(answers["answer"], answers["references"]), self.threshold
        )


@register("rougeL", paper="Lin 2004", example="rougeL(threshold=0.3)")
@dataclass(frozen=True, kw_only=True)
class RougeL:
    """Highest ROUGE-L F-measure over the references, right from a threshold on.

    Equal to the rouge-score package without stemming.
    """

    threshold: float = 0.5

    def judge(self, answers: pl.DataFrame, models: Any) -> pl.DataFrame:  # noqa: ARG002
        from markscheme.metrics.rouge import rouge_l

        return by_threshold(
            answers, rouge_l(answers["answer"], answers["references"]), self.threshold
        )


@register("bleu", paper="Papineni et al. 2002; Post 2018", example="bleu(threshold=0.2)")
@dataclass(frozen=True, kw_only=True)
class Bleu:
    """Highest sentence BLEU over the references, right from a threshold on.

    Equal to sacrebleu's `sentence_bleu` against each reference by itself, divided by 100.
    """

    threshold: float = 0.5

    def judge(self, answers: pl.DataFrame, models: Any) -> pl.DataFrame:  # noqa: ARG002
        from markscheme.metrics.bleu import bleu

        return by_threshold(answers, bleu(answers["answer"], answers["references"]), self.threshold)


@register("char_similarity", example="char_similarity(threshold=0.9)")
@dataclass(frozen=True, kw_only=True)
class CharSimilarity:
    """Highest likeness of normalised characters over the references, right from a threshold on.

    RapidFuzz's `ratio`, from 0 to 1: misspellings cost little.
    """

    threshold: float = 0.8

    def judge(self, answers: pl.DataFrame, models: Any) -> pl.DataFrame:  # noqa: ARG002
        from markscheme.metrics.similarity import char_similarity

        return by_threshold(
            answers, char_similarity(answers["answer"], answers["references"]), self.threshold
        )
