"""Labels that are wrong: how many, and what the figures would be without.

People who label err. Of two who label the same answer, one is wrong wherever they differ; that both
are wrong is seen by nobody. The model is Dawid & Skene's (1979, Applied Statistics 28(1), 20-28)
with one rate: a label is wrong with probability e, whatever the truth, the person and the other
label, so that two differ with probability 2 e (1 - e). Errors that people share, on answers that
are hard for all, stay unseen.
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
        rate: the share, 0 to `MOST_WRONG`.
        low, high: its interval; the rate itself where it is supposed.
        pairs: pairs of labels of one answer that it rests on; 0 where it is supposed.
        differ: the share of these that differ.
        single: the share of single labels that are wrong, where the labels that count are of
            several people; None where they are single ones themselves.
        method: of the interval (`Evidence.method`); None where the rate is supposed.
    """

    rate: float
    low: float
    high: float
    pairs: int = 0
    differ: float = 0.0
    single: float | None = None
    method: str | None = None


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
        rate=rate, low=low, high=high, pairs=int(count.sum()), differ=share, method=evidence.method
    )


def _wrong(differ: float) -> float:
    return min(MOST_WRONG, (1 - math.sqrt(max(0.0, 1 - 2 * differ))) / 2)


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


def without_noise(
    value: float, low: float, high: float, noise: LabelNoise
) -> tuple[float, float, float]:
    """A share of labels, and its interval, as they would be if no label were wrong.

    The two uncertainties, of the share and of the rate, are put together as Donner & Zou (2012,
    Statistical Methods in Medical Research 21(4), 347-359) do.

    >>> noise = LabelNoise(rate=0.05, low=0.05, high=0.05)
    >>> [round(each, 3) for each in without_noise(0.8, 0.7, 0.88, noise)]
    [0.833, 0.722, 0.922]
    """
    rate = noise.rate

    def undone(share: float, wrong: float) -> float:
        return min(1.0, max(0.0, (share - wrong) / (1 - 2 * wrong)))

    best = undone(value, rate)
    by_share = [undone(end, rate) for end in (low, high)]
    by_rate = sorted(undone(value, end) for end in (noise.low, noise.high))
    lows, highs = zip(by_share, by_rate, strict=True)
    return (
        best,
        max(0.0, best - math.hypot(*(best - end for end in lows))),
        min(1.0, best + math.hypot(*(end - best for end in highs))),
    )
