"""Labels that are wrong: how many, and what the figures would be without.

People who label err. Of two who label the same answer, one is wrong wherever they differ; that both
are wrong is seen by nobody. The model is Dawid & Skene's (1979, Applied Statistics 28(1), 20-28)
with one rate: a label is wrong with probability e, whatever the truth, the person and the other
label, so that two differ with probability 2 e (1 - e). Errors that people share, on answers that
are hard for all, stay unseen.

Gold items, whose right label is known, show these too, and apart for right and for wrong answers: a
share of labels without the errors is then Rogan & Gladen's (1978, American Journal of Epidemiology
107(1), 71-76).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from markscheme.stats.evidence import share_evidence
from markscheme.stats.intervals import share_interval
from markscheme.stats.limits import MOST_WRONG


@dataclass(frozen=True, kw_only=True)
class LabelNoise:
    """How many labels are wrong.

    Attributes:
        rate: the share, 0 to `MOST_WRONG`; of right answers' labels where `rejected` is known.
        low, high: its interval; the rate itself where it is supposed.
        pairs: pairs of labels of one answer that it rests on; 0 where it rests on none.
        differ: the share of these that differ.
        single: the share of single labels that are wrong, where the labels that count are of
            several people; None where they are single ones themselves.
        method: of the interval (`Evidence.method`); None where the rate is supposed.
        gold: labels of gold items that it rests on; 0 where it rests on none.
        rejected: the same of the labels of wrong answers; None where all labels have one rate.
        capped: whether an end of the interval would be above `MOST_WRONG`, where single labels are
            cut off.
    """

    rate: float
    low: float
    high: float
    pairs: int = 0
    differ: float = 0.0
    single: float | None = None
    method: str | None = None
    gold: int = 0
    rejected: LabelNoise | None = None
    capped: bool = False

    @property
    def of_wrong(self) -> LabelNoise:
        """Of the labels of wrong answers."""
        return self.rejected or self


def noise_from_pairs(
    differ: npt.ArrayLike, pairs: npt.ArrayLike, *, confidence: float = 0.95
) -> LabelNoise:
    """The share of wrong labels, from labels of the same answers.

    Args:
        differ: (questions,) pairs of labels of an answer that differ.
        pairs: (questions,) pairs; a question without any counts for nothing.
        confidence: of the interval.

    >>> round(noise_from_pairs([1, 0, 0, 0, 0], [2, 2, 2, 2, 2]).rate, 3)
    0.053
    """
    apart, count = np.asarray(differ), np.asarray(pairs)
    share = float(apart.sum() / count.sum())
    evidence = share_evidence(apart, count)
    ends = share_interval(share, evidence, confidence=confidence)
    rate, low, high = (_wrong(each) for each in (share, *ends))
    return LabelNoise(
        rate=rate,
        low=low,
        high=high,
        pairs=int(count.sum()),
        differ=share,
        method=evidence.method,
        capped=high == MOST_WRONG,
    )


def _wrong(differ: float) -> float:
    return min(MOST_WRONG, (1 - math.sqrt(max(0.0, 1 - 2 * differ))) / 2)


def noise_from_gold(
    labels: npt.ArrayLike,
    truth: npt.ArrayLike,
    questions: npt.ArrayLike,
    *,
    confidence: float = 0.95,
) -> LabelNoise:
    """The shares of wrong labels, of right and of wrong answers, from labels of gold items.

    Args:
        labels: (labels,) whether a person accepted the answer.
        truth: (labels,) whether it is right; some are, and some are not.
        questions: (labels,) the number of its question, from 0.
        confidence: of the intervals.

    >>> found = noise_from_gold([1, 1, 1, 0, 0, 1, 0, 0], [1] * 4 + [0] * 4, range(8))
    >>> found.rate, found.of_wrong.rate
    (0.25, 0.25)
    """
    right, number = np.asarray(truth, bool), np.asarray(questions)
    wrong = np.asarray(labels, bool) != right

    def of(part: npt.NDArray[np.bool_]) -> LabelNoise:
        among, count = np.bincount(number[part], wrong[part]), np.bincount(number[part])
        share = float(among.sum() / count.sum())
        evidence = share_evidence(among, count)
        ends = share_interval(share, evidence, confidence=confidence)
        rate, low, high = (min(MOST_WRONG, each) for each in (share, *ends))
        return LabelNoise(
            rate=rate,
            low=low,
            high=high,
            method=evidence.method,
            gold=int(count.sum()),
            capped=ends[1] > MOST_WRONG,
        )

    return replace(of(right), rejected=of(~right))


def of_votes(noise: LabelNoise, people: npt.ArrayLike) -> LabelNoise:
    """The same of labels that most of several people gave, by the errors of one.

    As `of_majorities`, for errors that differ between right and wrong answers, so that margins do.

    Args:
        noise: of single labels.
        people: (answers,) how many labelled an answer; answers on which as many accept as reject
            have no label, and are none of these.

    >>> round(of_votes(LabelNoise(rate=0.1, low=0.1, high=0.1), [3]).rate, 4)
    0.028
    """
    from scipy.stats import binom

    sizes, answers = np.unique(np.asarray(people, int), return_counts=True)

    def wrong(rate: float) -> float:
        more = binom.sf(sizes // 2, sizes, rate)
        tied = np.where(sizes % 2, 0.0, binom.pmf(sizes // 2, sizes, rate))
        return float(np.average(more / (1 - tied), weights=answers))

    rate, low, high = map(wrong, (noise.rate, noise.low, noise.high))
    other = None if noise.rejected is None else of_votes(noise.rejected, people)
    return replace(noise, rate=rate, low=low, high=high, single=noise.rate, rejected=other)


def of_majorities(noise: LabelNoise, margins: npt.ArrayLike) -> LabelNoise:
    """The same of labels that several people's labels decided.

    Args:
        noise: of single labels.
        margins: (answers,) how many more people gave the label than another; 1 of a single label.

    >>> round(of_majorities(LabelNoise(rate=0.1, low=0.1, high=0.1), [1, 2, 3]).rate, 4)
    0.0379
    """
    sizes, answers = np.unique(np.asarray(margins), return_counts=True)

    def wrong(rate: float) -> float:
        odds = (rate / (1 - rate)) ** sizes.astype(np.float64)
        return float(np.average(odds / (1 + odds), weights=answers))

    rate, low, high = map(wrong, (noise.rate, noise.low, noise.high))
    return replace(noise, rate=rate, low=low, high=high, single=noise.rate)


def possible(noise: LabelNoise, accepted: float | None = 1.0) -> tuple[float, float]:
    """The least and the largest share, or difference, of labels that so many wrong ones can give.

    By the lower ends of the rates; `accepted` is as of `without_noise`.

    >>> possible(LabelNoise(rate=0.1, low=0.05, high=0.2))
    (0.05, 0.95)
    """
    by_chance = _by_chance(noise.low, noise.of_wrong.low, accepted)
    span = 1 - noise.low - noise.of_wrong.low
    return (by_chance if accepted is not None else -span), by_chance + span


def _by_chance(missed: float, let_in: float, accepted: float | None) -> float:
    """The share that wrong labels alone would give."""
    return 0.0 if accepted is None else accepted * let_in + (1 - accepted) * missed


def without_noise(
    value: float, low: float, high: float, noise: LabelNoise, accepted: float | None = 1.0
) -> tuple[float, float, float]:
    """A share of labels, and its interval, as they would be if no label were wrong.

    The uncertainties, of the share and of each rate, are put together as Donner & Zou (2012,
    Statistical Methods in Medical Research 21(4), 347-359) do.

    Args:
        value, low, high: the share of answers that people accept; the share on which they agree
            with a judge; or a difference of two shares, -1 to 1.
        noise: how many labels are wrong.
        accepted: the share of the answers that the judge accepts, where it is agreement with one; 1
            for the share that people accept; None for a difference. Errors that are as frequent
            on both sides make a difference smaller and leave its sign, so that an interval on one
            side of 0 stays there.

    >>> noise = LabelNoise(rate=0.05, low=0.05, high=0.05)
    >>> [round(each, 3) for each in without_noise(0.8, 0.7, 0.88, noise)]
    [0.833, 0.722, 0.922]
    >>> [round(each, 3) for each in without_noise(0.09, 0.0, 0.18, noise, accepted=None)]
    [0.1, 0.0, 0.2]
    """
    missed, let_in = noise, noise.of_wrong

    def undone(share: float, missed: float, let_in: float) -> float:
        return (share - _by_chance(missed, let_in, accepted)) / (1 - missed - let_in)

    best = undone(value, missed.rate, let_in.rate)
    alone = [[undone(end, missed.rate, let_in.rate) for end in (low, high)]]
    if noise.rejected is None:
        alone.append([undone(value, end, end) for end in (noise.low, noise.high)])
    else:
        alone.append([undone(value, end, let_in.rate) for end in (missed.low, missed.high)])
        alone.append([undone(value, missed.rate, end) for end in (let_in.low, let_in.high)])
    lows, highs = zip(*map(sorted, alone), strict=True)
    least = -1.0 if accepted is None and low <= 0 else 0.0
    most = 0.0 if accepted is None and high < 0 else 1.0
    # Cut at the end alone: ends that a cut value is measured from are too near.
    ends = (
        best,
        best - math.hypot(*(best - end for end in lows)),
        best + math.hypot(*(end - best for end in highs)),
    )
    value, low, high = (min(most, max(least, end)) for end in ends)
    return value, low, high
