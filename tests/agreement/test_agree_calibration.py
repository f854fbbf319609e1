"""Thresholds, calibration maps, and the alternative annotator test."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_1samp
from sklearn.calibration import calibration_curve
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, cohen_kappa_score, f1_score
from statsmodels.stats.multitest import multipletests

from markscheme.agreement.alternative_annotator import (
    alternative_annotator_test,
    noninferiority_p,
)
from markscheme.agreement.calibration import (
    calibration_figures,
    expected_calibration_error,
    fit_map,
    reliability_diagram,
)
from markscheme.agreement.thresholds import (
    best_threshold,
    choose_threshold,
    sensitivity,
    split_questions,
)
from markscheme.errors import AgreementError
from markscheme.stats import score_statistic

scored = st.lists(
    st.tuples(st.sampled_from([0.0, 0.2, 0.25, 0.7, 1.0]), st.booleans()), min_size=1, max_size=40
)


def made(size: int = 400, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    scores = rng.random(size)
    return scores, rng.random(size) < 1 / (1 + np.exp(-6 * (scores - 0.6)))


@pytest.mark.proof(area="statistics")
@given(scored)
def test_the_curve_equals_scikit_learn_at_every_threshold(rows: list[tuple[float, bool]]) -> None:
    scores, labels = (np.array(side) for side in zip(*rows, strict=True))
    curve = sensitivity(scores, labels)
    assert curve.height == len(set(scores)) + 1
    for row in curve.rows(named=True):
        accepted = scores >= row["threshold"]
        assert row["accepted"] == pytest.approx(accepted.mean())
        assert row["accuracy"] == pytest.approx((accepted == labels).mean())
        if row["f1_positive"] is not None:
            assert row["f1_positive"] == pytest.approx(f1_score(labels, accepted))
        if row["kappa"] is not None:
            assert row["kappa"] == pytest.approx(cohen_kappa_score(labels, accepted))


@given(scored, st.sampled_from(["accuracy", "f1_positive", "f1_macro", "kappa", "mcc"]))
def test_the_best_threshold_is_best(rows: list[tuple[float, bool]], by: str) -> None:
    scores, labels = (np.array(side) for side in zip(*rows, strict=True))
    if labels.all() or not labels.any():
        with pytest.raises(AgreementError, match="only one class"):
            best_threshold(scores, labels, by=by)
        return
    curve = sensitivity(scores, labels)
    if curve[by].null_count() == curve.height:
        return
    best = best_threshold(scores, labels, by=by)
    at = curve.filter(pl.col("threshold") == best)[by][0]
    assert at == pytest.approx(curve[by].max())


def test_neighbouring_floats_still_have_a_threshold_between() -> None:
    low = 0.3
    high = np.nextafter(low, 1)
    curve = sensitivity(np.array([low, high]), np.array([False, True]))
    assert curve["accuracy"].to_list() == [0.5, 1.0, 0.5]
    assert ((np.array([low, high]) >= curve["threshold"][1]) == [False, True]).all()


def test_a_threshold_is_reported_on_other_questions() -> None:
    scores, labels = made()
    clusters = np.arange(400) // 4
    rows = pl.DataFrame(
        {"score": scores, "accepted": labels, "verdict": scores >= 0.9, "cluster": clusters}
    )
    chosen = choose_threshold(rows, by="kappa", share=0.4, seed=3)
    part = split_questions(clusters, share=0.4, seed=3)
    assert len(np.unique(clusters[part])) == 40
    assert not set(clusters[part]) & set(clusters[~part])
    assert (chosen.development_answers, chosen.held_out_answers) == (160, 240)
    assert chosen.held_out_questions == 60
    accepted = scores[~part] >= chosen.threshold
    assert chosen.held_out["kappa"].value == pytest.approx(
        cohen_kappa_score(labels[~part], accepted)
    )
    assert chosen.own["kappa"].value == pytest.approx(
        cohen_kappa_score(labels[~part], scores[~part] >= 0.9)
    )
    for figure in (chosen.own["kappa"], chosen.held_out["kappa"]):
        assert figure.low is not None
        assert figure.low < figure.value < figure.high  # type: ignore[operator]
    assert 0.4 < chosen.threshold < 0.8
    with pytest.raises(AgreementError, match="leaves one part empty"):
        split_questions(clusters, share=1.0, seed=0)
    with pytest.raises(AgreementError, match="no criterion 'auc'"):
        best_threshold(scores, labels, by="auc")


def test_nq301_bem_threshold(nq301_labels: pl.DataFrame) -> None:
    """The released verdict is a probability above one half; choosing may only help a little."""
    chosen = choose_threshold(
        nq301_labels.select(
            score="bem_score",
            accepted=pl.col("label") == 1,
            verdict=pl.col("bem_score") >= 0.5,
            cluster=pl.col("question").rank("dense").cast(pl.Int64),
        )
    )
    held_out = chosen.held_out["accuracy"].value
    assert held_out is not None
    assert 0.76 < held_out < 0.85


@given(scored, st.integers(1, 12))
def test_the_diagram_equals_scikit_learn(rows: list[tuple[float, bool]], bins: int) -> None:
    scores, labels = (np.array(side) for side in zip(*rows, strict=True))
    diagram = reliability_diagram(scores, labels, bins=bins)
    accepted, predicted = calibration_curve(labels.astype(int), scores, n_bins=bins)
    assert diagram["accepted"].to_list() == pytest.approx(accepted.tolist())
    assert diagram["mean_score"].to_list() == pytest.approx(predicted.tolist())
    assert diagram["answers"].sum() == len(rows)
    assert (diagram["low"] <= diagram["mean_score"] + 1e-12).all()
    assert (diagram["mean_score"] <= diagram["high"] + 1e-12).all()
    by_count = reliability_diagram(scores, labels, bins=bins, by="quantile")
    assert by_count["answers"].sum() == len(rows)


def test_calibration_error_by_hand() -> None:
    scores = np.array([0.1, 0.1, 0.9, 0.9])
    labels = np.array([False, True, True, True])
    diagram = reliability_diagram(scores, labels, bins=2)
    assert expected_calibration_error(diagram) == pytest.approx((0.4 * 2 + 0.1 * 2) / 4)
    figures = calibration_figures(scores, labels, bins=2)
    assert figures["brier"].value == pytest.approx(brier_score_loss(labels, scores))
    with pytest.raises(AgreementError, match="not probabilities"):
        reliability_diagram(scores * 5, labels)


@pytest.mark.parametrize("method", ["platt", "isotonic"])
def test_maps_equal_scikit_learn_and_survive_the_disk(method: str, tmp_path: Path) -> None:
    scores, labels = made()
    fitted = fit_map(scores, labels, method=method, judge="bem")  # type: ignore[arg-type]
    grid = np.linspace(-0.2, 1.2, 57)
    if method == "platt":
        model = LogisticRegression(C=np.inf).fit(scores[:, None], labels)
        expected = model.predict_proba(grid[:, None])[:, 1]
    else:
        expected = IsotonicRegression(out_of_bounds="clip").fit(scores, labels).predict(grid)
    assert fitted(grid) == pytest.approx(expected, abs=1e-9)
    assert (np.diff(fitted(grid)) >= 0).all()
    fitted.save(tmp_path / "map.json")
    kept = json.loads((tmp_path / "map.json").read_text())
    assert tuple(kept["scores"]) == fitted.scores
    assert tuple(kept["probabilities"]) == fitted.probabilities
    errors = [
        calibration_figures(each, labels)["ece_uniform"].value or 0.0
        for each in (scores, fitted(scores))
    ]
    assert errors[1] < errors[0]


def test_maps_that_cannot_be_fitted() -> None:
    scores, labels = made()
    with pytest.raises(AgreementError, match="do not go with accepted answers"):
        fit_map(1 - scores, labels, method="platt")
    with pytest.raises(AgreementError, match="too few to fit"):
        fit_map(scores[:5], labels[:5], method="platt")
    with pytest.raises(AgreementError, match="only one class"):
        fit_map(scores, np.ones(400, dtype=bool), method="isotonic")
    with pytest.raises(AgreementError, match="platt, isotonic"):
        fit_map(scores, labels, method="beta")  # type: ignore[arg-type]


def annotators(size: int, seed: int = 0) -> tuple[pl.DataFrame, pl.Series]:
    rng = np.random.default_rng(seed)
    truth = rng.random(size) < 0.5
    ratings = pl.DataFrame(
        {
            f"h{place}": np.where(rng.random(size) < 0.85, truth, ~truth).astype(float)
            for place in range(3)
        }
    )
    return ratings, pl.Series(np.where(rng.random(size) < 0.95, truth, ~truth).astype(float))


def test_the_alternative_annotator_test_by_hand() -> None:
    """Every quantity again, item by item, as the paper defines it."""
    ratings, judge = annotators(80)
    found = alternative_annotator_test(ratings, judge, epsilon=0.1)
    p_values = []
    for place, one in enumerate(found.against):
        others = [ratings[name] for name in ratings.columns if name != ratings.columns[place]]
        differences, wins = [], []
        for item in range(80):
            mine = np.mean([judge[item] == other[item] for other in others])
            theirs = np.mean([ratings[item, place] == other[item] for other in others])
            wins.append(mine >= theirs)
            differences.append(float(theirs >= mine) - float(mine >= theirs))
        assert one.judge_advantage == pytest.approx(np.mean(wins))
        p_values.append(noninferiority_p(differences.count(1.0), differences.count(-1.0), 80, 0.1))
        assert one.test == one.p.method == "exact"
        assert one.p.value == pytest.approx(p_values[-1])
        # With this many items the paper's t-test says much the same.
        theirs = ttest_1samp(differences, 0.1, alternative="less").pvalue
        assert p_values[-1] == pytest.approx(theirs, rel=1, abs=0.01)
    won = multipletests(p_values, alpha=0.05, method="fdr_by")[0]
    assert [one.won for one in found.against] == won.tolist()
    assert found.winning_rate == pytest.approx(won.mean())
    assert found.passed
    assert found.advantage == pytest.approx(np.mean([one.judge_advantage for one in found.against]))


def rejected(items: int, margin: float, level: float) -> np.ndarray:
    """(items + 1, items + 1) outcomes (worse, better) for which the test passes the judge."""
    worse, better = np.meshgrid(np.arange(items + 1), np.arange(items + 1), indexing="ij")
    real = worse + better <= items
    order = np.where(real, score_statistic(worse, better, items, margin), np.inf)
    values = np.unique(order[real])  # p rises with the statistic, so its limit is found by halving
    low, high = -1, len(values) - 1
    while low < high:
        middle = (low + high + 1) // 2
        at = np.argwhere(order == values[middle])[0]
        if noninferiority_p(int(at[0]), int(at[1]), items, margin) <= level:
            low = middle
        else:
            high = middle - 1
    return order <= values[low] if low >= 0 else np.zeros_like(real)


@pytest.mark.parametrize("items", [10, 15, 20, 25, 29, 30, 60, 300])
@pytest.mark.parametrize("margin", [0.1, 0.15, 0.2])
def test_a_judge_exactly_epsilon_worse_passes_at_most_one_time_in_twenty(
    items: int, margin: float
) -> None:
    """All outcomes summed, for any share of ties: no simulation. Wilcoxon's passed 18 to 79%."""
    sizes = pass_rates(items, margin)
    assert max(sizes) <= 0.0501
    if items >= 60:  # and it is not merely timid
        assert sizes[-1] > 0.03


