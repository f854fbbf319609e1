"""Long answers: which of an answer's claims do references and context support or contradict?

Yao & Barbosa 2024 name answers of several sentences as what their method does not cover
(Limitations). Here an answer is split into claims, each is put to the entailment test, and the
claims' outcomes are added up to marks, a verdict and a relation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from markscheme.grammar import check_range
from markscheme.judges.claims_outcomes import BLANK, outcomes, tested
from markscheme.judges.claims_pieces import context_pairs, pieces, reference_pairs
from markscheme.judges.outcomes import NO_REFERENCE, PATTERNS, has_patterns
from markscheme.judgments import OUTCOME, SCHEMA
from markscheme.registry import register


@register("claims", paper="Yao & Barbosa 2024, Limitations; ours", example="claims")
@dataclass(frozen=True, kw_only=True)
class Claims:
    """A long answer's claims, each supported, contradicted or extra beside references and context.

    Marks rise with the likeliest claim that says a reference, and with the whole answer's own
    chance; an answer that only says less than a reference gets part of them. `explanation` lists
    the claims; `raw` has every one with its probabilities, as JSON.

    Attributes:
        statements: who turns fragments and references into statements: `rules`, `chat`, or
            `'seq2seq:NAME'`. Claims that are sentences stand as they are.
        test: who says whether a statement entails another: `embedded`, `chat`, or `'nli:NAME'`.
        threshold: accepted from these marks.
        partial: marks for an answer that says less than a reference, as a share of the full ones.
        penalty: share of the marks that an answer loses if all its claims are contradicted.
        model: name of the chat model; the run's own if none.
    """

    statements: str = "rules"
    test: str = "embedded"
    threshold: float = 0.5
    partial: float = 0.5
    penalty: float = 0.0
    model: str | None = None

    def validate(self) -> None:
        """Check what the types do not say.

        Raises:
            JudgeError: no such way to make statements or to test them, or a number that is not
                within 0 and 1.
        """
        self._maker()
        self._tester()
        for name in ("threshold", "partial", "penalty"):
            check_range(name, getattr(self, name), 0, 1)

    def identity(self, models: Any) -> Mapping[str, str]:
        """What else decides: prompts, weights and the chat model, for signatures."""
        parts = (("statements", self._maker()), ("test", self._tester()))
        models = self._models(models)
        return {
            f"{stage}.{key}": text
            for stage, part in parts
            for key, text in part.identity(models).items()
        }

    def judge(self, answers: pl.DataFrame, models: Any) -> pl.DataFrame:
        """Every claim of every answer against references and, where there is one, context.

        An answer is not judged where none of its claims is supported and one of the tests could not
        be decided: `failed`, `skipped`, `refused` or `unparsed` as what stood in the way.

        Raises:
            ModelError: a chat model is needed and none was given.
        """
        rows = answers.with_row_index("row").with_columns(patterns=has_patterns(answers))
        models = self._models(models)
        parts = pieces(rows.filter(~pl.col("patterns")), self._maker(), models)
        against = tested(reference_pairs(parts), self._tester(), models)
        context = tested(
            context_pairs(parts, whole=_by_chat(self.test)), self._tester(), models
        )  # fmt: skip
        found = outcomes(
            parts.claims, against, context,
            threshold=self.threshold, partial=self.partial, penalty=self.penalty,
        )  # fmt: skip
        costs = parts.spent(against, context)
        return (
            rows.select("row", "patterns")
            .join(found, on="row", how="left", maintain_order="left")
            .join(costs, on="row", how="left", maintain_order="left")
            .with_columns(_blank(rows))
            .with_columns(
                status=pl.col("status").fill_null("skipped"),
                explanation=pl.when(pl.col("patterns"))
                .then(pl.lit(PATTERNS))
                .otherwise(pl.col("explanation").fill_null(NO_REFERENCE)),
            )
            .select(pl.col(name).cast(SCHEMA[name]) for name in OUTCOME)
        )

    @property
    def asks_chat(self) -> bool:
        """Whether a chat model has a part in it."""
        return _by_chat(self.statements) or _by_chat(self.test)

    def _maker(self) -> Any:
        from markscheme.judges.statement_makers import statement_maker

        return statement_maker(self.statements)

    def _tester(self) -> Any:
        from markscheme.judges.entailment_tests import entailment_test

        return entailment_test(self.test)

    def _models(self, models: Any) -> Any:
        if not (_by_chat(self.statements) or _by_chat(self.test)):
            return models
        from markscheme.judges.sampled import Sampled
        from markscheme.models.container import Models

        return Sampled(models=models if models is not None else Models(), model=self.model)


def _blank(rows: pl.DataFrame) -> list[pl.Expr]:
    """Outcome columns with blank answers filled in: they claim nothing, and so are incorrect."""
    empty = rows["answer"].str.strip_chars() == ""
    asked = rows["references"].list.eval(pl.element().str.strip_chars() != "").list.any()
    blank = pl.lit(empty & asked.fill_null(value=False) & ~rows["patterns"])
    values: dict[str, Any] = {
        "status": "judged", "score": 0.0, "verdict": False, "relation": "incorrect", "marks": 0.0,
        "explanation": BLANK,
    }  # fmt: skip
    return [
        pl.when(blank).then(pl.lit(value)).otherwise(pl.col(name)).alias(name)
        for name, value in values.items()
    ]


def _by_chat(name: str) -> bool:
    return name.partition(":")[0] == "chat"
