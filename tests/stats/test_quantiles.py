"""Student's t and the exact interval of a share as SciPy has them, without SciPy."""

from __future__ import annotations

import pytest
from scipy.special import betaincinv, stdtrit

from markscheme.stats import exact_interval, t_quantile

FREEDOMS = [1, 1.37, 2, 3, 4.5, 9, 30, 99.9, 100.1, 500, 999.99, 1000, 5e3, 1e6, 1e12]
PROBABILITIES = [0.5, 0.6, 0.75, 0.9, 0.95, 0.975, 0.995, 0.9995, 1e-4, 0.025, 0.4]


@pytest.mark.parametrize("freedom", FREEDOMS)
@pytest.mark.parametrize("probability", PROBABILITIES)
def test_quantiles_equal_scipys(freedom: float, probability: float) -> None:
    expected = float(stdtrit(freedom, probability))
    assert t_quantile(freedom, probability) == pytest.approx(expected, rel=1e-10, abs=1e-15)


@pytest.mark.parametrize(
    ("freedom", "probability"), [(0, 0.9), (3, 0), (3, 1), (float("nan"), 0.9)]
)
def test_what_has_no_quantile_is_refused(freedom: float, probability: float) -> None:
    with pytest.raises(ValueError, match="no quantile"):
        t_quantile(freedom, probability)


@pytest.mark.parametrize("size", [1, 1.5, 12, 300, 4321.5, 1e6])
@pytest.mark.parametrize("share", [0, 1e-4, 0.03, 0.5, 0.9967, 1])
@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.998])
def test_exact_intervals_equal_scipys(share: float, size: float, confidence: float) -> None:
    right, wrong, tail = share * size, (1 - share) * size, (1 - confidence) / 2
    low = float(betaincinv(right, wrong + 1, tail)) if right else 0.0
    high = float(betaincinv(right + 1, wrong, 1 - tail)) if wrong else 1.0
    assert exact_interval(share, size, confidence) == pytest.approx((low, high), rel=1e-7, abs=1e-9)
