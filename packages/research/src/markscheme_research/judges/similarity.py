"""Judges that measure likeness by encoders of the transformers library: BERTScore, BLEURT, BEM."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from markscheme.contract import ModelSource, Needs, check_range, register
from markscheme.judges import by_threshold
from markscheme.judges.embedding import best_likeness
from markscheme_research.transformers_models import (
    SequenceScorer,
    TransformersTokenEncoder,
    weights_hash,
)

Floats = npt.NDArray[np.float64]
Vectors = npt.NDArray[np.float32]
Bools = npt.NDArray[np.bool_]
Tokens = tuple[Vectors, Bools]
Texts = Sequence[str]

HF = Needs(
    chat=False, extras=("research", "hf"), weights="required", references="required",
    note="the extra hf, and weights (model=FOLDER or a hub name)",
)  # fmt: skip


class _Accepting:
    """What the judges here share. `Thresholded` would put the threshold first in their names."""

    threshold: float

    def validate(self) -> None:
        """Raises JudgeError if the threshold is not within 0 and 1."""
        check_range("threshold", self.threshold, 0, 1)


@register(
    "bertscore", paper="Zhang et al. 2020", needs=HF,
    example="bertscore(model='roberta-large', layer=17)",
)  # fmt: skip
@dataclass(frozen=True, kw_only=True)
class BertScore(_Accepting):
    """Highest BERTScore F1 over the references, with any encoder, accepted at or above a threshold.

    Without idf weights or rescaling. What a good threshold is differs from encoder to encoder and
    from data to data (EVOUNA, section 5): choose it from labels with `markscheme calibrate`.

    Attributes:
        model: a folder, or a name on the hub.
        layer: hidden layer, the embeddings being 0; the last if none.
        threshold: accept from this F1.
    """

    model: str
    layer: int | None = None
    threshold: float = 0.85

    def judge(self, answers: pl.DataFrame, models: ModelSource) -> pl.DataFrame:
        """F1 below nought counts as nought."""

        def likeness(_: Texts, texts: Texts, references: Texts) -> Floats:
            tokens = self.token_vectors([*texts, *references])
            pairs = zip(texts, references, strict=True)
            return np.array([bertscore_f1(tokens[answer], tokens[gold]) for answer, gold in pairs])

        return by_threshold(answers, best_likeness(answers, likeness), self.threshold)

    def token_vectors(self, texts: Texts) -> Mapping[str, Tokens]:
        """For each different text its tokens' vectors, as `TransformersTokenEncoder` has them."""
        distinct = list(dict.fromkeys(texts))
        encoder = TransformersTokenEncoder(self.model, layer=self.layer)
        return dict(zip(distinct, encoder.encode(distinct), strict=True))

    def identity(self, models: ModelSource | None) -> Mapping[str, str]:
        """Hash of the weights, where they are in a folder."""
        return _weights(self.model)


@register(
    "bleurt", paper="Sellam et al. 2020", needs=HF, example="bleurt(model='Elron/bleurt-base-512')"
)
@dataclass(frozen=True, kw_only=True)
class Bleurt(_Accepting):
    """Highest BLEURT over the references, accepted at or above a threshold.

    For checkpoints that load as sequence classification with one output, such as
    `Elron/bleurt-base-512`. Outputs are cut off at 0 and 1.
    """

    model: str
    threshold: float = 0.5

    def judge(self, answers: pl.DataFrame, models: ModelSource) -> pl.DataFrame:
        """Reference first, then the answer, as BLEURT was trained."""
        scorer = SequenceScorer(self.model, outputs=1)

        def likeness(_: Texts, texts: Texts, references: Texts) -> Floats:
            pairs = zip(references, texts, strict=True)
            return scorer.logits([[[gold], [answer]] for gold, answer in pairs])[:, 0].astype(float)

        return by_threshold(answers, best_likeness(answers, likeness), self.threshold)

    def identity(self, models: ModelSource | None) -> Mapping[str, str]:
        """Hash of the weights, where they are in a folder."""
        return _weights(self.model)


@register(
    "bem", paper="Bulian et al. 2022", needs=HF,
    example="bem(model='kortukov/answer-equivalence-bem')",
)  # fmt: skip
@dataclass(frozen=True, kw_only=True)
class Bem(_Accepting):
    """Highest probability of answer equivalence over the references, by BEM.

    For checkpoints that load as sequence classification with two outputs, the second one being
    equivalence. The model sees [CLS] answer [SEP] reference [SEP] question [SEP].
    """

    model: str
    threshold: float = 0.5

    def judge(self, answers: pl.DataFrame, models: ModelSource) -> pl.DataFrame:
        """The answer is the first segment, reference and question together the second."""
        scorer = SequenceScorer(self.model, outputs=2)

        def likeness(questions: Texts, texts: Texts, references: Texts) -> Floats:
            triples = zip(texts, references, questions, strict=True)
            logits = scorer.logits(
                [[[answer], [gold, question]] for answer, gold, question in triples]
            )
            difference = (logits[:, 1] - logits[:, 0]).astype(np.float64)
            return np.asarray(1 / (1 + np.exp(-difference)))

        return by_threshold(answers, best_likeness(answers, likeness), self.threshold)

    def identity(self, models: ModelSource | None) -> Mapping[str, str]:
        """Hash of the weights, where they are in a folder."""
        return _weights(self.model)


def _weights(model: str) -> Mapping[str, str]:
    found = weights_hash(model)
    return {"weights": found} if found else {}


# --- BERTScore from token vectors (Zhang et al. 2020, ICLR, section 3) ----------------------------


def bertscore_f1(answer: Tokens, reference: Tokens) -> float:
    """Greedy matching of tokens by cosine: the harmonic mean of precision and recall.

    Each is the mean, over the tokens of one text, of the highest cosine with any token of the
    other. Tokens that only frame a text may be matched but have no weight, as in the authors'
    code without idf weights.

    Args:
        answer, reference: (tokens, width) vectors of length one, and which tokens are of the text.

    Returns:
        From -1 to 1; 0 where a text has no token of its own.
    """
    cosines = answer[0] @ reference[0].T
    if not answer[1].any() or not reference[1].any():
        return 0.0
    precision = float(cosines.max(axis=1)[answer[1]].mean())
    recall = float(cosines.max(axis=0)[reference[1]].mean())
    total = precision + recall
    return 2 * precision * recall / total if total > 0 else 0.0
