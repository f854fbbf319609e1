"""Estimating human accuracy: coverage by simulation, known formulas, refusals, plans."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from markscheme.agreement import EstimateOptions, agree, estimate, human_accuracy
from markscheme.agreement.accuracy_estimates import (
    METHODS,
    Estimate,
    estimates,
    few_labels,
    labels_check,
)
from markscheme.agreement.people_errors import NOTHING_TWICE
from markscheme.errors import AgreementError
from markscheme.stats import Sample
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
    strata = np.minimum((score * 5).astype(np.int64), 4) if stratified else np.zeros(answers)
    groups = [np.flatnonzero(strata == each) for each in np.unique(strata)]
    for group in groups:
        chosen = rng.choice(group, min(len(group), labels // len(groups)), replace=False)
        known[chosen] = truth[chosen]
        weights[chosen] = len(group) / len(chosen)
    return Sample(
        predictions=score[:, None],
        labels=known,
        weights=weights,
        clusters=np.repeat(np.arange(answers // per_question), per_question),
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
    for method in METHODS:
        assert covered[method] / DRAWS > 0.95 - MONTE_CARLO, method
    assert covered["ppi_tuned"] / DRAWS < 0.985
    # Without a judge nothing tells that the strata were drawn apart, which is wide.
    assert stratified or covered["labels_only"] / DRAWS < 0.985
    # Theory has sqrt(1 - rho^2 (1 - n/N)) = .650 for the first world (rho is .780), and .774 for
    # the second, whose answers to a question correlate (.213): nobody knows further questions.
    if not stratified:
        assert widths["ppi_tuned"] < 0.8 * widths["labels_only"]


def plain_sample(f: np.ndarray, y: np.ndarray, rest: np.ndarray) -> Sample:
    total = len(y) + len(rest)
    return Sample(
        predictions=np.r_[f, rest][:, None],
        labels=np.r_[y, np.full(len(rest), np.nan)],
        weights=np.ones(total),
        clusters=np.arange(total),
    )


@given(st.integers(0, 10_000), st.integers(40, 80), st.integers(100, 400))
def test_without_clusters_the_rest_is_what_predictions_of_left_out_labels_miss(
    seed: int, n: int, rest: int
) -> None:
    """Tuned PPI is least squares, and its leverages leave each answer out in turn."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(n + rest) < 0.6).astype(float)
    truth[:2] = 0, 1
    said = 0.6 * truth + 0.4 * rng.random(n + rest)
    y, f = truth[:n], said[:n]
    tuned, alone = estimates(plain_sample(f, y, said[n:]), about="these")

    (weight,) = tuned.weights.values()
    slope, start = np.polyfit(f, y, 1)
    assert weight == pytest.approx(slope, rel=1e-9)
    assert tuned.figure.value == pytest.approx(np.clip(start + slope * said.mean(), 0, 1))

    missed, missed_alone = np.zeros(n), np.zeros(n)
    for out in range(n):
        others = np.arange(n) != out
        missed[out] = y[out] - np.polyval(np.polyfit(f[others], y[others], 1), f[out])
        missed_alone[out] = y[out] - y[others].mean()
    unseen = 2 * (missed_alone**2).max()
    left = (missed @ missed + unseen) / (missed_alone @ missed_alone + unseen)
    share = left * rest / (n + rest)
    assert tuned.worth == pytest.approx(1 / (share / n + 1 / (n + rest)))
    value = tuned.figure.value or 0.0
    assert tuned.standard_error == pytest.approx(math.sqrt(value * (1 - value) * share / n))

    unlabelled = rest / (n + rest)
    assert alone.figure.value == pytest.approx(y.mean())
    assert alone.standard_error == pytest.approx(y.std() * math.sqrt(unlabelled / n))
    assert alone.worth == pytest.approx(n)
    assert alone.weights == {}


def of(found: list[Estimate], method: str) -> Estimate:
    return next(one for one in found if one.method == method)


def test_one_class_of_labels_leaves_only_the_labels() -> None:
    found = estimates(plain_sample(np.linspace(0, 1, 60), np.ones(60), np.linspace(0, 1, 60)))
    tuned, alone = (one.figure for one in found)
    assert tuned == alone  # the judge cannot add to these
    assert alone.value == 1.0
    assert alone.low == pytest.approx(1 / (1 + 1.959964**2 / 60), abs=1e-6)  # Wilson by hand


def test_few_labels_are_taken_alone_since_they_show_too_little_of_the_judge() -> None:
    made = plain_sample(np.linspace(0, 1, 19), np.arange(19.0) % 2, np.zeros(900))
    assert [one.method for one in estimates(made)] == ["labels_only"]
    assert few_labels(made) == "19; 20 are needed"
    half = np.where(np.arange(919) < 450, np.arange(919.0) % 2, np.nan)
    of_nine = replace(made, labels=half, clusters=np.arange(919) % 9)
    assert [one.method for one in estimates(of_nine)] == ["labels_only"]


