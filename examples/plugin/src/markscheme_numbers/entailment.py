"""An entailment test and a maker of statements, for the judges `entailment` and `claims`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from markscheme.contract import ModelSource, Needs
from markscheme.judges.entailment import register_entailment_test, register_statement_maker


@register_entailment_test("shared_words", needs=Needs(chat=False))
@dataclass(frozen=True, kw_only=True)
class SharedWords:
    """A premise entails a hypothesis if it has most of its words.

    Attributes:
        share: of the hypothesis's different words, from which it is entailed.
    """

    share: float = 0.8

    def test(self, pairs: pl.DataFrame, models: ModelSource) -> pl.DataFrame:
        """The pairs with `entailed`, `score`, `status` and the rest of a test's outcome."""
        score = [
            len(_words(premise) & _words(hypothesis)) / max(1, len(_words(hypothesis)))
            for premise, hypothesis in pairs.select("premise", "hypothesis").iter_rows()
        ]
        scores = pl.Series("score", score, dtype=pl.Float64)
        nothing = pl.lit(None, dtype=pl.String)
        return pairs.with_columns(
            scores, entailed=scores >= self.share, status=pl.lit("judged"),
            label=nothing, reason=nothing, raw=nothing,
        )  # fmt: skip

    def identity(self, models: ModelSource | None) -> Mapping[str, str]:
        """Nothing but the parameters decides."""
        return {}


@register_statement_maker("bare_answer", needs=Needs(chat=False))
@dataclass(frozen=True, kw_only=True)
class BareAnswer:
    """The answer is its own statement, whatever the question."""

    def make(self, pairs: pl.DataFrame, models: ModelSource) -> pl.DataFrame:
        """The pairs with `statement`, `status` and the rest of a maker's outcome."""
        nothing = pl.lit(None, dtype=pl.String)
        return pairs.with_columns(
            statement=pl.col("answer"), status=pl.lit("judged"), reason=nothing, raw=nothing
        )

    def identity(self, models: ModelSource | None) -> Mapping[str, str]:
        """Nothing decides."""
        return {}


def _words(text: str | None) -> set[str]:
    return set((text or "").lower().split())
