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
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

# --- Quantiles of Student's t and of the beta distribution, for intervals of figures --------------
# SciPy has them (`scipy.special.stdtrit`, `betaincinv`), and tests compare with those; but loading
# SciPy takes longer than judging a small file does, and every run needs intervals.


_STEPS = 500
_MOST_TERMS = 20_000
"""Of a continued fraction; it takes about the square root of its parameters."""
_PRECISE = 2e-16
_NEAR = 1e-12
_MANY = 1000.0
"""Degrees of freedom from which the expansion around the normal quantile is exact to 1e-12."""


def t_quantile(freedom: float, probability: float) -> float:
    """The value that Student's t does not exceed with a probability.

    Args:
        freedom: degrees of freedom, above 0; need not be whole.
        probability: above 0 and below 1.

    Raises:
        ValueError: an argument is outside its range.

    Relatively within 1e-10 of SciPy's (`tests/metrics/test_quantiles.py`).
    """
    if not (freedom > 0 and 0 < probability < 1):
        raise ValueError(f"no quantile {probability} of Student's t with {freedom} freedom")
    if probability < 0.5:
        return -_from_upper_tail(freedom, probability)
    return _from_upper_tail(freedom, 1 - probability)


def exact_interval(
    share: float, size: float, confidence: float, *, within: tuple[float, float] = (0.0, 1.0)
) -> tuple[float, float]:
    """Clopper & Pearson's (1934) interval for a share of `size` answers.

    Args:
        share: from 0 to 1.
        size: how many answers, above 0; neither it nor `share * size` need be whole.
        confidence: of both sides together.
        within: bounds that apply where they are the narrower ones.
    """
    right, tail = min(max(share, 0.0), 1.0) * size, (1 - confidence) / 2
    wrong = size - right
    low, high = within
    low = _beta_quantile(right, wrong + 1, tail, low) if right > 0 else low
    high = 1 - _beta_quantile(wrong, right + 1, tail, 1 - high) if wrong > 0 else high
    return low, high


def _beta_quantile(a: float, b: float, probability: float, least: float) -> float:
    """The quantile, or `least` where it is less: one look then tells."""
    if least > 0 and (least >= 1 or _beta_probability(a, b, least) >= probability):
        return least
    low, high = least, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if _beta_probability(a, b, middle) < probability:
            low = middle
        else:
            high = middle
    return high


def _beta_probability(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function."""
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    front = math.exp(log_front + a * math.log(x) + b * math.log1p(-x))
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(a, b, x) / a
    return 1 - front * _fraction(b, a, 1 - x) / b


def _from_upper_tail(freedom: float, tail: float) -> float:
    if tail == 0.5:
        return 0.0
    if freedom >= _MANY:
        return _expansion(freedom, -NormalDist().inv_cdf(tail))
    # Newton's method from 0: the tail falls and is convex there, so no step goes too far.
    value, scale = 0.0, _log_gamma_ratio(freedom / 2) - math.log(math.pi * freedom) / 2
    for _ in range(_STEPS):
        log_density = scale - (freedom + 1) / 2 * math.log1p(value * value / freedom)
        step = (_upper_tail(value, freedom) - tail) / math.exp(log_density)
        value += step
        if abs(step) <= _NEAR * value:  # what is left is of the square of this step
            break
    return value


def _expansion(freedom: float, z: float) -> float:
    """From the normal quantile (Abramowitz & Stegun 1964, 26.7.5)."""
    s = z * z
    terms = (
        z * (s + 1) / 4,
        z * ((5 * s + 16) * s + 3) / 96,
        z * (((3 * s + 19) * s + 17) * s - 15) / 384,
        z * ((((79 * s + 776) * s + 1482) * s - 1920) * s - 945) / 92160,
    )
    return z + sum(term / freedom**power for power, term in enumerate(terms, 1))


def _log_gamma_ratio(a: float) -> float:
    """The logarithm of gamma(a + 1/2) / gamma(a)."""
    if a < 50:
        return math.lgamma(a + 0.5) - math.lgamma(a)
    return math.log(a) / 2 - 1 / (8 * a) + 1 / (192 * a**3) - 1 / (640 * a**5)


def _upper_tail(value: float, freedom: float) -> float:
    """The probability that t exceeds a value of at least 0: half of a regularised beta function."""
    a, x = freedom / 2, freedom / (freedom + value * value)
    y = value * value / (freedom + value * value)
    if not y:
        return 0.5
    log_front = _log_gamma_ratio(a) - math.lgamma(0.5) + a * math.log(x) + math.log(y) / 2
    front = math.exp(log_front)
    if x < (a + 1) / (a + 2.5):
        return front * _fraction(a, 0.5, x) / a / 2
    return 0.5 - front * _fraction(0.5, a, y)


def _fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function, by Lentz's method (DLMF 8.17.22)."""
    tiny = 1e-300
    c, d = 1.0, 1 / ((1 - (a + b) * x / (a + 1)) or tiny)
    found = d
    for m in range(1, _MOST_TERMS):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            c, d = (1 + term / c) or tiny, 1 / ((1 + term * d) or tiny)
            change = c * d
            found *= change
        if abs(change - 1) <= 2 * _PRECISE:  # a last place up or down is as near as it may get
            break
    return found


# --- Intervals of shares whose questions have several answers -------------------------------------


Array = npt.NDArray[np.float64]

_BLOCK = 65_536

FEW_QUESTIONS = 10
FEW = 3


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


def share_method(spread: Spread, answers: int | None = None) -> str:
    """How `share_interval` makes the interval: `wilson`, or `wilson-t` where questions repeat."""
    return "wilson" if _single(spread, answers) else "wilson-t"


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
