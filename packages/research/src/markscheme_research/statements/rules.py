"""The maker of statements by rules, as entailment judges ask for it: `statements=rules`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from markscheme.contract import ModelSource, Needs
from markscheme.judges.entailment import STATED, register_statement_maker
from markscheme_research.statements.statement import statements


@register_statement_maker("rules", needs=Needs(chat=False))
@dataclass(frozen=True, kw_only=True)
class RuleStatements:
    """Rules for English questions; no model (`markscheme_research.statements.statement`)."""

    def make(self, pairs: pl.DataFrame, models: ModelSource) -> pl.DataFrame:
        """Make a statement of every different pair; see `StatementMaker.make`."""
        return STATED.outcomes(pairs, self._stated)

    def _stated(self, distinct: list[tuple[str, str]]) -> list[dict[str, Any]]:
        questions, answers = zip(*distinct, strict=True) if distinct else ((), ())
        made = statements(
            pl.Series(questions, dtype=pl.String), pl.Series(answers, dtype=pl.String)
        )
        return [
            {"statement": text, "status": "judged"}
            if text
            else {"status": "unparsed", "reason": "the rules made nothing of it"}
            for text in made
        ]

    def identity(self, models: ModelSource | None) -> Mapping[str, str]:
        """Nothing: the rules change only with the package."""
        return {}
