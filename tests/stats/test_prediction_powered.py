"""What people would say, from judges and few labels: what the judges may not do, and coverage."""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import NormalDist

import numpy as np
import numpy.typing as npt
import pytest
from scipy.stats import binom

from markscheme.stats import (
    About,
    Powered,
    Sample,
    balanced,
    difference_evidence,
    difference_interval,
    exact_interval,
    powered,
    powered_difference,
    single_answers,
)

Array = npt.NDArray[np.float64]
DRAWS = 300


def judge(rng: np.random.Generator, truth: Array, sensitivity: float, specificity: float) -> Array:
    """(answers, 1) verdicts."""
    said = rng.random(len(truth)) < np.where(truth > 0, sensitivity, 1 - specificity)
    return said[:, None].astype(float)


def sample(
    rng: np.random.Generator, truth: Array, said: Array, labels: int, *, each: int = 1
) -> Sample:
    """Answers, `each` to a question, with labels of some at random."""
    known = np.full(len(truth), np.nan)
    chosen = rng.choice(len(truth), labels, replace=False)
    known[chosen] = truth[chosen]
    return Sample(
        predictions=said, labels=known, weights=np.ones(len(truth)),
        clusters=np.arange(len(truth)) // each,
    )  # fmt: skip


def accepted(rng: np.random.Generator, answers: int, share: float) -> Array:
    return (rng.random(answers) < share).astype(float)


def width(found: Powered) -> float:
    assert found.low is not None
    assert found.high is not None
    return found.high - found.low


def test_all_labels_leave_nothing_open_about_these_answers() -> None:
    rng = np.random.default_rng(1)
    truth = accepted(rng, 200, 0.8)
    made = sample(rng, truth, judge(rng, truth, 0.9, 0.8), 200)
    these = powered(made, about="these")
    assert these.low == these.value == these.high == pytest.approx(truth.mean())
    assert powered(made) == powered(made, judges=False)
    assert width(powered(made)) > 0.05


@pytest.mark.parametrize("about", ["future", "these"])
def test_a_judge_without_correlation_changes_nothing(about: About) -> None:
    """Below 1 / sqrt(n - 2); here of 40 accepted and 10 rejected answers it accepts half each."""
    labels = np.r_[np.ones(40), np.zeros(10)]
    said = np.r_[np.tile([1.0, 0.0], 25), np.ones(450)]
    for flipped in (0, 1):  # a correlation of 0, and one of .05
        said[0] = 1.0 - flipped
        made = Sample(
            predictions=said[:, None], labels=np.r_[labels, np.full(450, np.nan)],
            weights=np.ones(500), clusters=np.arange(500),
        )  # fmt: skip
        assert abs(np.corrcoef(said[:50], labels)[0, 1]) < 1 / np.sqrt(48)
        found = powered(made, about=about)
        assert found.weights == (0.0,)
        assert found == powered(made, judges=False, about=about)


def test_a_perfect_judges_labels_are_worth_more_than_twice_as_many() -> None:
    rng = np.random.default_rng(2)
    truth = accepted(rng, 1000, 0.8)
    made = sample(rng, truth, truth[:, None], 100)
    found = powered(made)
    assert found.worth > 200
    assert found.weights == pytest.approx((1.0,))
    assert found.value == pytest.approx(truth.mean())
    assert powered(made, judges=False).worth == 100
    # About these alone only unseen errors are left.
    these = powered(made, about="these")
    assert these.worth > found.worth
    assert these.error < found.error / 1.5


def test_errors_that_were_not_seen_are_of_two_answers_however_many_a_question_has() -> None:
    """Of a perfect judge nothing else is left about these answers."""
    rng = np.random.default_rng(5)
    truth = np.repeat(accepted(rng, 40, 0.7), 5)  # answers to a question are all alike
    labels = np.where(np.arange(200) % 5 < 3, truth, np.nan)  # three of each question
    found = powered(
        Sample(
            predictions=truth[:, None], labels=labels, weights=np.ones(200),
            clusters=np.arange(200) // 5,
        ),
        about="these",
    )  # fmt: skip
    mean = truth.mean()
    whole = (((truth[::5] - mean) / 40 / (1 - 1 / 40)) ** 2).sum()
    unseen = 2 * (max(mean, 1 - mean) / 120 / (1 - 1 / 120)) ** 2
    share = 80 / 200 * unseen / (whole + unseen)
    assert found.worth == pytest.approx(1 / (share / 120 + 1 / 200))


