"""One paired comparison: difference with its interval, McNemar's test, permutation, Holm."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from markscheme.agreement.bootstrap import interval, kinds, resample_totals
from markscheme.agreement.closed_forms import holm
from markscheme.agreement.options import CompareOptions
from markscheme.results import Figure

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Statistic = Callable[[Array], Array]


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """One pair.

    Attributes:
        first, second: names of the judges or systems.
        first_value, second_value: the statistic of each, on what both share.
        difference: first minus second, with its cluster bootstrap interval.
        only_first, only_second: answers (of systems: questions) that only one got right.
        mcnemar: exact two-sided p of the two counts being equally likely.
        permutation: two-sided p of the difference under exchange within questions.
        mcnemar_holm, permutation_holm: the same corrected for the number of pairs.
        shared: answers (of systems: questions) compared.
        left_out: answers (of systems: questions) that only one has, or that were not judged.
        questions: clusters that were resampled and exchanged.
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
    width = pair.counts.shape[2]
    if one.value is None or two.value is None:
        difference = permutation = Figure(reason=one.reason or two.reason)
    else:
        observed = one.value - two.value
        totals = resample_totals(
            pair.counts.reshape(len(pair.counts), -1),
            resamples=options.resamples,
            seed=options.seed,
        )
        drawn = pair.statistic(totals[:, :width]) - pair.statistic(totals[:, width:])
        difference = interval(Figure(value=observed), drawn, confidence=options.confidence)
        permutation = permutation_p(
            observed,
            pair.counts,
            pair.statistic,
            resamples=options.resamples,
            seed=options.seed,
        )
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
    return Figure(value=min(1.0, float(result.pvalue)))


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


def permutation_p(
    observed: float, counts: Ints, statistic: Statistic, *, resamples: int, seed: int
) -> Figure:
    """Two-sided p of a difference when the two sides are exchanged question by question.

    Args:
        observed: the difference as it is.
        counts: (questions, 2, width) counts of the first and the second side.
        statistic: from (..., width) totals to values, NaN where undefined.
        resamples: exchanges drawn.
        seed: of the draws.

    Each question is exchanged with probability one half; (1 + as extreme) / (1 + resamples).
    """
    questions, _, width = counts.shape
    distinct, repeats = kinds(counts.reshape(questions, -1))
    sides = distinct.reshape(-1, 2, width).astype(np.float64)
    change = sides[:, 1] - sides[:, 0]
    start = (sides * repeats[:, None, None]).sum(axis=0)
    rng = np.random.default_rng(seed)
    step = max(1, 4_000_000 // len(distinct))
    extreme = defined = 0
    for begin in range(0, resamples, step):
        size = min(step, resamples - begin)
        moved = rng.binomial(repeats, 0.5, size=(size, len(repeats))) @ change
        drawn = statistic(start[0] + moved) - statistic(start[1] - moved)
        known = drawn[~np.isnan(drawn)]
        defined += len(known)
        extreme += int((np.abs(known) >= abs(observed) - 1e-12).sum())
    if not defined:
        return Figure(reason="undefined in every permutation")
    return Figure(value=(1 + extreme) / (1 + defined), resamples=defined)
