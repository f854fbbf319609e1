"""Labels that are wrong: their share from overlap, and shares of labels without their errors."""

from __future__ import annotations

import numpy as np
import pytest

from markscheme.stats import (
    LabelNoise,
    noise_from_gold,
    noise_from_pairs,
    of_majorities,
    of_votes,
    possible,
    share_evidence,
    share_interval,
    without_noise,
)


def test_the_share_of_wrong_labels_follows_from_those_that_differ() -> None:
    for rate in (0.0, 0.02, 0.1, 0.3):
        differ = 2 * rate * (1 - rate)
        found = noise_from_pairs(np.full(1000, differ), np.ones(1000))
        assert found.rate == pytest.approx(rate)
        assert found.low <= rate <= found.high
        assert (found.pairs, found.differ) == (1000, pytest.approx(differ))
    assert noise_from_pairs([40], [50]).rate == 0.4  # they differ more often than by chance


def test_a_majority_errs_less() -> None:
    noise = LabelNoise(rate=0.1, low=0.05, high=0.2)
    assert of_majorities(noise, [1, 1]).rate == pytest.approx(0.1)
    # Two who agree: both wrong, of both wrong or both right.
    assert of_majorities(noise, [2]).rate == pytest.approx(0.01 / (0.01 + 0.81))
    # Three: all are alike, or two against one, as often as that happens.
    alike = 0.1**3 + 0.9**3
    three = of_majorities(noise, np.repeat([3, 1], [round(1e4 * alike), round(1e4 * (1 - alike))]))
    assert three.rate == pytest.approx(3 * 0.1**2 * 0.9 + 0.1**3, rel=1e-3)
    assert three.low < three.rate < three.high


def test_errors_are_undone() -> None:
    none = LabelNoise(rate=0.0, low=0.0, high=0.0)
    assert without_noise(0.7, 0.6, 0.8, none) == pytest.approx((0.7, 0.6, 0.8))
    known = LabelNoise(rate=0.05, low=0.05, high=0.05)
    truth = 0.9
    seen = truth * 0.95 + (1 - truth) * 0.05
    value, low, high = without_noise(seen, seen - 0.03, seen + 0.03, known)
    assert value == pytest.approx(truth)
    assert (low, high) == pytest.approx((truth - 0.03 / 0.9, truth + 0.03 / 0.9))
    unsure = LabelNoise(rate=0.05, low=0.02, high=0.1)
    wider = without_noise(seen, seen - 0.03, seen + 0.03, unsure)
    assert wider[0] == value
    assert wider[1] < low
    assert wider[2] > high
    assert without_noise(0.99, 0.97, 1.0, known)[2] == 1.0
    # An estimate above 100% is cut after its interval is made, which else were a point here.
    about = LabelNoise(rate=0.1, low=0.05, high=0.15)
    assert without_noise(0.95, 0.9, 0.98, about) == pytest.approx((1.0, 0.974, 1.0), abs=1e-3)


