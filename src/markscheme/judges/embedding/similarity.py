"""Judges that measure likeness by neural encoders: sentence cosine, BERTScore, BLEURT, BEM."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from markscheme.contract import ModelSource, Needs, check_range, register
from markscheme.judges.outcomes import by_threshold

Floats = npt.NDArray[np.float64]

_DECIMALS = 4
"""Scores are rounded: the last digits of a sum of floats depend on the batch's other rows."""

HF = Needs(
    chat=False, extras=("hf",), weights="required", references="required",
    note="the extra hf, and weights (model=FOLDER or a hub name)",
)  # fmt: skip


@register(
    "embedding_cosine",
    paper="Reimers & Gurevych 2019",
    example="embedding_cosine",
    needs=Needs(chat=False, references="required"),
)
@dataclass(frozen=True, kw_only=True)
class EmbeddingCosine:
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

        def likeness(rows: pl.DataFrame) -> Floats:
            questions = rows["question"].to_list() if self.question else [""] * rows.height
            candidates = [
                f"{q} {a}".strip() for q, a in zip(questions, rows["answer"], strict=True)
            ]
            gold = [f"{q} {r}".strip() for q, r in zip(questions, rows["reference"], strict=True)]
            vectors = encoder.encode([*candidates, *gold]).astype(np.float64)
            return np.asarray((vectors[: len(candidates)] * vectors[len(candidates) :]).sum(axis=1))

        return by_threshold(answers, _best(answers, likeness), self.threshold)

    def identity(self, models: ModelSource | None) -> Mapping[str, str]:
        """Hash of the encoder's weights."""
        from markscheme.models import Models

        encoder = (models if models is not None else Models()).encoder()
        return {"encoder": getattr(encoder, "revision", type(encoder).__name__)}


@register(
    "bertscore", paper="Zhang et al. 2020", needs=HF,
    example="bertscore(model='roberta-large', layer=17)",
)  # fmt: skip
@dataclass(frozen=True, kw_only=True)
class BertScore:
    """Highest BERTScore F1 over the references, with any encoder, right from a threshold on.

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

    def validate(self) -> None:
        """The threshold is one of a score."""
        check_range("threshold", self.threshold, 0, 1)

    def judge(self, answers: pl.DataFrame, models: ModelSource) -> pl.DataFrame:
        """F1 below nought counts as nought."""
        from markscheme.metrics import bertscore_f1
        from markscheme.models.local import TransformersTokenEncoder

        encoder = TransformersTokenEncoder(self.model, layer=self.layer)

        def likeness(rows: pl.DataFrame) -> Floats:
            texts = pl.concat([rows["answer"], rows["reference"].rename("answer")])
            distinct = texts.unique(maintain_order=True).to_list()
            tokens = dict(zip(distinct, encoder.encode(distinct), strict=True))
            pairs = zip(rows["answer"], rows["reference"], strict=True)
            return np.array([bertscore_f1(tokens[answer], tokens[gold]) for answer, gold in pairs])

        return by_threshold(answers, _best(answers, likeness), self.threshold)

    def identity(self, models: ModelSource | None) -> Mapping[str, str]:
        """Hash of the weights, where they are in a folder."""
        return _weights(self.model)


@register(
    "bleurt", paper="Sellam et al. 2020", needs=HF, example="bleurt(model='Elron/bleurt-base-512')"
)
@dataclass(frozen=True, kw_only=True)
class Bleurt:
    """Highest BLEURT over the references, right from a threshold on.

    For checkpoints that load as sequence classification with one output, such as
    `Elron/bleurt-base-512`. Outputs are cut off at 0 and 1.
    """

    model: str
    threshold: float = 0.5

    def judge(self, answers: pl.DataFrame, models: ModelSource) -> pl.DataFrame:
        """Reference first, then the answer, as BLEURT was trained."""
        from markscheme.models.local import SequenceScorer

        scorer = SequenceScorer(self.model, outputs=1)

        def likeness(rows: pl.DataFrame) -> Floats:
            pairs = zip(rows["reference"], rows["answer"], strict=True)
            return scorer.logits([[[gold], [answer]] for gold, answer in pairs])[:, 0].astype(float)

        return by_threshold(answers, _best(answers, likeness), self.threshold)

    def identity(self, models: ModelSource | None) -> Mapping[str, str]:
        """Hash of the weights, where they are in a folder."""
        return _weights(self.model)


@register(
    "bem", paper="Bulian et al. 2022", needs=HF,
    example="bem(model='kortukov/answer-equivalence-bem')",
)  # fmt: skip
@dataclass(frozen=True, kw_only=True)
class Bem:
    """Highest probability of answer equivalence over the references, by BEM.

    For checkpoints that load as sequence classification with two outputs, the second one being
    equivalence. The model sees [CLS] answer [SEP] reference [SEP] question [SEP].
    """

    model: str
    threshold: float = 0.5

    def judge(self, answers: pl.DataFrame, models: ModelSource) -> pl.DataFrame:
        """The answer is the first segment, reference and question together the second."""
        from markscheme.models.local import SequenceScorer

        scorer = SequenceScorer(self.model, outputs=2)

        def likeness(rows: pl.DataFrame) -> Floats:
            triples = zip(rows["answer"], rows["reference"], rows["question"], strict=True)
            logits = scorer.logits(
                [[[answer], [gold, question]] for answer, gold, question in triples]
            )
            difference = (logits[:, 1] - logits[:, 0]).astype(np.float64)
            return np.asarray(1 / (1 + np.exp(-difference)))

        return by_threshold(answers, _best(answers, likeness), self.threshold)

    def identity(self, models: ModelSource | None) -> Mapping[str, str]:
        """Hash of the weights, where they are in a folder."""
        return _weights(self.model)


def _weights(model: str) -> Mapping[str, str]:
    from markscheme.models.local import weights_hash

    found = weights_hash(model)
    return {"weights": found} if found else {}


def _best(answers: pl.DataFrame, likeness: Callable[[pl.DataFrame], Floats]) -> pl.Series:
    """For each row the highest likeness over its references, from 0 to 1; null without any.

    `likeness` gets a row for each answer and reference, with the question.
    """
    pairs = (
        answers.lazy()
        .select("question", "answer", pl.col("references").alias("reference"))
        .with_row_index("row")
        .explode("reference")
        .drop_nulls("reference")
        .collect()
    )
    if pairs.is_empty():
        return pl.Series([None] * answers.height, dtype=pl.Float64)
    scores = np.clip(likeness(pairs), 0.0, 1.0).round(_DECIMALS)
    best = (
        pairs.select("row", pl.Series("score", scores)).group_by("row").agg(pl.col("score").max())
    )
    rows = pl.DataFrame({"row": pl.arange(0, answers.height, dtype=pl.UInt32, eager=True)})
    return rows.join(best, on="row", how="left", maintain_order="left")["score"]
