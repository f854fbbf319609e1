"""Confidence sequences: right at every look, narrower with a good judge, exact at the end."""

from __future__ import annotations

import importlib
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from benchmarks.worlds import ever_outside

from markscheme.agreement import RunningEstimate, estimate, plan_labels, running_estimate
from markscheme.errors import AgreementError


@pytest.mark.parametrize("right", [1, 5, 8])
@pytest.mark.parametrize("judge", ["none", "good", "inverted"])
def test_over_all_orders_of_a_few_answers_the_truth_is_ruled_out_in_one_of_twenty_at_most(
    right: int, judge: str
) -> None:
    """Exact: every order of 10 answers once, the judge wrong on the last two of either kind."""
    misses = orders = 0
    for places in combinations(range(10), right):
        truth = np.zeros(10)
        truth[list(places)] = 1.0
        said = np.full(10, 0.5)
        if judge != "none":
            said = 0.1 + 0.8 * truth
            for kind in (0.0, 1.0):
                said[np.flatnonzero(truth == kind)[-1]] = 0.5
            said = 1 - said if judge == "inverted" else said
        orders += 1
        misses += ever_outside(truth, 10, predictions=said)
    assert misses <= 0.05 * orders


@pytest.mark.parametrize("unit", ["answer", "question"])
def test_looking_after_every_label_is_wrong_in_one_of_twenty_at_most(unit: str) -> None:
    rng = np.random.default_rng(0)
    misses, draws = 0, 100
    for _ in range(draws):
        questions = np.repeat(np.arange(60), rng.integers(1, 8, 60))
        chance = rng.beta(0.6, 0.2, 60)[questions]
        truth = (rng.random(len(questions)) < chance).astype(float)
        said = np.where(rng.random(len(truth)) < 0.85, truth, 1 - truth)
        order = rng.permutation(len(truth))
        if unit == "question":
            order = np.argsort(rng.permutation(60)[questions], kind="stable")
        misses += ever_outside(
            truth[order], len(truth), predictions=said[order],
            units=questions[order].tolist() if unit == "question" else None,
        )  # fmt: skip
    assert misses / draws <= 0.05


@pytest.mark.proof(area="statistics")
def test_who_looks_again_and_again_is_wrong_more_often_with_an_ordinary_interval(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2]))
    laboratory = importlib.import_module("benchmarks.sequences")
    rng = np.random.default_rng(5)
    sequence = ordinary = 0
    for _ in range(60):
        truth, said, clusters = laboratory.world(rng, 500, 0.5, 0.95, "lenient")
        sequence += ever_outside(truth, 300, predictions=said)
        ordinary += laboratory.naive_outside(truth, said, clusters)
    assert sequence <= 3
    assert ordinary > 6


def world(answers: int = 600) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    truth = (rng.random(answers) < 0.8).astype(float)
    return truth, np.where(rng.random(answers) < 0.95, truth, 1 - truth)


def first(truth: np.ndarray, count: int) -> list[float | None]:
    return [float(one) if place < count else None for place, one in enumerate(truth)]


def test_the_interval_shrinks_to_the_truth_when_everything_is_labelled() -> None:
    truth, said = world()
    for predictions in (None, said):
        found = running_estimate(first(truth, 600), predictions=predictions)
        assert found.estimate == pytest.approx(truth.mean(), abs=1e-6)
        assert found.upper - found.lower < 0.005
        assert found.lower <= truth.mean() + 1e-6
        assert found.upper >= truth.mean() - 1e-6


def test_bounds_never_widen_and_a_good_judge_narrows_them() -> None:
    truth, said = world()
    alone = [running_estimate(first(truth, n)) for n in (30, 100, 300)]
    helped = [running_estimate(first(truth, n), predictions=said) for n in (30, 100, 300)]
    for series in (alone, helped):
        assert all(a.lower <= b.lower + 1e-6 for a, b in pairwise(series))
        assert all(a.upper >= b.upper - 1e-6 for a, b in pairwise(series))
    assert helped[1].upper - helped[1].lower < 0.8 * (alone[1].upper - alone[1].lower)


@pytest.mark.parametrize("labels", [20, 50, 80])
@pytest.mark.parametrize("helped", [False, True])
def test_how_many_more_labels_it_says_is_about_how_many_it_takes(labels: int, helped: bool) -> None:
    truth, said = world()
    margin = 0.06

    def known(count: int) -> RunningEstimate:
        return running_estimate(first(truth, count), predictions=said if helped else None)

    more = known(labels).more_for(margin)
    assert more is not None
    assert not known(labels).enough_at(margin)
    needed = next(n for n in range(labels, 600, 10) if known(n).enough_at(margin))
    assert 0.5 * (needed - labels) <= more <= 2 * (needed - labels)
    assert known(needed).more_for(margin) == 0
    assert known(600).more_for(1e-6) == 0, "every answer has its label"


def test_a_missing_label_counts_against_both_bounds() -> None:
    truth, _ = world()
    whole = running_estimate(first(truth, 100))
    gaps = first(truth, 100)
    gaps[10] = gaps[50] = None
    found = running_estimate(gaps)
    assert found.n == 98
    assert found.lower <= whole.lower
    assert found.upper >= whole.upper
    assert found.upper - found.lower < 1.3 * (whole.upper - whole.lower)


def test_before_the_first_label_nothing_is_known() -> None:
    found = running_estimate([None, None])
    assert (found.estimate, found.lower, found.upper, found.n) == (None, 0.0, 1.0, 0)
    assert found.figure.reason == "no labels yet"
    assert found.more_for(0.05) is None
    assert not found.enough_at(0.05)


