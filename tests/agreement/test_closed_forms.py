"""Statistics of a few lines, held against statsmodels."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from markscheme.agreement.pairs import holm_figures
from markscheme.stats import wilson_interval


@given(st.floats(0, 1), st.floats(0.5, 1e6), st.sampled_from([0.5, 0.8, 0.95, 0.99]))
def test_wilson_equals_statsmodels(share: float, size: float, confidence: float) -> None:
    low, high = wilson_interval(share, size, confidence=confidence)
    expected = proportion_confint(share * size, size, alpha=1 - confidence, method="wilson")
    assert (low, high) == pytest.approx(expected, abs=1e-9)
    assert 0 <= low <= high <= 1


def test_wilson_of_eight_in_ten_is_the_textbooks() -> None:
    assert wilson_interval(0.8, 10) == pytest.approx((0.4902, 0.9433), abs=5e-5)
    assert wilson_interval(0, 20)[0] == 0
    assert wilson_interval(1, 20)[1] == 1


def test_holm_of_three_by_hand() -> None:
    assert holm_figures([0.03, 0.01, 0.04]) == pytest.approx([0.06, 0.03, 0.06])
    assert holm_figures([]) == []
    assert holm_figures([0.9, None, 0.8]) == [1.0, None, 1.0]


def test_nothing_that_is_shipped_wants_statsmodels_or_pandas() -> None:
    code = (
        "import sys\n"
        "sys.modules['statsmodels'] = sys.modules['pandas'] = None\n"
        "import polars as pl\n"
        "from markscheme.agreement.annotators import fleiss_kappa\n"
        "from markscheme.agreement.pairs import holm_figures\n"
        "from markscheme.stats import wilson_interval\n"
        "ratings = pl.DataFrame({'a': [1.0, 0, 1, 0], 'b': [1.0, 0, 0, 0]})\n"
        "print(round(fleiss_kappa(ratings).value, 3), holm_figures([0.5]),\n"
        "      wilson_interval(0.5, 4)[0] > 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["0.467", "[0.5]", "True"]