def test_gold_items_show_the_errors_of_right_and_of_wrong_answers() -> None:
    truth = np.repeat([True, False], [200, 100])
    labels = truth.copy()
    labels[:8], labels[200:215] = False, True  # 4% of right, 15% of wrong answers
    found = noise_from_gold(labels, truth, np.arange(300))
    assert (found.rate, found.of_wrong.rate) == pytest.approx((0.04, 0.15))
    assert (found.gold, found.of_wrong.gold) == (200, 100)
    assert found.low < 0.04 < found.high < found.of_wrong.rate < found.of_wrong.high
    # The labels of an item by four people are less than those of four items.
    together = noise_from_gold(labels, truth, np.arange(300) // 4)
    assert together.high > found.high


def test_errors_of_either_kind_are_undone() -> None:
    missed, let_in, truth = 0.04, 0.15, 0.8
    noise = LabelNoise(rate=missed, low=missed, high=missed,
                       rejected=LabelNoise(rate=let_in, low=let_in, high=let_in))  # fmt: skip
    seen = truth * (1 - missed) + (1 - truth) * let_in
    assert without_noise(seen, seen, seen, noise)[0] == pytest.approx(truth)
    # A judge that finds 90% of right answers, and accepts 30% of wrong ones.
    accepted = truth * 0.9 + (1 - truth) * 0.3
    agreement = truth * 0.9 + (1 - truth) * 0.7
    labelled = (
        truth * (0.9 * (1 - missed) + 0.1 * missed)
        + (1 - truth) * (0.3 * let_in + 0.7 * (1 - let_in))
    )  # fmt: skip
    found = without_noise(labelled, labelled, labelled, noise, accepted)
    assert found[0] == pytest.approx(agreement)
    apart = 0.1 * (1 - missed - let_in)  # of two systems
    assert without_noise(apart, apart, apart, noise, None)[0] == pytest.approx(0.1)
    assert possible(noise) == pytest.approx((let_in, 1 - missed))
    assert possible(noise, None) == pytest.approx((-0.81, 0.81))


def test_a_difference_keeps_its_sign_without_errors() -> None:
    unsure = LabelNoise(rate=0.2, low=0.0, high=0.4)
    assert without_noise(0.1, 0.005, 0.19, unsure, None)[1] == 0.0
    assert without_noise(-0.1, -0.19, -0.005, unsure, None)[2] == 0.0
    low, high = without_noise(0.1, -0.05, 0.25, unsure, None)[1:]
    assert low < -0.05
    assert high > 0.25


def test_most_of_several_people_err_less_where_errors_differ() -> None:
    noise = LabelNoise(rate=0.02, low=0.01, high=0.05,
                       rejected=LabelNoise(rate=0.2, low=0.1, high=0.3))  # fmt: skip
    three = of_votes(noise, [3, 3])
    assert three.rate == pytest.approx(0.02**3 + 3 * 0.02**2 * 0.98)
    assert three.of_wrong.rate == pytest.approx(0.2**3 + 3 * 0.2**2 * 0.8)
    assert (three.single, three.of_wrong.single) == (0.02, 0.2)
    two = of_votes(noise, [2])  # who agree, or there is no label
    assert two.of_wrong.rate == pytest.approx(0.04 / (0.04 + 0.64))
    assert of_votes(noise, [1]).rate == pytest.approx(0.02)


@pytest.mark.proof(area="statistics")
@pytest.mark.parametrize("gold", [20, 60, 200])
@pytest.mark.parametrize(("missed", "let_in"), [(0.05, 0.05), (0.02, 0.15), (0.15, 0.2)])
@pytest.mark.parametrize("people", [1, 3])
def test_the_truth_is_covered_by_gold_items(
    people: int, missed: float, let_in: float, gold: int
) -> None:
    """95% right, 200 labels. Ends measured from a value cut at 100% covered 91.6%."""
    rng, draws, covered = np.random.default_rng(gold + people), 1000, 0
    known = np.repeat([True, False], gold // 2)

    def labels(truth: np.ndarray) -> np.ndarray:
        return np.where(truth, rng.random(len(truth)) >= missed, rng.random(len(truth)) < let_in)

    for _ in range(draws):
        truth = rng.random(200) < 0.95
        given = np.sum([labels(truth) for _ in range(people)], axis=0) > people / 2
        share = float(given.mean())
        ends = share_interval(share, share_evidence(given.astype(int), np.ones(200, int)))
        noise = of_votes(
            noise_from_gold(labels(known), known, np.arange(gold)), np.full(200, people)
        )
        low, high = without_noise(share, *ends, noise)[1:]
        covered += low <= 0.95 <= high
    assert covered / draws >= 0.93


@pytest.mark.proof(area="statistics")
@pytest.mark.parametrize("overlap", [0, 60, 200])
@pytest.mark.parametrize("accuracy", [0.8, 0.95])
def test_the_truth_is_covered_although_one_label_in_twenty_is_wrong(
    overlap: int, accuracy: float
) -> None:
    """The issue's world: 95% right, 200 labels, 5% of them wrong; labels alone covered 22%."""
    rng, draws = np.random.default_rng(overlap + int(100 * accuracy)), 1000
    covered, plain = 0, 0
    for _ in range(draws):
        truth = rng.random(200) < accuracy
        first, second = (truth ^ (rng.random(200) < 0.05) for _ in range(2))
        share = float(first.mean())
        low, high = share_interval(share, share_evidence(first.astype(int), np.ones(200, int)))
        noise = LabelNoise(rate=0.05, low=0.05, high=0.05)
        if overlap:
            noise = noise_from_pairs((first ^ second)[:overlap].astype(int), np.ones(overlap, int))
        ends = without_noise(share, low, high, noise)[1:]
        covered += ends[0] <= accuracy <= ends[1]
        plain += low <= accuracy <= high
    assert covered / draws >= 0.93
    assert covered / draws <= 0.995
    assert plain < covered
