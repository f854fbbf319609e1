"""Plans: the number of labels with which the estimate shows what is wanted in most samples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from markscheme.stats import (
    ASSURANCE,
    Powered,
    Sample,
    Supposed,
    correlation_within,
    labels_needed,
    powered,
)
from markscheme.stats.plans import _drawn

Array = npt.NDArray[np.float64]
SENSITIVITY, SPECIFICITY = 0.95, 0.85


def world(
    rng: np.random.Generator, questions: int, each: int, alike: float
) -> tuple[Array, Supposed]:
    """What people would say of all answers, and what a planner knows of them."""
    chances = np.full(questions, 0.8)
    if alike:
        size = (1 - alike) / alike
        chances = rng.beta(0.8 * size, 0.2 * size, questions)
    clusters = np.repeat(np.arange(questions), each)
    truth = rng.random(len(clusters)) < chances[clusters]
    said = rng.random(len(clusters)) < np.where(truth, SENSITIVITY, 1 - SPECIFICITY)
    supposed = Supposed(
        predictions=said[:, None].astype(float), accepted=said, right=0.85,
        labels=np.full(len(clusters), np.nan), clusters=clusters, units=np.arange(len(clusters)),
        alike=correlation_within(np.bincount(clusters, said), np.bincount(clusters)),
    )  # fmt: skip
    return truth.astype(float), supposed


def piloted(rng: np.random.Generator, truth: Array, supposed: Supposed, labels: int) -> Supposed:
    known = np.full(len(truth), np.nan)
    chosen = rng.choice(len(truth), labels, replace=False)
    known[chosen] = truth[chosen]
    return replace(supposed, labels=known)


def narrower_than(half_width: float) -> Callable[[Powered], bool]:
    def reached(found: Powered) -> bool:
        low, high = found.low, found.high
        return low is not None and high is not None and high - low <= 2 * half_width

    return reached


@pytest.mark.proof(area="statistics")
@pytest.mark.parametrize(("questions", "each", "alike"), [(1500, 1, 0.0), (300, 5, 0.3)])
def test_a_planned_number_reaches_the_width_about_as_often_as_it_promises(
    questions: int, each: int, alike: float
) -> None:
    rng = np.random.default_rng(4)
    reached, narrow = [], narrower_than(0.05)
    for seed in range(20):
        truth, supposed = world(rng, questions, each, alike)
        known = piloted(rng, truth, supposed, 50)
        plan = labels_needed(known, narrow, seed=seed)
        assert plan.share >= ASSURANCE
        assert plan.half_width is not None
        assert plan.half_width <= 0.05
        has = ~np.isnan(known.labels)
        for _ in range(5):
            more = rng.choice(np.flatnonzero(~has), plan.labels - 50, replace=False)
            labels = known.labels.copy()
            labels[more] = truth[more]
            found = powered(
                Sample(predictions=known.predictions, labels=labels,
                       weights=np.ones(len(labels)), clusters=known.clusters)
            )  # fmt: skip
            reached.append(narrow(found))
    # The pilot is one of many: twenty of them leave it uncertain by some tenth.
    assert 0.65 <= np.mean(reached) <= 0.97


def test_labels_are_as_alike_within_a_question_as_people_would_say() -> None:
    rng = np.random.default_rng(2)
    seen, drawn = [], []
    for _ in range(10):
        truth, supposed = world(rng, 400, 5, 0.3)
        known = piloted(rng, truth, supposed, 100)
        sizes = np.bincount(known.clusters)
        seen.append(correlation_within(np.bincount(known.clusters, truth), sizes))
        for number in range(10):
            labels, _ = _drawn(known, np.random.default_rng(number))
            has = ~np.isnan(known.labels)
            assert (labels[has] == known.labels[has]).all()
            drawn.append(correlation_within(np.bincount(known.clusters, labels), sizes))
    assert np.mean(drawn) == pytest.approx(np.mean(seen), abs=0.06)


def test_known_labels_teach_what_a_verdict_is_worth() -> None:
    rng = np.random.default_rng(3)
    truth, supposed = world(rng, 1000, 1, 0.0)
    taught = piloted(rng, truth, supposed, 400)
    shares = [
        np.mean([_drawn(each, np.random.default_rng(n))[0].mean() for n in range(30)])
        for each in (supposed, taught)
    ]
    rate = supposed.accepted.mean()
    assert shares[0] == pytest.approx(0.85 * rate + 0.15 * (1 - rate), abs=0.01)
    assert shares[1] == pytest.approx(truth.mean(), abs=0.02)


def test_whole_questions_of_two_systems_are_labelled() -> None:
    rng = np.random.default_rng(6)
    _, one = world(rng, 200, 1, 0.0)
    _, two = world(rng, 200, 1, 0.0)
    weaker = rng.random(200) < 0.45
    both = Supposed(
        predictions=np.r_[one.predictions, weaker[:, None].astype(float)],
        accepted=np.r_[one.accepted, weaker], labels=np.full(400, np.nan),
        clusters=np.r_[one.clusters, two.clusters], units=np.r_[one.clusters, two.clusters],
        second=np.arange(400) >= 200, right=0.85, alike=0.1,
    )  # fmt: skip
    plan = labels_needed(both, lambda found: found.low is not None and found.low > 0)
    assert plan.labels % 2 == 0
    assert 40 <= plan.labels < 400
    assert plan.value > 0.1
    alone = labels_needed(both, lambda found: found.low is not None and found.low > 0, judges=False)
    assert alone.labels > plan.labels


def test_of_very_many_answers_a_part_stands_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(7)
    truth, many = world(rng, 4000, 1, 0.0)
    known = piloted(rng, truth, many, 40)
    whole = labels_needed(known, narrower_than(0.08))
    monkeypatch.setattr("markscheme.stats.plans.MOST_ANSWERS", 1000)
    part = labels_needed(known, narrower_than(0.08))
    assert 40 < part.labels < 300
    assert part.labels == pytest.approx(whole.labels, rel=0.2)
    never = labels_needed(known, lambda _: False)
    assert (never.share, never.labels) == (0, 1000)
