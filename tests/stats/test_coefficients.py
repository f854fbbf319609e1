"""Coefficients of agreement: oracles, published values, leaving out questions, coverage."""

from __future__ import annotations

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import fleiss_kappa

from markscheme.stats import (
    Evidence,
    coefficient,
    cohen_kappas,
    fisher_interval,
    fleiss_kappas,
    gwet_ac1s,
    krippendorff_alphas,
    pair_agreement,
    single_answers,
    t_quantile,
)

ABSTRACTORS = np.array([[13, 0, 0], [0, 20, 7], [0, 4, 56]])
"""`cont3x3abstractors` of the R package irrCAC: two raters, one hundred items."""
FOUR_RATERS = [
    "11.1", "2232", "3333", "3333", "2222", "1234", "4444", "1121", "2222", ".555", "..11", "..3.",
]  # fmt: skip
"""`cac.raw4raters` of irrCAC (Gwet 2014): the ratings of each item, a dot where there is none."""


def counted(codes: np.ndarray, categories: int) -> np.ndarray:
    return (codes[:, :, None] == np.arange(categories)).sum(axis=1)


def test_values_that_irrcac_prints() -> None:
    """Its vignette "Calculating Chance-corrected Agreement Coefficients" has them."""
    first, second = np.nonzero(ABSTRACTORS)
    pairs = np.repeat(np.stack([first, second], axis=1), ABSTRACTORS[first, second], axis=0)
    counts, each = counted(pairs, 3), np.arange(100)
    assert cohen_kappas(*pairs.T, 3, each)[0] == pytest.approx(0.7964094, abs=5e-8)
    assert fleiss_kappas(counts, each)[0] == pytest.approx(0.7962397, abs=5e-8)  # Scott's pi
    assert gwet_ac1s(counts, each)[0] == pytest.approx(0.8493305, abs=5e-8)
    alpha = krippendorff_alphas(counts, each, "nominal", np.arange(3.0))[0]
    assert alpha == pytest.approx(0.7972585, abs=5e-8)


def test_ac1_with_missing_ratings_is_that_of_irrcac() -> None:
    counts = np.array([[item.count(str(code)) for code in range(1, 6)] for item in FOUR_RATERS])
    assert pair_agreement(counts) == pytest.approx(0.8181818, abs=5e-8)
    assert gwet_ac1s(counts, np.arange(12))[0] == pytest.approx(0.77544, abs=5e-6)


def test_ac1_by_hand() -> None:
    """Agreement 3 of 4; shares 5/8 and 3/8; chance 2 * 15/64."""
    counts = np.array([[2, 0], [2, 0], [1, 1], [0, 2]])
    chance = 2 * 15 / 64
    assert gwet_ac1s(counts, np.arange(4))[0] == pytest.approx((0.75 - chance) / (1 - chance))
    same = np.array([[2, 0]] * 4)
    assert gwet_ac1s(same, np.arange(4))[0] == 1
    assert np.isnan(gwet_ac1s(same[:, :1], np.arange(4))).all()


