"""Thresholds and calibration maps."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.calibration import calibration_curve
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, cohen_kappa_score, f1_score

from markscheme.agreement.calibration import (
    calibrate,
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
from markscheme.errors import AgreementError, MarkschemeError

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
    with pytest.raises(AgreementError, match="no criterion named 'auc'"):
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


def test_scores_outside_0_to_1_have_no_calibration_before_the_map(tmp_path: Path) -> None:
    file = tmp_path / "judged.csv"
    rows = [
        {"question": f"q{n}", "answer": "x", "judge": "grader", "score": 1 + n % 5,
         "verdict": n % 5 > 2, "label": int(n % 5 > 2) if n % 7 else int(n % 5 <= 2)}
        for n in range(200)
    ]  # fmt: skip
    pl.DataFrame(rows).write_csv(file)
    found = calibrate(file)
    before, after = (found.data["calibration"][side] for side in ("before", "after"))
    assert {one.value for one in before.values()} == {None}
    assert all(one.value is not None for one in after.values())
    assert found.frame["map"].unique().to_list() == ["after"]
    assert "scores from 1 to 5 are not probabilities, so their calibration is shown" in str(found)
    assert "n/a (scores from 1 to 5 are not probabilities)" in str(found)
    assert "no score" not in str(found)
    rows[0]["score"] = None
    assert "1 answer has no score" in str(calibrate(rows))
    with pytest.raises(AgreementError, match="no criterion named 'acc'; did you mean 'accuracy'"):
        calibrate(rows, criterion="acc")


def test_infinite_scores_have_no_map() -> None:
    rows = [
        {"question": f"q{n}", "answer": "x", "judge": "loglik", "score": -1.0 / (1 + n % 5) if n % 9
         else float("-inf"), "verdict": n % 5 > 2, "label": int(n % 5 > 2) if n % 7 else 1}
        for n in range(200)
    ]  # fmt: skip
    with pytest.raises(AgreementError, match="of the scores to fit a map on are infinite"):
        calibrate(rows)


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


@pytest.mark.parametrize(
    ("answers", "wrong", "said"),
    [
        (30, range(0, 30, 3), "of 30 labelled.* the 15 to choose .*50% of the questions.* too few"),
        (80, [5], "of 80 labelled.* the 40 to choose .* all labelled alike.*--share"),
    ],
)
def test_the_part_to_fit_on_is_named_where_it_lacks_what_all_answers_have(
    answers: int, wrong: list[int], said: str
) -> None:
    rows = [
        {
            "question": f"q{n}",
            "answer": "a",
            "score": (n not in wrong) / 2 + n % 5 / 9,
            "label": n not in wrong,
        }
        for n in range(answers)
    ]
    with pytest.raises(AgreementError, match=said):
        calibrate(rows)
    assert calibrate(rows, share=0.8).threshold.development_answers == 0.8 * answers
    with pytest.raises(MarkschemeError, match="share is nan, and must be a number"):
        calibrate(rows, share=float("nan"))


def test_maps_that_cannot_be_fitted() -> None:
    scores, labels = made()
    with pytest.raises(AgreementError, match="do not go with accepted answers"):
        fit_map(1 - scores, labels, method="platt")
    with pytest.raises(AgreementError, match="too few to fit"):
        fit_map(scores[:5], labels[:5], method="platt")
    with pytest.raises(AgreementError, match="only one class"):
        fit_map(scores, np.ones(400, dtype=bool), method="isotonic")
    with pytest.raises(AgreementError, match="2 of the scores to fit a map on are infinite"):
        fit_map(np.r_[-np.inf, np.inf, scores[2:]], labels, method="isotonic")
    with pytest.raises(AgreementError, match="platt, isotonic"):
        fit_map(scores, labels, method="beta")  # type: ignore[arg-type]
