"""A cheap judge that decides where it is sure, and an expensive one for the rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import polars as pl

from markscheme.contract import Judge, ModelSource, check_range, judge_name, register, run_judge
from markscheme.errors import JudgeError
from markscheme.judges.outcomes import COMBINED, in_order, known_sum
from markscheme.tables import JUDGMENTS_SCHEMA, OUTCOME, OUTSIDE, SPENT, scope_kind


@register(
    "cascade",
    paper="ours; thresholds by Angelopoulos et al. 2021 and 2024",
    needs=COMBINED,
    example="cascade(first=token_f1, then=contains, accept=0.9, reject=0.1)",
)
@dataclass(frozen=True, kw_only=True)
class Cascade:
    """A cheap judge decides where it is sure; the expensive one sees only the rest.

    The first judge's score decides: accepted from `accept` on, rejected up to `reject`. Where it
    lies between, or the first judge did not judge, the second judges, and its outcome is final.
    With `send=outside` the second judges where the first judge says that the
    answer lies outside its field, with `send=both` in either case. The explanation says who
    decided; cost, tokens and time are of both. `markscheme research cascade` chooses thresholds.

    Attributes:
        first: the cheap judge; it should give scores, since a bare verdict counts as 1 or 0.
        then: the expensive judge.
        accept: accept from this score of the first judge; above 1, it never accepts.
        reject: reject up to this score; below 0, it never rejects. The examiner calls scores
            between 0.3 and 0.7 unsure: `accept=0.7, reject=0.3` sends exactly those.
        send: what goes to the second judge: `unsure` scores, answers `outside` the first judge's
            field (whose verdicts decide elsewhere), or `both`.
    """

    first: Judge
    then: Judge
    accept: float = 0.9
    reject: float = 0.1
    send: Literal["unsure", "outside", "both"] = "unsure"

    def validate(self) -> None:
        """The thresholds are in order.

        Raises:
            JudgeError: `reject` is not below `accept`, or they are far out of range.
        """
        check_range("accept", self.accept, 0, 2)
        check_range("reject", self.reject, -1, 1)
        if self.reject >= self.accept:
            raise JudgeError(
                f"cascade: reject={self.reject!r} must be below accept={self.accept!r}"
            )

    def judge(self, answers: pl.DataFrame, models: ModelSource) -> pl.DataFrame:
        """Ask the first judge about every row, and the second about those that are left."""
        cheap = run_judge(self.first, answers, models)
        score = pl.coalesce("score", pl.col("verdict").cast(pl.Float64))
        by_score = (
            pl.when(pl.col("score") >= self.accept)
            .then(pl.lit(value=True))
            .when(pl.col("score") <= self.reject)
            .then(pl.lit(value=False))
        )
        verdict = pl.col("verdict") if self.send == "outside" else by_score
        if self.send != "unsure":
            verdict = pl.when(~_outside()).then(verdict)
        cheap = cheap.with_columns(score).with_columns(verdict=verdict)
        sure = cheap["verdict"].is_not_null()
        name = judge_name(self.first)
        decided = cheap.with_columns(
            explanation=pl.format("decided by {}, score {}", pl.lit(name), _rounded("score"))
            + _after(pl.col("explanation"))
        )
        if sure.all():
            return decided
        left = run_judge(self.then, answers.filter(~sure), models)
        before = cheap.filter(~sure).select(
            "status",
            "score",
            _outside().alias("outside_first"),
            *(pl.col(column).alias(f"{column}_first") for column in SPENT),
        )
        rows = in_order((sure, decided.filter(sure)), (~sure, self._together(left, before)))
        return rows.select(pl.col(n).cast(JUDGMENTS_SCHEMA[n]) for n in OUTCOME)

    def _together(self, left: pl.DataFrame, before: pl.DataFrame) -> pl.DataFrame:
        """The second judge's outcomes with the first one's explanation and cost."""
        name = pl.lit(judge_name(self.first))
        unsure = pl.format("{} unsure, score {}", name, _rounded("score_before"))
        silent = pl.format("{} {}", name, pl.col("status_before").cast(pl.String))
        beyond = pl.lit(self.send != "unsure") & pl.col("outside_first")
        why = (
            pl.when(pl.col("score_before").is_null())
            .then(silent)
            .when(beyond)
            .then(pl.format("outside the field of {}", name))
            .otherwise(unsure)
        )
        both = pl.concat(
            [left, before.rename({"status": "status_before", "score": "score_before"})],
            how="horizontal",
        )
        return both.with_columns(
            explanation=pl.format("decided by {} ({})", pl.lit(judge_name(self.then)), why)
            + _after(pl.col("explanation")),
            **{column: known_sum(column, f"{column}_first") for column in SPENT},
        ).select(OUTCOME)


def _outside() -> pl.Expr:
    """Whether a judge says that an answer lies outside its field."""
    return (scope_kind() == OUTSIDE).fill_null(value=False)


def _rounded(column: str) -> pl.Expr:
    return pl.col(column).round(4).cast(pl.String)


def _after(explanation: pl.Expr) -> pl.Expr:
    """What a judge itself says, behind who decided."""
    return pl.when(explanation.is_null()).then(pl.lit("")).otherwise(pl.lit(": ") + explanation)
