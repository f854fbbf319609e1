"""Intervals of shares and of paired differences, where questions may have several answers.

Answers to one question are correlated. What a share is known to is therefore expressed as a number
of independent answers (`Evidence`), and every interval is a score interval at that number: Wilson's
(1927) for a share, Tango's (1998) for the difference of two shares on the same questions. The
number is the smaller of two:

- answers over the design effect 1 + (m - 1) rho, with the correlation rho estimated from pairs of
  answers to a question that are both of the rarer kind (Kish 1965; Donner & Klar 2000). Where rare
  answers are few, the pairs hardly show whether they cluster, so that `PRIOR_PAIRS` agreeing ones
  are added;
- the answers that would give the sampling variance by question, with each question's leverage
  undone (CR3: MacKinnon & White 1985; Bell & McCaffrey 2002), so that a few questions with many
  answers are not taken for the many.

The quantile is Student's t with Kish's (1965) number of questions of equal weight, (sum of m)^2 /
(sum of m^2), less one. Answers to one question can at worst all be alike: no interval is wider than
that of as many single answers as Kish's number. `docs/coverage.md` shows where the intervals hold.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

from markscheme.stats.quantiles import exact_interval, t_quantile, t_tail

Array = npt.NDArray[np.float64]

PRIOR_PAIRS = 4.0
"""Agreeing pairs that are added to those seen: the laboratory's least that holds in its worlds."""
MOST_LEVERAGE = 0.5
"""Of one question: a residual is not scaled up further, since one question tells no variance."""
FEW = 3
"""Single answers of the rarer kind up to which Wilson's interval alone covers too little."""
HALVINGS = 50
_BLOCK = 65_536


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """How many independent answers a figure rests on.

    Attributes:
        answers: how many would move the figure by chance as far as these do, above 0.
        independent: how many there are if all answers to a question are alike: Kish's number.
        freedom: degrees of freedom of Student's t, at least 1; infinite where each question has
            one answer, so that both numbers are the answers.
    """

    answers: float
    independent: float
    freedom: float = math.inf

    @property
    def single(self) -> bool:
        """Whether each question has one answer."""
        return math.isinf(self.freedom)

    @property
    def method(self) -> str:
        """How the interval of a share is made: `wilson`, or `wilson-t` where questions repeat."""
        return "wilson" if self.single else "wilson-t"

    def times(self, factor: float) -> Evidence:
        """The same with `factor` times as many answers."""
        return replace(self, answers=self.answers * factor, independent=self.independent * factor)


# --- Shares ---------------------------------------------------------------------------------------


def share_evidence(right: npt.ArrayLike, answers: npt.ArrayLike) -> Evidence:
    """What the share of right answers rests on.

    Args:
        right: (questions,) right answers to each question.
        answers: (questions,) answers to each; a question without any counts for nothing.

    >>> share_evidence([5, 5, 0, 5], [5, 5, 5, 5])
    Evidence(answers=2.25, independent=4.0, freedom=3.0)
    """
    share, shared, r, m, repeats = _shares(right, answers)
    return _evidence(r - m * share, share * (1 - share), m, repeats, shared)


def correlation_within(right: npt.ArrayLike, answers: npt.ArrayLike) -> float:
    """The correlation of answers to a question, from 0 to 1, as `share_evidence` takes it.

    Args:
        right: (questions,) right answers to each question.
        answers: (questions,) answers to each.

    >>> round(correlation_within([5, 5, 0, 5], [5, 5, 5, 5]), 2)
    1.0
    """
    return _shares(right, answers)[1]


def _shares(
    right: npt.ArrayLike, answers: npt.ArrayLike
) -> tuple[float, float, Array, Array, npt.NDArray[np.int64]]:
    """The share of right answers, their correlation, and the kinds of questions."""
    table, repeats = kinds(np.stack([np.asarray(right), np.asarray(answers)], axis=1))
    r, m = table.astype(np.float64).T
    share = float(repeats @ r) / float(repeats @ m)
    rare = r if share <= 0.5 else m - r
    chance = min(share, 1 - share)
    alike = _alike(rare * (rare - 1), rare, m, repeats)
    return share, max(0.0, (alike - chance) / (1 - chance)), r, m, repeats


