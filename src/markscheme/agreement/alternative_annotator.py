"""May this judge replace a human annotator? The alternative annotator test (Calderon et al. 2025).

Each annotator is left out in turn. On every item the judge and the left-out annotator are scored by
how well they agree with the remaining annotators. The judge wins against that annotator if it is
significantly better than the annotator less a handicap epsilon, which says how much agreement the
judge's lower price is worth. The winning rate omega is the share of annotators it wins against,
after correction for testing many (Benjamini-Yekutieli); at 0.5 or more the judge may replace them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt
import polars as pl

from markscheme.errors import AgreementError
from markscheme.results import Figure

Array = npt.NDArray[np.float64]
Scoring = Literal["accuracy", "neg_rmse"]
"""How a label agrees with others': the share that is equal, or minus the root mean square error."""

LEAST_FOR_T = 30
LEAST_ITEMS = 10


@dataclass(frozen=True, kw_only=True)
class Against:
    """The judge against one annotator.

    Attributes:
        annotator: who was left out.
        items: items that the annotator, the judge and some other annotator labelled.
        judge_advantage: share of items where the judge agrees with the others at least as well.
        annotator_advantage: share where the annotator does.
        test: `t`, or `wilcoxon` for fewer than 30 items.
        p: one-sided, that the judge is no better than the annotator less epsilon.
        won: after correction.
    """

    annotator: str
    items: int
    judge_advantage: float
    annotator_advantage: float
    test: str
    p: Figure
    won: bool


@dataclass(frozen=True, kw_only=True)
class AlternativeAnnotator:
    """The test's outcome.

    Attributes:
        winning_rate: omega, share of annotators that the judge wins against.
        passed: omega is 0.5 or more.
        advantage: average over annotators of the judge's advantage (rho): compares judges.
        epsilon, level: as asked for.
        against: annotator by annotator.
    """

    winning_rate: float
    passed: bool
    advantage: float
    epsilon: float
    level: float
    against: Sequence[Against]


def alternative_annotator_test(
    ratings: pl.DataFrame,
    judge: pl.Series,
    *,
    epsilon: float = 0.15,
    level: float = 0.05,
    scoring: Scoring = "accuracy",
) -> AlternativeAnnotator:
    """The alternative annotator test.

    Args:
        ratings: one column an annotator, null where blank; three or more annotators.
        judge: its label of each item, null where not judged (the item is then left out).
        epsilon: handicap from 0 to 1; the authors suggest 0.2 where annotators are experts, 0.15
            where they are skilled and 0.1 for crowd workers.
        level: false discovery rate.
        scoring: of one label against others.

    Raises:
        AgreementError: fewer than three annotators, too few common items, or options out of range.
    """
    if ratings.width < 3:
        raise AgreementError(
            "the alternative annotator test needs three annotators or more, so that two remain "
            f"when one is left out; there are {ratings.width}"
        )
    if not 0 <= epsilon < 1 or not 0 < level < 1:
        raise AgreementError(
            f"epsilon={epsilon:g} must be from 0 to 1, level={level:g} between 0 and 1"
        )
    if scoring not in get_args(Scoring):
        raise AgreementError(f"no scoring {scoring!r}; there are {', '.join(get_args(Scoring))}")
    table = ratings.select(pl.all().cast(pl.Float64)).to_numpy().astype(np.float64)
    said = judge.cast(pl.Float64).to_numpy().astype(np.float64)
    duels = [
        _duel(name, place, said, table, epsilon=epsilon, scoring=scoring)
        for place, name in enumerate(ratings.columns)
    ]
    won = _discoveries([duel.p.value for duel in duels], level)
    against = [
        Against(**(vars(duel) | {"won": bool(win)})) for duel, win in zip(duels, won, strict=True)
    ]
    rate = float(np.mean(won))
    return AlternativeAnnotator(
        winning_rate=rate,
        passed=rate >= 0.5,
        advantage=float(np.mean([one.judge_advantage for one in against])),
        epsilon=epsilon,
        level=level,
        against=against,
    )


def _duel(
    name: str, place: int, judge: Array, ratings: Array, *, epsilon: float, scoring: Scoring
) -> Against:
    annotator, others = ratings[:, place], np.delete(ratings, place, axis=1)
    usable = ~np.isnan(judge) & ~np.isnan(annotator) & (~np.isnan(others)).any(axis=1)
    items = int(usable.sum())
    if items < LEAST_ITEMS:
        raise AgreementError(
            f"only {items} items were labelled by {name!r}, the judge and another annotator; "
            f"{LEAST_ITEMS} are needed"
        )
    of_judge = _score(judge[usable], others[usable], scoring)
    of_annotator = _score(annotator[usable], others[usable], scoring)
    judge_wins = (of_judge >= of_annotator).astype(np.float64)
    annotator_wins = (of_annotator >= of_judge).astype(np.float64)
    test, p = _one_sided(annotator_wins - judge_wins, epsilon)
    return Against(
        annotator=name,
        items=items,
        judge_advantage=float(judge_wins.mean()),
        annotator_advantage=float(annotator_wins.mean()),
        test=test,
        p=Figure(value=p),
        won=False,
    )


def _score(labels: Array, others: Array, scoring: Scoring) -> Array:
    if scoring == "accuracy":
        equal = np.where(np.isnan(others), np.nan, labels[:, None] == others)
        return np.asarray(np.nanmean(equal, axis=1))
    return np.asarray(-np.sqrt(np.nanmean((labels[:, None] - others) ** 2, axis=1)))


def _one_sided(difference: Array, epsilon: float) -> tuple[str, float]:
    """p of the mean difference (annotator less judge) being epsilon or more."""
    from scipy.stats import ttest_1samp, wilcoxon

    if np.ptp(difference) == 0:
        # No spread, no test: every item says the same.
        return "none", 0.0 if difference[0] < epsilon else 1.0
    if len(difference) < LEAST_FOR_T:
        return "wilcoxon", float(wilcoxon(difference - epsilon, alternative="less").pvalue)
    return "t", float(ttest_1samp(difference, epsilon, alternative="less").pvalue)


def _discoveries(p_values: Sequence[float | None], level: float) -> Sequence[bool]:
    """Which p-values stand after Benjamini-Yekutieli correction (SciPy)."""
    from scipy.stats import false_discovery_control

    known = [1.0 if p is None else p for p in p_values]
    return [bool(p <= level) for p in false_discovery_control(known, method="by")]
