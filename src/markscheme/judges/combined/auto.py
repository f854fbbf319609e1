"""The judge that sends each row to the one made for its kind of question."""

from __future__ import annotations

from dataclasses import dataclass, field

import polars as pl

from markscheme.contract import Judge, ModelSource, Needs, register, run_judge
from markscheme.judges.examiner import Examiner
from markscheme.judges.listwise import ListwiseExaminer, factoid_chance
from markscheme.judges.outcomes import has_patterns, in_order
from markscheme.tables import OUTCOME

_SHORT_WORDS = 6


@register("auto", needs=Needs(chat=False), example="auto(factoid=contains)")
@dataclass(frozen=True, kw_only=True)
class Auto:
    """Each row goes to the judge for its kind: of facts, or of explanations, advice and opinions.

    Graded references make a row non-factoid, and so does having none (to an empty list, which says
    that the question has no answer, an answer is right if it says so); patterns and references of
    at most six words make it factoid; of the others a classifier of the question decides. The
    explanation says where a row went.

    Attributes:
        factoid: judge of facts.
        other: judge of everything else.
    """

    factoid: Judge = field(default_factory=Examiner)
    other: Judge = field(default_factory=ListwiseExaminer)

    def judge(self, answers: pl.DataFrame, models: ModelSource) -> pl.DataFrame:
        """Outcomes of the judge each row was sent to, in order."""
        facts = is_factoid(answers)
        parts = []
        for chosen, judge, word in (
            (facts, self.factoid, "factoid"),
            (~facts, self.other, "non-factoid"),
        ):
            rows = answers.filter(chosen)
            if rows.height:
                explained = pl.concat_str(
                    pl.lit(word), pl.col("explanation"), separator=": ", ignore_nulls=True
                )
                found = run_judge(judge, rows, models).with_columns(explanation=explained)
                parts.append((chosen, found))
        if not parts:
            return run_judge(self.factoid, answers, models)
        return in_order(*parts).select(OUTCOME)


def is_factoid(answers: pl.DataFrame) -> pl.Series:
    """Whether each row asks for a fact (Boolean), from its references and its question."""
    graded = pl.lit(value=False)
    if "reference_grades" in answers.columns:
        graded = (pl.col("reference_grades").list.n_unique() > 1).fill_null(value=False)
    words = pl.col("references").list.eval(pl.element().str.count_matches(r"\S+")).list.max()
    chances = [factoid_chance(question) for question in answers["question"]]
    return answers.select(
        factoid=pl.when(has_patterns(answers))
        .then(pl.lit(value=True))
        .when(graded)
        .then(pl.lit(value=False))
        .when(pl.col("references").list.len().fill_null(0) == 0)
        .then(pl.lit(value=False))
        .when((words <= _SHORT_WORDS).fill_null(value=False))
        .then(pl.lit(value=True))
        .otherwise(pl.Series(chances, dtype=pl.Float64) >= 0.5)
    )["factoid"]