def single_answers(number: int) -> Evidence:
    """What a share of answers, each to a question of its own, rests on."""
    return Evidence(answers=float(number), independent=float(number))


def mean_evidence(mean: float, moved: float, answers: npt.ArrayLike) -> Evidence:
    """What a figure from 0 to 1 that is no share of verdicts rests on, such as a mean score.

    Args:
        mean: the figure.
        moved: its sampling variance: `variance_of_sum`, or that of a jackknife over questions.
        answers: (questions,) answers to each, or their weights.
    """
    independent, apart = kish(answers), mean * (1 - mean)
    size = apart / moved if moved > 0 and apart > 0 else independent
    return Evidence(answers=size, independent=independent, freedom=_freedom(independent))


def kish(answers: npt.ArrayLike) -> float:
    """How many questions of equal weight these are: (sum of m)^2 / (sum of m^2) (Kish 1965).

    >>> kish([5, 5, 5, 5]), round(kish([100] + 100 * [1]), 2)
    (4.0, 3.96)
    """
    m = np.asarray(answers)
    return float(m.sum()) ** 2 / float(m @ m)


def _freedom(independent: float) -> float:
    return max(independent - 1.0, 1.0)


def variance_of_sum(away: Array, answers: npt.ArrayLike) -> float:
    """The sampling variance by question of a mean, each question's leverage undone (CR3).

    Args:
        away: (questions,) how far the values of each question sum above their part of the mean.
        answers: (questions,) values of each, or their weights.
    """
    m = np.asarray(answers)
    total, found = float(m.sum()), 0.0
    for start in range(0, len(away), _BLOCK):  # Squares of ten million take memory.
        part = slice(start, start + _BLOCK)
        found += float(np.square(_pulls(away[part], m[part], total)).sum())
    return found


def share_interval(
    share: float, evidence: Evidence, *, confidence: float = 0.95
) -> tuple[float, float]:
    """Wilson's interval at the number of answers that the share rests on.

    It is modified where at most `FEW` are of the rarer kind (Brown, Cai & DasGupta 2001, section
    4.1.1): the bound towards 0 (or 1) is the exact one-sided one. Wilson's own leaves out shares
    near it, and covers 86 to 92% there.
    """
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    low, high = _with_tails(share, evidence.independent, z, confidence)
    if evidence.single:
        return low, high
    reach = t_quantile(evidence.freedom, (1 + confidence) / 2)
    ends = _with_tails(share, evidence.answers, reach, confidence)
    return max(low, ends[0]), min(high, ends[1])


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
    Wilson's at the number of answers that the share rests on, if that is higher than the exact one
    of as many answers as Kish's number.
    """
    exact = exact_interval(share, evidence.independent, 2 * confidence - 1)[0]
    if evidence.single:
        return exact
    reach = t_quantile(evidence.freedom, confidence)
    return max(exact, _with_tails(share, evidence.answers, reach, confidence)[0])


def wilson_interval(
    share: float, size: float, *, confidence: float = 0.95, reach: float | None = None
) -> tuple[float, float]:
    """Wilson's score interval for a share of `size` answers, which need not be a whole number.

    `reach` is the quantile in standard errors; None for that of the normal distribution.
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


