"""What a comparison of two shares could have shown."""

from __future__ import annotations

import math
from functools import partial
from itertools import starmap
from statistics import NormalDist

from markscheme.stats.evidence import Evidence
from markscheme.stats.intervals import HALVINGS
from markscheme.stats.limits import ASSURANCE
from markscheme.stats.quantiles import t_quantile

FOUND = NormalDist().inv_cdf(ASSURANCE)
"""How many standard errors beyond a test's limit such a difference is."""


def detectable_difference(
    discordant: float, evidence: Evidence, *, confidence: float = 0.95
) -> float | None:
    """The smallest difference of two shares that `ASSURANCE` of such comparisons would show.

    The sample size formula of McNemar's test (Connor 1987), solved for the difference d of n pairs
    of which a share s is discordant: z sqrt(s/n) + z' sqrt((s - d^2)/n) = d. No difference is
    larger than the discordance, so that s is at least d.

    Args:
        discordant: the share of pairs of which one side alone is right; at least one pair counts.
        evidence: of the difference.
        confidence: of the interval and test that would show it.

    Returns:
        From 0 to 1; None where so few answers show no difference.
    """
    tail = (1 + confidence) / 2
    tests = [(evidence.independent, NormalDist().inv_cdf(tail))]
    if not evidence.single:
        tests.append((evidence.answers, t_quantile(evidence.freedom, tail)))
    # The last half of a halving that never went down is just below 1.
    found = [size for size in starmap(partial(_detectable, discordant), tests) if size < 1 - 1e-9]
    return min(found, default=None)


def _detectable(discordant: float, size: float, reach: float) -> float:
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        share = min(1.0, max(discordant, 1 / size, middle))
        needed = reach * math.sqrt(share) + FOUND * math.sqrt(share - middle**2)
        low, high = (middle, high) if needed > middle * math.sqrt(size) else (low, middle)
    return high
