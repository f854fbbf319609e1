"""Automatic measures of an answer against a list of graded references, by a stated protocol."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
import polars as pl

from markscheme.contract import Encoder, ModelSource, Needs, register
from markscheme.errors import JudgeError
from markscheme.judges import LEXICAL, Thresholded, by_threshold
from markscheme_research.judges.similarity import BertScore

Measure = Literal[
    "rouge1", "rouge2", "rougeL", "rougeL_recall", "bleu", "set_rouge1", "set_rouge2", "set_rougeL",
    "cosine", "bertscore", "cls_cosine",
]  # fmt: skip
Against = Literal["first", "second", "best", "all"]
NEEDS = replace(LEXICAL, grades=True)
_WITH_ENCODER = ("bertscore", "cls_cosine")


@register(
    "reference_overlap", paper="baselines of Yang et al. 2024, section 4.2.1", needs=NEEDS,
    example="reference_overlap(measure=rouge1, threshold=0.3)",
)  # fmt: skip
@dataclass(frozen=True, kw_only=True)
class ReferenceOverlap(Thresholded):
    """ROUGE, BLEU, BERTScore or embedding likeness of an answer to references of the best grade.

    The highest over the references that count; all of them where there are no grades.

    Attributes:
        measure: `rouge1`, `rouge2`, `rougeL` and `bleu` as the judges of those names; `set_rouge1`,
            `set_rouge2` and `set_rougeL` over sets of n-grams with case, as the authors' package
            `rouge` has them; `rougeL_recall`, which does not punish saying more; `cosine` of
            sentence embeddings by the encoder that ships; `bertscore` by the encoder in `model`;
            `cls_cosine`, the cosine of its first tokens' vectors.
        against: the `first` reference of the best grade, the `second` (the first where there is
            only one), every one of the `best` grade, or `all`.
        model: for `bertscore` and `cls_cosine`, a folder or a name on the hub (extras research
            and hf).
        layer: for these, the hidden layer; the last if none.

    What the authors' code calls BERTScore is `reference_overlap(measure=cls_cosine,
    model='bert-base-uncased', against=second)`.
    """

    measure: Measure = "rouge1"
    against: Against = "first"
    model: str | None = None
    layer: int | None = None

    def validate(self) -> None:
        """Raises JudgeError where an encoder is missing, or named for a measure without one."""
        super().validate()
        if (self.measure in _WITH_ENCODER) != (self.model is not None):
            raise JudgeError(
                f"reference_overlap: measure={self.measure} and model={self.model} do not go "
                "together; bertscore and cls_cosine need an encoder, as in reference_overlap("
                "measure=bertscore, model='roberta-large', layer=17), and nothing else takes one"
            )

    @property
    def needs(self) -> Needs:
        """An extra and weights, for measures with an encoder; nothing otherwise."""
        if self.measure not in _WITH_ENCODER:
            return NEEDS
        return replace(NEEDS, extras=("hf",), weights="required")

    def judge(self, answers: pl.DataFrame, models: ModelSource) -> pl.DataFrame:
        """Score and verdict; rows without references, or with patterns, are `skipped`."""
        references = _counting(answers, self.against)
        scores = self._scores(answers["answer"], references, models)
        return by_threshold(answers, scores, self.threshold)

    def identity(self, models: ModelSource | None) -> Mapping[str, str]:
        """The encoder, where there is one."""
        if self.measure in _WITH_ENCODER:
            return self._bertscore().identity(models)
        if self.measure != "cosine":
            return {}
        encoder = _encoder(models)
        return {"embeddings": getattr(encoder, "revision", type(encoder).__name__)}

    def _scores(self, answers: pl.Series, references: pl.Series, models: ModelSource) -> pl.Series:
        from markscheme.metrics import bleu as corpus_best_bleu
        from markscheme.metrics import rouge1, rouge2, rouge_l

        if self.measure == "cosine":
            return _cosine(answers, references, models)
        if self.measure == "bertscore":
            table = pl.DataFrame({"question": answers, "answer": answers, "references": references})
            return self._bertscore().judge(table, models)["score"]
        if self.measure == "cls_cosine":
            return _cls_cosine(answers, references, self._bertscore().token_vectors)
        if self.measure.startswith("set_"):
            return _set_rouge(answers, references, of=self.measure[-1])
        measures: dict[str, Callable[[pl.Series, pl.Series], pl.Series]] = {
            "rouge1": rouge1, "rouge2": rouge2, "rougeL": rouge_l,
            "rougeL_recall": partial(rouge_l, recall=True), "bleu": corpus_best_bleu,
        }  # fmt: skip
        return measures[self.measure](answers, references)

    def _bertscore(self) -> BertScore:
        return BertScore(model=self.model or "", layer=self.layer)


def _counting(answers: pl.DataFrame, against: Against) -> pl.Series:
    """The references that count, of each row."""
    references = answers["references"].cast(pl.List(pl.String))
    if against == "all" or "reference_grades" not in answers.columns:
        return _of_best(references, against)
    flat = (
        pl.DataFrame({"text": references, "grade": answers["reference_grades"]})
        .with_row_index("row")
        .with_columns(
            grade=pl.when(pl.col("grade").list.len() == pl.col("text").list.len())
            .then(pl.col("grade"))
            .otherwise(pl.col("text").list.eval(pl.lit(0, dtype=pl.Int64)))
        )
        .explode("text", "grade", empty_as_null=False, keep_nulls=False)
        .filter(pl.col("grade") == pl.col("grade").max().over("row"))
        .group_by("row", maintain_order=True)
        .agg("text")
    )
    listed = (
        pl.DataFrame({"row": np.arange(answers.height, dtype=np.uint32)})
        .join(flat, on="row", how="left", maintain_order="left")["text"]
    )  # fmt: skip
    return _of_best(listed, against)


def _of_best(listed: pl.Series, against: Against) -> pl.Series:
    """The first of each list, the second or else the first, or the whole list."""
    if against == "second":
        return listed.list.head(2).list.tail(1)
    return listed.list.head(1) if against == "first" else listed


def _set_rouge(answers: pl.Series, references: pl.Series, *, of: str) -> pl.Series:
    from markscheme.metrics import Pairs
    from markscheme_research.judges.rouge_sets import set_rouge, set_rouge_l

    pairs = Pairs.of(answers, references)
    spread = pairs.spread(pairs.answers)
    if of == "L":
        return pairs.best(set_rouge_l(spread, pairs.references))
    return pairs.best(set_rouge(spread, pairs.references, order=int(of)))


def _cls_cosine(
    answers: pl.Series, references: pl.Series, encode: Callable[[list[str]], Mapping[str, Any]]
) -> pl.Series:
    from markscheme.metrics import Pairs

    pairs = Pairs.of(answers, references)
    spread = pairs.spread(pairs.answers)
    found = encode([*spread, *pairs.references])
    first = {text: vectors[0].astype(np.float64) for text, (vectors, _) in found.items()}
    cosines = [
        first[one] @ first[other] for one, other in zip(spread, pairs.references, strict=True)
    ]
    return pairs.best(pl.Series(np.clip(cosines, 0, 1).round(4)))


def _encoder(models: ModelSource | None) -> Encoder:
    from markscheme.models import Models

    return (models if models is not None else Models()).encoder()


def _cosine(answers: pl.Series, references: pl.Series, models: ModelSource) -> pl.Series:
    from markscheme.metrics import Pairs

    pairs, encoder = Pairs.of(answers, references), _encoder(models)
    spread = pairs.spread(pairs.answers)
    left, right = encoder.encode(spread.to_list()), encoder.encode(pairs.references.to_list())
    cosines = np.einsum("ij,ij->i", left, right).clip(0, 1)
    return pairs.best(pl.Series(np.round(cosines, 4).astype(np.float64)))
