"""Human accuracy from many judgments and few labels: the methods of `estimate`, as figures.

The computation is `stats.powered`. Nothing is refused because of how the sample came out: a method
that is shown only where it looks good is right less often than it says.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from markscheme.agreement.options import About
from markscheme.results import Figure
from markscheme.stats import LEAST_FOR_JUDGES, Powered, Sample, powered

Array = npt.NDArray[np.float64]

METHODS = ("ppi_tuned", "labels_only")


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """One method's estimate of the mean label.

    Attributes:
        method: one of `METHODS`, or `sequence` (`sequences.running_estimate`).
        figure: the estimate with its interval, or why there is none.
        standard_error: of the estimate.
        worth: how many labels without a judge would tell as much.
        weights: of the judges, by name: how much the mean of each counts (lambda in PPI++).
    """

    method: str
    figure: Figure
    standard_error: float | None = None
    worth: float | None = None
    weights: Mapping[str, float] = field(default_factory=dict)


def estimates(
    sample: Sample,
    names: Sequence[str] = ("judge",),
    *,
    about: About = "future",
    confidence: float = 0.95,
) -> list[Estimate]:
    """Both methods on one sample, in the order of `METHODS`; of fewer labels, they alone."""
    how: dict[str, Any] = {"about": about, "confidence": confidence}
    alone = _estimate("labels_only", powered(sample, judges=False, **how))
    labelled = int(sample.labelled.sum())
    if labelled == len(sample.labels):
        reason = "every answer is labelled; take the labels alone"
    elif labelled < LEAST_FOR_JUDGES:
        reason = (
            f"{labelled} labels show too little of a judge's errors ({LEAST_FOR_JUDGES} are "
            "needed); take the labels alone"
        )
    else:
        found = powered(sample, **how)
        weights = dict(zip(names, found.weights, strict=True))
        return [_estimate("ppi_tuned", found, weights), alone]
    return [Estimate(method="ppi_tuned", figure=Figure(reason=reason)), alone]


def _estimate(method: str, found: Powered, weights: Mapping[str, float] | None = None) -> Estimate:
    return Estimate(
        method=method,
        figure=Figure(value=found.value, low=found.low, high=found.high, method=found.method),
        standard_error=found.error,
        worth=found.worth,
        weights=weights or {},
    )


def drawn_unlike_rest(sample: Sample) -> tuple[float, float, float]:
    """Do the labelled answers look like all of them to the first judge?

    What the judge says is known of all answers, so the spread of a random sample of them is known
    too; a sample that happens to hold none of the rarer verdict would think it was 0. Where whole
    questions were drawn, the spread between these is larger, and is taken.

    Returns:
        The judge's (weighted) mean on labelled answers, its mean on all, and the two-sided p of
        their being equal but for chance.
    """
    from scipy.stats import norm

    has, verdicts = sample.labelled, sample.predictions[:, 0]
    weights = sample.weights[has]
    drawn, whole = float(np.average(verdicts[has], weights=weights)), float(verdicts.mean())
    pulls = (verdicts - whole) / len(verdicts)
    pulls[has] -= weights * (verdicts[has] - drawn) / weights.sum()
    between = float((np.bincount(sample.clusters, pulls) ** 2).sum())
    left = 1.0 - len(weights) / len(verdicts)
    at_random = float(np.var(verdicts)) * left * float((weights**2).sum())
    error = math.sqrt(max(between, at_random / float(weights.sum()) ** 2))
    p = 1.0 if error == 0 else float(2 * norm.sf(abs(drawn - whole) / error))
    return drawn, whole, p
