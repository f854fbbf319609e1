"""Shares of single answers, exactly: coverage of intervals and false passes of gates, no draws."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.stats import beta, binom

from markscheme.agreement.gate import gates
from markscheme.metrics import share_interval, spread_of


@cache
def intervals(answers: int) -> np.ndarray:
    spread = spread_of(np.zeros(0), answers)
    return np.array(
        [share_interval(x / answers, spread, answers=answers) for x in range(answers + 1)]
    )


@pytest.mark.parametrize("answers", [20, 30, 50, 100, 300])
@pytest.mark.parametrize("accuracy", [0.02, 0.2, 0.5, 0.8, 0.9, 0.95, 0.98])
def test_intervals_of_single_answers_cover(answers: int, accuracy: float) -> None:
    low, high = intervals(answers).T
    chances = binom.pmf(np.arange(answers + 1), answers, accuracy)
    assert chances[(low <= accuracy) & (accuracy <= high)].sum() >= 0.93


@pytest.mark.parametrize("answers", [20, 100, 300])
@pytest.mark.parametrize("limit", [0.5, 0.8, 0.95, 0.98])
def test_a_gate_on_single_answers_passes_five_in_a_hundred_that_just_fail(
    answers: int, limit: float
) -> None:
    passed = []
    for right in range(answers + 1):
        record = {
            "judge": "", "system": "", "judged": answers, "not_judged": {},
            "accuracy": right / answers, "effective_answers": float(answers),
            "freedom_one_sided": None,
        }  # fmt: skip
        (gate,) = gates([record], limit, confidence=0.95)
        assert gate.bound == pytest.approx(
            beta.ppf(0.05, right, answers - right + 1) if right else 0.0
        )
        passed.append(gate.passed)
    chances = binom.pmf(np.arange(answers + 1), answers, limit)
    assert chances[np.array(passed)].sum() <= 0.05
