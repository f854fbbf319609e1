"""Gates on single answers, exactly: false passes, no draws."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta, binom

from markscheme.agreement.gate import gates


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
            "independent_answers": float(answers), "interval": "wilson",
        }  # fmt: skip
        (gate,) = gates([record], limit, confidence=0.95)
        assert gate.bound == pytest.approx(
            beta.ppf(0.05, right, answers - right + 1) if right else 0.0
        )
        passed.append(gate.passed)
    chances = binom.pmf(np.arange(answers + 1), answers, limit)
    assert chances[np.array(passed)].sum() <= 0.05
