"""Does a judge order the answers to one question as people grade them? Averaged over questions.

After LINKAGE (Yang et al. 2024, section 4): Kendall's tau-b, Spearman's rho and Pearson's r
between scores and grades within each question, then the mean over questions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from markscheme.errors import AgreementError
from markscheme.results import Figure

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
    """
    from scipy.stats import kendalltau, pearsonr, spearmanr

    if len(np.unique(first)) < 2 or len(np.unique(second)) < 2:
        return {}
    return {
        "kendall": float(kendalltau(first, second).statistic),
        "spearman": float(spearmanr(first, second).statistic),
        "pearson": float(pearsonr(first, second).statistic),
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
            name: Figure(value=float(np.mean([one[name] for one in varied]))) for name in varied[0]
        },
        questions=len(varied),
        constant=len(found) - len(varied),
        single=len(parts) - len(found),
        not_scored=table.height - known.height,
    )
