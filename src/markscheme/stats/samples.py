"""Answers of which some are labelled, and what each question does to the mean label."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from markscheme.stats.evidence import MOST_LEVERAGE, Evidence, kish

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
About = Literal["future", "these"]

STRATA = 5
"""At most so many groups of labels with like chances of being drawn."""
UNSEEN_LABELS = 0.5
"""Added to the right and to the wrong labels of each: with a quarter estimates covered 90%."""


@dataclass(frozen=True, kw_only=True)
class Sample:
    """N answers, some of them labelled.

    Attributes:
        predictions: (N, judges) what each judge says: scores, or verdicts as 0 and 1.
        labels: (N,) people's labels, 0 or 1, NaN where there is none.
        weights: (N,) one over the probability that the answer was drawn for labelling (any
            constant for a simple random sample); what is not labelled has any.
        clusters: (N,) question numbers from 0.
        counts: (N,) how much each answer counts in the mean of all, 1 on average (`balanced`).
    """

    predictions: Array
    labels: Array
    weights: Array
    clusters: Ints
    counts: Array | float = 1.0

    @property
    def labelled(self) -> npt.NDArray[np.bool_]:
        """(N,) which answers have a label."""
        return ~np.isnan(self.labels)

    @property
    def label_weights(self) -> Array:
        """(labels,) how much each counts in their mean."""
        return np.asarray((self.weights * self.counts)[self.labelled])


def balanced(first: Sample, second: Sample) -> tuple[Sample, Sample]:
    """Answers of two systems to the same questions, of which each counts as much in both.

    Where one has more answers than the other to some questions and not to others: else the one with
    more answers to easy questions would have the higher mean for it. A question counts as its mean
    share of either's answers is (as in `expected_pairs`).

    >>> first, second = (
    ...     Sample(
    ...         predictions=np.ones((len(places), 1)),
    ...         labels=np.ones(len(places)),
    ...         weights=np.ones(len(places)),
    ...         clusters=np.array(places),
    ...     )
    ...     for places in ([0, 0, 1, 1], [0, 0, 1])
    ... )
    >>> [each.counts.round(2).tolist() for each in balanced(first, second)]
    [[1.17, 1.17, 0.83, 0.83], [0.88, 0.88, 1.25]]
    """
    sizes = np.stack([np.bincount(each.clusters) for each in (first, second)])
    shares = sizes / sizes.sum(axis=1, keepdims=True)
    # Rounded, so that all count 1 exactly where no question has more of one system's answers.
    one, two = np.round(shares.mean(axis=0) / shares, 9)
    return replace(first, counts=one[first.clusters]), replace(second, counts=two[second.clusters])


def drawn_unlike_rest(sample: Sample) -> tuple[float, float, float]:
    """Do the labelled answers look like all of them to the first judge?

    What the judge says is known of all answers, so the spread of a random sample of them is known
    too; a sample that happens to hold none of the rarer verdict would think it was 0. Where whole
    questions were drawn, the spread between these is larger, and is taken.

    Returns:
        The judge's (weighted) mean on labelled answers, its mean on all, and the two-sided p of
        their being equal but for chance.

    It accepts half of 100 answers, and seven, or all, of the ten labelled ones:

    >>> for accepted in (7, 10):
    ...     judged = (np.arange(100) < accepted) | (np.arange(100) >= 50 + accepted)
    ...     sample = Sample(
    ...         predictions=judged[:, None].astype(float),
    ...         labels=np.where(np.arange(100) < 10, 1.0, np.nan),
    ...         weights=np.ones(100),
    ...         clusters=np.arange(100),
    ...     )
    ...     print([round(float(each), 3) for each in drawn_unlike_rest(sample)])
    [0.7, 0.5, 0.182]
    [1.0, 0.5, 0.001]
    """
    from scipy.stats import norm

    has, verdicts = sample.labelled, sample.predictions[:, 0]
    weights = sample.weights[has]
    drawn, whole = float(np.average(verdicts[has], weights=weights)), float(verdicts.mean())
    pulls = (verdicts - whole) / len(verdicts)
    pulls[has] -= weights * (verdicts[has] - drawn) / weights.sum()
    between = float((np.bincount(sample.clusters, pulls) ** 2).sum())
    left = 1.0 - len(weights) / len(verdicts)
    at_random = float(np.var(verdicts)) * left * float((weights**2).sum())
    error = math.sqrt(max(between, at_random / float(weights.sum()) ** 2))
    p = 1.0 if error == 0 else float(2 * norm.sf(abs(drawn - whole) / error))
    return drawn, whole, p


def parts_unlike_rest(parts: Ints, sample: Sample) -> float:
    """p of labels being drawn from all parts alike (chi-squared test of independence).

    A part's answers count divided by their design effect: where whole questions were drawn, which
    may be of one part alone, as questions; where single answers were, as answers.

    Args:
        parts: (N,) the number of each answer's part, such as its system, from 0.
        sample: of the answers some have a label, and some have none.

    Ten labels of 100 answers, five or nine of them to the first half:

    >>> place = np.arange(100)
    >>> for first in (5, 9):
    ...     sample = Sample(
    ...         predictions=np.ones((100, 1)),
    ...         labels=np.where(place % 50 < np.where(place < 50, first, 10 - first), 1.0, np.nan),
    ...         weights=np.ones(100),
    ...         clusters=place,
    ...     )
    ...     print(round(parts_unlike_rest(place // 50, sample), 3))
    1.0
    0.02
    """
    from scipy.stats import chi2_contingency

    labelled = sample.labelled
    counts = np.stack([np.bincount(parts, part) for part in (labelled, ~labelled)])
    questions = int(sample.clusters.max()) + 1
    theirs, place = np.unique(parts * questions + sample.clusters, return_inverse=True)
    pulls = labelled - labelled.mean()
    together = np.bincount(theirs // questions, np.bincount(place, pulls) ** 2)
    effect = np.maximum(1.0, together / np.bincount(parts, pulls**2))
    return float(chi2_contingency(counts / effect).pvalue) if counts.shape[1] > 1 else 1.0


def expected_pairs(counts: npt.NDArray[np.int64]) -> tuple[Array, Array, Array]:
    """Pairs of answers of two systems of which one alone is right, by question, and all pairs.

    Where a question has several answers of a system, they are no pairs: these are what pairing
    them at random gives on average. A question has as many pairs as its mean share of either
    system's answers is of the mean number of answers.

    Args:
        counts: (questions, 2, 2) right answers and all answers of either system.

    Returns:
        Pairs of which only the second is right, of which only the first is right, and all.

    >>> [each.tolist() for each in expected_pairs(np.array([[[2, 2], [1, 2]], [[0, 1], [0, 1]]]))]
    [[0.0, 0.0], [1.0, 0.0], [2.0, 1.0]]
    """
    right, answers = np.moveaxis(counts.astype(np.float64), 2, 0)
    totals = answers.sum(axis=0)
    # Rounded, so that single answers are one pair exactly.
    pairs = np.round(totals.mean() * (answers / totals).mean(axis=1), 9)
    one, two = (right / answers).T
    return pairs * (1 - one) * two, pairs * one * (1 - two), pairs


@dataclass(frozen=True, kw_only=True)
class Pulls:
    """What each question does to the mean label, and to the judges' means.

    Attributes:
        mean: of the labels.
        labels: (questions,) how far the question pulls the mean label; they sum to 0.
        judges: (questions, judges) likewise their means over the labelled answers.
        whole: (questions, judges) likewise those over all answers; 0 about these alone.
        shift: (judges,) their means over all answers, less over the labelled ones.
        parts: (questions,) its part of all weight.
        left: the share of the answers that have no label.
        unseen: of a label of the rarer kind at any answer (root mean square), its leverage undone.
    """

    mean: float
    labels: Array
    judges: Array
    whole: Array
    shift: Array
    parts: Array
    left: float
    unseen: float


def pulls_of(sample: Sample, questions: int, about: About) -> Pulls:
    """Of a sample with at least one label; `questions` are numbered from 0.

    >>> sample = Sample(
    ...     predictions=np.array([[1.0], [1.0], [0.0], [0.0]]),
    ...     labels=np.array([1.0, 0.0, np.nan, np.nan]),
    ...     weights=np.ones(4),
    ...     clusters=np.arange(4),
    ... )
    >>> pulls = pulls_of(sample, 4, "these")
    >>> pulls.mean, pulls.labels.tolist(), pulls.shift.tolist(), pulls.left
    (0.5, [0.25, -0.25, 0.0, 0.0], [-0.5], 0.5)
    """
    has, places = sample.labelled, sample.clusters
    labels, weights = sample.labels[has], sample.label_weights
    total = float(weights.sum())

    def summed(values: Array, at: Ints) -> Array:
        return np.asarray(np.bincount(at, values, minlength=questions), dtype=np.float64)

    mean = float(weights @ labels) / total
    said, counts = sample.predictions, np.broadcast_to(sample.counts, len(has))
    here, everywhere = weights @ said[has] / total, (said * counts[:, None]).mean(axis=0)
    away = (said[has] - here).T * weights / total
    further = (said - everywhere).T * counts / len(said) * (about == "future")
    part = float(np.sqrt((weights**3).sum() / total)) / total
    return Pulls(
        mean=mean,
        labels=summed(weights * (labels - mean), places[has]) / total,
        judges=np.stack([summed(values, places[has]) for values in away], axis=1),
        whole=np.stack([summed(values, places) for values in further], axis=1),
        shift=everywhere - here,
        parts=summed(weights, places[has]) / total,
        left=1 - len(labels) / len(has),
        unseen=part / (1 - min(part, MOST_LEVERAGE)) * max(mean, 1 - mean),
    )


def stratified_evidence(sample: Sample, share: float, judges: Array, about: About) -> Evidence:
    """What a mean rests on whose labels, one a question, were drawn with unequal chances.

    Labels with like chances are a stratum, of which only the variance within moves the mean. A
    stratum whose labels are all alike is uncertain still, so that half a right and half a
    wrong label are added to each (Brown, Cai & DasGupta 2001, section 3.1.3); degrees of freedom
    are Satterthwaite's (1946, Biometrics Bulletin 2(6), 110-114). Answers are as many as have this
    variance with the share that was found, around which the interval is made; the strata's own
    can lie further from 0 and 1, and would pass for more of them.

    Args:
        sample: of which each labelled question has one label.
        share: the estimate.
        judges: the weight of each.
        about: further answers of the kind, or these alone.

    >>> place = np.arange(200)
    >>> sample = Sample(
    ...     predictions=np.ones((200, 1)),
    ...     labels=np.where(place < 60, (place % 4 > 0) * 1.0, np.nan),
    ...     weights=np.where(place < 20, 1.0, 4.0),
    ...     clusters=place,
    ... )
    >>> found = stratified_evidence(sample, 0.75, np.zeros(1), "these")
    >>> round(found.answers, 1), round(found.independent, 1), round(found.freedom, 1)
    (64.0, 49.1, 39.3)
    """
    has, total = sample.labelled, len(sample.labels)
    labels, parts = sample.labels[has], sample.label_weights / sample.label_weights.sum()
    ranks = np.unique(parts, return_inverse=True)[1]
    if ranks.max() >= STRATA:
        ranks = np.argsort(np.argsort(parts, kind="stable")) * STRATA // len(parts)

    def sums(values: Array) -> Array:
        return np.asarray(np.bincount(ranks, values), dtype=np.float64)

    def spread(values: Array) -> Array:
        """Squares around the strata's means."""
        means = sums(parts * values) / part
        return np.asarray(sums((values - means[ranks]) ** 2) + UNSEEN_LABELS)

    part, count = sums(parts), sums(np.ones(len(parts)))
    shares = (count * sums(parts * labels) / part + UNSEEN_LABELS) / (count + 2 * UNSEEN_LABELS)
    unexplained = np.minimum(spread(labels - sample.predictions[has] @ judges) / spread(labels), 1)
    left = np.maximum(1 - count / (part * total), 0)
    moved = sums(parts**2) * shares * (1 - shares) * unexplained * left
    freedom = float(moved.sum() ** 2 / (moved**2 / np.maximum(count - 1, 1)).sum())
    mean = float(part @ shares)
    variance = float(moved.sum()) + (mean * (1 - mean) / total if about == "future" else 0.0)
    independent = kish(parts)
    return Evidence(
        answers=max(share * (1 - share) / max(variance, 1e-9), independent),
        independent=independent,
        freedom=freedom,
        verdicts=False,
    )