def test_a_stratum_whose_labels_are_all_alike_still_counts_as_uncertain() -> None:
    """900 accepted answers, 87 labels among them, all right: a few of the rest may be wrong.

    The interval took these for certain and covered 69%.
    """
    rng = np.random.default_rng(4)
    covered = dict.fromkeys(METHODS, 0)
    for _ in range(200):
        truth = rng.random(1000) < 0.98
        accepted = rng.random(1000) < np.where(truth, 0.995, 0.6)
        parts = [np.flatnonzero(accepted), np.flatnonzero(~accepted)]
        known, weights = np.full(1000, np.nan), np.zeros(1000)
        for part, count in zip(parts, (100 - len(parts[1]), len(parts[1])), strict=True):
            drawn = rng.choice(part, count, replace=False)
            known[drawn], weights[drawn] = truth[drawn], len(part) / count
        sample = Sample(
            predictions=accepted.astype(float)[:, None], labels=known, weights=weights,
            clusters=np.arange(1000),
        )  # fmt: skip
        for found in estimates(sample):
            low, high = found.figure.low, found.figure.high
            assert low is not None
            assert high is not None
            covered[found.method] += low <= 0.98 <= high
    assert min(covered.values()) >= 0.93 * 200, covered


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


def test_answers_without_a_system_count_in_the_whole_alone() -> None:
    rows = [
        {"question": f"q{n}", "answer": f"a{n}", "system": None if n % 3 else "s", "judge": "j",
         "verdict": n % 4 > 0, "annotator1": n % 4 > 0, "annotator2": n > 1 and n % 4 > 0}
        for n in range(90)
    ]  # fmt: skip
    found = estimate(rows, by="system")
    assert [(one.system, one.answers) for one in found.estimates] == [(None, 90), ("s", 30)]
    assert "None" not in str(found)


def test_estimates_that_labels_cannot_support_are_refused() -> None:
    table = world()
    grades = table.head(19).drop("score").with_columns(pl.col("label") + 1)
    with pytest.raises(AgreementError, match=r"are grades \(1, 2\).*--positive-from"):
        human_accuracy(judged(table), load_labels(grades))
    best = table.sort("score", descending=True).head(200).drop("score")
    with pytest.raises(AgreementError, match="evidently not a random sample: the judge's mean is"):
        human_accuracy(judged(table), load_labels(best))
    trusting = human_accuracy(judged(table), load_labels(best), EstimateOptions(trust_sample=True))
    assert "may not be a random sample" in trusting[0].notes[1]
    one_system = table.filter(pl.col("system") == "s0").sample(100, seed=1).drop("score")
    with pytest.raises(AgreementError, match="some systems' answers were labelled far more often"):
        human_accuracy(judged(table), load_labels(one_system))
    by_system = human_accuracy(judged(table), load_labels(one_system), EstimateOptions(by="system"))
    assert [one.refusal is None for one in by_system] == [False, True, False]
    assert by_system[2].refusal == "none of its answers has a label"
    two = pl.concat([judged(table), judged(table).with_columns(pl.lit("other").alias("judge"))])
    with pytest.raises(AgreementError, match="choose with --judge one of 'judge', 'other'"):
        human_accuracy(two, load_labels(table))


@pytest.mark.parametrize(
    ("whole", "chances", "most"),
    [(True, (0.15, 0.15), 0.02), (False, (0.15, 0.15), 0.02), (True, (0.6, 0.05), None),
     (False, (0.2, 0.05), None), (False, (0.95, 0.6), None)],
)  # fmt: skip
def test_whole_questions_of_systems_on_different_questions_are_a_random_sample(
    whole: bool, chances: tuple[float, float], most: float | None
) -> None:
    rng = np.random.default_rng(14)
    clusters = np.repeat(np.arange(80), 10)
    second = clusters >= 40
    table = pl.DataFrame({"system": np.where(second, "B", "A")})
    refused = []
    for _ in range(100):
        drawn = rng.random(80)[clusters] if whole else rng.random(800)
        known = drawn < np.array(chances)[second.astype(int)]
        one = Sample(
            predictions=np.zeros((800, 1)),
            labels=np.where(known, 1.0, np.nan),
            weights=np.ones(800),
            clusters=clusters,
        )
        refused.append(labels_check(one, table).chosen is not None)
    # A judge that says the same of all leaves the systems alone to speak.
    assert np.mean(refused) <= most if most else np.mean(refused) > 0.9


def test_the_lead_says_what_few_labels_lack() -> None:
    table = world(answers=60, systems=20)
    found = estimate(judged(table), load_labels(table.drop("score")))
    assert found.lead[0].endswith("; few labels (of 3 questions; 10 are needed)")