def difference_evidence(
    worse: npt.ArrayLike, better: npt.ArrayLike, answers: npt.ArrayLike
) -> Evidence:
    """What the difference of two shares rests on.

    Args:
        worse: (questions,) pairs of answers to each question of which only the second is right.
        better: (questions,) pairs of which only the first is right.
        answers: (questions,) pairs of answers to each.
    """
    columns = [np.asarray(values) for values in (worse, better, answers)]
    table, repeats = kinds(np.stack(columns, axis=1))
    lost, won, m = table.astype(np.float64).T
    net, apart = won - lost, won + lost
    total = float(repeats @ m)
    mean = float(repeats @ net) / total
    variance = float(repeats @ apart) / total - mean**2
    shared = max(0.0, _alike(net**2 - apart, apart, m, repeats))
    return _evidence(net - m * mean, variance, m, repeats, shared)


def difference_interval(
    worse: float, better: float, evidence: Evidence, *, confidence: float = 0.95
) -> tuple[float, float]:
    """Tango's interval of `better - worse` at the number of pairs that the difference rests on.

    Args:
        worse, better: the shares of pairs of which only the second, only the first is right.
        evidence: of the difference.
        confidence: of both sides together.
    """
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    low, high = score_interval(worse, better, evidence.independent, z)
    if not evidence.single:
        reach = t_quantile(evidence.freedom, (1 + confidence) / 2)
        ends = score_interval(worse, better, evidence.answers, reach)
        low, high = max(low, ends[0]), min(high, ends[1])
    return low, high


def difference_p(worse: float, better: float, evidence: Evidence) -> float | None:
    """The two-sided p of no difference: that at which `difference_interval` ends at 0.

    With single answers it is McNemar's (1947) test. None where the two never differ.
    """
    if not worse + better:
        return None
    score = abs(better - worse) / math.sqrt(worse + better)
    p = 2 * NormalDist().cdf(-score * math.sqrt(evidence.independent))
    if not evidence.single:
        p = min(p, 2 * t_tail(score * math.sqrt(evidence.answers), evidence.freedom))
    return p


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


# --- What both rest on ----------------------------------------------------------------------------


def _alike(agreeing: Array, among: Array, m: Array, repeats: npt.NDArray[Any]) -> float:
    """The share of pairs of answers to a question that agree, of those with a rare answer.

    Args:
        agreeing: (kinds,) twice the number of agreeing pairs.
        among: (kinds,) rare answers.
        m: (kinds,) answers to a question.
        repeats: (kinds,) questions of each kind.
    """
    several = m > 1
    weights = repeats[several]
    seen = float(weights @ (agreeing[several] / (m[several] - 1)))
    return min(1.0, (seen + PRIOR_PAIRS) / (float(weights @ among[several]) + PRIOR_PAIRS))


def _pulls(away: Array, m: npt.NDArray[Any], total: float) -> Array:
    return np.asarray(away / total / (1 - np.minimum(m / total, MOST_LEVERAGE)))


def _evidence(
    away: Array, variance: float, m: Array, repeats: npt.NDArray[Any], shared: float
) -> Evidence:
    """What a mean of counts rests on; `shared` is their correlation within a question."""
    total = float(repeats @ m)
    if float(m.max()) <= 1:
        return single_answers(round(total))
    size = total**2 / float(repeats @ (m + m * np.maximum(m - 1, 0) * shared))
    moved = float(repeats @ _pulls(away, m, total) ** 2)
    if moved > 0 and variance > 0:
        size = min(size, variance / moved)
    independent = total**2 / float(repeats @ m**2)
    return Evidence(answers=size, independent=independent, freedom=_freedom(independent))


def kinds(counts: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
    """The distinct rows of a cluster table, and how many clusters have each."""
    if not counts.size:
        return counts, np.zeros(len(counts), dtype=np.int64)
    # One number a row sorts much faster than rows do; it is exact while it fits.
    bases = counts.max(axis=0) + 1
    if counts.dtype.kind == "i" and np.prod(bases.astype(np.float64)) < 2**62:
        places = np.concatenate([[1], np.cumprod(bases[:-1])])
        _, first, repeats = np.unique(counts @ places, return_index=True, return_counts=True)
        return counts[first], repeats
    distinct, repeats = np.unique(counts, axis=0, return_counts=True)
    return distinct, repeats
