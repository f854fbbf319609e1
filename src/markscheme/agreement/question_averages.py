"""Does a judge order the answers to one question as people grade them? Averaged over questions.

After LINKAGE (Yang et al. 2024, section 4): Kendall's tau-b, Spearman's rho and Pearson's r
between scores and grades within each question, then the mean over questions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from markscheme.errors import AgreementError
from markscheme.results import Column, Figure, Table, columns, figure
from markscheme.tables import Joined

Array = npt.NDArray[np.float64]


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


def correlations(first: Array, second: Array) -> dict[str, float]:
    """`kendall` (tau-b), `spearman` and `pearson` of two sides, by SciPy, each from -1 to 1.

    Args:
        first, second: (n,) values of each side.

    Returns:
        The coefficients; {} where all values of a side are equal, as no correlation exists.
        Pearson's is NaN where a value is infinite.
    """
    from scipy.stats import kendalltau, pearsonr, spearmanr

    if len(np.unique(first)) < 2 or len(np.unique(second)) < 2:
        return {}
    return {
        "kendall": float(kendalltau(first, second).statistic),
        "spearman": float(spearmanr(first, second).statistic),
        "pearson": float(pearsonr(first, second).statistic)
        if np.isfinite([first, second]).all()
        else math.nan,
    }


def per_question(table: pl.DataFrame) -> PerQuestion:
    """Mean correlations within questions; questions where one side is constant are left out.

    Args:
        table: `question`, `score`, `grade`, one row an answer.

    Raises:
        AgreementError: there is no question in which both sides vary.
    """
    known = table.select("question", pl.col("score", "grade").cast(pl.Float64)).drop_nulls()
    parts = known.partition_by("question", maintain_order=True)
    found = [
        correlations(part["score"].to_numpy(), part["grade"].to_numpy())
        for part in parts
        if part.height > 1
    ]
    varied = [one for one in found if one]
    if not varied:
        raise AgreementError(
            "there is no question in which scores and grades both vary; no correlation exists"
        )
    return PerQuestion(
        means={
            name: figure(float(np.mean([one[name] for one in varied])), "some scores are infinite")
            for name in varied[0]
        },
        questions=len(varied),
        constant=len(found) - len(varied),
        single=len(parts) - len(found),
        not_scored=table.height - known.height,
    )


def judges_correlations(joined: Joined) -> tuple[dict[str, PerQuestion], dict[str, str]]:
    """Correlations within questions of every judge's score with the labels as grades.

    Returns:
        The correlations by judge; and why the other judges have none.

    Raises:
        AgreementError: no question is known, or no judge has a correlation.
    """
    if "question" not in joined.rows.columns:
        raise AgreementError("correlations within questions need the question of every answer")
    found: dict[str, PerQuestion] = {}
    without: dict[str, str] = {}
    for (judge,), rows in joined.rows.group_by("judge", maintain_order=True):
        try:
            found[str(judge)] = per_question(rows.with_columns(pl.col("label").alias("grade")))
        except AgreementError as error:
            scored = rows["score"].count()
            without[str(judge)] = f"{error} ({scored:,} of {rows.height:,} answers have a score)"
    if not found:
        raise AgreementError("; ".join(f"{judge}: {why}" for judge, why in without.items()))
    return found, without


def correlation_table(found: Mapping[str, PerQuestion], without: Mapping[str, str]) -> Table:
    """One row per judge."""
    shown: tuple[Column | str, ...] = (
        "judge",
        Column("Kendall tau-b", "kendall", 3),
        *columns(3, ("Spearman", "spearman"), ("Pearson", "pearson")),
        *columns("count", "questions", "constant", "single", "not scored"),
    )
    return Table.of(
        "Scores against grades within questions, averaged",
        shown,
        [{"judge": judge, **vars(one), **one.means} for judge, one in found.items()],
        (
            "left out: questions where a side is constant, and those with a single answer",
            *(f"{judge} is left out: {why}" for judge, why in without.items()),
        ),
    )
