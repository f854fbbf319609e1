"""Correlations of scores with grades within questions."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau, pearsonr, spearmanr

from markscheme.agreement import agree
from markscheme.agreement.question_averages import correlations, per_question
from markscheme.errors import AgreementError
from markscheme.results import Figure


@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.integers(0, 3), st.integers(0, 3)),
        min_size=1,
        max_size=30,
    )
)
def test_the_means_are_those_of_scipys_coefficients(rows: list[tuple[str, int, int]]) -> None:
    table = pl.DataFrame(rows, schema=["question", "score", "grade"], orient="row")
    sides = [
        ([s for q, s, _ in rows if q == name], [g for q, _, g in rows if q == name])
        for name in dict.fromkeys(q for q, _, _ in rows)
    ]
    several = [both for both in sides if len(both[0]) > 1]
    varied = [both for both in several if all(len(set(side)) > 1 for side in both)]
    if not varied:
        with pytest.raises(AgreementError, match="no question in which"):
            per_question(table)
        return
    found = per_question(table)
    assert found.questions == len(varied)
    assert found.constant == len(several) - len(varied)
    assert found.single == len(sides) - len(several)
    for name, function in (("kendall", kendalltau), ("spearman", spearmanr), ("pearson", pearsonr)):
        each = [function(scores, grades).statistic for scores, grades in varied]
        assert found.means[name].value == pytest.approx(np.mean(each))


def test_a_constant_side_has_no_correlation() -> None:
    assert correlations(np.array([1.0, 1.0]), np.array([0.0, 1.0])) == {}
    assert correlations(np.array([0.0, 1.0]), np.array([2.0, 2.0])) == {}


def test_infinite_scores_have_an_order_and_no_line() -> None:
    scores = [float("-inf"), -2.0, -1.0, -3.0, -1.0, -2.0]
    rows = [
        {"question": f"q{n // 3}", "answer": f"a{n}", "judge": "loglik", "score": score,
         "label": n % 3 / 2}
        for n, score in enumerate(scores)
    ]  # fmt: skip
    result = agree(rows, per_question=True)
    means = result.data["per_question"]["loglik"].means
    assert means["kendall"].value == pytest.approx(2 / 3)
    assert means["spearman"].value == pytest.approx(0.75)
    assert means["pearson"] == Figure(reason="some scores are infinite")
    assert "n/a (some scores are infinite)" in str(result)


def test_constant_questions_are_left_out_and_counted() -> None:
    table = pl.DataFrame(
        {
            "question": ["a", "a", "b", "b", "c", "d", "d"],
            "score": [1.0, 2.0, 1.0, 1.0, 3.0, 2.0, None],
            "grade": [0, 1, 0, 1, 2, 1, 1],
        }
    )
    out = per_question(table)
    assert (out.questions, out.constant, out.single, out.not_scored) == (1, 1, 2, 1)
    assert out.means["kendall"].value == 1.0
    with pytest.raises(AgreementError, match="no question in which"):
        per_question(table.filter(pl.col("question") == "b"))
