"""Our prediction-powered estimates against those of ppi_py, the package of the method's authors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from markscheme.agreement.accuracy_estimates import Estimate, estimates
from markscheme.stats import Sample

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
        predictions=said.astype(np.float64)[:, None], labels=labels,
        weights=np.ones(N), clusters=np.arange(N),
    )  # fmt: skip


def theirs(sample: Sample, weight: float | None) -> tuple[float, float, float]:
    """ppi_py's estimate and 95% interval; `weight` is its lambda, tuned if None."""
    ppi_py: Any = pytest.importorskip("ppi_py")
    has = sample.labelled
    parts = (sample.labels[has], sample.predictions[has, 0],
             sample.predictions[~has, 0])  # fmt: skip
    low, high = ppi_py.ppi_mean_ci(*parts, alpha=0.05, lam=weight)
    return (float(np.squeeze(ppi_py.ppi_mean_pointestimate(*parts, lam=weight))),
            float(np.squeeze(low)), float(np.squeeze(high)))  # fmt: skip


@pytest.mark.parametrize(("sensitivity", "specificity"), [(0.95, 0.85), (0.8, 0.6), (0.5, 0.5)])
@pytest.mark.parametrize("seed", range(5))
def test_estimates_are_those_of_the_reference_code(
    seed: int, sensitivity: float, specificity: float
) -> None:
    """With one answer a question and a random sample, where both are about the same design.

    ppi_py adds lambda (mean of the unlabelled - mean of the labelled) to the mean label, ours w
    (mean of all - mean of the labelled), so that lambda is w (N - n) / N. Tuned weights differ by
    chance, since ppi_py pools the variance of all predictions. Its interval is normal, ours
    Wilson's.
    """
    sample = drawn(seed, sensitivity=sensitivity, specificity=specificity)
    tuned = estimates(sample)[0]
    (weight,) = tuned.weights.values()
    value, low, high = theirs(sample, weight * (N - LABELLED) / N)
    assert tuned.figure.value == pytest.approx(value, abs=1e-9)
    close(tuned, low, high)
    value, low, high = theirs(sample, None)
    assert tuned.figure.value == pytest.approx(value, abs=0.15 * (high - low) / 2)
    close(tuned, low, high)
    assert bool(weight) is (sensitivity + specificity > 1)


def close(ours: Estimate, low: float, high: float) -> None:
    """Standard errors within 5%, bounds within a fifth of one."""
    error = (high - low) / 2 / 1.959964
    assert ours.standard_error == pytest.approx(error, rel=0.05)
    apart = 0.2 * error
    assert ours.figure.low == pytest.approx(low, abs=apart)
    assert ours.figure.high == pytest.approx(high, abs=apart)
