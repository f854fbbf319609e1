"""Paired comparisons of judges and of systems."""

from __future__ import annotations

from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.stats import binomtest, multinomial
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

from markscheme.agreement.closed_forms import holm
from markscheme.agreement.comparisons import compare_judges, compare_systems
from markscheme.agreement.paired import (
    CompareOptions,
    exchange,
    mcnemar_exact,
    score_interval,
    share_difference,
)
from markscheme.errors import AgreementError
from markscheme.results.figures import Figure, plain
from markscheme.tables.joins import Joined, join_labels
from markscheme.tables.judgment_files import load_judgments
from markscheme.tables.labels import load_labels


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_equals_statsmodels_and_the_binomial_test(first: int, second: int) -> None:
    found = mcnemar_exact(first, second)
    if first + second == 0:
        assert found.reason == "the two never differ"
        return
    expected = mcnemar([[5, first], [second, 7]], exact=True).pvalue
    assert found.value == pytest.approx(min(1.0, expected), abs=1e-12)
    binomial = binomtest(first, first + second).pvalue
    assert found.value == pytest.approx(binomial, abs=1e-9)


@pytest.mark.proof(area="statistics")
@settings(max_examples=10)  # statsmodels collects garbage in every call
@given(st.lists(st.floats(0, 1), max_size=12))
def test_holm_equals_statsmodels(values: list[float]) -> None:
    expected = multipletests(values, method="holm")[1].tolist() if values else []
    assert holm(values) == pytest.approx(expected)


def test_the_permutation_test_meets_full_enumeration() -> None:
    counts = np.array([[[3, 4], [1, 4]], [[2, 4], [2, 4]], [[4, 4], [2, 4]], [[1, 4], [2, 4]]])

    def share(c: np.ndarray) -> np.ndarray:
        return np.asarray(c[..., 0] / c[..., 1])

    differences = counts[:, 0, 0] - counts[:, 1, 0]
    observed = differences.sum() / 16
    flips = np.array(list(product([1, -1], repeat=4)))
    exact = (np.abs(flips @ differences / 16) >= abs(observed) - 1e-12).mean()
    found = exchange(counts, share, resamples=40_000, seed=0).p(observed)
    assert found.value == pytest.approx(exact, abs=0.01)


def judged(seed: int, *, quality: dict[str, float]) -> tuple[pl.DataFrame, pl.DataFrame]:
    rng = np.random.default_rng(seed)
    label = rng.random(400) < 0.6
    base = pl.DataFrame(
        {
            "question": [f"q{i // 4}" for i in range(400)],
            "answer": [f"a{i}" for i in range(400)],
            "system": ["s", "t", "u", "v"] * 100,
        }
    )
    wide = base.with_columns(
        pl.Series(name, np.where(rng.random(400) < q, label, ~label)) for name, q in quality.items()
    )
    return wide, base.with_columns(pl.Series("label", label))


def joined(seed: int, **quality: float) -> Joined:
    wide, labels = judged(seed, quality=quality)
    return join_labels(load_judgments(wide, judges=list(quality)), load_labels(labels))


def test_a_better_judge_is_found_and_pairs_are_corrected() -> None:
    pairs = compare_judges(
        joined(1, good=0.95, fair=0.8, same=0.8), options=CompareOptions(resamples=2000)
    )
    assert [(p.first, p.second) for p in pairs] == [
        ("good", "fair"),
        ("good", "same"),
        ("fair", "same"),
    ]
    better = pairs[0]
    assert better.shared == 400
    assert better.questions == 100
    gap = (better.first_value.value or 0) - (better.second_value.value or 0)
    assert better.difference.value == pytest.approx(gap)
    assert better.only_first - better.only_second == pytest.approx(400 * gap)
    assert better.difference.low is not None
    assert better.difference.low > 0
    assert better.permutation_holm is not None
    assert better.permutation_holm < 0.01
    assert pairs[2].permutation.value is not None
    assert pairs[2].permutation.value > 0.05
    assert better.mcnemar_holm == pytest.approx(holm([p.mcnemar.value or 0 for p in pairs])[0])
    assert plain(better)["difference"]["value"] == pytest.approx(gap)


