"""Our prediction-powered estimates against those of ppi_py, the package of the method's authors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from markscheme.agreement.estimators import Estimate, Sample, estimates

pytestmark = pytest.mark.proof(area="statistics")  # ppi_py compiles for seconds when it is imported

N, LABELLED = 4_000, 1_000


def drawn(seed: int, *, sensitivity: float, specificity: float) -> Sample:
    """Answers to a question each, accepted in 65 of 100 cases, a random part labelled."""
    rng = np.random.default_rng(seed)
    truth = rng.random(N) < 0.65
    said = rng.random(N) < np.where(truth, sensitivity, 1 - specificity)
    labels = np.full(N, np.nan)
    labels[:LABELLED] = truth[:LABELLED]
    return Sample(
        predictions=said.astype(np.float64), accepted=said, labels=labels,
        weights=(np.arange(N) < LABELLED).astype(np.float64), clusters=np.arange(N),
    )  # fmt: skip


def theirs(sample: Sample, weight: float | None) -> tuple[float, float, float]:
    """ppi_py's estimate and 95% interval; `weight` is its lambda, tuned if None."""
    ppi_py: Any = pytest.importorskip("ppi_py")
    has = sample.labelled
    parts = (sample.labels[has], sample.predictions[has], sample.predictions[~has])
    low, high = ppi_py.ppi_mean_ci(*parts, alpha=0.05, lam=weight)
    return (float(np.squeeze(ppi_py.ppi_mean_pointestimate(*parts, lam=weight))),
            float(np.squeeze(low)), float(np.squeeze(high)))  # fmt: skip


@pytest.mark.parametrize(("sensitivity", "specificity"), [(0.95, 0.85), (0.8, 0.6), (0.5, 0.5)])
@pytest.mark.parametrize("seed", range(5))
def test_estimates_are_those_of_the_reference_code(
    seed: int, sensitivity: float, specificity: float
) -> None:
    """With one answer a question and a random sample, where both are about the same design.

    At a given weight the estimate is the same to rounding. ppi_py takes the variance of all
    predictions for the tuned weight where we take that of the design, so tuned weights differ by
    chance. Intervals are compared in standard errors: theirs is normal, ours Wilson's with t.
    """
    sample = drawn(seed, sensitivity=sensitivity, specificity=specificity)
    found = {one.method: one for one in estimates(sample)}

    value, low, high = theirs(sample, 1.0)
    close(found["ppi"], value, low, high, apart=1e-12)
    tuned = found["ppi_tuned"]
    assert tuned.weight_of_judge is not None
    value, low, high = theirs(sample, tuned.weight_of_judge)
    close(tuned, value, low, high, apart=1e-12)
    value, low, high = theirs(sample, None)
    close(tuned, value, low, high, apart=0.15 * (high - low) / 2)


def close(ours: Estimate, value: float, low: float, high: float, *, apart: float) -> None:
    """The estimate within `apart`, standard errors within 2%, bounds within a tenth of one."""
    figure = ours.figure
    assert figure.value == pytest.approx(value, abs=apart)
    error = (high - low) / 2 / 1.959964
    assert ours.standard_error == pytest.approx(error, rel=0.02)
    assert figure.low == pytest.approx(low, abs=apart + 0.1 * error)
    assert figure.high == pytest.approx(high, abs=apart + 0.1 * error)
    assert math.isfinite(error)
