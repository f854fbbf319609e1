"""One paired comparison: difference with its interval, McNemar's test, permutation, Holm."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

from markscheme.agreement.bootstrap import kinds
from markscheme.agreement.closed_forms import holm_figures
from markscheme.agreement.options import CompareOptions
from markscheme.metrics import spread_of
from markscheme.results import Figure

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Statistic = Callable[[Array], Array]

WIDEST = 2.0
"""A difference of two statistics is never larger."""
HALVINGS = 40


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """One pair.

    Attributes:
        first, second: names of the judges or systems.
        first_value, second_value: the statistic of each, on what both share.
        difference: first minus second. The interval is of the differences that the exchange test
            would not reject; of shares of right answers it also holds Tango's (`share_difference`).
        only_first, only_second: answers (of systems: questions) that only one got right.
        mcnemar: exact two-sided p of the two counts being equally likely.
        permutation: two-sided p of the difference under exchange within questions.
        mcnemar_holm, permutation_holm: the same corrected for the number of pairs.
        shared: answers (of systems: questions) compared.
        left_out: answers (of systems: questions) that only one has, or that were not judged.
        questions: clusters that were exchanged.
    """

    first: str
    second: str
    first_value: Figure
    second_value: Figure
    difference: Figure
    only_first: int
    only_second: int
    mcnemar: Figure
    permutation: Figure
    mcnemar_holm: float | None = None
    permutation_holm: float | None = None
    shared: int
    left_out: int
    questions: int


@dataclass(frozen=True, kw_only=True)
class Paired:
    """Two sides on the same questions.

    Attributes:
        first, second: their names.
        counts: (questions, 2, width) counts of either side, from which `statistic` follows.
        values: the statistic of either side.
        statistic: from (..., width) totals to values, NaN where undefined.
        wins: answers or questions that only the first, only the second got right.
        right: (questions, 2, 2) right answers and all answers of either side, where the statistic
            is their share; None for others.
        shared, left_out: answers or questions compared, and not.
    """

    first: str
    second: str
    counts: Ints
    values: tuple[Figure, Figure]
    statistic: Statistic
    wins: tuple[int, int]
    shared: int
    left_out: int
    right: Ints | None = None


def compare_pair(pair: Paired, options: CompareOptions) -> Comparison:
    """The comparison of two sides, p-values not yet corrected for other pairs."""
    one, two = pair.values
    if one.value is None or two.value is None:
        difference = permutation = Figure(reason=one.reason or two.reason)
    else:
        exchanged = exchange(
            pair.counts, pair.statistic, resamples=options.resamples, seed=options.seed
        )
        observed = one.value - two.value
        permutation = exchanged.p(observed)
        difference = exchanged.interval(observed, confidence=options.confidence)
        if pair.right is not None:
            difference = share_difference(pair.right, difference, options.confidence)
    return Comparison(
        first=pair.first,
        second=pair.second,
        first_value=one,
        second_value=two,
        difference=difference,
        only_first=pair.wins[0],
        only_second=pair.wins[1],
        mcnemar=mcnemar_exact(*pair.wins),
        permutation=permutation,
        shared=pair.shared,
        left_out=pair.left_out,
        questions=len(pair.counts),
    )


def share_difference(right: Ints, exchanged: Figure, confidence: float) -> Figure:
    """A difference of two shares with an interval that shifts no ties.

    The exchange test's interval supposes that a difference moves every question alike; where hardly
    a question differs it leaves out losses that the data do not exclude. Tango's (1998) score
    interval does not: it is taken at the effective number of answers with Student's t, but no wider
    than if all answers to a question agreed, as `metrics.share_interval` takes Wilson's.
    What the exchange test would not reject stays inside, so that the two never disagree.

    Args:
        right: (questions, 2, 2) right answers and all answers of either side.
        exchanged: the difference with the interval of the exchange test, if it has one.
        confidence: of both sides together.
    """
    shares = right[..., 0] / right[..., 1].sum(axis=0)
    answers = float(right[..., 1].sum(axis=0).mean())
    lead = shares[:, 0] - shares[:, 1]
    better, worse = float(lead[lead > 0].sum()), float(-lead[lead < 0].sum())
    each = right[..., 1].sum(axis=1)
    spread = spread_of(lead - (better - worse) * each / each.sum(), len(each), each)
    independent = spread.independent or answers
    normal = NormalDist().inv_cdf((1 + confidence) / 2)
    low, high = score_interval(worse, better, independent, normal)
    if (right[..., 1] != 1).any():
        alone = better + worse - (better - worse) ** 2
        size = min(answers, alone / spread.variance) if spread.variance else independent
        ends = score_interval(worse, better, size, spread.reach(confidence))
        low, high = max(low, ends[0]), min(high, ends[1])
    if exchanged.low is not None and exchanged.high is not None:
        low, high = max(-1.0, min(low, exchanged.low)), min(1.0, max(high, exchanged.high))
    return replace(exchanged, low=low, high=high, method="tango")


def score_interval(worse: float, better: float, size: float, reach: float) -> tuple[float, float]:
    """Tango's (1998) interval of a difference of two paired shares, `better - worse`.

    Args:
        worse, better: the shares of pairs in which the first is worse, is better.
        size: how many independent pairs they are of; need not be whole.
        reach: the quantile in standard errors.
    """
    lost, won = worse * size, better * size
    ends = []
    for away, (down, up) in ((-1.0, (won, lost)), (1.0, (lost, won))):
        inside, outside = (up - down) / size, 1.0
        for _ in range(HALVINGS):
            middle = (inside + outside) / 2
            # The score falls as the supposed difference rises.
            score = score_statistic(np.array(up), np.array(down), size, middle)
            inside, outside = (middle, outside) if score > -reach else (inside, middle)
        ends.append(away * inside)
    return ends[0], ends[1]


def score_statistic(
    worse: npt.NDArray[Any], better: npt.NDArray[Any], items: float, margin: float
) -> Array:
    """(worse - better - items * margin) over its standard error if that is 0 in truth (Tango)."""
    half = -worse - better + (2 * items - worse + better) * margin
    root = np.sqrt(half**2 + 8 * items * better * margin * (1 - margin))
    wins = (root - half) / (4 * items)
    variance = items * (2 * wins + margin * (1 - margin))
    away = worse - better - items * margin
    error = np.sqrt(variance)
    return np.asarray(np.where(error > 0, away / np.where(error > 0, error, 1.0), 0.0))


def mcnemar_exact(only_first: int, only_second: int) -> Figure:
    """Two-sided exact McNemar test of paired outcomes (SciPy's `binomtest` at one half)."""
    from scipy.stats import binomtest

    if not only_first + only_second:
        return Figure(reason="the two never differ")
    result = binomtest(only_first, only_first + only_second)
    return Figure(value=min(1.0, float(result.pvalue)), method="mcnemar")


def with_holm(pairs: Sequence[Comparison]) -> list[Comparison]:
    """The comparisons with p-values corrected by Holm's method."""
    mcnemar, permutation = (
        holm_figures([getattr(pair, name).value for pair in pairs])
        for name in ("mcnemar", "permutation")
    )
    return [
        replace(pair, mcnemar_holm=one, permutation_holm=other)
        for pair, one, other in zip(pairs, mcnemar, permutation, strict=True)
    ]


@dataclass(frozen=True, kw_only=True)
class Exchanged:
    """Differences after chance decided in every question which side is the first, again and again.

    Attributes:
        differences: (resamples,) of the statistic.
        shares: (resamples,) share of answers in exchanged questions from that in the others: how
            far a difference of 1 between the sides would have moved.
    """

    differences: Array
    shares: Array

    def p(self, observed: float, supposed: float = 0.0, *, larger_only: bool = False) -> Figure:
        """p of a difference, supposing the sides differ by `supposed`; two-sided by default.

        (1 + as extreme) / (1 + resamples), so never 0.
        """
        if not len(self.differences):
            return Figure(reason="undefined in every permutation")
        moved, away = self.differences - supposed * self.shares, observed - supposed
        if not larger_only:
            moved, away = np.abs(moved), abs(away)
        extreme = int((moved >= away - 1e-9).sum())
        return Figure(
            value=(1 + extreme) / (1 + len(moved)), resamples=len(moved), method="exchange"
        )

    def interval(self, observed: float, *, confidence: float) -> Figure:
        """The differences that this very test would not reject, so that the two never disagree.

        Inversion of a sign-flipping test (Lehmann & Romano 2005, section 5.12). With too few
        questions to reject anything it reaches as far as a difference can; where the sides never
        differ there is none.
        """
        if not len(self.differences) or not self.differences.any():
            return Figure(value=observed)
        ends = [self._end(observed, side, 1 - confidence) for side in (-1.0, 1.0)]
        return Figure(
            value=observed,
            low=ends[0],
            high=ends[1],
            resamples=len(self.differences),
            method="exchange",
        )

    def _end(self, observed: float, side: float, level: float) -> float:
        inside, outside = observed, observed + side * WIDEST
        for _ in range(HALVINGS):
            middle = (inside + outside) / 2
            if (self.p(observed, middle).value or 0.0) > level:
                inside = middle
            else:
                outside = middle
        return float(np.clip((inside + outside) / 2, -WIDEST, WIDEST))


def exchange(
    counts: Ints | Array,
    statistic: Statistic,
    *,
    resamples: int,
    seed: int,
    present: npt.NDArray[np.bool_] | None = None,
) -> Exchanged:
    """Let chance say, question by question, which of the sides is the first.

    Args:
        counts: (questions, sides, width) counts of the first side and of the others.
        statistic: from (..., width) totals to values, NaN where undefined.
        resamples: exchanges drawn.
        seed: of the draws.
        present: (questions, sides) which sides a question has, the first among them; None for all.
    """
    questions, among, width = counts.shape
    has = np.ones((questions, among), dtype=np.int64) if present is None else present
    distinct, repeats = kinds(np.concatenate([counts.reshape(questions, -1), has], axis=1))
    sides = distinct[:, : among * width].reshape(-1, among, width).astype(np.float64)
    sides = np.roll(sides, -1, axis=1)  # the first side last: what is drawn before, changes
    likely = np.roll(distinct[:, among * width :].astype(np.float64), -1, axis=1)
    likely /= likely.sum(axis=1, keepdims=True)
    total = (sides.sum(axis=1) * repeats[:, None]).sum(axis=0)
    size_of = np.abs(sides).sum(axis=(1, 2))
    weight = size_of / max(float(size_of @ repeats), np.finfo(float).tiny)
    rng = np.random.default_rng(seed)
    step = max(1, 4_000_000 // likely.size)
    differences, shares = [], []
    for begin in range(0, resamples, step):
        size = min(step, resamples - begin)
        drawn = rng.multinomial(repeats, likely, size=(size, len(repeats)))
        first = drawn.reshape(size, -1) @ sides.reshape(-1, width)
        apart = statistic(first) - statistic(total - first)
        known = ~np.isnan(apart)
        differences.append(apart[known])
        shares.append(((2 * drawn[..., -1] - repeats) @ weight)[known])
    return Exchanged(differences=np.concatenate(differences), shares=np.concatenate(shares))
