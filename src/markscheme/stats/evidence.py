"""What a figure rests on, where questions may have several answers: so many independent ones.

Answers to one question are correlated. What a share is known to is therefore expressed as a number
of independent answers (`Evidence`). It is the smaller of two:

- answers over the design effect 1 + (m - 1) rho, with the correlation rho estimated from pairs of
  answers to a question that are both of the rarer kind (Kish 1965; Donner & Klar 2000). Where rare
  answers are few, the pairs hardly show whether they cluster, so that `PRIOR_PAIRS` agreeing ones
  are added;
- the answers that would give the sampling variance by question, with each question's leverage
  undone (CR3: MacKinnon & White 1985; Bell & McCaffrey 2002), so that a few questions with many
  answers are not taken for the many.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

from markscheme.stats.quantiles import t_quantile

Array = npt.NDArray[np.float64]

PRIOR_PAIRS = 4.0
"""Agreeing pairs that are added to those seen: the laboratory's least that holds in its worlds."""
MOST_LEVERAGE = 0.5
"""Of one question: a residual is not scaled up further, since one question tells no variance."""
_BLOCK = 65_536


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """How many independent answers a figure rests on.

    Attributes:
        answers: how many would move the figure by chance as far as these do, above 0.
        independent: how many there are if all answers to a question are alike: Kish's number.
        freedom: degrees of freedom of Student's t, at least 1; infinite where each question has
            one answer, so that both numbers are the answers.
        verdicts: whether it is of a share of verdicts: a perfect one tells nothing of how alike the
            answers to a question are, where the mean of scores does.
    """

    answers: float
    independent: float
    freedom: float = math.inf
    verdicts: bool = field(default=True, repr=False)

    @property
    def single(self) -> bool:
        """Whether each question has one answer."""
        return math.isinf(self.freedom)

    @property
    def method(self) -> str:
        """How the interval of a share is made: `wilson`, or `wilson-t` where questions repeat."""
        return "wilson" if self.single else "wilson-t"

    @property
    def bound_method(self) -> str:
        """How the one-sided bound of a share is made (`stats.share_bound`)."""
        return "clopper-pearson" if self.single else "wilson-t"

    def sizes(self, tail: float) -> list[tuple[float, float]]:
        """Numbers of answers to make an interval at, each with its quantile in standard errors.

        Kish's number with that of the normal distribution, and where questions repeat, the answers
        with Student's t. Each end of the interval is the nearer one: answers to a question can at
        worst all be alike.

        Args:
            tail: the probability below the upper end, such as 0.975.
        """
        found = [(self.independent, NormalDist().inv_cdf(tail))]
        if not self.single:
            found.append((self.answers, t_quantile(self.freedom, tail)))
        return found

    def variance(self, by_question: float, by_answer: float, answers: float) -> float:
        """The sampling variance of a statistic that errors move, such as F1 or kappa.

        By question, or if that is larger, by answer with this evidence's design effect: where
        errors are few, what repeats them is seen in pairs only.

        Args:
            by_question: as if questions were independent.
            by_answer: as if answers were.
            answers: how many there are.

        >>> Evidence(answers=50.0, independent=20.0, freedom=19.0).variance(0.002, 0.0015, 100)
        0.003
        """
        return max(by_question, by_answer * answers / self.answers)

    def times(self, factor: float) -> Evidence:
        """The same with `factor` times as many answers."""
        return replace(self, answers=self.answers * factor, independent=self.independent * factor)


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
    """What a share of answers, each to a question of its own, rests on.

    >>> single_answers(62)
    Evidence(answers=62.0, independent=62.0, freedom=inf)
    """
    return Evidence(answers=float(number), independent=float(number))


def mean_evidence(mean: float, moved: float, answers: npt.ArrayLike) -> Evidence:
    """What a figure from 0 to 1 that is no share of verdicts rests on, such as a mean score.

    Args:
        mean: the figure.
        moved: its sampling variance: `variance_of_sum`, or that of a jackknife over questions.
        answers: (questions,) answers to each, or their weights.

    >>> round(mean_evidence(0.8, 0.004, [1] * 40).answers, 6)
    40.0
    """
    independent, apart = kish(answers), mean * (1 - mean)
    size = apart / moved if moved > 0 and apart > 0 else independent
    freedom = freedom_of(independent)
    return Evidence(answers=size, independent=independent, freedom=freedom, verdicts=False)


def difference_evidence(
    worse: npt.ArrayLike, better: npt.ArrayLike, answers: npt.ArrayLike
) -> Evidence:
    """What the difference of two shares rests on.

    Args:
        worse: (questions,) pairs of answers to each question of which only the second is right.
        better: (questions,) pairs of which only the first is right.
        answers: (questions,) pairs of answers to each.

    >>> difference_evidence([2, 0, 0, 0], [0, 2, 2, 0], [2, 2, 2, 2])
    Evidence(answers=2.25, independent=4.0, freedom=3.0)
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


def kish(answers: npt.ArrayLike) -> float:
    """How many questions of equal weight these are: (sum of m)^2 / (sum of m^2) (Kish 1965).

    >>> kish([5, 5, 5, 5]), round(kish([100] + 100 * [1]), 2)
    (4.0, 3.96)
    """
    m = np.asarray(answers)
    return float(m.sum()) ** 2 / float(m @ m)


def freedom_of(independent: float) -> float:
    """Degrees of freedom of Student's t: Kish's number of questions less one, and at least 1.

    >>> freedom_of(12.5), freedom_of(1.2)
    (11.5, 1.0)
    """
    return max(independent - 1.0, 1.0)


def variance_of_sum(away: Array, answers: npt.ArrayLike) -> float:
    """The sampling variance by question of a mean, each question's leverage undone (CR3).

    Args:
        away: (questions,) how far the values of each question sum above their part of the mean.
        answers: (questions,) values of each, or their weights.

    >>> round(variance_of_sum(np.array([0.25, 0.25, 0.25, -0.75]), [1, 1, 1, 1]), 4)
    0.0833
    """
    m = np.asarray(answers)
    total, found = float(m.sum()), 0.0
    for start in range(0, len(away), _BLOCK):  # Squares of ten million take memory.
        part = slice(start, start + _BLOCK)
        found += float(np.square(_pulls(away[part], m[part], total)).sum())
    return found


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
    return Evidence(answers=size, independent=independent, freedom=freedom_of(independent))


def kinds(counts: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
    """The distinct rows of a cluster table, and how many clusters have each.

    >>> [each.tolist() for each in kinds(np.array([[1, 2], [0, 2], [1, 2]]))]
    [[[0, 2], [1, 2]], [1, 2]]
    """
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
