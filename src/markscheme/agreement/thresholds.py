"""Where to cut a score: chosen on one part of the questions, reported on the rest.

A threshold chosen and reported on the same answers flatters itself. Questions, not answers, are
split, since answers to one question resemble each other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from markscheme.agreement.verdicts import (
    FROM_COUNTS,
    STATISTICS,
    cell_table,
    clustered_statistics,
    four_cells,
)
from markscheme.errors import AgreementError, no_such_name
from markscheme.results import Figure

Array = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]

CRITERIA = tuple(name for name, one in STATISTICS.items() if one.chooses)


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """A threshold and what it is worth.

    Attributes:
        threshold: answers with at least this score are accepted.
        criterion: what it was chosen by.
        development: the criterion on the part it was chosen on.
        held_out: every statistic on the other questions, with an interval: the figures to report.
        own: the same by the verdicts that the judge gave there.
        development_answers, held_out_answers, held_out_questions: how many.
        seed: of the split.
    """

    threshold: float
    criterion: str
    development: Figure
    held_out: dict[str, Figure]
    own: dict[str, Figure]
    development_answers: int
    held_out_answers: int
    held_out_questions: int
    seed: int


def split_questions(clusters: Ints, *, share: float, seed: int) -> Bools:
    """(rows,) which rows belong to the development part: a `share` of the questions, at random.

    Raises:
        AgreementError: fewer than two questions, or a part that would be empty.
    """
    questions = np.unique(clusters)
    size = round(share * len(questions))
    if not 0 < size < len(questions):
        raise AgreementError(
            f"a share of {share:g} of {len(questions)} questions leaves one part empty"
        )
    drawn = np.random.default_rng(seed).choice(questions, size=size, replace=False)
    return np.isin(clusters, drawn)


def sensitivity(scores: Array, labels: Bools) -> pl.DataFrame:
    """Every statistic at every threshold that makes a difference.

    Returns:
        One row per threshold, ascending: `threshold` (midway between neighbouring scores; the first
        accepts all, the last nothing), `accepted` (share), and the statistics of
        `verdicts.FROM_COUNTS`, null where undefined.

    Raises:
        AgreementError: no scores.
    """
    if not len(scores):
        raise AgreementError("no answer has a score")
    values, place = np.unique(scores, return_inverse=True)
    positive = np.bincount(place, labels, minlength=len(values))
    negative = np.bincount(place, ~labels, minlength=len(values))
    below_positive = np.r_[0.0, np.cumsum(positive)]
    below_negative = np.r_[0.0, np.cumsum(negative)]
    counts = np.stack(
        [
            below_positive[-1] - below_positive,
            below_negative[-1] - below_negative,
            below_positive,
            below_negative,
        ],
        axis=1,
    )
    cuts = np.r_[values[0], (values[:-1] + values[1:]) / 2, np.nextafter(values[-1], np.inf)]
    # Two scores may be so near that nothing lies between them: the upper one then is the cut.
    cuts[1:-1] = np.where(cuts[1:-1] > values[:-1], cuts[1:-1], values[1:])
    return pl.DataFrame(
        {"threshold": cuts, "accepted": counts[:, :2].sum(axis=1) / len(scores)}
        | {name: function(counts) for name, function in FROM_COUNTS.items()}
    ).fill_nan(None)


def best_threshold(scores: Array, labels: Bools, *, by: str = "accuracy") -> float:
    """The threshold with the highest criterion; of several, the one nearest their middle.

    Raises:
        AgreementError: an unknown criterion, no scores, or labels of one class.
    """
    if by not in CRITERIA:
        raise AgreementError(no_such_name("criterion", by, CRITERIA))
    if labels.all() or not labels.any():
        raise AgreementError(
            "the labels have only one class, so every threshold is as good as another"
        )
    curve = sensitivity(scores, labels).drop_nulls(by)
    best = curve.filter(pl.col(by) >= pl.col(by).max() - 1e-12)["threshold"]
    return float(best.sort()[(len(best) - 1) // 2])


def choose_threshold(
    rows: pl.DataFrame,
    *,
    by: str = "accuracy",
    share: float = 0.5,
    seed: int = 0,
) -> Chosen:
    """Choose on a random share of the questions, report on the others.

    Args:
        rows: `score`, `accepted` (by people), `verdict` and `cluster`, the number of the question.
        by: one of `CRITERIA`.
        share: of the questions to choose on.
        seed: of the split.

    Raises:
        AgreementError: see `best_threshold` and `split_questions`.
    """
    chosen_on = pl.Series(split_questions(rows["cluster"].to_numpy(), share=share, seed=seed))
    development, held_out = rows.filter(chosen_on), rows.filter(~chosen_on)
    scores, labels = (development[name].to_numpy() for name in ("score", "accepted"))
    threshold = best_threshold(scores, labels, by=by)
    at = pl.col("score") >= threshold
    return Chosen(
        threshold=threshold,
        criterion=by,
        development=_figures(development.with_columns(verdict=at))[by],
        held_out=_figures(held_out.with_columns(verdict=at)),
        own=_figures(held_out),
        development_answers=development.height,
        held_out_answers=held_out.height,
        held_out_questions=held_out["cluster"].n_unique(),
        seed=seed,
    )


def _figures(rows: pl.DataFrame) -> dict[str, Figure]:
    return clustered_statistics(four_cells(cell_table(rows), "left_out"), 0.95)
