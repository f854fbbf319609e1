"""Correlations of scores with grades within questions."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau, pearsonr, spearmanr

from markscheme.agreement.question_averages import per_question, question_correlations
from markscheme.errors import AgreementError


@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.integers(0, 3), st.integers(0, 3)),
        min_size=1,
        max_size=30,
    )
)
def test_question_correlations_equal_scipy(rows: list[tuple[str, int, int]]) -> None:
    table = pl.DataFrame(rows, schema=["question", "score", "grade"], orient="row")
    for row in question_correlations(table).rows(named=True):
        scores = [s for q, s, _ in rows if q == row["question"]]
        grades = [g for q, _, g in rows if q == row["question"]]
        if len(scores) < 2:
            assert row["state"] == "single"
        elif len(set(scores)) == 1 or len(set(grades)) == 1:
            assert row["state"] == "constant"
            assert row["kendall"] is None
        else:
            for name, function in (
                ("kendall", kendalltau),
                ("spearman", spearmanr),
                ("pearson", pearsonr),
            ):
                assert row[name] == pytest.approx(function(scores, grades).statistic)


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