@given(st.integers(2, 5), st.integers(2, 4), st.integers(1, 30), st.integers(0, 2**32 - 1))
def test_fleiss_equals_statsmodels(raters: int, categories: int, items: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    counts = rng.multinomial(raters, np.full(categories, 1 / categories), size=items)
    value = fleiss_kappas(counts, np.arange(items))[0]
    if (counts.sum(axis=0) > 0).sum() == 1:
        assert np.isnan(value)
    else:
        assert value == pytest.approx(fleiss_kappa(counts), abs=1e-12)


@settings(max_examples=60)
@given(st.integers(2, 4), st.integers(1, 12), st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_leaving_out_a_question_is_computing_without_it(
    raters: int, items: int, questions: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    codes = rng.integers(-1, 3, size=(items, raters))
    asked = np.unique(rng.integers(0, questions, items), return_inverse=True)[1]
    grades = np.array([0.0, 0.5, 3.0])
    counts = counted(codes, 3)
    ways = {
        "fleiss": (counts.sum(axis=1) > 1, lambda at: fleiss_kappas(counts[at], asked[at])),
        "ac1": (counts.sum(axis=1) > 0, lambda at: gwet_ac1s(counts[at], asked[at])),
        "cohen": (
            (codes[:, :2] >= 0).all(axis=1),
            lambda at: cohen_kappas(codes[at, 0], codes[at, 1], 3, asked[at]),
        ),
    } | {
        level: (
            counts.sum(axis=1) > 1,
            lambda at, level=level: krippendorff_alphas(counts[at], asked[at], level, grades),
        )
        for level in ("nominal", "ordinal", "interval")
    }
    for name, (used, values_of) in ways.items():
        numbers = np.unique(asked[used])
        values = values_of(np.flatnonzero(used))
        assert len(values) == 1 + len(numbers)
        for question, value in zip(numbers, values[1:], strict=True):
            rest = np.flatnonzero(used & (asked != question))
            expected = values_of(rest)[0]
            assert value == pytest.approx(expected, abs=1e-9, nan_ok=True), name
            if len(rest) and not np.isnan(expected):
                assert value == pytest.approx(_library(name, codes[rest], grades), abs=1e-9)


def _library(name: str, codes: np.ndarray, grades: np.ndarray) -> float:
    """The coefficient by another package, or for Fleiss' (with blanks) and AC1 by pairs."""
    if name in ("nominal", "ordinal", "interval"):
        values = np.where(codes < 0, np.nan, grades[codes]).T
        return float(krippendorff.alpha(values, level_of_measurement=name))
    if name == "cohen":
        return float(cohen_kappa_score(codes[:, 0], codes[:, 1]))
    items = [item[item >= 0] for item in codes]
    several = [item for item in items if len(item) > 1]
    if not several:
        return float("nan")
    agree = np.mean([
        np.mean([item[i] == item[j] for i in range(len(item)) for j in range(i)])
        for item in several
    ])  # fmt: skip
    shares = np.array([np.mean([np.mean(item == code) for item in items]) for code in range(3)])
    chance = (shares**2).sum() if name == "fleiss" else (shares * (1 - shares)).sum() / 2
    return float((agree - chance) / (1 - chance))


@pytest.mark.parametrize(("answers", "wider"), [(48.0, 1.0), (12.0, 2.0)])
def test_the_interval_is_the_jackknifes_on_fishers_scale(answers: float, wider: float) -> None:
    """By question, or by item where disagreements make items worth fewer than they are."""
    values = np.array([0.5, *np.linspace(0.45, 0.55, 12)])
    away = values[1:] - 0.5
    variance = 11 / 12 * (away**2).sum()
    by_item = np.array([0.5, *np.repeat(0.5 + away / 2, 4)])
    of_items = 47 / 48 * (away**2).sum()
    evidence = Evidence(answers=answers, independent=12.0, freedom=11.0)
    found = coefficient(values, by_item, 48, evidence, "undefined")
    expected = max(variance, of_items * 48 / answers)
    assert (found.low, found.high) == pytest.approx(fisher_interval(0.5, expected, 11.0, 0.95))
    reach = t_quantile(11, 0.975) * np.sqrt(expected)
    assert np.arctanh(found.high) - np.arctanh(0.5) == pytest.approx(reach / 0.75)
    assert expected / variance == pytest.approx(wider**2, rel=0.1)


@pytest.mark.parametrize(
    ("values", "items", "reason"),
    [
        ([np.nan, 0.5, 0.5], 12, "undefined"),
        ([0.5, *[0.4] * 9], 9, "fewer than 10 items"),
        ([1.0, *[1.0] * 12], 12, "a coefficient of 1 has none"),
        ([0.5, *[0.5] * 12], 12, "leaving out a question never moves it"),
        ([0.5, np.nan], 12, "all items are of one question"),
    ],
)
def test_no_interval_without_a_reason(values: list[float], items: int, reason: str) -> None:
    found = coefficient(
        np.array(values), np.array(values), items, single_answers(items), "undefined"
    )
    assert (found.low, found.high, found.reason) == (None, None, reason)
    assert (found.value is None) == np.isnan(values[0])


@pytest.mark.parametrize(("share", "right"), [(0.5, 0.85), (0.8, 0.9)])
def test_intervals_hold_the_truth_as_often_as_promised(share: float, right: float) -> None:
    """Sixty items, three people who are right with the same chance, independently of each other."""
    rng = np.random.default_rng(7)
    agree = right**2 + (1 - right) ** 2
    accepted = share * right + (1 - share) * (1 - right)
    same = accepted**2 + (1 - accepted) ** 2
    kappa = (agree - same) / (1 - same)
    truths = {"cohen": kappa, "fleiss": kappa, "alpha": kappa}
    truths["ac1"] = (agree - (1 - same)) / same
    draws, each, hits = 200, np.arange(60), dict.fromkeys(truths, 0)
    for _ in range(draws):
        truth = rng.random((60, 1)) < share
        codes = (truth == (rng.random((60, 3)) < right)).astype(np.int64)
        counts = counted(codes, 2)
        values = {
            "cohen": cohen_kappas(codes[:, 0], codes[:, 1], 2, each),
            "fleiss": fleiss_kappas(counts, each),
            "alpha": krippendorff_alphas(counts, each, "nominal", np.arange(2.0)),
            "ac1": gwet_ac1s(counts, each),
        }
        for name, found in values.items():
            made = coefficient(found, found, 60, single_answers(60), "undefined")
            assert made.low is not None
            assert made.high is not None
            hits[name] += made.low <= truths[name] <= made.high
    rates = {name: hit / draws for name, hit in hits.items()}
    assert min(rates.values()) >= 0.91, rates
