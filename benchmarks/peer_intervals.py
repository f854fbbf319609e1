"""Other intervals of shares and paired differences, each as its paper has it: for comparison.

`benchmarks/coverage_sizes.py` draws them next to the product's. All promise 95%. Where a sample has
no variance (all answers right), those that divide by it take the sample for a simple one.
"""

from __future__ import annotations

import math
from statistics import NormalDist

from scipy.special import betaincinv, expit, logit, stdtrit

from benchmarks.worlds import Array
from markscheme.stats import wilson_interval

TAIL = 0.025
Z = NormalDist().inv_cdf(1 - TAIL)


def clustered_variance(totals: Array, sizes: Array) -> float:
    """Of a ratio of totals by question, linearised (Cochran 1977, sections 6.4 and 11.8)."""
    questions, answers = len(sizes), sizes.sum()
    away = totals - sizes * totals.sum() / answers
    return float(questions / (questions - 1) * (away @ away) / answers**2)


def effective_size(right: Array, sizes: Array) -> float:
    """Answers over their design effect (Kish 1965), at most the answers."""
    answers = float(sizes.sum())
    share, variance = float(right.sum()) / answers, clustered_variance(right, sizes)
    return min(answers, share * (1 - share) / variance) if variance > 0 else answers


def korn_graubard(right: Array, sizes: Array) -> tuple[float, float]:
    """Clopper & Pearson's at the effective size, adjusted for the degrees of freedom (1998)."""
    answers, questions = float(sizes.sum()), len(sizes)
    adjust = (stdtrit(answers - 1, 1 - TAIL) / stdtrit(questions - 1, 1 - TAIL)) ** 2
    size = effective_size(right, sizes) * adjust
    hits = float(right.sum()) / answers * size
    low = float(betaincinv(hits, size - hits + 1, TAIL)) if hits > 0 else 0.0
    high = float(betaincinv(hits + 1, size - hits, 1 - TAIL)) if hits < size else 1.0
    return low, high


def wilson_at_design_size(right: Array, sizes: Array) -> tuple[float, float]:
    """Wilson's at the effective size with Student's t (Dean & Pagano 2015)."""
    share = float(right.sum() / sizes.sum())
    reach = float(stdtrit(len(sizes) - 1, 1 - TAIL))
    return wilson_interval(share, effective_size(right, sizes), reach=reach)


def logit_t(right: Array, sizes: Array) -> tuple[float, float]:
    """Student's t on the scale of log-odds, by the delta method (Korn & Graubard 1998)."""
    share = float(right.sum() / sizes.sum())
    if share in (0.0, 1.0):
        return korn_graubard(right, sizes)
    error = math.sqrt(clustered_variance(right, sizes)) / (share * (1 - share))
    reach = float(stdtrit(len(sizes) - 1, 1 - TAIL)) * error
    middle = logit(share)
    return float(expit(middle - reach)), float(expit(middle + reach))


def newcombe(both: float, first: float, second: float, neither: float) -> tuple[float, float]:
    """Of the difference first - second from single answers: method 10 of Newcombe (1998).

    Args:
        both, first, second, neither: questions that both, only the first, only the second, none
            answered rightly.

    The paper's example, and that of Fagerland, Lydersen & Laake (2014, airway data):

    >>> [round(end, 4) for end in newcombe(36, 12, 2, 0)]
    [0.0569, 0.3404]
    >>> [round(end, 3) for end in newcombe(1, 1, 7, 12)]
    [-0.507, -0.026]
    """
    n = both + first + second + neither
    p, q = (both + first) / n, (both + second) / n
    (p_low, p_high), (q_low, q_high) = wilson_interval(p, n), wilson_interval(q, n)
    margins = (both + first) * (second + neither) * (both + second) * (first + neither)
    excess = both * neither - first * second
    if excess > 0:
        excess = max(excess - n / 2, 0.0)
    phi = excess / math.sqrt(margins) if margins else 0.0

    def apart(a: float, b: float) -> float:
        return math.sqrt(max(0.0, a * a - 2 * phi * a * b + b * b))

    return p - q - apart(p - p_low, q_high - q), p - q + apart(p_high - p, q - q_low)


def agresti_min(first: float, second: float, questions: float) -> tuple[float, float]:
    """Of the difference first - second: Wald's with half an answer in each cell (2005).

    Args:
        first, second: questions that only the first, only the second answered rightly.
        questions: all.

    Tango's data and R's `PropCIs::diffpropci.mp(b = 20, c = 40, n = 160)`:

    >>> [round(end, 8) for end in agresti_min(20, 40, 160)]
    [-0.21601726, -0.03089632]
    """
    n, up, down = questions + 2, first + 0.5, second + 0.5
    middle = (up - down) / n
    reach = Z * math.sqrt((up + down) / n - middle**2) / math.sqrt(n)
    return middle - reach, middle + reach


def clustered_wald(net: Array, sizes: Array) -> tuple[float, float]:
    """The mean of `net` over pairs +- Student's t standard errors, clustered on question."""
    middle = float(net.sum() / sizes.sum())
    reach = float(stdtrit(len(sizes) - 1, 1 - TAIL)) * math.sqrt(clustered_variance(net, sizes))
    return middle - reach, middle + reach


def paired_cells(first: Array, second: Array) -> tuple[float, float, float, float]:
    """Single right (1) and wrong (0) answers of two systems, as `newcombe` takes them."""
    both = float(first @ second)
    only, other = float(first.sum()) - both, float(second.sum()) - both
    return both, only, other, len(first) - both - only - other


SHARES = {
    "peer, Korn & Graubard": korn_graubard,
    "peer, Wilson-t": wilson_at_design_size,
    "peer, logit-t": logit_t,
}