@pytest.mark.parametrize("statistic", ["kappa", "f1_positive", "f1_macro", "mcc"])
def test_other_statistics_compare_too(statistic: str) -> None:
    (pair,) = compare_judges(
        joined(2, good=0.95, fair=0.7),
        options=CompareOptions(statistic=statistic, resamples=500),
    )
    assert pair.permutation.value is not None
    assert pair.permutation.value < 0.01
    assert pair.difference.low is not None
    assert pair.difference.low > 0


def test_equal_judges_are_equal() -> None:
    both = joined(3, one=0.8)
    twin = both.rows.with_columns(pl.lit("two").alias("judge"))
    doubled = Joined(**{**vars(both), "rows": pl.concat([both.rows, twin])})
    (pair,) = compare_judges(doubled, options=CompareOptions(resamples=200))
    assert pair.difference.value == 0.0
    assert pair.permutation.value == 1.0
    assert pair.mcnemar.reason == "the two never differ"


def test_the_permutation_test_holds_its_level_under_clustering() -> None:
    """Two equal judges whose errors come by question: about 5 in 100 are called different."""
    rng = np.random.default_rng(7)
    rejected = 0
    for _ in range(400):
        wrong = rng.random((2, 40)) < 0.3
        counts = np.stack([np.stack([5 * (1 - w), np.full(40, 5)], axis=1) for w in wrong], axis=1)
        observed = (counts[:, 0, 0].sum() - counts[:, 1, 0].sum()) / 200
        p = exchange(
            counts,
            lambda c: np.asarray(c[..., 0] / c[..., 1]),
            resamples=300,
            seed=int(rng.integers(1 << 30)),
        ).p(float(observed))
        rejected += (p.value or 1.0) <= 0.05
    assert rejected <= 35


@given(st.integers(0, 10_000), st.integers(5, 60), st.sampled_from([0.0, 0.1, 0.3]))
def test_the_interval_excludes_no_difference_just_where_the_test_rejects_it(
    seed: int, questions: int, apart: float
) -> None:
    rng = np.random.default_rng(seed)
    right = rng.binomial(4, [[0.8, 0.8 - apart]] * questions)
    counts = np.stack([right, np.full_like(right, 4)], axis=2)
    observed = float((right[:, 0] - right[:, 1]).sum() / (4 * questions))
    drawn = exchange(counts, lambda c: np.asarray(c[..., 0] / c[..., 1]), resamples=300, seed=seed)
    found = drawn.interval(observed, confidence=0.95)
    if found.low is None or found.high is None:
        assert (right[:, 0] == right[:, 1]).all()
        return
    assert found.low <= observed <= found.high
    excluded = found.low > 1e-9 or found.high < -1e-9
    assert excluded == ((drawn.p(observed).value or 1.0) <= 0.05)


def test_not_judged_is_left_out_or_wrong() -> None:
    wide, labels = judged(4, quality={"one": 0.9, "two": 0.9})
    holes = wide.with_columns(pl.when(pl.int_range(400) >= 10).then("one").alias("one"))
    both = join_labels(load_judgments(holes, judges=["one", "two"]), load_labels(labels))
    (out,) = compare_judges(both, options=CompareOptions(resamples=100))
    assert (out.shared, out.left_out) == (390, 10)
    (errors,) = compare_judges(both, options=CompareOptions(resamples=100, unjudged="errors"))
    assert (errors.shared, errors.left_out) == (400, 0)
    assert (errors.first_value.value or 0) < (out.first_value.value or 0)


