"""What prediction-powered estimates and differences are made of: weights, variances, ends.

`prediction_powered` says what they are for, and where they are from.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from markscheme.stats.evidence import (
    MOST_LEVERAGE,
    Evidence,
    difference_evidence,
    freedom_of,
    kish,
    mean_evidence,
    share_evidence,
    variance_of_sum,
)
from markscheme.stats.limits import QUESTIONS_A_FIGURE
from markscheme.stats.samples import About, Pulls, Sample, expected_pairs

Array = npt.NDArray[np.float64]

UNSEEN_ERRORS = 2.0
TINY = 1e-9


def labels_evidence(sample: Sample, pulls: Pulls) -> Evidence:
    """What the mean of labels of 0 and 1 rests on without judges.

    Of unequal weights it is more than Kish's number of answers only as far as one unseen label of
    the rarer kind leaves it: those seen may all weigh little.

    >>> from markscheme.stats.samples import pulls_of
    >>> place = np.arange(10)
    >>> sample = Sample(
    ...     predictions=np.ones((10, 1)),
    ...     labels=np.where(place < 6, place % 2.0, np.nan),
    ...     weights=np.ones(10),
    ...     clusters=place,
    ... )
    >>> labels_evidence(sample, pulls_of(sample, 10, "future"))
    Evidence(answers=6.0, independent=6.0, freedom=inf)
    """
    has = sample.labelled
    weights, mean, here = sample.label_weights, pulls.mean, pulls.parts > 0
    if np.ptp(weights) == 0:
        places = sample.clusters[has]
        right = np.bincount(places[sample.labels[has] == 1], minlength=len(here))
        answers = np.bincount(places, minlength=len(here))
        return share_evidence(right[answers > 0], answers[answers > 0])
    moved = variance_of_sum(pulls.labels[here], pulls.parts[here])
    unseen = moved + pulls.unseen**2
    found, least = (mean_evidence(mean, each, pulls.parts[here]) for each in (moved, unseen))
    most = max(kish(weights), least.answers)
    return replace(found, answers=min(found.answers, most), verdicts=True)


def pairs_evidence(
    samples: tuple[Sample, Sample], sides: tuple[Pulls, Pulls], both: Pulls
) -> tuple[float, Evidence]:
    """The share of pairs of labels of which one alone is 1, and what the difference of two means of
    labels of 0 and 1 rests on without judges.

    Where all labelled questions are labelled on both sides, the labels are pairs. Else those of one
    side are paired at random, and the evidence is as many pairs as have the sampling variance of
    the difference d, (s - d^2) / n with s the share; as of a mean (`labels_evidence`), more than
    Kish's number of either side only as far as an unseen label leaves it.

    Args:
        samples: the sides.
        sides: what each question does to the mean label of either.
        both: likewise to the difference.

    >>> from dataclasses import replace
    >>> from markscheme.stats.samples import pulls_of
    >>> place = np.arange(10)
    >>> one = Sample(
    ...     predictions=np.ones((10, 1)),
    ...     labels=np.where(place < 6, 1.0, np.nan),
    ...     weights=np.ones(10),
    ...     clusters=place,
    ... )
    >>> other = replace(one, labels=np.where(place < 6, place % 2.0, np.nan))
    >>> sides = tuple(pulls_of(each, 10, "future") for each in (one, other))
    >>> both = replace(sides[0], mean=0.5, labels=sides[0].labels - sides[1].labels)
    >>> pairs_evidence((one, other), sides, both)
    (0.5, Evidence(answers=6.0, independent=6.0, freedom=inf))
    """
    here = both.parts > 0

    def by_question(values: Sequence[Array]) -> Array:
        """(2, questions) sums over the labels of either side."""
        sums = [
            np.bincount(each.clusters[each.labelled], of_each, minlength=len(here))
            for each, of_each in zip(samples, values, strict=True)
        ]
        return np.asarray(np.stack(sums)[:, here], dtype=np.float64)

    labels = [each.labels[each.labelled] for each in samples]
    weights = [each.label_weights for each in samples]
    weight = by_question(weights)
    common = weight.all(axis=0)
    shares = by_question([w * label for w, label in zip(weights, labels, strict=True)])
    one, two = shares = shares[:, common] / weight[:, common]
    paired, (first, second) = both.parts[here][common], (each.mean for each in sides)
    at_random = first * (1 - second) + (1 - first) * second
    apart = float(paired @ (one * (1 - two) + (1 - one) * two))
    apart = max(apart + (1 - float(paired.sum())) * at_random, abs(both.mean))
    if common.all() and not any(np.ptp(each) for each in weights):
        answers = by_question([np.ones(len(each)) for each in labels])
        counts = np.stack([np.rint(shares * answers), answers], axis=2).swapaxes(0, 1)
        return apart, difference_evidence(*expected_pairs(counts))
    independent = min(kish(each.parts) for each in sides)
    moved = variance_of_sum(both.labels[here], both.parts[here])
    size, spread = independent, apart - both.mean**2
    if moved > 0 and spread > 0:
        size = min(spread / moved, max(size, spread / (moved + both.unseen**2)))
    freedom = freedom_of(kish(both.parts))
    return apart, Evidence(answers=size, independent=independent, freedom=freedom)


def judges_weighted(questions: int, judges: int) -> int:
    """How many of the judges, the first ones, so many labelled questions suffice to weight.

    Set before a label is seen: weights that are fitted to few labels fit these too well, and the
    errors that several judges seem to have no longer show.

    >>> [judges_weighted(questions, 3) for questions in (20, 30, 40, 400)]
    [1, 2, 3, 3]
    """
    return min(judges, max(1, questions // QUESTIONS_A_FIGURE - 1))


def regressed(
    pulls: Pulls, labels: int, about: About, *, judges: bool = True
) -> tuple[Array, float]:
    """The judges' weights, and the share of the labels' variance that remains.

    Judges beyond those that are weighted (`judges_weighted`) have the weight 0. Questions that
    tuned the weights fit them too well; leverages undo that (HC3; MacKinnon & White 1985). A judge
    that errs on one answer in ten:

    >>> from markscheme.stats.samples import pulls_of
    >>> place = np.arange(200)
    >>> judged = (place % 5 > 0).astype(float)
    >>> people = np.where(place % 10 == 1, 0.0, judged)
    >>> sample = Sample(
    ...     predictions=judged[:, None],
    ...     labels=np.where(place < 50, people, np.nan),
    ...     weights=np.ones(200),
    ...     clusters=place,
    ... )
    >>> weights, share = regressed(pulls_of(sample, 200, "future"), 50, "future")
    >>> weights.round(2).tolist(), round(share, 2)
    ([0.87], 0.6)
    """
    here = pulls.parts > 0  # Few of many questions; the sums over all of them are no products.
    every = pulls.judges.shape[1]
    number = judges_weighted(int(here.sum()), every)
    none = np.zeros(every), 1.0 if about == "future" else pulls.left
    seen, labelled = pulls.judges[here, :number], pulls.labels[here]
    power = float(labelled @ labelled)
    if not judges or not power or pulls.left <= 0:
        return none
    inverse = np.linalg.pinv(seen.T @ seen)
    weights = inverse @ seen.T @ labelled
    explained = float(seen @ weights @ labelled) / power
    if explained * (labels - 1 - number) <= number:
        return none
    own = np.minimum(pulls.parts[here], MOST_LEVERAGE)
    fitted = ((seen @ inverse) * seen).sum(axis=1)
    rest = (pulls.whole[:, :number] * weights).sum(axis=1)
    rest[here] /= 1 - own
    rest[here] += (labelled - seen @ weights) / (1 - np.minimum(own + fitted, MOST_LEVERAGE))
    whole = (labelled / (1 - own)) ** 2
    unseen = UNSEEN_ERRORS * pulls.unseen**2
    share = (float((rest**2).sum()) + unseen) / (float(whole.sum()) + unseen)
    if share >= 1:
        return none
    weights = np.pad(weights, (0, every - number))
    return weights, share if about == "future" else share * pulls.left


def left_of_both(rests: tuple[Array, Array], samples: tuple[Sample, Sample]) -> float:
    """The share of the variance of a difference that remains about these answers alone.

    Of a pair of labels it is 1 - p q / r, of labels with chances p and q to be drawn, and r to be
    drawn together (Horvitz & Thompson 1952). What both sides have in common cancels as far as they
    were drawn together, and hardly where each was drawn by itself. The same half of the questions
    is labelled for both systems:

    >>> place = np.arange(10)
    >>> sample = Sample(
    ...     predictions=np.ones((10, 1)),
    ...     labels=np.where(place < 5, 1.0, np.nan),
    ...     weights=np.ones(10),
    ...     clusters=place,
    ... )
    >>> rests = np.where(place < 5, 0.1, 0.0), np.where(place == 0, -0.1, 0.0)
    >>> round(left_of_both(rests, (sample, sample)), 3)
    0.5
    """
    questions = len(rests[0])

    def counts(each: Sample, rows: Any) -> Array:
        return np.bincount(each.clusters[rows], minlength=questions).astype(np.float64)

    drawn = [counts(each, each.labelled) for each in samples]
    every = [counts(each, slice(None)) for each in samples]
    chances = [float(some.sum() / all_.sum()) for some, all_ in zip(drawn, every, strict=True)]
    together = float(drawn[0] @ drawn[1]) / float(every[0] @ every[1])
    apart = rests[0] - rests[1]
    power = float(apart @ apart)
    if not together or not power:
        return 1.0
    own = sum(
        (1 - chance) * float(rest @ rest) for chance, rest in zip(chances, rests, strict=True)
    )
    common = (1 - chances[0] * chances[1] / together) * float(rests[0] @ rests[1])
    return min(max((own - 2 * common) / power, 0.0), 1.0)


def labels_worth(labels: int, answers: int, share: float, about: About) -> float:
    """As many labels, without judges, leave the same share of the labels' variance.

    About these answers a label tells of one fewer that is unknown, with judges or without: all
    labels are worth all answers, and no more.

    >>> labels_worth(50, 200, 0.5, "future"), labels_worth(50, 200, 0.5, "these")
    (100.0, 66.66666666666667)
    """
    return 1 / (share / labels + (1 / answers if about == "these" else 0.0))


def at_possible(
    low: float, high: float, counts: tuple[float, float], answers: int
) -> tuple[float, float]:
    """The ends of an interval at the nearest shares that counts up to a last one give; two of them
    where there are two.

    >>> at_possible(0.62, 0.78, (20, 35), 40)
    (0.625, 0.775)
    """
    least, most = counts
    first = min(max(math.floor(low * answers + 0.5), least), most)
    last = min(max(math.ceil(high * answers - 0.5), least), most)
    if first >= last and least < most:  # Near to one: what is on its other side is possible, too.
        first = min(max(math.floor((low + high) / 2 * answers), least), most - 1)
        last = first + 1
    return first / answers, last / answers
