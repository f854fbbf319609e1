"""Intervals by leaving out questions: formulas, oracles, coverage with few questions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score
from statsmodels.stats.proportion import proportion_confint

from markscheme.agreement.verdicts import clustered_statistics
from markscheme.stats import auroc_influences, precision_influences


def single(tp: int, fp: int, fn: int, tn: int) -> np.ndarray:
    return np.repeat(np.eye(4), [tp, fp, fn, tn], axis=0)


def test_with_one_answer_a_question_shares_have_wilsons_interval() -> None:
    found = clustered_statistics(single(40, 6, 4, 21), 0.95)
    for name, right, of in (("accuracy", 61, 71), ("precision", 40, 46), ("recall", 40, 44)):
        wanted = proportion_confint(right, of, method="wilson")
        assert (found[name].low, found[name].high) == pytest.approx(wanted, abs=1e-9)
        assert found[name].method == "wilson"


def test_kappas_standard_error_is_the_textbooks() -> None:
    """Fleiss, Cohen & Everitt (1969): the delta method's variance, which the jackknife meets."""
    from statsmodels.stats.inter_rater import cohens_kappa

    table = np.array([[400, 60], [30, 210]])
    expected = cohens_kappa(table)
    rows = single(400, 60, 30, 210)
    found = clustered_statistics(rows, 0.95)["kappa"]
    assert found.value == pytest.approx(expected.kappa)
    assert found.low is not None
    assert found.high is not None
    assert found.high - found.low == pytest.approx(2 * 1.96 * expected.std_kappa, rel=0.02)


@given(st.integers(0, 10_000))
def test_influences_on_auroc_are_what_leaving_an_answer_out_changes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.repeat([True, False], [60, 40]))
    scores = rng.integers(0, 8, 100) + labels
    whole = roc_auc_score(labels, scores)
    value, pull = auroc_influences(labels, scores.astype(float))
    assert value == pytest.approx(whole, abs=1e-12)
    assert pull.sum() == pytest.approx(0, abs=1e-9)
    for place in (0, 50, 99):
        kept = np.arange(100) != place
        size = (labels == labels[place]).sum()
        changed = (whole - roc_auc_score(labels[kept], scores[kept])) * (size - 1) / size
        assert pull[place] == pytest.approx(changed, abs=1e-9)


@pytest.mark.proof(area="statistics")
@given(st.integers(0, 10_000))
def test_average_precision_is_moved_by_what_leaving_an_answer_out_changes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    labels, scores = rng.random(30) < 0.4, rng.integers(0, 8, 30).astype(float)
    labels[:3] = (True, True, False)
    whole = average_precision_score(labels, scores)
    value, moved = precision_influences(labels, scores)
    assert value == pytest.approx(whole, abs=1e-12)
    for place in range(30):
        rest = np.arange(30) != place
        without = average_precision_score(labels[rest], scores[rest])
        assert moved[place] == pytest.approx(whole - without, abs=1e-12)


def test_ten_questions_of_ten_answers_are_covered_as_often_as_promised() -> None:
    """The percentile bootstrap covered 85%, kappa 82%."""
    rng = np.random.default_rng(4)
    draws, hits = 300, {"accuracy": 0, "kappa": 0}
    share, right = 0.6, 0.8
    chance = 1 - 2 * share * (1 - share)
    truth = {"accuracy": right}
    cells = np.array([share * right, (1 - share) * (1 - right), share * (1 - right), 0.4 * right])
    yes, said = share, cells[0] + cells[1]
    chance = yes * said + (1 - yes) * (1 - said)
    truth["kappa"] = (right - chance) / (1 - chance)
    for _ in range(draws):
        good = rng.binomial(10, rng.beta(share * 7 / 3, (1 - share) * 7 / 3, 10))
        able = rng.beta(right * 7 / 3, (1 - right) * 7 / 3, 10)
        hit, spared = rng.binomial(good, able), rng.binomial(10 - good, able)
        rows = np.stack([hit, 10 - good - spared, good - hit, spared], axis=1).astype(float)
        found = clustered_statistics(rows, 0.95)
        for name, value in truth.items():
            low, high = found[name].low, found[name].high
            hits[name] += low is None or high is None or low <= value <= high
    assert hits["accuracy"] / draws > 0.915
    assert hits["kappa"] / draws > 0.9
