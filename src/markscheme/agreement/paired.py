"""One paired comparison: difference with its interval, McNemar's test, permutation, Holm."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from markscheme.agreement.bootstrap import kinds
from markscheme.agreement.closed_forms import holm
from markscheme.agreement.options import CompareOptions
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
        difference: first minus second, with the interval of differences that the exchange test
            would not reject.
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


def mcnemar_exact(only_first: int, only_second: int) -> Figure:
    """Two-sided exact McNemar test of paired outcomes (SciPy's `binomtest` at one half)."""
    from scipy.stats import binomtest

    if not only_first + only_second:
        return Figure(reason="the two never differ")
    result = binomtest(only_first, only_first + only_second)
    return Figure(value=min(1.0, float(result.pvalue)), method="mcnemar")


def with_holm(pairs: Sequence[Comparison]) -> list[Comparison]:
    """The comparisons with p-values corrected by Holm's method."""
    corrected = {}
    for name in ("mcnemar", "permutation"):
        known = [place for place, pair in enumerate(pairs) if getattr(pair, name).value is not None]
        values = holm([getattr(pairs[place], name).value for place in known])
        corrected[name] = dict(zip(known, values, strict=True))
    return [
        replace(
            pair,
            mcnemar_holm=corrected["mcnemar"].get(place),
            permutation_holm=corrected["permutation"].get(place),
        )
        for place, pair in enumerate(pairs)
    ]


@dataclass(frozen=True, kw_only=True)
class Exchanged:
    """Differences after the two sides were exchanged in a random half of the questions, again and
    again.

    Attributes:
        differences: (resamples,) of the statistic.
        shares: (resamples,) share of answers in exchanged questions from that in the others: how
            far a difference of 1 between the sides would have moved.
    """

    differences: Array
    shares: Array

    def p(self, observed: float, supposed: float = 0.0) -> Figure:
        """Two-sided p of a difference, supposing the sides differ by `supposed`.

        (1 + as extreme) / (1 + resamples), so never 0.
        """
        if not len(self.differences):
            return Figure(reason="undefined in every permutation")
        moved = np.abs(self.differences - supposed * self.shares)
        extreme = int((moved >= abs(observed - supposed) - 1e-12).sum())
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


def exchange(counts: Ints, statistic: Statistic, *, resamples: int, seed: int) -> Exchanged:
    """Exchange the sides question by question, each with probability one half.

    Args:
        counts: (questions, 2, width) counts of the first and the second side.
        statistic: from (..., width) totals to values, NaN where undefined.
        resamples: exchanges drawn.
        seed: of the draws.
    """
    questions, _, width = counts.shape
    distinct, repeats = kinds(counts.reshape(questions, -1))
    sides = distinct.reshape(-1, 2, width).astype(np.float64)
    change = sides[:, 1] - sides[:, 0]
    start = (sides * repeats[:, None, None]).sum(axis=0)
    size_of = sides.sum(axis=(1, 2))
    weight = size_of / float(size_of @ repeats)
    rng = np.random.default_rng(seed)
    step = max(1, 4_000_000 // len(distinct))
    differences, shares = [], []
    for begin in range(0, resamples, step):
        size = min(step, resamples - begin)
        swapped = rng.binomial(repeats, 0.5, size=(size, len(repeats)))
        moved = swapped @ change
        drawn = statistic(start[0] + moved) - statistic(start[1] - moved)
        known = ~np.isnan(drawn)
        differences.append(drawn[known])
        shares.append(((repeats - 2 * swapped) @ weight)[known])
    return Exchanged(differences=np.concatenate(differences), shares=np.concatenate(shares))
