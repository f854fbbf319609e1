"""The judge that measures likeness by the sentence encoder that ships, and the best reference."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from markscheme.contract import ModelSource, Needs, register
from markscheme.judges.outcomes import (
    MOST_ENCODED,
    Thresholded,
    by_threshold,
    noting_references,
    with_nearest_references,
)
from markscheme.metrics import Pairs

Floats = npt.NDArray[np.float64]
Texts = Sequence[str]

_CHARACTERS = 100_000
"""Of a question and of a text that an encoder is given, many times what the one that ships reads.
A question comes before each reference, so that long ones would fill the memory."""

_DECIMALS = 4
"""Scores are rounded: the last digits of a sum of floats depend on the batch's other rows."""


@register(
    "embedding_cosine",
    paper="Reimers & Gurevych 2019",
    needs=Needs(chat=False, references="required"),
)
@dataclass(frozen=True, kw_only=True)
class EmbeddingCosine(Thresholded):
    """Highest cosine of sentence embeddings over the references, by the MiniLM that ships.

    Offline, without torch. With `question` (the default) the question precedes both answer and
    reference, so that they are compared as answers to it. The default threshold is the best
    by accuracy on 3,000 answers of EVOUNA-NQ, none of them to a question of NQ301. That is for
    short facts. Explanations it orders badly (rank correlation .15 to .20 within a question),
    where a plain cosine has .37: use `question=false`, with a threshold from your labels, or a
    listwise judge.
    """

    threshold: float = 0.77
    question: bool = True

    def judge(self, answers: pl.DataFrame, models: ModelSource) -> pl.DataFrame:
        """Cosines below nought count as nought."""
        from markscheme.models import Models

        encoder = (models if models is not None else Models()).encoder()

        def likeness(questions: Texts, texts: Texts, references: Texts) -> Floats:
            before = questions if self.question else [""] * len(questions)
            sides = list(zip([*before, *before], [*texts, *references], strict=True))
            # An answer with its question is one text, however many references it has.
            joined = {
                side: " ".join((text or "")[:_CHARACTERS] for text in side).strip()
                for side in dict.fromkeys(sides)
            }
            vectors = encoder.encode([joined[side] for side in sides])
            left, right = np.split(vectors.astype(np.float64), 2)
            return np.asarray((left * right).sum(axis=1))

        read = with_nearest_references(answers, MOST_ENCODED, math.inf)
        outcomes = by_threshold(read, best_likeness(read, likeness), self.threshold)
        return noting_references(outcomes, answers, read)

    def identity(self, models: ModelSource | None) -> Mapping[str, str]:
        """Hash of the encoder's weights."""
        from markscheme.models import Models

        encoder = (models if models is not None else Models()).encoder()
        return {"encoder": getattr(encoder, "revision", type(encoder).__name__)}


def best_likeness(
    answers: pl.DataFrame, likeness: Callable[[Texts, Texts, Texts], Floats]
) -> pl.Series:
    """For each row the highest likeness over its references, from 0 to 1; null without any.

    Args:
        answers: `question`, `answer` and `references`.
        likeness: gets question, answer and reference of each of n pairs, and gives n numbers.
    """
    pairs = Pairs.of(answers["answer"], answers["references"])
    if pairs.references.is_empty():
        return pairs.best(pl.Series(dtype=pl.Float64))
    # A text that comes again is the same object: a long answer is in memory once.
    owners = np.repeat(np.arange(len(pairs.counts)), pairs.counts).tolist()
    sides = (answers["question"].to_list(), pairs.answers.to_list())
    questions, texts = ([side[owner] for owner in owners] for side in sides)
    scores = likeness(questions, texts, pairs.references.to_list())
    return pairs.best(pl.Series(np.clip(scores, 0.0, 1.0).round(_DECIMALS)))
