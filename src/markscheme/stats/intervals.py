"""Intervals of shares and of paired differences, where questions may have several answers.

Every interval is a score interval at the number of independent answers that the figure rests on
(`evidence`): Wilson's (1927) for a share, Tango's (1998) for the difference of two shares on the
same questions. On different questions the intervals of both shares make that of the difference
(Newcombe 1998).

The quantile is Student's t with Kish's (1965) number of questions of equal weight, (sum of m)^2 /
(sum of m^2), less one. Answers to one question can at worst all be alike: no interval is wider than
that of as many single answers as Kish's number. And no result shows more than a perfect one does,
of which nothing says whether its answers are alike: a share's lower end is at most, its upper end
at least, that of as many single answers that are all right, all wrong. Without this limit a few
wrong answers, each to another question, would raise the lower end. `docs/coverage.md` shows where
the intervals hold.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

from markscheme.stats.evidence import Evidence
from markscheme.stats.quantiles import exact_interval, t_quantile, t_tail

Array = npt.NDArray[np.float64]

FEW = 3
"""Single answers of the rarer kind up to which Wilson's interval alone covers too little."""
HALVINGS = 50
_TINY = 1e-12


# --- Shares ---------------------------------------------------------------------------------------


def share_interval(
    share: float, evidence: Evidence, *, confidence: float = 0.95
) -> tuple[float, float]:
    """Wilson's interval at the number of answers that the share rests on.

    It is modified where at most `FEW` are of the rarer kind (Brown, Cai & DasGupta 2001, section
    4.1.1): the bound towards 0 (or 1) is the exact one-sided one. Wilson's own leaves out shares
    near it, and covers 86 to 92% there.

    >>> from markscheme.stats import share_evidence, single_answers
    >>> [round(end, 3) for end in share_interval(0.8, single_answers(50))]
    [0.67, 0.888]
    >>> [round(end, 3) for end in share_interval(0.75, share_evidence([5, 5, 0, 5], [5, 5, 5, 5]))]
    [0.249, 0.987]
    """
    sizes = evidence.sizes((1 + confidence) / 2)
    ends = [_with_tails(share, size, reach, confidence) for size, reach in sizes]
    low, high = max(low for low, _ in ends), min(high for _, high in ends)
    if not evidence.verdicts:
        return low, high
    most, _ = wilson_interval(1.0, evidence.independent, confidence=confidence)
    return min(most, low), max(1 - most, high)


def _with_tails(share: float, size: float, reach: float, confidence: float) -> tuple[float, float]:
    low, high = wilson_interval(share, size, reach=reach)
    few = (FEW + 1e-6) / size
    if min(share, 1 - share) <= few:
        tails = exact_interval(share, size, 2 * confidence - 1)
        low = min(low, tails[0]) if share <= few else low
        high = max(high, tails[1]) if 1 - share <= few else high
    return low, high


def share_bound(share: float, evidence: Evidence, *, confidence: float = 0.95) -> float:
    """The lower bound that a share has with a confidence: one-sided, for gates.

    Clopper & Pearson's (1934), which is exact, of single answers; where questions have several,
    Wilson's at the number of answers that the share rests on, but not below the exact one of as
    many answers as Kish's number, and not above that of as many which are all right.

    >>> from markscheme.stats import single_answers
    >>> round(share_bound(0.8, single_answers(50)), 3)
    0.684
    """
    least, most = (
        exact_interval(some, evidence.independent, 2 * confidence - 1)[0] for some in (share, 1.0)
    )
    if evidence.single:
        return least
    reach = t_quantile(evidence.freedom, confidence)
    return max(least, min(most, _with_tails(share, evidence.answers, reach, confidence)[0]))


def wilson_interval(
    share: float, size: float, *, confidence: float = 0.95, reach: float | None = None
) -> tuple[float, float]:
    """Wilson's score interval for a share of `size` answers, which need not be a whole number.

    `reach` is the quantile in standard errors; None for that of the normal distribution.

    >>> [round(end, 3) for end in wilson_interval(0.8, 50)]
    [0.67, 0.888]
    """
    share, size = float(share), float(size)  # NumPy's numbers are no plain ones
    z = NormalDist().inv_cdf((1 + confidence) / 2) if reach is None else reach
    square = z * z
    centre = share + square / (2 * size)
    spread = z * math.sqrt(share * (1 - share) / size + square / (4 * size * size))
    scale = 1 + square / size
    low, high = (centre - spread) / scale, (centre + spread) / scale
    return 0.0 if share == 0 else max(0.0, low), 1.0 if share == 1 else min(1.0, high)


