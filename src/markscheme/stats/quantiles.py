"""Quantiles of Student's t and of the beta distribution, for intervals of figures.

SciPy has them (`scipy.special.stdtrit`, `betaincinv`), and tests compare with those; but loading
SciPy takes longer than judging a small file does, and every run needs intervals.
"""

from __future__ import annotations

import math
from statistics import NormalDist

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

    Relatively within 1e-10 of SciPy's (`tests/stats/test_quantiles.py`).

    >>> round(t_quantile(4, 0.975), 3), round(t_quantile(1e6, 0.975), 3)
    (2.776, 1.96)
    """
    if not (freedom > 0 and 0 < probability < 1):
        raise ValueError(f"no quantile {probability} of Student's t with {freedom} freedom")
    if probability < 0.5:
        return -_from_tail(freedom, probability)
    return _from_tail(freedom, 1 - probability)


def t_interval(
    value: float, error: float, freedom: float, *, confidence: float = 0.95
) -> tuple[float, float]:
    """Student's interval of a figure with a standard error.

    >>> [round(end, 3) for end in t_interval(0.1, 0.04, 9)]
    [0.01, 0.19]
    """
    half = t_quantile(freedom, (1 + confidence) / 2) * error
    return value - half, value + half


def t_p(value: float, error: float, freedom: float) -> float:
    """The two-sided p of a figure being 0, by Student's t; the error is above 0.

    >>> round(t_p(0.1, 0.04, 9), 3)
    0.034
    """
    return 2 * t_tail(abs(value) / error, freedom)


def exact_interval(share: float, size: float, confidence: float) -> tuple[float, float]:
    """Clopper & Pearson's (1934) interval for a share of `size` answers.

    Args:
        share: from 0 to 1.
        size: how many answers, above 0; neither it nor `share * size` need be whole.
        confidence: of both sides together.

    >>> [round(end, 3) for end in exact_interval(0.8, 50, 0.95)]
    [0.663, 0.9]
    """
    right, tail = min(max(share, 0.0), 1.0) * size, (1 - confidence) / 2
    wrong = size - right
    low = _beta_quantile(right, wrong + 1, tail) if right > 0 else 0.0
    high = 1 - _beta_quantile(wrong, right + 1, tail) if wrong > 0 else 1.0
    return low, high


def _beta_quantile(a: float, b: float, probability: float) -> float:
    """The quantile, by halving."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if _beta_probability(a, b, middle, 1 - middle) < probability:
            low = middle
        else:
            high = middle
    return high


def _beta_probability(a: float, b: float, x: float, y: float) -> float:
    """The regularised incomplete beta function at x; y is 1 - x, and either may be tiny."""
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    front = math.exp(log_front + a * math.log(x) + b * math.log(y))
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(a, b, x) / a
    return 1 - front * _fraction(b, a, y) / b


def _from_tail(freedom: float, tail: float) -> float:
    if tail == 0.5:
        return 0.0
    if freedom >= _MANY:
        return _expansion(freedom, -NormalDist().inv_cdf(tail))
    # Newton's method from 0: the tail falls and is convex there, so no step goes too far.
    a = freedom / 2
    value, scale = 0.0, math.lgamma(a + 0.5) - math.lgamma(a) - math.log(math.pi * freedom) / 2
    for _ in range(_STEPS):
        log_density = scale - (freedom + 1) / 2 * math.log1p(value * value / freedom)
        step = (t_tail(value, freedom) - tail) / math.exp(log_density)
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


def t_tail(value: float, freedom: float) -> float:
    """The probability that t exceeds a value of at least 0: half of a regularised beta function.

    >>> t_tail(0, 9), round(t_tail(2.5, 9), 4)
    (0.5, 0.0169)
    """
    square = value * value
    x, y = freedom / (freedom + square), square / (freedom + square)
    if not y:
        return 0.5
    return _beta_probability(freedom / 2, 0.5, x, y) / 2


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
