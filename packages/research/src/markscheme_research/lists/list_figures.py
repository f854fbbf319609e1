"""How well a judge orders candidates given drawn references: over draws, and for best and worst.

Per-question correlations after Yang et al. 2024, section 4.3; Acc(b) and Acc(b+w) after Table 5.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from markscheme.agreement import per_question
from markscheme.results import Figure
from markscheme_research.lists.reference_lists import Draw, Protocol, draw_references

Scorer = Callable[[pl.DataFrame], pl.Series]
"""Candidates with references to scores, null where there is none."""


@dataclass(frozen=True, kw_only=True)
class DrawnCorrelations:
    """Mean correlations over questions, then over draws.

    Attributes:
        means: by coefficient.
        spreads: standard deviation (n - 1) of the mean over draws; empty for one draw.
        questions: questions in the mean, averaged over draws.
        draws: how many.
    """

    means: dict[str, Figure]
    spreads: dict[str, Figure]
    questions: float
    draws: int


def averaged_over_draws(table: pl.DataFrame) -> DrawnCorrelations:
    """The correlations of `markscheme.agreement.per_question` in each draw, averaged.

    Args:
        table: `question`, `score`, `grade`, `draw`, one row per answer and draw.

    Raises:
        AgreementError: a draw has no question in which both sides vary.
    """
    found = [per_question(part) for part in table.partition_by("draw", maintain_order=True)]
    values = {name: np.array([draw.means[name].value for draw in found]) for name in found[0].means}
    return DrawnCorrelations(
        means={name: Figure(value=float(each.mean())) for name, each in values.items()},
        spreads={name: Figure(value=float(each.std(ddof=1))) for name, each in values.items()}
        if len(found) > 1
        else {},
        questions=float(np.mean([draw.questions for draw in found])),
        draws=len(found),
    )


def over_draws(
    passages: pl.DataFrame,
    scorer: Scorer,
    *,
    composition: str,
    seeds: Sequence[int] = (0, 1, 2),
    protocol: Protocol = "rest",
) -> DrawnCorrelations:
    """Kendall, Spearman and Pearson a question, averaged over questions, then over draws.

    Args:
        passages: `question`, `passage`, `grade`.
        scorer: gives each candidate its score.
        composition, protocol: as `reference_lists.Draw`.
        seeds: one draw each.

    Raises:
        AgreementError: not a composition, or nothing varies.
    """
    tables = []
    for seed in seeds:
        drawn = draw_references(
            passages, Draw(composition=composition, seed=seed, protocol=protocol)
        )
        tables.append(
            drawn.select("question", score=scorer(drawn), grade=pl.col("label"), draw=pl.lit(seed))
        )
    return averaged_over_draws(pl.concat(tables))


def best_and_worst(table: pl.DataFrame) -> tuple[float, float]:
    """Share of questions whose best answer is found, and whose best and worst both are.

    A question counts as found if the answer of the highest score has the top label (and that of
    the lowest the bottom one). Answers of equal scores count by the share of them that fit, so
    that their order in the file decides nothing.

    Args:
        table: `question`, `score`, `grade`; rows without a score are never the best or worst.

    Returns:
        Acc(b) and Acc(b+w), 0 to 1.
    """
    score, grade = pl.col("score"), pl.col("grade")
    highest, lowest = score == score.max(), score == score.min()
    found = table.group_by("question").agg(
        best=(grade == grade.max()).filter(highest).mean(),
        worst=(grade == grade.min()).filter(lowest).mean(),
    )
    best, worst = found["best"].fill_null(0.0), found["worst"].fill_null(0.0)
    return float((best).mean() or 0.0), float((best * worst).mean() or 0.0)  # type: ignore[arg-type]