def test_the_figure_names_its_method() -> None:
    assert running_estimate([1, 0, 1]).figure.method == "betting"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"labels": [3.0]}, "must be 0 or 1"),
        ({"labels": [1, 0.5]}, "must be 0 or 1"),
        ({"labels": [1, 0], "predictions": [0.5]}, "1 predictions for 2 answers"),
        ({"labels": [1, 0], "units": ["q"]}, "2 labels and 1 units"),
        ({"labels": [1, 0], "confidence": 1.5}, "confidence"),
        ({"labels": [1, 0], "predictions": [0.5, 2]}, "predictions must lie"),
    ],
)
def test_what_cannot_be_is_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(AgreementError, match=message):
        running_estimate(**arguments)  # type: ignore[arg-type]


def judged(questions: int = 80, each: int = 5) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Judgments of all answers, and their true labels in a random order."""
    rng = np.random.default_rng(8)
    count = questions * each
    truth = (rng.random(count) < 0.8).astype(float)
    right = rng.random(count) < 0.9
    table = pl.DataFrame({
        "answer_id": [f"a{place}" for place in range(count)],
        "question": [f"q{place // each}" for place in range(count)],
        "answer": [f"text {place}" for place in range(count)],
        "system": [f"s{place % each}" for place in range(count)],
        "judge": ["judge"] * count,
        "verdict": np.where(right, truth, 1 - truth).astype(bool),
    })  # fmt: skip
    order = rng.permutation(count)
    return table, table.select("answer_id", "question").with_columns(label=truth)[order]


def test_estimate_shows_only_the_interval_that_may_be_looked_at_again() -> None:
    table, labels = judged()
    truth = labels["label"].mean()
    for count in (5, 40, 400):
        part = labels.with_columns(
            label=pl.when(pl.int_range(pl.len()) < count).then(pl.col("label"))
        )
        found = estimate(table, part, anytime=True, half_width=0.05)
        (one,) = found.estimates
        (only,) = one.estimates
        assert (only.method, only.figure.method) == ("sequence", "betting")
        assert only.figure.low <= truth + 1e-6  # type: ignore[operator]
        assert only.figure.high >= truth - 1e-6  # type: ignore[operator]
        assert (one.more_labels == 0) == (count == 400)
    assert "you may stop labelling" in str(found)
    shuffled = estimate(table, labels.head(40), anytime=True)
    again = estimate(table, labels.head(40).reverse(), anytime=True)
    assert shuffled.frame["figure_low"][0] != again.frame["figure_low"][0]  # the order counts


def test_looking_after_every_label_changes_the_interval_and_not_the_figure() -> None:
    table, labels = judged(400, 1)
    (running,), (once,) = (
        estimate(table, labels.head(60), **how).estimates
        for how in ({"anytime": True}, {"about": "these"})
    )
    assert running.figure is not None
    assert once.figure is not None
    assert running.figure.value == once.figure.value != labels["label"][:60].mean()


def test_questions_labelled_one_after_the_other_are_a_bet_each() -> None:
    table, labels = judged()
    order = {f"q{q}": r for r, q in enumerate(np.random.default_rng(1).permutation(80))}
    blocks = labels.sort(pl.col("question").replace_strict(order), maintain_order=True)
    for count in (100, 103):
        found = estimate(table, blocks.head(count), anytime=True)
        assert "each counts once" in str(found)
        (one,) = found.estimates[0].estimates
        assert one.figure.low < labels["label"].mean() < one.figure.high  # type: ignore[operator]
    assert "each counts once" not in str(estimate(table, labels.head(100), anytime=True))


def test_unequal_chances_are_refused_where_one_looks_again() -> None:
    table, labels = judged()
    unequal = labels.head(100).with_columns(
        inclusion_probability=pl.when(pl.int_range(100) < 50).then(0.2).otherwise(0.5)
    )
    with pytest.raises(AgreementError, match="drawn with unequal chances"):
        estimate(table, unequal, anytime=True)
    with pytest.raises(AgreementError, match="requires --anytime"):
        estimate(table, labels, half_width=0.05)


def test_a_plan_goes_on_from_a_pilot_and_says_how_many_more() -> None:
    table, labels = judged()
    pilot = labels.head(40)
    plan = plan_labels(table, pilot=pilot, half_width=0.05, about="these", with_system=True)
    need = plan.needs[None]
    assert need.labels is not None
    assert need.more == need.labels - 40
    assert f"{need.more} of them are still to be labelled" in plan.notes[0]
    [looked] = estimate(table, pilot, anytime=True, half_width=0.05).estimates
    assert looked.more_labels is not None
    assert 100 < looked.more_labels < 170  # 130 are enough in this order
    # No plan drew the pilot, so that its order is drawn; its labels stay with their answers.
    first = plan.frame.head(40).sort("answer_id").select("answer_id", "label")
    assert first["answer_id"].to_list() != pilot["answer_id"].to_list()
    assert first.rows() == pilot.sort("answer_id").select("answer_id", "label").rows()
    assert plan.frame["label"].null_count() == plan.frame.height - 40
    assert plan.frame["answer_id"].n_unique() == plan.frame.height == need.labels
    assert plan.frame["inclusion_probability"][0] == pytest.approx(need.labels / 400)
    assert f"{need.more} of them are still to be labelled" in plan.notes[0]


def test_when_all_is_labelled_nothing_is_open() -> None:
    labels = [1, 0, 0, 1, 1, 1, 0]
    found = running_estimate(labels, predictions=[0.9, 0.1, 0.8, 0.3, 0.9, 0.5, 0.2])
    assert found.lower == found.upper == found.estimate == pytest.approx(4 / 7)
