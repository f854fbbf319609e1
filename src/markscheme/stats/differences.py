"""What a comparison of two shares, or of one with a limit, could have shown."""

from __future__ import annotations

import math
from statistics import NormalDist

from markscheme.stats.evidence import Evidence
from markscheme.stats.intervals import HALVINGS, share_bound, wilson_interval
from markscheme.stats.limits import ASSURANCE
from markscheme.stats.quantiles import t_quantile

FOUND = NormalDist().inv_cdf(ASSURANCE)
"""How many standard errors beyond a test's limit such a difference is."""
_HALVINGS_OF_A_BOUND = 12
"""An exact bound takes as long as a whole interval does; shares are shown to a thousandth."""


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

    >>> from markscheme.stats import single_answers
    >>> round(detectable_difference(0.1, single_answers(100)), 3)
    0.088
    """
    sizes = evidence.sizes((1 + confidence) / 2)
    # The last half of a halving that never went down is just below 1.
    found = [each for one in sizes if (each := _detectable(discordant, *one)) < 1 - 1e-9]
    return min(found, default=None)


def _detectable(discordant: float, size: float, reach: float) -> float:
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        enough = _pairs_for(middle, max(discordant, 1 / size), reach) <= size
        low, high = (low, middle) if enough else (middle, high)
    return high


def _pairs_for(difference: float, discordant: float, reach: float) -> float:
    """Connor's number of pairs that show a difference above 0."""
    share = min(1.0, max(discordant, difference))
    needed = reach * math.sqrt(share) + FOUND * math.sqrt(share - difference**2)
    return (needed / difference) ** 2


def times_as_many(
    discordant: float, shown: float, wanted: float, *, confidence: float = 0.95
) -> float:
    """How many times as many pairs show the wanted difference as show a `detectable_difference`.

    Args:
        discordant: the share of pairs of which one side alone is right.
        shown: the difference that is detectable with so many pairs, above 0.
        wanted: the difference to be shown as often, above 0.
        confidence: of the interval and test that would show either.

    >>> from markscheme.stats import single_answers
    >>> times = times_as_many(0.1, detectable_difference(0.1, single_answers(100)), 0.02)
    >>> round(times, 1), round(detectable_difference(0.1, single_answers(round(100 * times))), 3)
    (19.6, 0.02)
    """
    reach = NormalDist().inv_cdf((1 + confidence) / 2)
    return _pairs_for(wanted, discordant, reach) / _pairs_for(shown, discordant, reach)


def detectable_by_t(
    error: float, freedom: float, *, most: float = 1.0, confidence: float = 0.95
) -> float | None:
    """The smallest figure, above 0, that `ASSURANCE` of such samples would show by Student's t.

    Args:
        error: the figure's standard error.
        freedom: degrees of freedom.
        most: the largest that the figure can be.
        confidence: of the interval and test that would show it.

    Returns:
        From 0 to `most`; None where no figure would be shown.

    >>> round(detectable_by_t(0.04, 30), 3), detectable_by_t(0.4, 30)
    (0.115, None)
    """
    least = (t_quantile(freedom, (1 + confidence) / 2) + FOUND) * error
    return least if least < most else None


def detectable_unpaired(
    value: float, low: float, high: float, *, confidence: float = 0.95
) -> float | None:
    """`detectable_by_t` of two figures of different questions, by their interval's wider side.

    >>> round(detectable_unpaired(0.2, 0.0524, 0.3339), 3)
    0.211
    """
    reach = NormalDist().inv_cdf((1 + confidence) / 2)
    error = max(value - low, high - value) / reach
    return detectable_by_t(error, math.inf, confidence=confidence)


def detectable_share(limit: float, evidence: Evidence, *, confidence: float = 0.95) -> float | None:
    """The smallest share that `ASSURANCE` of such samples would show to reach a limit.

    A sample shows it from the share on whose lower bound (`share_bound`) is the limit. Of a share
    whose Wilson bound is there, 4 of 5 samples lie above it.

    Args:
        limit: from 0 to 1.
        evidence: of the share.
        confidence: of the bound that is held against the limit.

    Returns:
        From the limit to 1; None where not even a sample without a wrong answer shows it.

    >>> from markscheme.stats import single_answers
    >>> round(detectable_share(0.8, single_answers(100)), 3)
    0.895
    >>> detectable_share(0.9, single_answers(20)) is None
    True
    """
    if share_bound(1.0, evidence, confidence=confidence) < limit:
        return None
    low, high = limit, 1.0
    for _ in range(_HALVINGS_OF_A_BOUND):
        middle = (low + high) / 2
        reached = share_bound(middle, evidence, confidence=confidence) >= limit
        low, high = (low, middle) if reached else (middle, high)
    size = max(evidence.answers, evidence.independent)
    return wilson_interval(high, size, reach=FOUND)[1]