def pass_rates(items: int, margin: float) -> list[float]:
    """How often a judge exactly `margin` worse passes, for several shares of ties."""
    from scipy.stats import multinomial

    passed = np.argwhere(rejected(items, margin, 0.05))
    outcomes = np.column_stack([passed, items - passed.sum(axis=1)])
    return (
        [
            float(
                multinomial.pmf(outcomes, items, [margin + wins, wins, 1 - margin - 2 * wins]).sum()
            )
            for wins in (0.0, 0.01, 0.037, 0.1, 0.2, (1 - margin) / 2 - 1e-9)
        ]
        if len(passed)
        else [0.0]
    )


@pytest.mark.proof(area="statistics")
def test_the_pass_rate_is_at_most_5_percent_at_every_number_of_items() -> None:
    rates = {items: max(pass_rates(items, 0.1)) for items in range(10, 301)}
    assert max(rates.values()) <= 0.05
    assert min(rate for items, rate in rates.items() if items >= 60) > 0.03


def test_blanks_are_passed_over() -> None:
    ratings, judge = annotators(25, seed=2)
    holes = ratings.with_columns(pl.when(pl.int_range(25) > 4).then("h0").alias("h0"))
    found = alternative_annotator_test(holes, judge)
    assert found.against[0].items == 20
    assert {one.test for one in found.against} == {"exact"}