def test_few_labels_speak_by_themselves() -> None:
    """Of each system as of all: the floor that is always there, and called what it is."""
    table = world()
    systems = [table.filter(pl.col("system") == name) for name in ("s0", "s1")]
    some = pl.concat([systems[0].sample(22, seed=6), systems[1].sample(18, seed=6)]).drop("score")
    found = human_accuracy(judged(table), load_labels(some), EstimateOptions(by="system"))
    assert [one.labelled for one in found] == [40, 22, 18]
    assert [len(one.estimates) for one in found] == [2, 2, 1]
    few = found[2]
    own = some.filter(pl.col("system") == few.system)["label"]
    (alone,) = few.estimates
    assert (alone.method, alone.figure.method) == ("labels_only", "wilson")
    assert alone.figure.value == own.mean()
    wilson = binomtest(int(own.sum()), len(own)).proportion_ci(0.95, method="wilson")
    assert (alone.figure.low, alone.figure.high) == pytest.approx((wilson.low, wilson.high))
    assert few.notes[-1].startswith("few labels (18; 20 are needed)")
    assert [NOTHING_TWICE in one.notes for one in found] == [True, False, False]
    repeated = world(answers=16 * 8, systems=16)
    (found_one,) = human_accuracy(judged(repeated), load_labels(repeated.drop("score")))
    assert found_one.notes[-2].startswith("few labels (of 8 questions; 10 are needed)")


def test_not_judged_answers_stay_in_and_are_named() -> None:
    table = world().with_columns(
        pl.when(pl.int_range(1000) % 10 > 0).then("score").alias("score"),
    )
    found = human_accuracy(judged(table), load_labels(table.sample(200, seed=2).drop("score")))
    assert found[0].not_judged == 100
    assert "100 answers were not judged" in found[0].notes[1]


def answers_of(judge: str, verdicts: list[bool | None], start: int = 0) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "answer_id": [f"a{start + n}" for n in range(len(verdicts))],
            "question": [f"q{start + n}" for n in range(len(verdicts))],
            "answer": "x", "judge": judge, "verdict": verdicts,
        },
        schema_overrides={"verdict": pl.Boolean},
    )  # fmt: skip


def labels_of(number: int) -> pl.DataFrame:
    return pl.DataFrame(
        {"answer_id": [f"a{n}" for n in range(number)], "label": [n % 3 > 0 for n in range(number)]}
    )


def test_a_judge_that_judged_nothing_says_nothing() -> None:
    found = estimate(answers_of("j", [None] * 100), labels_of(60))
    (one,) = found.estimates
    assert one.judge_mean is None
    assert one.figure is not None
    assert one.figure.value == pytest.approx(2 / 3)
    assert "j judged none of them" in found.lead[0]
    assert agree(answers_of("j", [None] * 100), labels_of(60)).fitness == ()


def test_judges_of_other_answers_and_labels_of_others_are_named() -> None:
    verdicts = [n % 3 > 0 or n % 7 == 0 for n in range(100)]
    both = pl.concat([answers_of("j", verdicts), answers_of("k", verdicts, start=90)])
    (one,) = estimate(both, labels_of(120), judge=("j", "k", "j"), trust_sample=True).estimates
    assert one.judge == "j + k"
    assert one.answers == 100
    assert one.notes[:3] == [
        "20 labels are of other answers, and left out",
        "90 answers of k's are not among those of j, and left out",
        "90 answers were not judged by k; the estimate counts them with the judge's average",
    ]


def test_what_is_left_out_or_matched_by_its_text_is_said() -> None:
    table = world(answers=200, systems=1).with_columns(answer_id=pl.col("answer"))
    drawn = table.sample(60, seed=2, shuffle=True).drop("score")
    filled = drawn.with_columns(label=pl.when(pl.int_range(60) >= 8).then("label"))
    (found,) = human_accuracy(judged(table), load_labels(filled))
    assert found.labelled == 52
    assert found.notes[0].startswith("8 of the 60 answers in the file of labels have no label; if")
    whole = table.join(filled.select("answer_id", seen="label"), on="answer_id", how="left")
    whole = whole.with_columns(label="seen").drop("seen", "score")
    (found,) = human_accuracy(judged(table), load_labels(whole))
    assert "have no label" not in " ".join(found.notes), "nobody drew the others"
    (found,) = human_accuracy(judged(table), load_labels(drawn.drop("answer_id", "system")))
    assert found.notes[0] == "60 judgments matched with labels by question and answer"


def test_an_interval_at_every_look_is_about_these_answers() -> None:
    table = world(answers=200, systems=1)
    labels = load_labels(table.sample(60, seed=2, shuffle=True).drop("score"))
    options = EstimateOptions(anytime=True)
    (found,) = human_accuracy(judged(table), labels, options)
    assert found.about == "these"
    with pytest.raises(AgreementError, match="leave out --about future"):
        human_accuracy(judged(table), labels, replace(options, about="future"))


