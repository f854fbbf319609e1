"""Does a judge order the answers to one question as people grade them? Averaged over questions.

After LINKAGE (Yang et al. 2024, section 4): Kendall's tau-b, Spearman's rho and Pearson's r
between scores and grades within each question, then the mean over questions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import polars as pl

from markscheme.errors import AgreementError
from markscheme.results import Figure

Constant = Literal["left_out", "zero"]
"""What becomes of a question where all scores or all grades are equal, and no correlation exists:
left out of the mean and counted, or counted as no correlation."""

COEFFICIENTS = ("kendall", "spearman", "pearson")


@dataclass(frozen=True, kw_only=True)
class PerQuestion:
    """Mean correlations over questions.

    Attributes:
        means: by coefficient, with the standard deviation over repetitions where there are any
            in `spreads`.
        spreads: standard deviation (n - 1) of the mean over repetitions; empty for one.
        questions: questions in the mean (averaged over repetitions).
        constant: questions where a side is constant (averaged over repetitions).
        single: questions with fewer than two scored answers (averaged over repetitions).
        not_scored: answers without a score, left out.
        repetitions: how often the whole was repeated.
        policy: what was done with constant questions.
    """

    means: dict[str, Figure]
    spreads: dict[str, Figure]
    questions: float
    constant: float
    single: float
    not_scored: int
    repetitions: int
    policy: Constant


def question_correlations(table: pl.DataFrame) -> pl.DataFrame:
    """Kendall, Spearman and Pearson of each question, by scipy.

    Args:
        table: `question`, `score`, `grade`; rows without a score or grade are left out.

    Returns:
        A row a question: `question`, `answers`, `state` (`ok`, `constant`, `single`), and the
        three coefficients, null unless `ok`.
    """
    from scipy.stats import kendalltau, pearsonr, spearmanr

    rows = []
    known = table.select("question", "score", "grade").drop_nulls()
    for (question,), part in known.group_by("question", maintain_order=True):
        scores = part["score"].cast(pl.Float64).to_numpy()
        grades = part["grade"].cast(pl.Float64).to_numpy()
        row: dict[str, Any] = {"question": question, "answers": part.height, "state": "ok"}
        if part.height < 2:
            row["state"] = "single"
        elif np.ptp(scores) == 0 or np.ptp(grades) == 0:
            row["state"] = "constant"
        else:
            row["kendall"] = float(kendalltau(scores, grades).statistic)
            row["spearman"] = float(spearmanr(scores, grades).statistic)
            row["pearson"] = float(pearsonr(scores, grades).statistic)
        rows.append(row)
    return pl.DataFrame(
        rows,
        schema={
            "question": pl.String,
            "answers": pl.Int64,
            "state": pl.String,
            **dict.fromkeys(COEFFICIENTS, pl.Float64),
        },
    )


def per_question(
    table: pl.DataFrame, *, constant: Constant = "left_out", seed: str | None = None
) -> PerQuestion:
    """Mean correlations within questions, over repetitions if a column names them.

    Args:
        table: `question`, `score`, `grade`, one row an answer (and repetition).
        constant: what becomes of questions where one side is constant.
        seed: the column that tells repetitions apart (each with its own draw of references, say).

    Raises:
        AgreementError: an unknown policy, or no question in which both sides vary.
    """
    if constant not in get_args(Constant):
        raise AgreementError(
            f"constant={constant!r} is no policy; the policies are {', '.join(get_args(Constant))}"
        )
    parts = [table] if seed is None else table.partition_by(seed, maintain_order=True)
    found = [question_correlations(part) for part in parts]
    means = {name: [_mean(part, name, constant) for part in found] for name in COEFFICIENTS}
    if any(value is None for values in means.values() for value in values):
        raise AgreementError(
            "there is no question in which scores and grades both vary; no correlation exists"
        )
    values = {name: np.array(each, dtype=np.float64) for name, each in means.items()}
    averaged = {
        state: float(np.mean([(part["state"] == state).sum() for part in found]))
        for state in ("ok", "constant", "single")
    }
    return PerQuestion(
        means={name: Figure(value=float(each.mean())) for name, each in values.items()},
        spreads={name: Figure(value=float(each.std(ddof=1))) for name, each in values.items()}
        if len(found) > 1
        else {},
        questions=averaged["ok"] + (averaged["constant"] if constant == "zero" else 0.0),
        constant=averaged["constant"],
        single=averaged["single"],
        not_scored=table.height - table.select("question", "score", "grade").drop_nulls().height,
        repetitions=len(found),
        policy=constant,
    )


def _mean(part: pl.DataFrame, name: str, constant: Constant) -> float | None:
    states = ["ok", "constant"] if constant == "zero" else ["ok"]
    if not (part["state"] == "ok").any():
        return None
    value = part.filter(pl.col("state").is_in(states))[name].fill_null(0.0).mean()
    return float(value) if isinstance(value, float) else None
