"""How many labels a question takes, by simulating the estimate that will answer it.

What people would say of answers without a label is drawn again and again from what is supposed of
them, some are labelled, and the estimator itself (`prediction_powered`) makes its interval. The
number of labels is the least with which a wanted share of these draws answers the question: its
assurance (O'Hagan, Stevens & Campbell 2005, Pharmaceutical Statistics 4(3), 187-201). A formula
would be of an average interval, which half of the draws miss, and of another estimator.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from markscheme.stats.limits import LEAST_FOR_JUDGES
from markscheme.stats.prediction_powered import (
    About,
    Powered,
    Sample,
    powered,
    powered_difference,
)

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

ASSURANCE = 0.8
DRAWS = 200
MOST_ANSWERS = 20_000
"""Of more answers, so many are drawn and stand for all: what remains unlabelled hardly counts."""
PRIOR_LABELS = 2.0
_CLOSE = 50
"""A number of labels is found to one in this many."""


@dataclass(frozen=True, kw_only=True)
class Supposed:
    """Answers, judged, of which labels are still to come.

    Attributes:
        predictions: (N, judges) what each judge says.
        accepted: (N,) the first judge's verdicts.
        labels: (N,) those that are known already, else NaN.
        clusters: (N,) question numbers from 0.
        units: (N,) numbers from 0 of what is drawn for labelling: answers, or whole questions.
        second: (N,) whether the answer is the second system's, where two are compared.
        right: how often either verdict is supposed to be right, where no label is known.
        alike: the correlation of the verdicts on answers to a question (`correlation_within`).
    """

    predictions: Array
    accepted: Bools
    labels: Array
    clusters: Ints
    units: Ints
    second: Bools | None = None
    right: float
    alike: float


@dataclass(frozen=True, kw_only=True)
class Assured:
    """What so many labels give, over the draws.

    Attributes:
        labels: how many, known ones included.
        share: of the draws that answer the question.
        half_width: that at most `assurance` of the draws exceed not; None where that many have no
            interval.
        value: the mean of what the estimate is of, as supposed.
    """

    labels: int
    share: float
    half_width: float | None
    value: float


def labels_needed(
    supposed: Supposed,
    reached: Callable[[Powered], bool],
    *,
    judges: bool = True,
    about: About = "future",
    confidence: float = 0.95,
    assurance: float = ASSURANCE,
    seed: int = 0,
) -> Assured:
    """The fewest labels with which a share `assurance` of draws answers the question.

    Args:
        supposed: of the answers.
        reached: whether an estimate answers it.
        judges: whether the estimate uses them.
        about: further answers of the kind, or these alone.
        confidence: of the intervals.
        assurance: see above.
        seed: of the draws.

    Returns:
        What that number gives; where not even labels of all answers do, what these give, with a
        `share` below `assurance`.
    """
    small = _fewer(supposed, seed)
    draws = [_drawn(small, np.random.default_rng([seed, number])) for number in range(DRAWS)]

    def given(units: int) -> Assured:
        found = [
            _estimate(small, *draw, units, judges=judges, about=about, confidence=confidence)
            for draw in draws
        ]
        halves = [
            math.inf if each.low is None or each.high is None else (each.high - each.low) / 2
            for each in found
        ]
        half = float(np.quantile(halves, assurance, method="inverted_cdf"))
        return Assured(
            labels=int(np.count_nonzero(_labelled(small, draws[0][1], units))),
            half_width=half if math.isfinite(half) else None,
            share=sum(map(reached, found)) / DRAWS,
            value=float(np.mean([_truth_of(small, truth) for truth, _ in draws])),
        )

    total = int(small.units.max()) + 1
    low, high = min(total, max(LEAST_FOR_JUDGES, _known_units(small))), total
    few, many = given(low), given(high)
    if few.share >= assurance or many.share < assurance:
        return few if few.share >= assurance else many
    while high - low > max(1, high // _CLOSE):
        middle = (low + high) // 2
        found = given(middle)
        low, high, many = (low, middle, found) if found.share >= assurance else (middle, high, many)
    return many


def _fewer(supposed: Supposed, seed: int) -> Supposed:
    """At most `MOST_ANSWERS` of the answers, in whole units, those with known labels among them."""
    count = len(supposed.labels)
    if count <= MOST_ANSWERS:
        return supposed
    total = int(supposed.units.max()) + 1
    known = np.bincount(supposed.units[~np.isnan(supposed.labels)], minlength=total) > 0
    order = np.lexsort((np.random.default_rng(seed).random(total), ~known))
    chosen = np.zeros(total, dtype=bool)
    chosen[order[: total * MOST_ANSWERS // count]] = True
    rows = np.flatnonzero(chosen[supposed.units])
    return replace(
        supposed,
        predictions=supposed.predictions[rows], accepted=supposed.accepted[rows],
        labels=supposed.labels[rows], clusters=supposed.clusters[rows],
        units=np.unique(supposed.units[rows], return_inverse=True)[1],
        second=None if supposed.second is None else supposed.second[rows],
    )  # fmt: skip


def _known_units(supposed: Supposed) -> int:
    return len(np.unique(supposed.units[~np.isnan(supposed.labels)]))


def _drawn(supposed: Supposed, rng: np.random.Generator) -> tuple[Array, Ints]:
    """What people say of every answer, and in which place each unit comes to be labelled.

    Units with known labels come first.
    """
    known = ~np.isnan(supposed.labels)
    groups = supposed.accepted + (0 if supposed.second is None else 2 * supposed.second)
    said = {
        group: _said(supposed, known & (groups == group), bool(group % 2), rng)
        for group in np.unique(groups)
    }
    sizes = np.bincount(groups)
    means = np.array([values @ chances for values, chances in said.values()])
    within = [chances @ (values - values @ chances) ** 2 for values, chances in said.values()]
    between = float(np.cov(means, fweights=sizes[sizes > 0], ddof=0))
    apart = between + float(np.average(within, weights=sizes[sizes > 0]))
    level = _levels(supposed, between / apart if apart else 1.0, rng)
    truth = np.where(known, supposed.labels, 0.0)
    for group, (values, chances) in said.items():
        here = ~known & (groups == group)
        truth[here] = values[np.searchsorted(np.cumsum(chances)[:-1], level[here], side="right")]
    total = int(supposed.units.max()) + 1
    later = np.bincount(supposed.units[known], minlength=total) == 0
    place = np.empty(total, dtype=np.int64)
    place[np.lexsort((rng.random(total), later))] = np.arange(total)
    return truth, place[supposed.units]


def _said(
    supposed: Supposed, known: Bools, accepted: bool, rng: np.random.Generator
) -> tuple[Array, Array]:
    """What people may say of answers with one verdict, and with which probabilities.

    Those who labelled some of them are heard with the uncertainty that these leave (Rubin 1981,
    The Bayesian bootstrap); what is supposed counts as `PRIOR_LABELS` labels.
    """
    labels = supposed.labels[~np.isnan(supposed.labels)]
    if not np.isin(labels, (0.0, 1.0)).all():
        values, counts = np.unique(supposed.labels[known] if known.any() else labels,
                                   return_counts=True)  # fmt: skip
        return values, rng.dirichlet(counts)
    right = supposed.right if accepted else 1 - supposed.right
    counts = PRIOR_LABELS * np.array([1 - right, right])
    if len(labels):
        good = float(supposed.labels[known].sum())
        counts = rng.dirichlet(counts + [known.sum() - good, good])
    return np.array([0.0, 1.0]), counts / counts.sum()


def _levels(supposed: Supposed, explained: float, rng: np.random.Generator) -> Array:
    """(N,) numbers from 0 to 1, correlated as labels are within a question and a verdict.

    Verdicts on answers to a question are less alike than the labels, since they err: by the squared
    correlation of verdict and label, `explained` (Spearman 1904), part of which verdicts show.
    """
    alike = supposed.alike * (1 + explained) / explained if explained else float(supposed.alike > 0)
    questions = int(supposed.clusters.max()) + 1
    shared = (rng.random(questions) < alike)[supposed.clusters]
    return np.where(
        shared, rng.random(questions)[supposed.clusters], rng.random(len(supposed.clusters))
    )


def _labelled(supposed: Supposed, place: Ints, units: int) -> Bools:
    return (place < units) | ~np.isnan(supposed.labels)


def _truth_of(supposed: Supposed, truth: Array) -> float:
    if supposed.second is None:
        return float(truth.mean())
    return float(truth[~supposed.second].mean() - truth[supposed.second].mean())


def _estimate(
    supposed: Supposed,
    truth: Array,
    place: Ints,
    units: int,
    *,
    judges: bool,
    about: About,
    confidence: float,
) -> Powered:
    labels = np.where(_labelled(supposed, place, units), truth, np.nan)
    predictions = supposed.predictions if judges else np.zeros((len(labels), 1))
    whole = Sample(
        predictions=predictions, labels=labels, weights=np.ones(len(labels)),
        clusters=supposed.clusters,
    )  # fmt: skip
    if supposed.second is None:
        return powered(whole, judges=judges, about=about, confidence=confidence)
    sides = [
        Sample(
            predictions=predictions[rows], labels=labels[rows], weights=whole.weights[rows],
            clusters=supposed.clusters[rows],
        )
        for rows in (~supposed.second, supposed.second)
    ]  # fmt: skip
    return powered_difference(*sides, about=about, confidence=confidence)