def test_each_of_several_judges_has_its_weight_and_each_interval_its_population() -> None:
    table = world()
    rows = pl.concat([judged(table), judged(table).with_columns(judge=pl.lit("other"))])
    systems = [table.filter(pl.col("system") == name) for name in ("s0", "s1")]
    some = pl.concat([systems[0].sample(22, seed=6), systems[1].sample(18, seed=6)]).drop("score")
    shown = estimate(rows, some, judge=("judge", "other"), by="system")
    assert re.search(
        r"judge's scores alone say \d+% \(weights: judge [\d.]+, other [\d.]+\)", shown.lead[0]
    )
    assert "(weights" not in shown.lead[2]
    whole, each = (line for line in str(shown).splitlines() if line.startswith("95% intervals"))
    assert whole.startswith("95% intervals (wilson-t) are for further questions like these ")
    assert whole.endswith(", counted by question, according to the labels (40 of 1,000 answers)")
    assert each.startswith("95% intervals (wilson) are for each system: further questions like ")
    assert each.endswith(", according to the labels of its own answers (counts in its row)")


def test_judges_that_the_labels_are_too_few_to_weight_are_named() -> None:
    table = world()
    names = ("judge", "second", "third")
    rows = pl.concat([judged(table).with_columns(judge=pl.lit(name)) for name in names])
    questions = table.unique("question", keep="first", maintain_order=True).drop("score")
    few, enough = questions.head(35), questions.head(40)
    (found,) = estimate(rows, few, judge=names, trust_sample=True).estimates
    assert (
        "labels of 35 questions are too few to weight 3 judges (40 are needed): the estimate uses "
        "judge and second only"
    ) in found.notes
    (found,) = estimate(rows, enough, judge=names, trust_sample=True).estimates
    assert "too few to weight" not in str(found.notes)


def test_infinite_scores_have_an_order_and_no_mean() -> None:
    rows = answers_of("j", [n % 3 > 0 or n % 7 == 0 for n in range(100)]).with_columns(
        score=pl.when("verdict").then(0.9).otherwise(float("-inf"))
    )
    (one,) = estimate(rows, labels_of(60)).estimates
    assert one.predictions == "verdict"
    with pytest.raises(AgreementError, match="infinite"):
        estimate(rows, labels_of(60), predictions="score")
    area = agree(rows, labels_of(60)).judges[0].left_out["auroc"].value
    finite = agree(rows.with_columns(score=pl.col("verdict").cast(pl.Float64)), labels_of(60))
    assert area == finite.judges[0].left_out["auroc"].value


def test_tiny_probabilities_weigh_as_their_ratios() -> None:
    rows = answers_of("j", [n % 3 > 0 or n % 7 == 0 for n in range(100)])
    values = [
        estimate(rows, labels_of(60).with_columns(inclusion_probability=pl.lit(chance)))
        .estimates[0].figure
        for chance in (0.6, 1e-300)
    ]  # fmt: skip
    assert values[0] == values[1]


def test_grades_of_a_judge_are_no_shares_and_its_verdicts_are_taken() -> None:
    rows = [
        {"answer_id": f"a{n}", "judge": "rubric", "score": 1 + n % 5, "verdict": n % 5 >= 2}
        for n in range(200)
    ]
    known = [{"answer_id": f"a{n}", "label": int(n % 5 >= 2)} for n in range(0, 200, 3)]
    found = estimate(rows, known)
    assert found.estimates[0].predictions == "verdict"
    assert found.lead[0].endswith("; rubric alone says 60%")
    assert estimate(rows, known, anytime=True).estimates[0].figure is not None
    assert estimate(rows, known, predictions="score").estimates[0].judge_mean == 3.0
    with pytest.raises(AgreementError, match=r"between 0 and 1; .* \(--predictions verdict\)"):
        estimate(rows, known, predictions="score", anytime=True)


def test_a_further_judge_with_two_verdicts_on_an_answer_is_an_error() -> None:
    rows = [
        {"answer_id": f"a{n}", "judge": judge, "verdict": said}
        for n in range(100) for judge, verdicts in (("a", {n % 3 > 0}), ("b", {True, False}))
        for said in verdicts
    ]  # fmt: skip
    known = [{"answer_id": f"a{n}", "label": int(n % 3 > 0)} for n in range(0, 100, 2)]
    for order in ("a,b", "b,a"):
        with pytest.raises(AgreementError, match="100 answers have contradictory judgments: 'a0'"):
            estimate(rows, known, judge=order)
    assert estimate(rows, known, judge="a").estimates[0].figure is not None
