"""Labels that are wrong: their share from overlap, and shares of labels without their errors."""

from __future__ import annotations

import numpy as np
import pytest

from markscheme.stats import (
    LabelNoise,
    noise_from_pairs,
    of_majorities,
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
