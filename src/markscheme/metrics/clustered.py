"""Intervals of shares whose questions have several answers.

A figure is the sum of what each question adds to it (its influence). Answers to one question are
correlated, so the variance is the sum of squared influences over questions (Cochran 1977,
section 6.4; Liang & Zeger 1986). Wilson's score interval (1927), at the number of independent
answers that would give this variance, keeps the bounds within 0 and 1.

How sure the variance itself is depends on how many questions carry it: where nearly all answers are
right, a few wrong ones make nearly all of it, and Student's t with questions - 1 degrees of freedom
promises too much. Satterthwaite's (1946) degrees of freedom, from the fourth powers of the
influences, are few there and questions - 1 where all are alike. For one-sided bounds, and below
`FEW_QUESTIONS`, these are still too many; there the effective number of questions less one is taken
(sum of squares)^2 / (sum of fourth powers), after Carter, Schnepel & Steigerwald (2017).

Answers to one question can at worst all say the same. Then a share is that of as many independent
answers as Kish's (1965) effective size says, (sum of m)^2 / (sum of m^2) for m answers to a
question, and Clopper & Pearson's interval at that size is as wide as any needs to be.
`docs/coverage.md` shows where the intervals hold.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from markscheme.stats import exact_interval, t_quantile, wilson_interval

Array = npt.NDArray[np.float64]

_BLOCK = 65_536

FEW_QUESTIONS = 10
FEW = 3


@dataclass(frozen=True, kw_only=True)
class Spread:
    """How far chance moves a figure.

    Attributes:
        variance: of the figure; 0 where no question differs from another.
        questions: that carry it.
        freedom: degrees of freedom of Student's t for two-sided intervals, at least 1.
        freedom_one_sided: the same for one-sided bounds.
        independent: how many answers there are if all to one question say the same (Kish); None
            where nobody counted them.
    """

    variance: float
    questions: int
    freedom: float
    freedom_one_sided: float
    independent: float | None = None

    def reach(self, confidence: float, *, sides: int = 2) -> float:
        """The quantile of Student's t, in standard errors, that a bound is away."""
        tail = (1 - confidence) / sides
        freedom = self.freedom if sides == 2 else self.freedom_one_sided
        return t_quantile(freedom, 1 - tail)


def spread_of(influences: Array, questions: int, answers: npt.ArrayLike | None = None) -> Spread:
    """Variance and degrees of freedom from each question's influence on the figure.

    Args:
        influences: what each question adds to the figure, summing to 0; further zeros change
            nothing.
        questions: how many there are.
        answers: how many each question has, in any order; further zeros change nothing.
    """
    independent = None
    if answers is not None:
        each = np.asarray(answers)
        squared = float(each @ each)
        independent = float(each.sum()) ** 2 / squared if squared else None
    total, fourth = 0.0, 0.0
    for start in range(0, len(influences), _BLOCK):  # Squares of ten million take memory.
        squares = np.square(influences[start : start + _BLOCK])
        total += float(squares.sum())
        fourth += float((squares**2).sum())
    most = max(1.0, questions - 1.0)
    if questions < 2 or total <= 0:
        return Spread(variance=0.0, questions=questions, freedom=most, freedom_one_sided=most,
                      independent=independent)  # fmt: skip
    effective = total**2 / fourth
    cautious = min(max(effective - 1.0, 1.0), most)
    kurtosis = questions / effective
    freedom = 2 * questions / (kurtosis - 1) - 1 if kurtosis > 1 else most
    freedom = min(max(freedom, 1.0), most) if questions >= FEW_QUESTIONS else cautious
    return Spread(
        variance=questions / (questions - 1) * total,
        questions=questions,
        freedom=freedom,
        freedom_one_sided=cautious,
        independent=independent,
    )


def effective_answers(share: float, spread: Spread, answers: int | None = None) -> float:
    """How many independent answers would move a share by chance as far as these do.

    Args:
        share: from 0 to 1.
        spread: of the share.
        answers: how many there are, the most that can be; None where more is possible (weighted
            or corrected shares).

    Where all answers are alike the variance says nothing, and each question counts once.
    """
    if answers is not None and _single(spread, answers):
        return float(answers)
    if not spread.variance or not 0 < share < 1:
        return float(spread.questions)
    found = share * (1 - share) / spread.variance
    return found if answers is None else min(found, float(answers))


def share_interval(
    share: float, spread: Spread, *, answers: int | None = None, confidence: float = 0.95
) -> tuple[float, float]:
    """Wilson's interval at the effective number of answers; plain where questions do not repeat.

    It is no wider than the exact one would be if all answers to a question were the same.

    Plain, it is modified where at most `FEW` answers are of the rarer kind (Brown, Cai & DasGupta
    2001, section 4.1.1): the bound towards 0 (or 1) is the exact one for a Poisson count. Wilson's
    own leaves out shares near it, and covers 86 to 92% there.

    Args:
        share: from 0 to 1.
        spread: of the share.
        answers: how many there are; None for weighted or corrected shares and for scores.
        confidence: of both sides together.
    """
    size = effective_answers(share, spread, answers)
    single = _single(spread, answers)
    reach = None if single else spread.reach(confidence)
    low, high = wilson_interval(share, size, confidence=confidence, reach=reach)
    if not single and spread.independent:
        low, high = exact_interval(share, spread.independent, confidence, within=(low, high))
    if answers is None or not single:
        return low, high
    right, wrong = share * answers, (1.0 - share) * answers
    if right <= wrong:
        return min(low, _least_count(right, confidence) / answers), high
    return low, max(high, 1.0 - _least_count(wrong, confidence) / answers)


def _single(spread: Spread, answers: int | None) -> bool:
    """Whether every answer is of a question of its own."""
    return answers is not None and spread.questions >= answers


def _least_count(count: float, confidence: float) -> float:
    """The least mean of a Poisson count that a small one does not rule out; infinite for others.

    With it a count as high as this one has a chance of 1 - confidence. Bisection, since SciPy takes
    longer to load than a small command takes in all.
    """
    whole = round(count)
    if not 1 <= whole <= FEW:
        return math.inf
    low, high = 0.0, float(whole)
    for _ in range(60):
        mean = (low + high) / 2
        fewer = math.exp(-mean) * sum(mean**k / math.factorial(k) for k in range(whole))
        low, high = (low, mean) if 1 - fewer > 1 - confidence else (mean, high)
    return high