def test_items_of_one_question_are_no_items_of_their_own() -> None:
    ratings, judge = annotators(30, seed=2)
    many, said = pl.concat([ratings] * 10), pl.concat([judge] * 10)
    asked = pl.Series([*range(30)] * 10)
    once = alternative_annotator_test(ratings, judge)
    repeated = alternative_annotator_test(many, said, questions=asked)
    for one, other in zip(once.against, repeated.against, strict=True):
        assert other.test == "t"
        assert (other.p.value or 0) > (one.p.value or 0) / 4
    with pytest.raises(AgreementError, match="of 5 questions"):
        alternative_annotator_test(many, said, questions=asked % 5)


def test_a_bad_judge_fails() -> None:
    ratings, judge = annotators(100, seed=3)
    found = alternative_annotator_test(ratings, 1.0 - judge)
    assert found.winning_rate == 0.0
    assert not found.passed


def test_unanimity_passes_where_the_items_are_enough() -> None:
    same = pl.DataFrame({name: [1.0, 0.0] * 20 for name in ("a", "b", "c")})
    found = alternative_annotator_test(same, same["a"])
    assert found.passed
    assert 0.85**40 <= (found.against[0].p.value or 0) < 0.01
    assert not alternative_annotator_test(same.head(12), same["a"].head(12)).passed


def test_the_alternative_annotator_test_refuses() -> None:
    ratings, judge = annotators(40)
    with pytest.raises(AgreementError, match=r"three annotators or more.*there are 2"):
        alternative_annotator_test(ratings.select("h0", "h1"), judge)
    with pytest.raises(AgreementError, match="only 5 items"):
        alternative_annotator_test(ratings.head(5), judge.head(5))
    with pytest.raises(AgreementError, match="epsilon=2"):
        alternative_annotator_test(ratings, judge, epsilon=2)
