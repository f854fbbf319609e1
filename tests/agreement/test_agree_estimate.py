"""Estimating human accuracy: coverage by simulation, known formulas, refusals, plans."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from markscheme.agreement.accuracy_estimates import EstimateOptions, human_accuracy
from markscheme.agreement.estimators import METHODS, Estimate, Sample, estimates, labels_only, ppi
from markscheme.agreement.label_plans import choose_labels, need_from_accuracy, need_from_pilot
from markscheme.errors import AgreementError
from markscheme.tables.judgment_files import load_judgments
from markscheme.tables.labels import load_labels

DRAWS = 1000
MONTE_CARLO = 3 * math.sqrt(0.95 * 0.05 / DRAWS)
"""Three standard errors of a coverage of 0.95 over 1,000 draws: 0.021."""


def human(z: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-(0.8 + 1.2 * z)))


NODES, MASSES = np.polynomial.hermite_e.hermegauss(80)
TRUTH = float((MASSES * human(NODES)).sum() / MASSES.sum())
"""Mean of the label over all questions that might be asked."""


def draw(
    rng: np.random.Generator, *, answers: int, labels: int, per_question: int, stratified: bool
) -> Sample:
    """Answers whose questions differ in difficulty, a decent judge, and labels of some."""
    z = np.repeat(rng.normal(size=answers // per_question), per_question)
    truth = (rng.random(answers) < human(z)).astype(float)
    score = np.clip(0.5 + 0.35 * (2 * truth - 1) + 0.3 * rng.normal(size=answers), 0, 1)
    known = np.full(answers, np.nan)
    weights = np.zeros(answers)
    strata = np.minimum((score * 5).astype(np.int64), 4) if stratified else None
    groups = [np.flatnonzero(strata == h) for h in range(5)] if stratified else [np.arange(answers)]
    for group in groups:
        chosen = rng.choice(group, min(len(group), labels // len(groups)), replace=False)
        known[chosen] = truth[chosen]
        weights[chosen] = len(group) / len(chosen)
    return Sample(
        predictions=score,
        accepted=score >= 0.5,
        labels=known,
        weights=weights,
        clusters=np.repeat(np.arange(answers // per_question), per_question),
        strata=strata,
    )


@pytest.mark.proof(area="statistics")
@pytest.mark.parametrize(
    ("answers", "labels", "per_question", "stratified"),
    [(2000, 100, 1, False), (2000, 300, 10, False), (2000, 200, 4, True)],
)
def test_intervals_cover_the_truth_as_often_as_they_say(
    *, answers: int, labels: int, per_question: int, stratified: bool
) -> None:
    rng = np.random.default_rng(1)
    covered = dict.fromkeys(METHODS, 0)
    widths = dict.fromkeys(METHODS, 0.0)
    for _ in range(DRAWS):
        sample = draw(
            rng, answers=answers, labels=labels, per_question=per_question, stratified=stratified
        )
        for found in estimates(sample):
            low, high = found.figure.low, found.figure.high
            assert low is not None
            assert high is not None
            covered[found.method] += low <= TRUTH <= high
            widths[found.method] += (high - low) / DRAWS
    for method in ("ppi", "ppi_tuned", "labels_only"):
        assert 0.95 - MONTE_CARLO < covered[method] / DRAWS < 0.985, method
    # A ratio, so its interval is approximate; it may be too wide, not too narrow.
    assert covered["rogan_gladen"] / DRAWS > 0.95 - MONTE_CARLO
    if not stratified:
        assert widths["ppi_tuned"] < 0.8 * widths["labels_only"]


def plain_sample(f: np.ndarray, y: np.ndarray, rest: np.ndarray) -> Sample:
    n, total = len(y), len(y) + len(rest)
    return Sample(
        predictions=np.r_[f, rest],
        accepted=np.r_[f, rest] >= 0.5,
        labels=np.r_[y, np.full(len(rest), np.nan)],
        weights=np.r_[np.ones(n), np.zeros(len(rest))],
        clusters=np.arange(total),
    )


@pytest.mark.proof(area="statistics")
@given(st.integers(0, 10_000), st.integers(200, 400), st.integers(500, 1000))
def test_without_clusters_these_are_the_papers_formulas(seed: int, n: int, rest: int) -> None:
    rng = np.random.default_rng(seed)
    truth = (rng.random(n + rest) < 0.6).astype(float)
    said = 0.3 * truth + 0.7 * rng.random(n + rest)
    y, f, unlabelled = truth[:n], said[:n], said[n:]
    sample = plain_sample(f, y, unlabelled)

    plain = ppi(sample, tuned=False)
    assert plain.figure.value == pytest.approx(
        np.clip(unlabelled.mean() + (y - f).mean(), 0, 1), abs=1e-12
    )
    assert plain.weight_of_judge == pytest.approx(1.0)
    # Influences centre unlabelled predictions on the mean of all, the paper on their own: the two
    # differ by the square of a chance difference of means.
    shift = (f.mean() - unlabelled.mean()) ** 2
    spread = (y - f).var() / n + unlabelled.var() / rest
    assert plain.standard_error is not None
    assert plain.standard_error**2 * (n - 1) / n == pytest.approx(spread, abs=2 * shift / n + 1e-9)

    tuned = ppi(sample, tuned=True)
    weight = tuned.weight_of_judge
    assert weight is not None
    assert tuned.figure.value == pytest.approx(
        np.clip(y.mean() + weight * (unlabelled.mean() - f.mean()), 0, 1), abs=1e-12
    )
    covariance = ((y - y.mean()) * (f - f.mean())).mean()
    # The paper's weight, but for the variance of the predictions: the paper pools all answers, here
    # it is the one in the estimated variance that the weight makes least, most of it labelled.
    of_all = n + rest
    variance = (rest * f.var() + n * unlabelled.var() + n**2 / of_all * shift) / of_all
    assert weight == pytest.approx(covariance / ((1 + n / rest) * variance), rel=1e-9)
    assert tuned.standard_error is not None
    # Tuning makes the variance least; undoing its flattery (HC3) adds about one answer in n.
    assert tuned.standard_error <= plain.standard_error * 1.02

    alone = labels_only(sample)
    assert alone.figure.value == pytest.approx(y.mean())
    assert alone.standard_error == pytest.approx(y.std(ddof=1) / math.sqrt(n))


def of(found: list[Estimate], method: str) -> Estimate:
    return next(one for one in found if one.method == method)


def test_rogan_gladen_by_hand() -> None:
    # 40 labels: sensitivity 16/20, specificity 15/20; the judge accepts 120 of 200.
    y = np.r_[np.ones(20), np.zeros(20)]
    f = np.r_[np.ones(16), np.zeros(4), np.ones(5), np.zeros(15)]
    rest = np.r_[np.ones(99), np.zeros(61)]
    found = of(estimates(plain_sample(f, y, rest)), "rogan_gladen")
    assert found.figure.value == pytest.approx((0.6 + 0.75 - 1) / (0.8 + 0.75 - 1))


def test_a_useless_judge_costs_tuned_ppi_nothing_and_stops_rogan_gladen() -> None:
    rng = np.random.default_rng(3)
    y = (rng.random(200) < 0.6).astype(float)
    found = estimates(plain_sample(rng.random(200), y, rng.random(2000)))
    assert abs(of(found, "ppi_tuned").weight_of_judge or 0) < 0.3
    assert (of(found, "ppi_tuned").standard_error or 1) <= (
        of(found, "labels_only").standard_error or 0
    ) * 1.02
    chance = of(found, "rogan_gladen").figure
    assert chance.value is None or (chance.low, chance.high) == (0, 1)  # any share fits


def test_one_class_of_labels_leaves_only_the_labels() -> None:
    found = estimates(plain_sample(np.linspace(0, 1, 60), np.ones(60), np.linspace(0, 1, 60)))
    refused = [one.method for one in found if one.figure.value is None]
    assert refused == ["rogan_gladen"]
    alone, tuned = of(found, "labels_only").figure, of(found, "ppi_tuned").figure
    assert tuned.value == 1
    assert tuned.low == pytest.approx(alone.low, abs=0.01)  # the judge cannot add to these
    alone = of(found, "labels_only").figure
    assert alone.value == 1.0
    assert alone.low is not None
    assert alone.low == pytest.approx(1 / (1 + 1.959964**2 / 60), abs=1e-6)  # Wilson by hand


def test_few_labels_are_taken_alone_since_they_show_too_little_of_the_judge() -> None:
    """With 30 labels of 1,000 answers tuned PPI covered 90 to 93% for some judges."""
    found = estimates(plain_sample(np.linspace(0, 1, 49), np.arange(49.0) % 2, np.zeros(900)))
    shown = [one.method for one in found if one.figure.value is not None]
    assert "labels_only" in shown
    assert "ppi_tuned" not in shown
    assert "49 labels show too little" in (of(found, "ppi_tuned").figure.reason or "")


def test_a_stratum_whose_labels_are_all_alike_still_counts_as_uncertain() -> None:
    """900 accepted answers, 87 labels among them, all right: a few of the rest may be wrong.

    The interval took these for certain and covered 69%.
    """
    rng = np.random.default_rng(4)
    covered = 0
    for _ in range(200):
        truth = rng.random(1000) < 0.98
        accepted = rng.random(1000) < np.where(truth, 0.995, 0.6)
        parts = [np.flatnonzero(accepted), np.flatnonzero(~accepted)]
        known, weights = np.full(1000, np.nan), np.zeros(1000)
        for part, count in zip(parts, (100 - len(parts[1]), len(parts[1])), strict=True):
            drawn = rng.choice(part, count, replace=False)
            known[drawn], weights[drawn] = truth[drawn], len(part) / count
        sample = Sample(
            predictions=accepted.astype(float), accepted=accepted, labels=known, weights=weights,
            clusters=np.arange(1000), strata=accepted.astype(np.int64),
        )  # fmt: skip
        figure = of(estimates(sample), "labels_only").figure
        assert figure.low is not None
        assert figure.high is not None
        covered += figure.low <= 0.98 <= figure.high
    assert covered >= 0.93 * 200


def test_grades_are_estimated_on_their_own_scale() -> None:
    rng = np.random.default_rng(0)
    grade = rng.integers(0, 4, size=100).astype(float)
    found = estimates(plain_sample(grade / 3, grade, rng.integers(0, 4, size=300) / 3))
    assert of(found, "rogan_gladen").figure.reason == "the labels are grades"
    assert of(found, "ppi_tuned").figure.value == pytest.approx(1.5, abs=0.3)
    assert (of(found, "labels_only").figure.high or 0) > 1


def world(seed: int = 0, *, answers: int = 1000, systems: int = 2) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    truth = rng.random(answers) < 0.65
    return pl.DataFrame(
        {
            "question": [f"q{i // systems}" for i in range(answers)],
            "answer": [f"a{i}" for i in range(answers)],
            "system": [f"s{i % systems}" for i in range(answers)],
            "score": np.clip(0.6 * truth + rng.random(answers) * 0.6 - 0.1, 0, 1),
            "label": truth.astype(float),
        }
    )


def judged(table: pl.DataFrame) -> pl.DataFrame:
    return load_judgments(table.drop("label"))


def test_from_tables_to_estimates_by_system() -> None:
    table = world()
    labels = load_labels(table.sample(200, seed=4).drop("score"))
    found = human_accuracy(judged(table), labels, EstimateOptions(by="system"))
    assert [one.system for one in found] == [None, "s0", "s1"]
    assert [one.answers for one in found] == [1000, 500, 500]
    assert sum(one.labelled for one in found[1:]) == found[0].labelled == 200
    assert found[0].predictions == "score"
    tuned = found[0].estimates[0].figure
    assert tuned.low is not None
    assert tuned.high is not None
    assert tuned.low < table["label"].mean() < tuned.high  # type: ignore[operator]


def test_estimates_that_labels_cannot_support_are_refused() -> None:
    table = world()
    grades = table.head(20).drop("score").with_columns(pl.col("label") + 1)
    with pytest.raises(AgreementError, match=r"20 of 30.* mean grade"):
        human_accuracy(judged(table), load_labels(grades))
    best = table.sort("score", descending=True).head(200).drop("score")
    with pytest.raises(AgreementError, match="evidently not a random sample: the judge's mean is"):
        human_accuracy(judged(table), load_labels(best))
    trusting = human_accuracy(judged(table), load_labels(best), EstimateOptions(trust_sample=True))
    assert "may not be a random sample" in trusting[0].notes[0]
    one_system = table.filter(pl.col("system") == "s0").sample(100, seed=1).drop("score")
    with pytest.raises(AgreementError, match="some systems' answers were labelled far more often"):
        human_accuracy(judged(table), load_labels(one_system))
    by_system = human_accuracy(judged(table), load_labels(one_system), EstimateOptions(by="system"))
    assert [one.refusal is None for one in by_system] == [False, True, False]
    assert by_system[2].refusal == "none of its answers has a label"
    two = pl.concat([judged(table), judged(table).with_columns(pl.lit("other").alias("judge"))])
    with pytest.raises(AgreementError, match="choose with --judge one of 'judge', 'other'"):
        human_accuracy(two, load_labels(table))


def test_few_labels_speak_by_themselves() -> None:
    """Of each system as of all: the floor that is always there, and called what it is."""
    table = world()
    systems = [table.filter(pl.col("system") == name) for name in ("s0", "s1")]
    some = pl.concat([systems[0].sample(22, seed=6), systems[1].sample(18, seed=6)]).drop("score")
    found = human_accuracy(judged(table), load_labels(some), EstimateOptions(by="system"))
    assert [one.labelled for one in found] == [40, 22, 18]
    assert [len(one.estimates) for one in found] == [4, 1, 1]
    few = found[2]
    own = some.filter(pl.col("system") == few.system)["label"]
    (alone,) = few.estimates
    assert (alone.method, alone.figure.method) == ("labels_only", "clopper-pearson")
    assert alone.figure.value == own.mean()
    exact = binomtest(int(own.sum()), len(own)).proportion_ci(0.95)
    assert (alone.figure.low, alone.figure.high) == pytest.approx((exact.low, exact.high))
    assert few.notes[-1].startswith("few labels (18 of 30)")
    repeated = world(answers=16 * 8, systems=16)
    (found_one,) = human_accuracy(judged(repeated), load_labels(repeated.drop("score")))
    assert found_one.notes[-1].startswith("few labels (of 8 of 10 questions)")


@pytest.mark.parametrize("count", [1, 2, 5, 12, 18, 29])
def test_the_interval_of_few_labels_holds_for_every_share(count: int) -> None:
    chosen = np.arange(count)
    ends = []
    for right in range(count + 1):
        labels = np.where(chosen < right, 1.0, 0.0)
        sample = Sample(
            predictions=labels, accepted=labels > 0, labels=labels, weights=np.ones(count),
            clusters=chosen,
        )  # fmt: skip
        figure = labels_only(sample).figure
        ends.append((figure.low or 0.0, figure.high or 0.0))
    for share in np.linspace(0.002, 0.998, 250):
        held = [low <= share <= high for low, high in ends]
        assert binom.pmf(np.arange(count + 1), count, share) @ held >= 0.95


def test_not_judged_answers_stay_in_and_are_named() -> None:
    table = world().with_columns(
        pl.when(pl.int_range(1000) % 10 > 0).then("score").alias("score"),
    )
    found = human_accuracy(judged(table), load_labels(table.sample(200, seed=2).drop("score")))
    assert found[0].not_judged == 100
    assert "100 answers were not judged" in found[0].notes[0]


@pytest.mark.parametrize("design", ["random", "stratified"])
def test_a_drawn_plan_is_labelled_and_estimated(design: str) -> None:
    table = world(7, answers=3000)
    plan = choose_labels(table, labels=240, design=design, seed=5)  # type: ignore[arg-type]
    assert plan.height == 240
    assert "score" not in plan.columns
    assert plan.equals(choose_labels(table, labels=240, design=design, seed=5))  # type: ignore[arg-type]
    stands_for = (1 / plan["inclusion_probability"]).sum()
    assert stands_for == pytest.approx(3000)
    (found,) = human_accuracy(judged(table), load_labels(plan))
    for one in found.estimates:
        assert one.figure.low is not None
        assert one.figure.high is not None
        assert one.figure.low <= table["label"].mean() <= one.figure.high  # type: ignore[operator]


def test_stratified_plans_label_more_where_the_judge_is_unsure() -> None:
    table = pl.DataFrame({"score": np.r_[np.full(500, 0.02), np.full(500, 0.5)]})
    plan = choose_labels(table, labels=100, design="stratified")
    chances = plan.group_by("stratum").agg(pl.col("inclusion_probability").first()).sort("stratum")
    low, unsure = chances["inclusion_probability"]
    assert unsure > 3 * low
    with pytest.raises(AgreementError, match="too few for 2 ranges"):
        choose_labels(table, labels=3, design="stratified")
    with pytest.raises(AgreementError, match="cannot draw 2000 of 1000"):
        choose_labels(table, labels=2000, design="random")
    empty = pl.DataFrame({"score": pl.Series([None] * 5, dtype=pl.Float64)})
    with pytest.raises(AgreementError, match="needs the judge's scores"):
        choose_labels(empty, labels=2, design="stratified")


def test_the_planned_number_gives_the_wanted_width() -> None:
    rng = np.random.default_rng(11)
    first = draw(rng, answers=4000, labels=400, per_question=1, stratified=False)
    has = first.labelled
    need = need_from_pilot(first.predictions[has], first.labels[has], answers=4000, half_width=0.04)
    assert need.labels is not None
    assert need.labels_alone is not None
    assert need.labels < need.labels_alone
    widths = []
    for _ in range(40):
        sample = draw(rng, answers=4000, labels=need.labels, per_question=1, stratified=False)
        figure = ppi(sample, tuned=True).figure
        assert figure.high is not None
        assert figure.low is not None
        widths.append((figure.high - figure.low) / 2)
    assert np.mean(widths) == pytest.approx(0.04, rel=0.1)


def test_plans_by_supposed_accuracy() -> None:
    perfect = need_from_accuracy(0.6, 1.0, answers=5000, half_width=0.03)
    good = need_from_accuracy(0.6, 0.9, answers=5000, half_width=0.03)
    poor = need_from_accuracy(0.6, 0.6, answers=5000, half_width=0.03)
    assert perfect.labels == 50
    assert good.labels is not None
    assert poor.labels is not None
    assert perfect.labels < good.labels < poor.labels
    # By hand: 0.625 of the answers good, covariance 0.625 * 0.375 * 0.8, the judge accepting 0.6.
    assert good.correlation == pytest.approx(0.1875 / math.sqrt(0.234375 * 0.6 * 0.4))
    assert "worst case" in poor.source
    assert poor.variance == 0.25
    hopeless = need_from_accuracy(0.6, 0.9, answers=100, half_width=0.03)
    assert hopeless.labels is None
    assert hopeless.reach > 0.03
    with pytest.raises(AgreementError, match="tells nothing"):
        need_from_accuracy(0.6, 0.5, answers=100, half_width=0.03)
    with pytest.raises(AgreementError, match="half-width of 2 cannot be"):
        need_from_accuracy(0.6, 0.9, answers=100, half_width=2)
    with pytest.raises(AgreementError, match="pilot labels are too few"):
        need_from_pilot(np.ones(3), np.ones(3), answers=100, half_width=0.03)