def test_a_perfect_judge_says_no_more_about_further_questions_than_all_labels_would() -> None:
    rng = np.random.default_rng(6)
    clusters = np.repeat(np.arange(300), 10)
    truth = (rng.random(3000) < rng.beta(1.2, 0.3, 300)[clusters]).astype(float)
    labels = np.where(np.arange(3000) % 10 < 2, truth, np.nan)  # two answers of each question
    made = Sample(
        predictions=truth[:, None], labels=labels, weights=np.ones(3000), clusters=clusters
    )
    found, all_labels = powered(made), powered(replace(made, labels=truth), judges=False)
    assert found.value == pytest.approx(all_labels.value)
    assert all_labels.error < found.error < 1.15 * all_labels.error
    assert powered(made, about="these").error < found.error / 2


def test_two_judges_whose_errors_differ_leave_less_than_either() -> None:
    rng = np.random.default_rng(3)
    truth = accepted(rng, 2000, 0.7)
    said = np.concatenate([judge(rng, truth, 0.85, 0.8) for _ in range(2)], axis=1)
    both = sample(rng, truth, said, 400)
    alone = [powered(replace(both, predictions=said[:, [n]])) for n in (0, 1)]
    assert powered(both).worth > 1.1 * max(found.worth for found in alone)
    twice = replace(both, predictions=np.repeat(said[:, :1], 2, axis=1))
    assert powered(twice).value == pytest.approx(alone[0].value)  # the same judge named twice
    assert sum(powered(twice).weights) == pytest.approx(alone[0].weights[0])


