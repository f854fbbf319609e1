"""plan-labels --for-difference: more labels where the judge's errors on two systems may differ."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from markscheme.agreement import compare, estimate, plan_labels
from markscheme.agreement.difference_plans import chances, draw
from markscheme.errors import AgreementError


def world(seed: int = 0, questions: int = 400) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Judgments of three systems and everybody's labels; the judge likes the second one's style.

    The first 50 questions have equal answers; in a fifth of all the references lack what is asked
    for, and the judge accepts nobody.
    """
    rng = np.random.default_rng(seed)
    hard = rng.beta(4, 1, questions)
    lacking = rng.random(questions) < 0.2
    same = np.arange(questions) < 50
    equal = rng.random(questions) < hard
    rows = []
    for system, kindness in (("plain", 0.0), ("chatty", 0.3), ("third", 0.1)):
        truth = np.where(same, equal, rng.random(questions) < hard)
        said = rng.random(questions) < np.where(truth, 0.9, 0.15 + kindness)
        said = np.where(same, equal, said) & ~lacking
        rows.append(
            pl.DataFrame(
                {
                    "answer_id": [f"{system}{n}" for n in range(questions)],
                    "question": [f"q{n}" for n in range(questions)],
                    "answer": [
                        f"same {n}" if n < 50 else f"{system} {n}" for n in range(questions)
                    ],
                    "system": system,
                    "judge": "judge",
                    "verdict": said,
                    "label": truth.astype(float),
                }
            )
        )
    table = pl.concat(rows)
    return table.drop("label"), table.select("answer_id", truth="label")


def labelled(plan: pl.DataFrame, truth: pl.DataFrame) -> pl.DataFrame:
    return plan.join(truth, on="answer_id").with_columns(label="truth").drop("truth")


def test_systematic_draws_have_the_chances_that_they_say() -> None:
    rng = np.random.default_rng(1)
    chance = chances(np.array([9.0, 1.0, 1.0, 2.0, 3.0, 0.5]), 3)
    assert chance.sum() == pytest.approx(3)
    assert chance.max() == 1.0
    assert chance[3] / chance[1] == pytest.approx(2)
    seen = np.zeros(6)
    for _ in range(4000):
        drawn = draw(chance, rng)
        assert len(drawn) == 3
        seen[drawn] += 1
    assert seen / 4000 == pytest.approx(chance, abs=0.035)


def test_both_answers_are_drawn_and_rather_where_verdicts_differ() -> None:
    table, _ = world()
    plan = plan_labels(table, for_difference=("plain", "chatty"), count=100, with_system=True).frame
    assert plan.height == 100
    assert set(plan["system"]) == {"plain", "chatty"}
    assert plan["question"].n_unique() == 50
    assert plan["label"].null_count() == 100
    verdicts = table.pivot(on="system", index="question", values="verdict")
    differ = verdicts.filter(pl.col("plain") != pl.col("chatty"))["question"]
    same_text = [f"q{n}" for n in range(50)]
    where = pl.col("question")
    apart, alike, equal = (
        plan.filter(one)["inclusion_probability"].mean()
        for one in (
            where.is_in(differ.implode()) & ~where.is_in(same_text),
            ~where.is_in(differ.implode()) & ~where.is_in(same_text),
            where.is_in(same_text),
        )
    )
    assert apart == pytest.approx(1.414 * alike, rel=0.01)  # type: ignore[operator]
    assert equal is None or equal < alike / 1.5  # type: ignore[operator]


def test_planned_labels_give_a_difference_that_holds_and_is_narrower() -> None:
    planned, random, covered, draws = [], [], 0, 20
    for seed in range(draws):
        table, truth = world(seed)
        people = table.join(truth, on="answer_id").filter(pl.col("system") != "third")
        means = dict(people.group_by("system").agg(pl.col("truth").mean()).rows())
        two = table.filter(pl.col("system") != "third")
        plan = plan_labels(two, for_difference=("plain", "chatty"), count=120, seed=seed)
        at_random = plan_labels(two, count=120, seed=seed)
        for one, widths in ((plan, planned), (at_random, random)):
            [found] = compare(two, labelled(one.frame, truth), systems=True).people
            low, high = found.difference.low, found.difference.high
            assert low is not None
            assert high is not None
            widths.append(high - low)
            if one is plan:
                covered += low <= means[found.first] - means[found.second] <= high
    assert covered / draws > 0.95 - 3 * np.sqrt(0.95 * 0.05 / draws)
    assert np.mean(planned) < 0.95 * np.mean(random)


def test_how_many_labels_the_difference_takes() -> None:
    table, truth = world()
    plan = plan_labels(table, for_difference=("plain", "chatty"), half_width=0.1)
    assert "labels for a difference to +-10 points, if the judge is right in 85%" in plan.notes[0]
    people = labelled(plan.frame, truth)
    [found] = compare(table, people, systems=True, only=("plain", "chatty")).people
    half = (found.difference.high - found.difference.low) / 2  # type: ignore[operator]
    assert half == pytest.approx(0.1, rel=0.35)
    far = plan_labels(table, for_difference=("plain", "chatty"), half_width=0.001)
    assert "even all 800 labels do not give" in far.notes[0]
    assert far.frame.height == 800


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"for_difference": ("plain",)}, "of two systems"),
        ({"for_difference": ("plain", "nobody")}, "no system 'nobody'; there are 'plain'"),
        ({"for_difference": ("plain", "plain")}, "no question in common"),
        ({"for_difference": ("plain", "chatty"), "design": "stratified"}, "design of its own"),
        ({"for_difference": ("plain", "chatty"), "count": 5000}, "have 800 answers to 400"),
    ],
)
def test_plans_that_cannot_be_are_refused(options: dict[str, object], message: str) -> None:
    table, _ = world()
    with pytest.raises(AgreementError, match=message):
        plan_labels(table, **({"count": 100} | options))  # type: ignore[arg-type]


def test_an_estimate_over_systems_that_were_never_drawn_is_refused() -> None:
    table, truth = world()
    plan = plan_labels(table, for_difference=("plain", "chatty"), count=120).frame
    people = labelled(plan, truth)
    with pytest.raises(AgreementError, match="no answer of 'third' was drawn"):
        estimate(table, people)
    by_system = estimate(table, people, by="system").estimates
    assert [one.refusal is None for one in by_system] == [False, True, True, False]


def test_a_count_that_is_raised_or_of_each_system_is_explained() -> None:
    table, _ = world()
    raised = plan_labels(table, for_difference=("plain", "chatty"), count=30)
    assert raised.frame.height == 40
    assert "not 30 but 40 answers are drawn" in raised.notes[0]
    assert plan_labels(table, for_difference=("plain", "chatty"), count=60).frame.height == 60
    each = plan_labels(table, count=40, by="system")
    systems = table["system"].n_unique()
    assert f"{40 * systems} of {table.height:,} answers drawn (40 of each system)" in each.notes[0]
