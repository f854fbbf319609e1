"""Student's t as SciPy has it, without SciPy."""

from __future__ import annotations

import pytest
from scipy.special import stdtrit

from markscheme.metrics import t_quantile

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
