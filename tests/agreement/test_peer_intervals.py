"""The intervals that the laboratory compares with, against published figures and statsmodels."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

SIZES = np.array([1.0, 2, 5, 5, 3, 1, 8, 2, 4, 6])
RIGHT = np.array([1.0, 1, 5, 2, 3, 0, 7, 2, 3, 6])


@pytest.fixture
def peers(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2]))
    return importlib.import_module("benchmarks.peer_intervals")


def test_published_examples_come_out(peers: Any) -> None:
    found = doctest.testmod(peers)
    assert found.attempted >= 3
    assert found.failed == 0


def test_single_answers_have_the_binomial_intervals_of_statsmodels(peers: Any) -> None:
    proportion = pytest.importorskip("statsmodels.stats.proportion")
    right = np.array([1.0] * 17 + [0.0] * 4)
    # The variance by question divides by n - 1, so that n - 1 answers are effective.
    exact = proportion.proportion_confint(20 * 17 / 21, 20, method="beta")
    assert peers.korn_graubard(right, np.ones(21)) == pytest.approx(exact, rel=1e-9)


def _long(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """One row an answer, and its question."""
    rows = [[1.0] * int(r) + [0.0] * int(m - r) for r, m in zip(values, SIZES, strict=True)]
    return np.concatenate(rows), np.repeat(np.arange(len(SIZES)), SIZES.astype(int))


def test_the_variance_by_question_is_that_of_statsmodels(peers: Any) -> None:
    api = pytest.importorskip("statsmodels.api")
    right, question = _long(RIGHT)
    fit = api.OLS(right, np.ones_like(right)).fit(
        cov_type="cluster", cov_kwds={"groups": question}, use_t=True
    )
    assert peers.clustered_wald(RIGHT, SIZES) == pytest.approx(fit.conf_int()[0], rel=1e-9)


def test_log_odds_are_those_of_a_logistic_regression_clustered_by_question(peers: Any) -> None:
    api = pytest.importorskip("statsmodels.api")
    right, question = _long(RIGHT)
    fit = api.GLM(right, np.ones_like(right), family=api.families.Binomial()).fit(
        cov_type="cluster", cov_kwds={"groups": question}, use_t=True
    )
    ends = 1 / (1 + np.exp(-fit.conf_int()[0]))
    assert peers.logit_t(RIGHT, SIZES) == pytest.approx(ends, rel=1e-6)


def test_wilson_at_the_design_size_solves_the_score_equation(peers: Any) -> None:
    from scipy.special import stdtrit

    share = RIGHT.sum() / SIZES.sum()
    size = share * (1 - share) / peers.clustered_variance(RIGHT, SIZES)
    assert size < SIZES.sum()
    for end in peers.wilson_at_design_size(RIGHT, SIZES):
        score = abs(share - end) / np.sqrt(end * (1 - end) / size)
        assert score == pytest.approx(stdtrit(len(SIZES) - 1, 0.975), rel=1e-9)