def test_systems_under_one_judge() -> None:
    rng = np.random.default_rng(5)
    table = pl.DataFrame(
        {
            "question": [f"q{i}" for i in range(150)] * 2,
            "answer": ["a"] * 300,
            "system": ["strong"] * 150 + ["weak"] * 150,
            "verdict": np.r_[rng.random(150) < 0.8, rng.random(150) < 0.5],
        }
    )
    (pair,) = compare_systems(load_judgments(table), options=CompareOptions(resamples=2000))
    means = table.group_by("system", maintain_order=True).agg(pl.col("verdict").mean())
    assert [pair.first_value.value, pair.second_value.value] == pytest.approx(
        means["verdict"].to_list()
    )
    assert pair.permutation.value is not None
    assert pair.permutation.value < 0.01
    assert pair.mcnemar.value is not None
    assert (pair.shared, pair.left_out) == (150, 0)
    twice = pl.concat([table, table.with_columns(pl.lit("b").alias("answer"))])
    (several,) = compare_systems(load_judgments(twice), options=CompareOptions(resamples=100))
    assert several.mcnemar.reason == "some question has several answers of a system"


def test_refusals() -> None:
    both = joined(6, one=0.8)
    with pytest.raises(AgreementError, match=r"needs two of them; there is 'one'. To .*--systems"):
        compare_judges(both)
    with pytest.raises(AgreementError, match="no judges 'three'; there are 'one'"):
        compare_judges(both, judges=["one", "three"])
    with pytest.raises(AgreementError, match="no statistic 'auroc'"):
        compare_judges(both, options=CompareOptions(statistic="auroc"))
    with pytest.raises(AgreementError, match="needs the system"):
        compare_systems(pl.DataFrame({"question": ["q"], "verdict": [True]}))
    apart = pl.DataFrame(
        {
            "question": ["q", "r"],
            "system": ["x", "y"],
            "verdict": [True, True],
            "answer": ["a", "a"],
        }
    )
    with pytest.raises(AgreementError, match="no judged question in common"):
        compare_systems(load_judgments(apart))
    two = pl.concat([apart.with_columns(pl.lit(name).alias("judge")) for name in "ab"])
    with pytest.raises(AgreementError, match="choose with --judge one of 'a', 'b'"):
        compare_systems(load_judgments(two))


@pytest.mark.parametrize(
    ("answers", "loss", "gain"), [(60, 0.05, 0.02), (1000, 0.003, 0), (1000, 0.01, 0.002)]
)
def test_what_an_interval_of_single_answers_excludes_is_excluded(
    answers: int, loss: float, gain: float
) -> None:
    """All outcomes summed: a shift of ties left out the truth in 11 to 14% on one side."""
    lost, won = (side.ravel() for side in np.meshgrid(np.arange(30), np.arange(30)))
    alike = answers - lost - won
    chances = multinomial.pmf(np.stack([lost, won, alike], axis=1), answers,
                              [loss, gain, 1 - loss - gain])  # fmt: skip
    above = below = 0.0
    for down, up, chance in zip(lost, won, chances, strict=True):
        if chance > 1e-6:
            low, high = score_interval(down / answers, up / answers, answers, 1.96)
            above += chance * (low > gain - loss)
            below += chance * (high < gain - loss)
    assert max(above, below) < 0.04


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


def test_equal_answers_to_a_question_count_once() -> None:
    once = np.array([[1, 1]] * 180 + [[0, 1]] * 12 + [[1, 0]] * 8)
    single = np.stack([once, np.ones_like(once)], axis=2)
    point = Figure(value=-0.02)
    alone, repeated = (share_difference(counts, point, 0.95) for counts in (single, 5 * single))
    assert alone.method == repeated.method == "tango"
    assert (repeated.low, repeated.high) == pytest.approx((alone.low, alone.high), abs=0.002)
    # Hardly a difference: neither side is certain, however many answers repeat it.
    quiet = np.stack([np.ones((300, 2)), np.full((300, 2), 5)], axis=2).astype(np.int64)
    quiet[..., 0] = 5
    silent = share_difference(quiet, Figure(value=0.0), 0.95)
    assert silent.high == pytest.approx(-silent.low)
    assert silent.high == pytest.approx(1.96**2 / (300 + 1.96**2), rel=1e-3)