# --- Differences of two shares on the same questions ----------------------------------------------


def difference_interval(
    worse: float, better: float, evidence: Evidence, *, confidence: float = 0.95
) -> tuple[float, float]:
    """Tango's interval of `better - worse` at the number of pairs that the difference rests on.

    Args:
        worse, better: the shares of pairs of which only the second, only the first is right.
        evidence: of the difference.
        confidence: of both sides together.

    >>> from markscheme.stats import single_answers
    >>> [round(end, 3) for end in difference_interval(0.05, 0.2, single_answers(100))]
    [0.056, 0.249]
    """
    sizes = evidence.sizes((1 + confidence) / 2)
    ends = [score_interval(worse, better, size, reach) for size, reach in sizes]
    return max(low for low, _ in ends), min(high for _, high in ends)


def difference_p(
    worse: float, better: float, evidence: Evidence, *, margin: float = 0.0
) -> float | None:
    """The two-sided p of no difference: that at which `difference_interval` ends at 0.

    With single answers it is McNemar's (1947) test. None where the two never differ.

    Args:
        worse, better: the shares of pairs of which only the second, only the first is right.
        evidence: of the difference.
        margin: the difference, at least 0, at which the interval ends instead.

    >>> from markscheme.stats import single_answers
    >>> round(difference_p(0.05, 0.2, single_answers(100)), 4)
    0.0027
    """
    if not worse + better:
        return None
    down, up = sorted((worse, better))
    score = max(0.0, float(score_statistic(np.array(up), np.array(down), 1.0, margin)))
    p = math.erfc(score * math.sqrt(evidence.independent / 2))
    if not evidence.single:
        p = min(p, 2 * t_tail(score * math.sqrt(evidence.answers), evidence.freedom))
    return p


def score_interval(worse: float, better: float, size: float, reach: float) -> tuple[float, float]:
    """Tango's (1998) interval of a difference of two paired shares, `better - worse`.

    Args:
        worse, better: the shares of pairs in which the first is worse, is better.
        size: how many independent pairs they are of; need not be whole.
        reach: the quantile in standard errors.

    >>> [round(end, 3) for end in score_interval(0.05, 0.2, 100, 1.96)]
    [0.056, 0.249]
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


def unpaired_interval(
    first: tuple[float, float, float], second: tuple[float, float, float]
) -> tuple[float, float]:
    """The interval of `first - second`, two figures of different questions: square and add.

    A side of each interval is as wide as the figure varies there; independent variances add up
    (Newcombe 1998, Statistics in Medicine 17, 873-890, method 10; Zou & Donner 2008 for any two
    figures).

    Args:
        first, second: value, low and high of each.

    The paper's first example, 56 of 70 against 48 of 80:

    >>> first, second = (0.8, *wilson_interval(0.8, 70)), (0.6, *wilson_interval(0.6, 80))
    >>> [round(end, 4) for end in unpaired_interval(first, second)]
    [0.0524, 0.3339]
    """
    (one, one_low, one_high), (other, other_low, other_high) = first, second
    value = one - other
    return (
        value - math.hypot(one - one_low, other_high - other),
        value + math.hypot(one_high - one, other - other_low),
    )


def unpaired_p(value: float, low: float, high: float, *, confidence: float = 0.95) -> float:
    """The two-sided p of no difference between figures of different questions.

    By the normal distribution, with the standard error of the side towards 0: it is at most
    1 - `confidence` just where the interval excludes 0.

    Args:
        value, low, high: as `unpaired_interval` gives them; its ends differ.
        confidence: of that interval.

    >>> round(unpaired_p(0.2, 0.0524, 0.3339), 4)
    0.0079
    """
    reach = NormalDist().inv_cdf((1 + confidence) / 2)
    error = max(value - low if value > 0 else high - value, _TINY) / reach
    return math.erfc(abs(value) / error / math.sqrt(2))


def score_statistic(
    worse: npt.NDArray[Any], better: npt.NDArray[Any], items: float, margin: float
) -> Array:
    """(worse - better - items * margin) over its standard error if that is 0 in truth (Tango).

    >>> float(score_statistic(np.array(5), np.array(20), 100, 0.0))
    -3.0
    """
    half = -worse - better + (2 * items - worse + better) * margin
    root = np.sqrt(half**2 + 8 * items * better * margin * (1 - margin))
    wins = (root - half) / (4 * items)
    variance = items * (2 * wins + margin * (1 - margin))
    away = worse - better - items * margin
    error = np.sqrt(variance)
    return np.asarray(np.where(error > 0, away / np.where(error > 0, error, 1.0), 0.0))
