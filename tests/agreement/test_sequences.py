"""Confidence sequences: right at every look, narrower with a good judge, exact at the end."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest

from markscheme.agreement import running_estimate
from markscheme.agreement.sequences import _bets, _log_wealth
from markscheme.errors import AgreementError

LEVEL = np.log(2 / 0.05)


def ever_ruled_out(truth: np.ndarray, said: np.ndarray, units: np.ndarray) -> bool:
    """Whether the true share was outside the interval at any look, after every label."""
    share = np.array([truth.mean()])
    everything = np.ones(len(truth), dtype=bool)
    lower = _bets(truth, said, units, everything, None)
    upper = _bets(1 - truth, 1 - said, units, everything, None)
    return bool(_log_wealth(lower, share)[0] >= LEVEL or _log_wealth(upper, 1 - share)[0] >= LEVEL)


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
        misses += ever_ruled_out(truth, said, np.arange(10))
    assert misses <= 0.05 * orders


@pytest.mark.parametrize("unit", ["answer", "question"])
def test_looking_after_every_label_is_wrong_in_one_of_twenty_at_most(unit: str) -> None:
    rng = np.random.default_rng(0)
    misses, draws = 0, 60
    for _ in range(draws):
        questions = np.repeat(np.arange(60), rng.integers(1, 8, 60))
        chance = rng.beta(0.6, 0.2, 60)[questions]
        truth = (rng.random(len(questions)) < chance).astype(float)
        said = np.where(rng.random(len(truth)) < 0.85, truth, 1 - truth)
        if unit == "answer":
            order = rng.permutation(len(truth))
            units = np.arange(len(truth))
        else:
            order = np.argsort(rng.permutation(60)[questions], kind="stable")
            units = np.unique(questions[order], return_index=False, return_inverse=True)[1]
            first = {unit: place for place, unit in reversed(list(enumerate(units)))}
            ranks = {unit: rank for rank, unit in enumerate(sorted(first, key=lambda u: first[u]))}
            units = np.array([ranks[unit] for unit in units])
        misses += ever_ruled_out(truth[order], said[order], units)
    assert misses / draws <= 0.05


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


def test_how_many_more_labels_it_says_is_about_how_many_it_takes() -> None:
    truth, _ = world()
    margin = 0.06
    now = running_estimate(first(truth, 80))
    more = now.more_for(margin)
    assert more is not None
    assert not now.enough_at(margin)
    needed = next(
        n for n in range(80, 600, 20) if running_estimate(first(truth, n)).enough_at(margin)
    )
    assert 0.6 * (needed - 80) <= more <= 1.6 * (needed - 80)
    assert running_estimate(first(truth, needed)).more_for(margin) == 0


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


def test_labels_of_a_part_of_a_larger_number_of_answers() -> None:
    truth, _ = world()
    part = running_estimate(truth[:200], population=600)
    whole = running_estimate(first(truth, 200))
    assert (part.lower, part.upper) == pytest.approx((whole.lower, whole.upper), abs=1e-5)
    assert part.answers == whole.answers == 600


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
        ({"labels": [3.0]}, "between 0 and 1"),
        ({"labels": [1, 0], "predictions": [0.5]}, "1 predictions for 2 answers"),
        ({"labels": [1, 0], "population": 1}, "part of 1"),
        ({"labels": [1, 0], "unit": "question"}, "the question of each answer"),
        ({"labels": [1, 0], "confidence": 1.5}, "confidence"),
        ({"labels": [1, 0], "predictions": [0.5, 2]}, "predictions must lie"),
    ],
)
def test_what_cannot_be_is_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(AgreementError, match=message):
        running_estimate(**arguments)  # type: ignore[arg-type]
