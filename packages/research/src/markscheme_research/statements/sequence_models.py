"""Statements by sequence-to-sequence models, as entailment judges ask for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from markscheme.contract import ModelSource, Needs
from markscheme.judges.entailment import STATED, read_statement, register_statement_maker
from markscheme_research.transformers_models import SequenceModel

_SEPARATOR = ". "
"""Between question and answer, as the QA2D models on the hub were trained."""


@register_statement_maker(
    "seq2seq",
    needs=Needs(chat=False, extras=("hf",), weights="required"),
    shorthand="name",
    form="seq2seq:NAME_OR_FOLDER",
    example="seq2seq:domenicrosati/QA2D-t5-base",
)
@dataclass(frozen=True, kw_only=True)
class SequenceStatements:
    """A sequence-to-sequence model reads question and answer and writes the statement.

    Attributes:
        name: folder with transformers weights, or a name on the hub.
        max_tokens: of a statement.
    """

    name: str
    max_tokens: int = 128

    def make(self, pairs: pl.DataFrame, models: ModelSource) -> pl.DataFrame:
        """Generate a statement for every different pair; see `StatementMaker.make`.

        Raises:
            MissingExtraError: transformers or torch is not installed.
            ModelError: the weights cannot be loaded.
        """
        return STATED.outcomes(pairs, self._stated)

    def _stated(self, distinct: list[tuple[str, str]]) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = []
        if distinct:
            texts = [f"{question}{_SEPARATOR}{answer}" for question, answer in distinct]
            made = self._model.generate(texts, max_tokens=self.max_tokens)
            for (question, answer), (text, finished) in zip(distinct, made, strict=True):
                found = read_statement(text, question=question, answer=answer, finished=finished)
                rows.append(
                    {"statement": found.product, "status": found.status, "raw": text}
                    | {"reason": found.reason or None}
                )
        return rows

    def identity(self, models: ModelSource | None) -> Mapping[str, str]:
        """The model's name, and the hash of the weights of a folder."""
        revision = self._model.revision
        return {"seq2seq": self.name} | ({"seq2seq_revision": revision} if revision else {})

    @property
    def _model(self) -> SequenceModel:
        return SequenceModel(name=self.name)
