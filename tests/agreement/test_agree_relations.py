"""The statistics of Yao & Barbosa, repeated runs, and correlations within questions."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import brunnermunzel, fisher_exact, kendalltau, pearsonr, spearmanr
from sklearn.metrics import accuracy_score, auc, f1_score, roc_auc_score

from markscheme.agreement.answer_hierarchy import (
    POLICIES,
    adjacent_sets,
    alternatives,
    marks_test,
    roc_curve,
    set_counts,
)
from markscheme.agreement.question_averages import per_question, question_correlations
from markscheme.errors import AgreementError


def test_adjacent_sets_by_hand_and_by_scipy() -> None:
    sizes = {
        "superior": (9, 10),
        "equivalent": (40, 60),
        "inferior": (10, 30),
        "incorrect": (1, 50),
    }
    relations, accepted = [], []
    for name, (yes, size) in sizes.items():
        relations += [name] * size
        accepted += [True] * yes + [False] * (size - yes)
    steps = adjacent_sets(pl.Series([*relations, None]), pl.Series([*accepted, True]))
    assert [(step.higher, step.lower) for step in steps] == [
        ("superior", "equivalent"),
        ("equivalent", "inferior"),
        ("inferior", "incorrect"),
    ]
    assert steps[0].odds_ratio.value == pytest.approx((9 * 20) / (1 * 40))
    assert (steps[0].higher_accepted, steps[0].higher_answers) == (9, 10)
    expected = fisher_exact(np.array([[40, 20], [10, 20]]), alternative="greater")
    assert steps[1].p.value == pytest.approx(expected.pvalue)
    assert steps[1].odds_ratio.value == pytest.approx(expected.statistic)


def test_empty_sets_and_whole_sets_have_reasons() -> None:
    steps = adjacent_sets(
        pl.Series(["equivalent", "inferior", "inferior"]), pl.Series([True, False, True])
    )
    assert steps[0].p.reason == "no answer is superior"
    assert steps[1].odds_ratio.reason == "a set is accepted or rejected as a whole"
    assert steps[1].p.value is not None
    with pytest.raises(AgreementError, match="no place in the hierarchy for 'similar'"):
        adjacent_sets(pl.Series(["similar"]), pl.Series([True]))


@given(
    st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=4, max_size=40),
)
def test_marks_equal_scipy_and_scikit_learn(rows: list[tuple[int, bool]]) -> None:
    marks, accepted = (list(side) for side in zip(*rows, strict=True))
    found = marks_test(pl.Series(marks), pl.Series(accepted))
    good = [m for m, yes in rows if yes]
    bad = [m for m, yes in rows if not yes]
    if not good or not bad:
        assert found.auroc.reason
        return
    assert found.auroc.value == pytest.approx(roc_auc_score(accepted, marks))
    if found.p.value is not None:
        expected = brunnermunzel(bad, good, alternative="less").pvalue
        assert found.p.value == pytest.approx(expected)
        if found.auroc.value is not None and found.auroc.value > 0.5:
            assert found.p.value < 0.5


def test_marks_that_separate_or_do_not_exist() -> None:
    parted = marks_test(pl.Series([1, 2, 8, 9, None]), pl.Series([False, False, True, True, True]))
    assert parted.auroc.value == 1.0
    assert parted.p.reason == "marks and labels leave no variance for the test"
    assert parted.left_out == 1


def test_minus_infinity_is_the_last_place() -> None:
    places = [-np.inf, -3.0, 0.0, -np.inf, -7.0]
    accepted = pl.Series([False, True, True, True, False])
    found = marks_test(pl.Series(places), accepted)
    finite = [-99.0 if np.isinf(place) else place for place in places]
    assert found.auroc.value == pytest.approx(roc_auc_score(accepted.to_list(), finite))


# --- the paper's tables from a run ---------------------------------------------------------------

RELATIONS = pl.Series(
    ["superior"] * 4 + ["equivalent"] * 6 + ["inferior"] * 5 + ["incorrect"] * 5 + [None]
)
ACCEPTED = pl.Series(
    [True] * 3 + [False] + [True] * 5 + [False] + [True] * 2 + [False] * 7 + [True] * 2
)
SYSTEMS = pl.Series(["a", "b"] * 10 + ["a"])


def test_sets_are_counted_as_in_tables_9_and_10() -> None:
    found = set_counts(RELATIONS, ACCEPTED)
    assert found["relation"].to_list() == ["superior", "equivalent", "inferior", "incorrect"]
    assert found["in_superior"].to_list() == [True, True, False, False]
    assert found["in_inferior"].to_list() == [False, True, True, False]
    assert found["count"].to_list() == [4, 6, 5, 5]
    assert found["accepted"].to_list() == [3, 5, 2, 1]
    assert found["share"].sum() == pytest.approx(1)
    bare = set_counts(pl.Series(["inferior"]))
    assert bare["count"].to_list() == [0, 0, 1, 0]
    assert bare["accepted"].null_count() == 4


@pytest.mark.parametrize("policy", POLICIES)
def test_alternatives_equal_scikit_learn(policy: str) -> None:
    found = [one for one in alternatives(RELATIONS, ACCEPTED, SYSTEMS) if one.policy == policy]
    assert [one.system for one in found] == ["", "a", "b"]
    for one in found:
        kept = RELATIONS.is_not_null()
        if one.system:
            kept &= SYSTEMS.is_in([one.system])
        verdicts = RELATIONS.filter(kept).is_in(list(POLICIES[policy])).to_list()
        labels = ACCEPTED.filter(kept).to_list()
        assert one.answers == len(labels)
        assert one.f1.value == pytest.approx(f1_score(labels, verdicts))
        assert one.accuracy.value == pytest.approx(accuracy_score(labels, verdicts))


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=4, max_size=40))
def test_the_area_under_the_curve_is_the_auroc(rows: list[tuple[int, bool]]) -> None:
    marks, accepted = (pl.Series(list(side)) for side in zip(*rows, strict=True))
    if accepted.n_unique() < 2:
        with pytest.raises(AgreementError, match="only one class"):
            roc_curve(marks, accepted)
        return
    curve = roc_curve(marks, accepted)
    area = auc(curve["rejected_share"].to_numpy(), curve["accepted_share"].to_numpy())
    assert area == pytest.approx(marks_test(marks, accepted).auroc.value)
    assert curve.row(0) == (0.0, 0.0, None)
    assert curve["threshold"].is_nan().sum() == 0


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


def test_the_policy_for_constant_questions() -> None:
    table = pl.DataFrame(
        {
            "question": ["a", "a", "b", "b", "c", "d", "d"],
            "score": [1.0, 2.0, 1.0, 1.0, 3.0, 2.0, None],
            "grade": [0, 1, 0, 1, 2, 1, 1],
        }
    )
    out = per_question(table)
    assert (out.questions, out.constant, out.single, out.not_scored) == (1.0, 1.0, 2.0, 1)
    assert out.means["kendall"].value == 1.0
    zero = per_question(table, constant="zero")
    assert zero.means["kendall"].value == 0.5
    assert zero.questions == 2.0
    with pytest.raises(AgreementError, match="no question in which"):
        per_question(table.filter(pl.col("question") == "b"))
    with pytest.raises(AgreementError, match="left_out, zero"):
        per_question(table, constant="drop")  # type: ignore[arg-type]


def test_repetitions_give_mean_and_spread() -> None:
    table = pl.DataFrame(
        {
            "question": ["a"] * 6,
            "seed": [1, 1, 1, 2, 2, 2],
            "score": [1, 2, 3, 2, 1, 3],
            "grade": [1, 2, 3, 1, 2, 3],
        }
    )
    found = per_question(table, seed="seed")
    assert found.repetitions == 2
    assert found.means["kendall"].value == pytest.approx((1 + 1 / 3) / 2)
    assert found.spreads["kendall"].value == pytest.approx(np.std([1, 1 / 3], ddof=1))
