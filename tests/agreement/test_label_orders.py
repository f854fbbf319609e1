"""Orders drawn by chances, and what the labels so far say: oracles, coverage, refusals."""

from __future__ import annotations

import numpy as np
import pytest

from markscheme.agreement import chances_of_label, draw_label_order, estimate_so_far
from markscheme.errors import AgreementError


def made(answers: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Labels, and the scores of a judge that is mostly right and knows where it is unsure."""
    rng = np.random.default_rng(seed)
    scores = np.where(rng.random(answers) < 0.3, rng.beta(1, 3, answers), rng.beta(6, 1, answers))
    return (rng.random(answers) < 0.05 + 0.9 * scores).astype(float), scores


def seen(labels: np.ndarray, n: int) -> np.ndarray:
    return np.where(np.arange(len(labels)) < n, labels, np.nan)


def test_equal_weights_give_the_mean_with_the_finite_population_correction() -> None:
    labels, _ = made(400)
    found = estimate_so_far(seen(labels, 150))
    first = labels[:150]
    error = np.sqrt(first.var(ddof=1) / 150 * (1 - 150 / 400))
    assert found.figure.value == pytest.approx(first.mean())
    assert found.figure.low is not None
    half = found.figure.value - found.figure.low
    assert half == pytest.approx(1.98 * error, rel=0.06)


def test_everything_labelled_is_the_truth_itself() -> None:
    labels, scores = made(120)
    drawn = draw_label_order(scores, seed=3)
    found = estimate_so_far(
        labels[drawn.order], weights=drawn.weights[drawn.order], scores=scores[drawn.order]
    )
    assert (found.figure.low, found.figure.high) == pytest.approx((labels.mean(),) * 2)
    assert found.enough_at(0.001)
    assert found.more_for(0.001) == 0


@pytest.mark.parametrize("floor", [0.2, 0.5])
def test_a_chosen_order_is_unbiased_and_its_interval_holds(floor: float) -> None:
    labels, scores = made(1500)
    values, held = [], []
    for seed in range(300):
        drawn = draw_label_order(scores, floor=floor, seed=seed)
        found = estimate_so_far(
            seen(labels[drawn.order], 200), weights=drawn.weights[drawn.order],
            scores=scores[drawn.order],
        )  # fmt: skip
        assert found.figure.value is not None
        assert found.figure.low is not None
        assert found.figure.high is not None
        values.append(found.figure.value)
        held.append(found.figure.low <= labels.mean() <= found.figure.high)
    assert np.mean(values) == pytest.approx(labels.mean(), abs=4 * np.std(values) / np.sqrt(300))
    assert 0.91 <= np.mean(held) <= 0.985


def test_unsure_answers_come_first_and_a_good_judge_saves_labels() -> None:
    labels, scores = made(3000)
    unsure = np.abs(scores - 0.5) < 0.2
    drawn = draw_label_order(scores, seed=1)
    assert unsure[drawn.order[:300]].mean() > 1.3 * unsure.mean()
    plain = estimate_so_far(seen(labels, 300))
    chosen = estimate_so_far(
        seen(labels[drawn.order], 300), weights=drawn.weights[drawn.order],
        scores=scores[drawn.order],
    )  # fmt: skip
    assert chosen.more_for(0.03) < plain.more_for(0.03)  # type: ignore[operator]


def test_inclusion_probabilities_of_the_drawn_weigh_without_bias() -> None:
    labels, scores = made(500)
    totals = []
    for seed in range(400):
        drawn = draw_label_order(scores, seed=seed)
        first, threshold = drawn.order[:80], drawn.keys[drawn.order[80]]
        chances = chances_of_label(drawn.weights[first], threshold)
        totals.append((labels[first] / chances).sum() / len(labels))
    assert np.mean(totals) == pytest.approx(labels.mean(), abs=4 * np.std(totals) / 20)


def test_answers_that_stand_for_several_count_as_often() -> None:
    labels = np.array([1.0, 0.0] * 200)
    shares = np.array([3.0, 1.0] * 200)
    found = estimate_so_far(seen(labels, 200), shares=shares)
    assert found.figure.value == pytest.approx(0.75, abs=0.02)


def test_a_label_that_waits_widens_the_interval_both_ways() -> None:
    labels, _ = made(1000)
    whole = estimate_so_far(seen(labels, 200))
    holes = seen(labels, 200)
    holes[:20] = np.nan
    found = estimate_so_far(holes)
    assert found.pending == 20
    assert found.figure.low is not None
    assert whole.figure.low is not None
    assert found.figure.low < whole.figure.low
    assert found.more_for(0.03) > whole.more_for(0.03)  # type: ignore[operator]


def test_few_labels_give_a_reason_and_nobody_may_stop_early() -> None:
    assert estimate_so_far([None] * 50).figure.reason == "no labels yet"
    few = estimate_so_far([1.0] * 40 + [0.0] * 2 + [None] * 200)
    assert "2 of the rarer kind" in (few.figure.reason or "")
    assert few.more_for(0.03) is None
    early = estimate_so_far([1.0, 0.0] * 30 + [None] * 5)
    assert not early.enough_at(0.0001)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"labels": [2.0, 0.0]}, "between 0 and 1"),
        ({"labels": [1.0, 0.0], "weights": [1.0]}, "1 weights for 2 answers"),
        ({"labels": [1.0, 0.0], "weights": [0.0, 1.0]}, "weights must be above 0"),
        ({"labels": [1.0, 0.0], "confidence": 1.0}, "the confidence"),
    ],
)
def test_what_cannot_be_is_refused(wrong: dict, says: str) -> None:
    with pytest.raises(AgreementError, match=says):
        estimate_so_far(**wrong)


def test_scores_out_of_range_choose_nothing() -> None:
    with pytest.raises(AgreementError, match="between 0 and 1"):
        draw_label_order([0.2, 1.7])
