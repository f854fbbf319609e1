"""The one engine of intervals: exact coverage of single answers, and what repeats may not do."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
from functools import cache
from itertools import product

import numpy as np
import pytest
from scipy.optimize import brentq, minimize_scalar
from scipy.stats import beta, binom, multinomial, norm

from markscheme import stats
from markscheme.stats import (
    Evidence,
    detectable_share,
    difference_evidence,
    difference_interval,
    difference_p,
    score_interval,
    share_bound,
    share_evidence,
    share_interval,
)


@pytest.mark.parametrize("name", [each.name for each in pkgutil.iter_modules(stats.__path__)])
def test_every_public_function_has_an_example_and_all_hold(name: str) -> None:
    module = importlib.import_module(f"markscheme.stats.{name}")
    assert doctest.testmod(module).failed == 0
    own = [
        function
        for _, function in inspect.getmembers(module, inspect.isfunction)
        if function.__module__ == module.__name__ and not function.__name__.startswith("_")
    ]
    assert [each.__name__ for each in own if ">>>" not in (each.__doc__ or "")] == []


def test_a_tiny_p_is_not_zero() -> None:
    p = difference_p(74 / 1522, 263 / 1522, of(1522))
    assert p == pytest.approx(2 * norm.sf(189 / 337**0.5), rel=1e-9)


def of(answers: int) -> Evidence:
    return Evidence(answers=float(answers), independent=float(answers))


@cache
def all_intervals(answers: int) -> np.ndarray:
    return np.array([share_interval(x / answers, of(answers)) for x in range(answers + 1)])


@pytest.mark.parametrize("answers", [20, 30, 50, 100, 300, 1000])
@pytest.mark.parametrize("accuracy", [0.01, 0.02, 0.03, 0.2, 0.5, 0.8, 0.9, 0.95, 0.98, 0.99])
def test_intervals_of_single_answers_cover(answers: int, accuracy: float) -> None:
    low, high = all_intervals(answers).T
    chances = binom.pmf(np.arange(answers + 1), answers, accuracy)
    assert chances[(low <= accuracy) & (accuracy <= high)].sum() >= 0.93


@pytest.mark.parametrize("answers", [5, 20, 100, 1000])
def test_one_right_answer_more_lowers_no_bound(answers: int) -> None:
    assert (np.diff(all_intervals(answers), axis=0) >= 0).all()
    bounds = [share_bound(x / answers, of(answers)) for x in range(answers + 1)]
    assert (np.diff(bounds) > 0).all()
    assert bounds[1:] == pytest.approx(
        beta.ppf(0.05, np.arange(1, answers + 1), answers - np.arange(answers))
    )


@pytest.mark.parametrize(("questions", "each"), [(20, 10), (50, 2), (100, 20), (300, 5)])
def test_one_wrong_answer_more_raises_no_bound_where_questions_repeat(
    questions: int, each: int
) -> None:
    answers = np.full(questions, each)
    ends = []
    for wrong in range(questions * each):  # Each to another question, as long as there are some.
        right = answers - np.bincount(np.arange(wrong) % questions, minlength=questions)
        share, evidence = right.sum() / answers.sum(), share_evidence(right, answers)
        ends.append((*share_interval(share, evidence), share_bound(share, evidence)))
    assert (np.diff(ends, axis=0) < 1e-12).all()
    assert ends[0][2] == pytest.approx(0.05 ** (1 / questions))


def test_how_far_one_wrong_answer_more_raises_a_bound_is_what_the_page_says() -> None:
    """Up to .47 points, with 20 to 40 questions of 5 to 9 answers; with others of these, not."""
    raised = {}
    for questions, each in product((20, 25, 30, 40, 50), (2, 4, 5, 6, 7, 8, 9, 10)):
        answers, ends = np.full(questions, each), []
        for wrong in range(6):
            right = answers - (np.arange(questions) < wrong)
            share, evidence = right.sum() / answers.sum(), share_evidence(right, answers)
            ends.append((*share_interval(share, evidence), share_bound(share, evidence)))
        rise = np.diff(ends, axis=0).max(axis=0)
        assert rise[2] <= 1e-12  # the bound that gates take
        if rise.max() > 1e-12:
            raised[questions, each] = round(100 * float(rise.max()), 2)
    assert raised == {
        (20, 5): 0.16, (20, 6): 0.47, (20, 7): 0.41, (20, 8): 0.21, (20, 9): 0.06,
        (25, 5): 0.13, (25, 6): 0.24, (25, 7): 0.02, (30, 5): 0.12, (30, 6): 0.02, (40, 5): 0.04,
    }  # fmt: skip


@pytest.mark.parametrize("questions", [5, 10, 30, 100])
def test_no_result_shows_more_than_a_perfect_one(questions: int) -> None:
    random, answers = np.random.default_rng(questions), np.full(questions, 20)
    perfect = share_evidence(answers, answers)
    low, bound = share_interval(1.0, perfect)[0], share_bound(1.0, perfect)
    for truth in np.linspace(0.5, 1, 50):
        right = random.binomial(20, truth, questions)
        share, evidence = right.sum() / answers.sum(), share_evidence(right, answers)
        assert share_interval(share, evidence)[0] <= low + 1e-12
        assert share_interval(1 - share, evidence)[1] >= 1 - low - 1e-12
        assert share_bound(share, evidence) <= bound + 1e-12
        limit = detectable_share(bound + 0.001, evidence)
        assert limit is None


@pytest.mark.parametrize("limit", [0.5, 0.8, 0.95])
@pytest.mark.parametrize("answers", [100, 300, 2000])
def test_a_detectable_share_is_shown_to_reach_a_limit_four_times_in_five(
    answers: int, limit: float
) -> None:
    truth = detectable_share(limit, of(answers))
    assert truth is not None
    right = np.arange(1, answers + 1)
    shown = beta.ppf(0.05, right, answers - right + 1) >= limit
    assert binom.pmf(right[shown], answers, truth).sum() == pytest.approx(0.8, abs=0.1)


def test_no_share_reaches_a_limit_that_so_few_right_answers_do_not_show() -> None:
    assert detectable_share(0.9, of(20)) is None
    repeated = detectable_share(0.8, share_evidence(np.repeat([5, 0], [24, 6]), np.full(30, 5)))
    alone = detectable_share(0.8, of(150))
    assert repeated is not None
    assert alone is not None
    assert alone < repeated < 1


@pytest.mark.parametrize(("right", "questions"), [(40, 50), (49, 50), (150, 300), (299, 300)])
def test_repeating_every_answer_changes_no_interval(right: int, questions: int) -> None:
    once = (np.arange(questions) < right).astype(int)
    share = right / questions
    single = share_interval(share, share_evidence(once, np.ones(questions, int)))
    repeated = share_interval(share, share_evidence(5 * once, np.full(questions, 5)))
    assert repeated[0] >= single[0] - 1e-12
    assert repeated[1] <= single[1] + 1e-12
    assert repeated == pytest.approx(single, abs=0.1 * (single[1] - single[0]))


def test_what_single_answers_and_counts_rest_on() -> None:
    assert share_evidence([1, 0, 1, 0], [1, 1, 1, 0]) == Evidence(answers=3.0, independent=3.0)
    uneven = share_evidence([20, 0, 1, 1], [20, 1, 1, 1])
    assert uneven.independent == pytest.approx(23**2 / 403)
    many = np.random.default_rng(0).binomial(5, 0.8, 2000)
    assert share_evidence(many, np.full(2000, 5)).answers == pytest.approx(10_000, rel=0.1)


@pytest.mark.parametrize("answers", [20, 50, 100, 500])
@pytest.mark.parametrize(
    ("loss", "gain"), [(0.02, 0.0), (0.01, 0.0), (0.03, 0.01), (0.1, 0.1), (0.3, 0.2)]
)
def test_differences_of_single_answers_cover(answers: int, loss: float, gain: float) -> None:
    """All outcomes summed: a shift of ties left out the truth in 11 to 14% on one side."""
    lost, won = (side.ravel() for side in np.meshgrid(np.arange(60), np.arange(60)))
    known = (lost + won <= answers) & (binom.pmf(lost, answers, loss) > 1e-7)
    known &= binom.pmf(won, answers, gain) > 1e-7
    lost, won = lost[known], won[known]
    chances = multinomial.pmf(np.stack([lost, won, answers - lost - won], axis=1), answers,
                              [loss, gain, 1 - loss - gain])  # fmt: skip
    above = below = 0.0
    for down, up, chance in zip(lost, won, chances, strict=True):
        if chance > 1e-5:
            low, high = difference_interval(down / answers, up / answers, of(answers))
            above += chance * (low > gain - loss)
            below += chance * (high < gain - loss)
    assert above + below <= 0.07
    assert max(above, below) < 0.045


def test_the_interval_of_a_difference_solves_tangos_equation() -> None:
    """The standard error at each end is that of the likeliest outcome with this difference."""
    lost, won, answers, reach = 7, 15, 100, 1.96
    for end in score_interval(lost / answers, won / answers, answers, reach):

        def unlikely(down: float, end: float = end) -> float:
            chances = np.array([down, down + end, 1 - 2 * down - end])
            return -float(np.array([lost, won, answers - lost - won]) @ np.log(chances))

        span = (max(0.0, -end) + 1e-9, (1 - end) / 2 - 1e-9)
        down = float(minimize_scalar(unlikely, bounds=span, method="bounded",
                                     options={"xatol": 1e-10}).x)  # fmt: skip
        error = np.sqrt((2 * down + end - end**2) / answers)
        assert abs((won - lost) / answers - end) / error == pytest.approx(reach, rel=1e-4)


@pytest.mark.parametrize("each", [1, 5])
def test_p_is_that_at_which_the_interval_ends_at_zero(each: int) -> None:
    rng = np.random.default_rng(3)
    first, second = (rng.binomial(each, share, 60) / each for share in (0.9, 0.75))
    worse, better = each * (1 - first) * second, each * first * (1 - second)
    evidence = difference_evidence(worse, better, np.full(60, each))
    shares = [float(side.sum()) / (60 * each) for side in (worse, better)]
    p = difference_p(*shares, evidence)
    assert p is not None
    end = brentq(lambda c: difference_interval(*shares, evidence, confidence=c)[0], 0.2, 1 - 1e-9)
    assert p == pytest.approx(1 - end, rel=1e-5)
    if each == 1:
        lost, won = 60 * shares[0], 60 * shares[1]
        assert p == pytest.approx(2 * norm.sf((won - lost) / np.sqrt(won + lost)))


def test_two_that_never_differ_are_not_certain_to_be_alike() -> None:
    same = difference_evidence(np.zeros(300), np.zeros(300), np.full(300, 5))
    assert difference_p(0.0, 0.0, same) is None
    low, high = difference_interval(0.0, 0.0, same)
    assert high == pytest.approx(-low)
    assert high == pytest.approx(1.96**2 / (300 + 1.96**2), rel=1e-3)


def test_equal_answers_to_a_question_count_once() -> None:
    lost, won = np.repeat([0, 1, 0], [180, 12, 8]), np.repeat([0, 0, 1], [180, 12, 8])
    alone, repeated = (
        difference_interval(
            0.06, 0.04, difference_evidence(each * lost, each * won, np.full(200, each))
        )
        for each in (1, 5)
    )
    assert repeated == pytest.approx(alone, abs=0.002)
