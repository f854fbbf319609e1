"""The statistics of Yao & Barbosa's answer hierarchy."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import brunnermunzel, fisher_exact
from sklearn.metrics import accuracy_score, auc, f1_score, roc_auc_score

from markscheme.errors import AgreementError
from markscheme_research.studies.answer_hierarchy import (
    POLICIES,
    adjacent_sets,
    alternatives,
    marks_test,
    rank_scores,
    roc_curve,
    set_counts,
)


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
        if np.isnan(expected):
            assert found.auroc.value in (0.0, 1.0)
        else:
            least = 1 / math.comb(len(rows), len(good))
            assert found.p.value == pytest.approx(max(expected, least))
        if found.auroc.value is not None and found.auroc.value > 0.5:
            assert found.p.value < 0.5


def test_marks_that_separate_or_do_not_exist() -> None:
    parted = marks_test(pl.Series([1, 2, 8, 9, None]), pl.Series([False, False, True, True, True]))
    assert parted.auroc.value == 1.0
    assert parted.p.value == pytest.approx(1 / 6), "one order of six sets them apart so"
    alike = marks_test(pl.Series([1, 1, 1, 1]), pl.Series([False, False, True, True]))
    assert alike.p.reason == "marks and labels leave no variance for the test"
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


def test_the_papers_order_is_equivalent_then_by_gap_then_incorrect() -> None:
    relations = pl.Series(["incorrect", "inferior", "equivalent", "superior", "inferior", None])
    gaps = pl.Series([None, 33, None, 10, None, 5], dtype=pl.Float64)
    assert rank_scores(relations, gaps).to_list() == [-np.inf, -33, 0, -10, None, None]


def test_an_inferior_answer_without_a_gap_ranks_below_an_equivalent_one() -> None:
    relations = pl.Series(["equivalent", "inferior", "inferior", "superior"])
    scores = rank_scores(relations, pl.Series([None, 0.0, 3.0, 0.0])).to_list()
    assert scores[0] > scores[1] > scores[2]
    assert scores[3] == 0
