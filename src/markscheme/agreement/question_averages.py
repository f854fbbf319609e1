"""Does a judge order the answers to one question as people grade them? Averaged over questions.

After LINKAGE (Yang et al. 2024, section 4): Kendall's tau-b, Spearman's rho and Pearson's r
between scores and grades within each question, then the mean over questions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from markscheme.errors import AgreementError
from markscheme.results import Figure

COEFFICIENTS = ("kendall", "spearman", "pearson")


@dataclass(frozen=True, kw_only=True)
class PerQuestion:
    """Mean correlations over questions.

    Attributes:
        means: by coefficient.
        questions: questions in the means.
        constant: questions where all scores or all grades are equal, and no correlation exists.
        single: questions with fewer than two scored answers.
        not_scored: answers without a score, left out.
    """

    means: dict[str, Figure]
    questions: int
    constant: int
    single: int
    not_scored: int


def question_correlations(table: pl.DataFrame) -> pl.DataFrame:
    """Kendall, Spearman and Pearson of each question, by scipy.

    Args:
        table: `question`, `score`, `grade`; rows without a score or grade are left out.

    Returns:
        One row per question: `question`, `answers`, `state` (`ok`, `constant`, `single`), and the
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


def per_question(table: pl.DataFrame) -> PerQuestion:
    """Mean correlations within questions; questions where one side is constant are left out.

    Args:
        table: `question`, `score`, `grade`, one row an answer.

    Raises:
        AgreementError: there is no question in which both sides vary.
    """
    found = question_correlations(table)
    states = {name: int((found["state"] == name).sum()) for name in ("ok", "constant", "single")}
    if not states["ok"]:
        raise AgreementError(
            "there is no question in which scores and grades both vary; no correlation exists"
        )
    means = found.filter(pl.col("state") == "ok").select(pl.col(COEFFICIENTS).mean())
    return PerQuestion(
        means={name: Figure(value=value) for name, value in means.row(0, named=True).items()},
        questions=states["ok"],
        constant=states["constant"],
        single=states["single"],
        not_scored=table.height - table.select("question", "score", "grade").drop_nulls().height,
    )
