"""The examiner: the judge that ships, works offline and explains itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy.special import expit, logit

from markscheme.contract import Encoder, ModelSource, Needs, check_range, register
from markscheme.features.alignment import FeatureView, reworded, ruled
from markscheme.judges.examiner.columns import read_columns
from markscheme.judges.examiner.explanations import explanations, marks, relations
from markscheme.judges.examiner.sentence_likeness import cosines
from markscheme.judges.examiner.weight_files import Weights, open_weights, platt
from markscheme.judges.outcomes import NO_REFERENCE, PATTERNS, has_patterns
from markscheme.models.local import MiniLM
from markscheme.tables import RELATIONS
from markscheme.text import without_injections

Matrix = npt.NDArray[np.float32]
Floats = npt.NDArray[np.float64]
EncoderUse = Literal["auto", "never", "always"]

RULES = 4
"""Raised whenever a feature, `reworded`, `ruled` or what is cut from answers changes."""

_ROWS_AT_ONCE = 16_384
_DECIMALS = 5
"""Scores are rounded, so that a row's score cannot depend on the rows beside it."""


@register(
    "examiner",
    needs=Needs(chat=False, weights="optional", references="required"),
    example="examiner(encoder=never)",
)
@dataclass(frozen=True, kw_only=True)
class Examiner:
    """A trained judge that needs no key, no network and no GPU.

    Trees over how the answer lines up with the references and the question (words, names, negation,
    rivals), over typed values compared (numbers, units, dates, lists) and over small words and word
    order, calibrated to the probability that people accept the answer. Where those leave it unsure,
    sentence embeddings join in. The answer is data: nothing in it is obeyed.

    Attributes:
        threshold: accept from this probability.
        encoder: embeddings where the words leave it unsure (`auto`), `never`, or `always`.
        weights: folder of an examiner trained by `markscheme train examiner`; None is the shipped.
    """

    threshold: float = 0.5
    encoder: EncoderUse = "auto"
    weights: str | None = None

    def validate(self) -> None:
        """Raises JudgeError if the threshold is not within 0 and 1."""
        check_range("threshold", self.threshold, 0, 1)

    def judge(self, answers: pl.DataFrame, models: ModelSource) -> pl.DataFrame:
        """Score, verdict, relation, marks and a sentence for every answer.

        Rows without references, or with regular expressions for references, are `skipped`.

        Raises:
            ModelError: the weights cannot be used.
        """
        usable = answers.select(
            (~has_patterns(answers)) & (pl.col("references").list.len() > 0).fill_null(value=False)
        ).to_series()
        found = [
            self._outcomes(part, _encoder(models))
            for part in answers.filter(usable).iter_slices(_ROWS_AT_ONCE)
        ]
        places = usable.arg_true()
        judged = (
            pl.concat(found).with_columns(place=places)
            if found
            else pl.DataFrame(schema={"place": pl.UInt32, "status": pl.String})
        )
        reason = (
            pl.when(has_patterns(answers)).then(pl.lit(PATTERNS)).otherwise(pl.lit(NO_REFERENCE))
        )
        skipped = (
            answers.with_row_index("place")
            .with_columns(explanation=reason)
            .filter(~usable)
            .select("place", "explanation", status=pl.lit("skipped"))
        )
        return pl.concat([judged, skipped], how="diagonal_relaxed").sort("place").drop("place")

    def identity(self, models: ModelSource | None) -> Mapping[str, str]:
        """What the signature adds: hashes of the weights, and the number of the rules."""
        opened = self._opened()
        found = {"trained": opened.revision, "rules": str(RULES)}
        if self.encoder != "never":
            encoder = _encoder(models) or MiniLM()
            found["embeddings"] = str(getattr(encoder, "revision", type(encoder).__name__))
        return found

    def _opened(self) -> Weights:
        return open_weights(None if self.weights is None else Path(self.weights))

    def _outcomes(self, answers: pl.DataFrame, encoder: Encoder | None) -> pl.DataFrame:
        opened = self._opened()
        said = without_injections(answers["answer"])
        reading = read_columns(answers["question"], answers["references"], said, opened.rarity)
        matrix, view = reading.matrix, reading.view
        scores = score(opened, matrix, view, use=self.encoder, encoder=encoder)
        relation = relations(matrix, scores, self.threshold)
        return pl.DataFrame(
            {
                "status": ["judged"] * len(scores),
                "score": scores,
                "verdict": scores >= self.threshold,
                "relation": [RELATIONS[i] for i in relation.tolist()],
                "marks": np.round(marks(matrix, scores, relation), _DECIMALS),
                "explanation": explanations(
                    view,
                    matrix,
                    scores,
                    relation=relation,
                    threshold=self.threshold,
                    compared=reading.comparisons,
                    spoke=said != answers["answer"],
                ),
            }
        )


def _encoder(models: ModelSource | None) -> Encoder | None:
    """The run's encoder, if the run has models at all."""
    return None if models is None else models.encoder()


def score(
    opened: Weights,
    matrix: Matrix,
    view: FeatureView,
    *,
    use: EncoderUse = "auto",
    encoder: Encoder | None = None,
) -> Floats:
    """Calibrated probabilities of rows whose features are `matrix`."""
    settings = opened.settings
    rule = ruled(matrix)
    scores = platt(np.where(np.isnan(rule), opened.words(matrix), rule), settings.words)
    if use != "never":
        unsure = (scores > settings.unsure_from) & (scores < settings.unsure_to)
        asked = reworded(matrix) & unsure | (use == "always")
        rows = np.flatnonzero(asked & np.isnan(rule))
        both = np.hstack([matrix[rows], cosines(view, rows, encoder or MiniLM())])
        meaning = platt(opened.meaning(both), settings.meaning)
        scores[rows] = expit((logit(scores[rows]) + logit(meaning)) / 2)
    return np.round(scores, _DECIMALS).astype(np.float64)