@pytest.mark.parametrize(("judges", "labels"), [(2, 20), (3, 20), (5, 20), (3, 30), (5, 40)])
def test_estimates_from_few_labels_and_several_judges_cover(judges: int, labels: int) -> None:
    """All weighted, they covered 82 to 94%: the judges' errors on so few labels can be fitted."""
    rng, draws, covered = np.random.default_rng(labels + judges), 600, 0
    for _ in range(draws):
        truth = accepted(rng, 500, 0.5)
        said = np.concatenate([judge(rng, truth, 0.7, 0.99) for _ in range(judges)], axis=1)
        found = powered(sample(rng, truth, said, labels))
        covered += found.low <= 0.5 <= found.high
        assert not any(found.weights[labels // 10 - 1 :])
    assert covered / draws >= 0.95 - 3 * (0.95 * 0.05 / draws) ** 0.5


def test_the_judges_that_few_labels_do_not_weight_change_nothing() -> None:
    rng = np.random.default_rng(8)
    truth = accepted(rng, 500, 0.7)
    said = np.concatenate([judge(rng, truth, 0.85, 0.8) for _ in range(4)], axis=1)
    for labels, used in ((29, 1), (30, 2), (49, 3), (50, 4)):
        made = sample(rng, truth, said, labels)
        found, first = powered(made), powered(replace(made, predictions=said[:, :used]))
        assert replace(found, weights=found.weights[:used]) == first
    # Answers to a question count once: what is fitted is fitted to questions.
    made = replace(sample(rng, truth, said, 100), clusters=np.arange(500) // 25)
    assert not any(powered(made).weights[1:])


@pytest.mark.parametrize("labels", [50, 100, 200])
def test_no_interval_is_much_wider_than_the_labels_own(labels: int) -> None:
    """Judges of any kind. A value that they put nearer to a half may have a wider interval."""
    rng = np.random.default_rng(labels)
    ratios = []
    for _ in range(300):
        truth = accepted(rng, 1000, 0.97)
        made = sample(rng, truth, judge(rng, truth, rng.uniform(0.3, 1), rng.uniform(0, 1)), labels)
        future, these = powered(made), powered(made, about="these")
        alone = powered(made, judges=False)
        assert min(these.worth, future.worth) >= labels - 1e-9
        assert max(these.worth, future.worth) <= 1000 + 1e-9
        ratios.append(width(future) / width(alone))
    assert max(ratios) < 1.25
    assert np.quantile(ratios, 0.98) < 1.1
    assert np.mean(ratios) < 1


def test_a_constant_factor_of_the_weights_changes_nothing() -> None:
    rng = np.random.default_rng(4)
    truth = accepted(rng, 600, 0.8)
    made = sample(rng, truth, judge(rng, truth, 0.9, 0.8), 100, each=3)
    for weights in (np.ones(600), rng.integers(1, 5, 600) / 2):
        one, other = (powered(replace(made, weights=factor * weights)) for factor in (1, 8))
        assert (one.value, one.low, one.high, one.worth) == pytest.approx(
            (other.value, other.low, other.high, other.worth)
        )


def test_unequal_weights_raise_no_certainty_that_was_not_seen() -> None:
    """All of the rarer kind have the least weight, as where few answers that are rejected lie."""
    labels = np.r_[np.ones(90), np.zeros(10)]
    made = Sample(
        predictions=np.r_[labels, np.ones(900)][:, None],
        labels=np.r_[labels, np.full(900, np.nan)],
        weights=np.r_[np.full(90, 11.0), np.ones(910)], clusters=np.arange(1000),
    )  # fmt: skip
    found = powered(made, judges=False)
    assert found.value == pytest.approx(0.99, abs=0.001)
    assert found.low is not None
    assert found.low < 0.97  # three of 90 may have gone unseen


@pytest.mark.parametrize("overconfident", [False, True])
def test_chances_by_the_judges_doubt_give_no_wider_interval_than_equal_ones(
    overconfident: bool,
) -> None:
    """Half of each chance is by the doubt, of 2,000 answers, about 200 labelled, 95% right."""
    rng = np.random.default_rng(10)
    accuracy = 0.95 * (0.96 if overconfident else 1.0)
    errors, widths, covered = np.zeros(2), np.zeros(2), np.zeros(2)
    for _ in range(DRAWS):
        said = rng.beta(1.9, 0.1, 2000)
        truth = (rng.random(2000) < said * accuracy / 0.95).astype(float)
        doubt = np.sqrt(said * (1 - said))
        for place, chances in enumerate((0.05 + 100 * doubt / doubt.sum(), np.full(2000, 0.1))):
            found = powered(
                Sample(
                    predictions=said[:, None],
                    labels=np.where(rng.random(2000) < chances, truth, np.nan),
                    weights=1 / chances, clusters=np.arange(2000),
                )
            )  # fmt: skip
            assert found.low is not None
            assert found.high is not None
            errors[place] += (found.value - accuracy) ** 2
            widths[place] += found.high - found.low
            covered[place] += found.low <= accuracy <= found.high
    if not overconfident:
        assert errors[0] < 0.7 * errors[1]
        assert widths[0] < widths[1]
    assert covered.min() >= 0.93 * DRAWS, covered


@pytest.mark.parametrize("number", [40, 77])
def test_a_mean_is_no_surer_than_the_stratum_with_most_of_its_weight(number: int) -> None:
    """All its labels are alike; what else is known covered 91% with a lenient judge."""
    place, labels = np.arange(1000), np.full(1000, np.nan)
    labels[:number] = 1.0
    labels[977:] = np.arange(23) % 2
    made = Sample(
        predictions=(place < 977)[:, None] * 1.0, labels=labels,
        weights=np.where(place < 977, 977 / number, 1.0), clusters=place,
    )  # fmt: skip
    found = powered(made, judges=False)
    assert found.value == pytest.approx(0.988)
    assert found.low < 0.977 * exact_interval(1.0, number, 0.9)[0] + 0.011


def test_labels_by_verdict_are_as_narrow_as_their_strata_allow() -> None:
    """The spread between strata, which does not move the mean, made them a third wider."""
    said = np.repeat([1.0, 0.0], [800, 200])
    labels = np.full(1000, np.nan)
    labels[:50] = np.arange(50) % 10 > 0
    labels[800:850] = np.arange(50) % 10 < 1
    made = Sample(
        predictions=said[:, None], labels=labels, weights=np.where(said > 0, 16.0, 4.0),
        clusters=np.arange(1000),
    )  # fmt: skip
    error = math.sqrt(0.64 * 0.09 / 50 + 0.04 * 0.09 / 50)
    for judges in (True, False):
        found = powered(made, judges=judges)
        assert found.value == pytest.approx(0.74)
        assert 1.0 < (found.high - found.low) / (2 * 1.96 * error) < 1.2


WORLDS = {
    "good": (1000, 1, 100, 0.8, (0.95, 0.85)),
    "perfect": (300, 1, 200, 0.97, (1.0, 1.0)),
    "useless": (1000, 1, 50, 0.8, (0.8, 0.2)),
    "clustered": (400, 20, 100, 0.8, (0.95, 0.85)),
}
"""Answers, answers to a question, labels, accuracy, sensitivity and specificity of the judge."""


@pytest.mark.parametrize("name", WORLDS)
def test_the_interval_holds_the_truth(name: str) -> None:
    answers, each, labels, accuracy, kind = WORLDS[name]
    rng = np.random.default_rng(7)
    covered = dict.fromkeys(("future", "these", "alone"), 0)
    for _ in range(DRAWS):
        hard = rng.beta(accuracy * 7 / 3, (1 - accuracy) * 7 / 3, answers // each)  # rho .3
        chance = np.repeat(hard, each) if each > 1 else np.full(answers, accuracy)
        truth = (rng.random(answers) < chance).astype(float)
        made = sample(rng, truth, judge(rng, truth, *kind), labels, each=each)
        for about, found, wanted in (
            ("future", powered(made), accuracy),
            ("these", powered(made, about="these"), truth.mean()),
            ("alone", powered(made, judges=False), accuracy),
        ):
            assert found.low is not None
            assert found.high is not None
            covered[about] += found.low <= wanted <= found.high
    assert min(covered.values()) >= 0.92 * DRAWS, covered


def test_the_interval_of_a_difference_holds_the_truth() -> None:
    """Of 20 labels a system and 120 questions that are hard or easy for both systems."""
    rng = np.random.default_rng(8)
    covered = dict.fromkeys(("future", "these"), 0)
    for _ in range(DRAWS):
        hard = rng.beta(4, 1, 120)
        truths = [(rng.random(120) < share * hard).astype(float) for share in (1.0, 0.8)]
        made = [sample(rng, truth, judge(rng, truth, 0.9, 0.8), 20) for truth in truths]
        for about, wanted in (("future", 0.16), ("these", truths[0].mean() - truths[1].mean())):
            found = powered_difference(made[0], made[1], about=about)  # type: ignore[arg-type]
            assert found.low is not None
            assert found.high is not None
            covered[about] += found.low <= wanted <= found.high
    assert min(covered.values()) >= 0.91 * DRAWS, covered
    assert found.p is not None


@pytest.mark.parametrize("about", ["future", "these"])
def test_two_that_are_labelled_alike_differ_by_as_much_as_so_few_pairs_leave_open(
    about: About,
) -> None:
    rng = np.random.default_rng(9)
    truth = accepted(rng, 100, 0.8)
    made = sample(rng, truth, judge(rng, truth, 0.9, 0.8), 40)
    found = powered_difference(made, made, about=about)
    assert (found.value, found.p) == (0, 1.0)
    assert found.low is not None
    assert found.high == -found.low
    most = difference_interval(0.0, 0.0, single_answers(40))[1]
    assert found.high == (pytest.approx(most) if about == "future" else 0.09)


@pytest.mark.parametrize(("labels", "each"), [(50, 1), (20, 1), (50, 5)])
@pytest.mark.parametrize("together", [True, False])
def test_a_total_difference_is_shown_with_its_interval(
    labels: int, each: int, *, together: bool
) -> None:
    """One system is right on all of 50 questions and the other on none: all are labelled, some of
    the same questions, or some of other questions of either."""
    rng = np.random.default_rng(4)
    ones = np.ones(50 * each)
    made = [sample(rng, truth, truth[:, None], labels, each=each) for truth in (ones, 0 * ones)]
    if together:
        made[1] = replace(made[0], labels=np.where(made[0].labelled, 0.0, np.nan))
    found = powered_difference(*made)
    assert (found.value, found.high) == (1.0, pytest.approx(1.0))
    assert found.method == "tango"
    assert found.low is not None
    assert 0.4 < found.low < 0.98
    assert (found.p or 1) < 0.001
    turned = powered_difference(made[1], made[0])
    assert (turned.low, turned.high) == pytest.approx((-1.0, -found.low))


def test_a_difference_that_all_questions_share_has_the_interval_of_two_judges() -> None:
    """One loses exactly 5 of the 20 answers to each of 10 questions."""
    truth = np.ones((10, 20))
    worse = truth.copy()
    worse[:, :5] = 0
    one, other = (
        Sample(
            predictions=said.reshape(-1, 1),
            labels=said.ravel(),
            weights=np.ones(200),
            clusters=np.repeat(np.arange(10), 20),
        )
        for said in (truth, worse)
    )
    found = powered_difference(one, other)
    lost, won, pairs = np.zeros(10), np.full(10, 5), np.full(10, 20)
    ends = difference_interval(0.0, 0.25, difference_evidence(lost, won, pairs))
    assert (found.value, found.low, found.high) == pytest.approx((0.25, *ends))
    assert found.p is not None


@pytest.mark.parametrize("share", [1.0, 0.5])
def test_few_losses_of_one_side_alone_are_covered(share: float) -> None:
    """By all outcomes, of 50 questions: the intervals of Student's t covered 86% at 6.2 points."""
    labels, rng = round(50 * share), np.random.default_rng(6)
    found = []
    for lost in range(labels + 1):
        truth = np.where(np.arange(50) < lost, 0.0, 1.0)
        known = np.where(np.arange(50) < labels, truth, np.nan)
        side = replace(sample(rng, truth, np.zeros((50, 1)), 50), labels=known)
        perfect = replace(side, labels=np.where(side.labelled, 1.0, np.nan))
        found.append(powered_difference(perfect, side))
    assert found[0].p == 1.0
    for loss in np.arange(0.01, 0.2, 0.002):
        inside = np.array([(one.low or 0) <= loss <= (one.high or 0) for one in found])
        assert binom.pmf(np.arange(labels + 1), labels, loss) @ inside >= 0.93, loss


def test_a_difference_of_answers_that_are_all_labelled_is_exact_about_these() -> None:
    rng = np.random.default_rng(8)
    sides = []
    for share in (0.8, 0.6):
        truth = accepted(rng, 60, share)
        sides.append(sample(rng, truth, judge(rng, truth, 0.9, 0.9), 60))
    found = powered_difference(sides[0], sides[1], about="these")
    assert found.low == found.high == found.value
    assert found.worth == pytest.approx(120)
    future = powered_difference(sides[0], sides[1])
    assert width(future) > 0
    turned = powered_difference(sides[1], sides[0])
    assert (turned.value, turned.low, turned.high) == pytest.approx(
        (-future.value, -(future.high or 0), -(future.low or 0))
    )


def test_labels_that_move_nothing_but_by_rounding_tell_no_variance() -> None:
    rng = np.random.default_rng(9)
    truth = accepted(rng, 70, 0.47)
    one = replace(sample(rng, truth, truth[:, None], 61), clusters=np.zeros(70, dtype=np.int64))
    other = replace(one, predictions=1 - one.predictions, labels=1 - one.labels)
    found = powered_difference(one, other)
    assert (found.low or 0) < -0.5
    assert (found.high or 0) > 0.5


@pytest.mark.parametrize(("answers", "unlabelled"), [(41, 1), (41, 5), (82, 2), (300, 100)])
def test_about_these_answers_the_ends_are_figures_that_they_can_have(
    answers: int, unlabelled: int
) -> None:
    """They hold the truth as often as promised where few answers have no label, too."""
    rng = np.random.default_rng(answers + unlabelled)
    held = 0
    for _ in range(400):
        truth = accepted(rng, answers, 0.7)
        drawn = sample(rng, truth, judge(rng, truth, 0.9, 0.8), answers - unlabelled)
        found = powered(drawn, about="these")
        assert found.low is not None
        assert found.high is not None
        low, high = found.low * answers, found.high * answers
        least = np.nansum(drawn.labels)
        assert low == pytest.approx(round(low))
        assert high == pytest.approx(round(high))
        assert least - 1e-9 <= low < high <= least + unlabelled + 1e-9
        held += low - 0.5 < truth.sum() < high + 0.5
    assert held >= 0.93 * 400


def test_a_difference_of_these_answers_is_shown_by_test_and_interval_alike() -> None:
    rng = np.random.default_rng(3)
    shown = 0
    for _ in range(300):
        samples = []
        for share in (0.7, 0.62):
            truth = accepted(rng, 60, share)
            samples.append(sample(rng, truth, judge(rng, truth, 0.9, 0.8), 40))
        found = powered_difference(*samples, about="these")
        assert found.low is not None
        assert found.high is not None
        assert found.p is not None
        assert (found.p <= 0.05) == (found.low > 0 or found.high < 0)
        shown += found.p <= 0.05
    assert 20 < shown < 280


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("about", ["future", "these"])
def test_what_two_systems_have_in_common_cancels_where_both_are_labelled(
    about: About, *, together: bool
) -> None:
    """Alike systems on 300 questions, 200 answers of each labelled, the same questions or not."""
    rng = np.random.default_rng(9)
    covered, errors, values = 0, [], []
    for _ in range(DRAWS):
        hard = accepted(rng, 300, 0.7)
        truths = [np.where(rng.random(300) < 0.8, hard, accepted(rng, 300, 0.7)) for _ in range(2)]
        made = [sample(rng, truth, np.zeros((300, 1)), 200) for truth in truths]
        if together:
            known = ~np.isnan(made[0].labels)
            made[1] = replace(made[1], labels=np.where(known, truths[1], np.nan))
        wanted = 0.0 if about == "future" else truths[0].mean() - truths[1].mean()
        found = powered_difference(made[0], made[1], about=about)
        assert found.low is not None
        assert found.high is not None
        covered += found.low - 1e-9 <= wanted <= found.high + 1e-9
        errors.append((found.high - found.low) / (2 * NormalDist().inv_cdf(0.975)))
        values.append(found.value - wanted)
    assert covered >= 0.93 * DRAWS
    assert np.mean(errors) == pytest.approx(np.std(values), rel=0.12)


def test_a_system_that_lost_answers_to_difficult_questions_is_no_better_for_it() -> None:
    """Labels at random of two equal systems, of which one has a fifth of its hard answers."""
    rng, found = np.random.default_rng(5), []
    hard, numbers = np.arange(60) < 30, np.arange(60)
    clusters = [np.repeat(numbers, 5), np.repeat(numbers, np.where(hard, 1, 5))]
    for _ in range(200):
        right = np.where(hard, rng.beta(2, 3, 60), rng.beta(9, 1, 60))
        drawn = rng.permutation(480) < 80
        sides = []
        for places, known in zip(clusters, np.split(drawn, [300]), strict=True):
            truth = rng.random(len(places)) < right[places]
            said = rng.random(len(places)) < np.where(truth, 0.9, 0.15)
            sides.append(
                Sample(
                    predictions=said[:, None].astype(float),
                    labels=np.where(known, truth, np.nan),
                    weights=np.ones(len(places)),
                    clusters=places,
                )
            )
        found.append(powered_difference(*balanced(*sides)))
    assert abs(np.mean([each.value for each in found])) < 0.03  # by all answers alike 15 points
    assert np.mean([each.low <= 0 <= each.high for each in found]) > 0.92
