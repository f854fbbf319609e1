"""Figures of a run against statsmodels and a bootstrap."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from statsmodels.stats.proportion import proportion_confint

from markscheme.agreement.gate import gates
from markscheme.engine.summary import ALL_SYSTEMS, summarise, verdict_figures
from markscheme.stats import share_evidence, share_interval, single_answers
from markscheme.tables.judgments import JUDGMENTS_SCHEMA


def table(verdicts: list[bool | None], systems: list[str], questions: list[int]) -> list[dict]:  # type: ignore[type-arg]
    rows = pl.DataFrame({"verdict": verdicts}).select(
        *(
            pl.lit(None, dtype=kind).alias(name)
            for name, kind in JUDGMENTS_SCHEMA.items()
            if name not in ("verdict", "judge", "signature", "status", "score")
        ),
        pl.lit("j").alias("judge"),
        pl.lit("s").alias("signature"),
        pl.when(pl.col("verdict").is_null())
        .then(pl.lit("failed"))
        .otherwise(pl.lit("judged"))
        .cast(JUDGMENTS_SCHEMA["status"])
        .alias("status"),
        pl.col("verdict"),
        pl.col("verdict").cast(pl.Float64).alias("score"),
    )
    clusters = pl.DataFrame(
        {
            "system": pl.Series(systems, dtype=pl.Categorical),
            "question": pl.Series(questions, dtype=pl.UInt64),
        }
    )
    return summarise(rows.lazy(), clusters)


def test_without_repeated_questions_it_is_wilsons_interval() -> None:
    rng = np.random.default_rng(1)
    verdicts = [bool(v) for v in rng.random(137) < 0.7]
    [record] = table(verdicts, ["a"] * 137, list(range(137)))
    low, high = proportion_confint(sum(verdicts), 137, method="wilson")
    assert record["accuracy"] == pytest.approx(np.mean(verdicts))
    assert (record["accuracy_low"], record["accuracy_high"]) == pytest.approx((low, high))


@pytest.mark.parametrize(("right", "count"), [(0, 5), (5, 5), (4, 4), (50, 100)])
def test_wilson_at_the_edges(right: int, count: int) -> None:
    share = right / count
    wanted = proportion_confint(right, count, method="wilson")
    found = share_interval(share, single_answers(count))
    assert found == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("verdict", [True, False])
def test_where_all_verdicts_are_one_a_question_counts_once(verdict: bool) -> None:
    """Ten systems that answer three questions alike tell of three questions, not of thirty."""
    systems = [f"s{i}" for i in range(10)] * 3
    record = table([verdict] * 30, systems, np.repeat(np.arange(3), 10).tolist())[-1]
    assert record["system"] == ALL_SYSTEMS
    assert record["effective_answers"] == 3
    edge = 0.05 ** (1 / 3)  # the exact one-sided lower bound of 3 of 3
    found = (record["accuracy_low"], record["accuracy_high"])
    assert found == pytest.approx((edge, 1.0) if verdict else (0.0, 1 - edge), abs=1e-12)


def test_repeated_questions_widen_the_interval_as_a_cluster_bootstrap_does() -> None:
    rng = np.random.default_rng(2)
    questions = np.repeat(np.arange(200), 5)
    ability = rng.random(200)[questions]
    verdicts = [bool(v) for v in rng.random(1000) < ability]
    systems = [f"s{i}" for i in range(5)] * 200
    record = table(verdicts, systems, questions.tolist())[-1]
    assert record["system"] == ALL_SYSTEMS
    totals = np.bincount(questions, weights=verdicts)
    draws = totals[rng.integers(0, 200, size=(20_000, 200))].sum(axis=1) / 1000
    width = record["accuracy_high"] - record["accuracy_low"]
    assert width == pytest.approx(2 * 1.96 * draws.std(), rel=0.03)
    single = table(verdicts, ["a"] * 1000, list(range(1000)))[0]
    assert width > 1.3 * (single["accuracy_high"] - single["accuracy_low"])


def test_what_was_not_judged_is_counted_and_left_out() -> None:
    records = table([True, None, False, None], ["a", "a", "b", "b"], [1, 2, 1, 2])
    assert [record["system"] for record in records] == ["a", "b", ALL_SYSTEMS]
    assert [record["accuracy"] for record in records] == [1.0, 0.0, 0.5]
    assert [record["not_judged"] for record in records] == [
        {"failed": 1},
        {"failed": 1},
        {"failed": 2},
    ]
    [nothing] = table([None], ["a"], [1])
    assert nothing["accuracy"] is None
    assert nothing["accuracy_low"] is None


def test_systems_in_any_order_have_their_own_rows_in_order_of_appearance() -> None:
    dice = np.random.default_rng(5)
    names = [f"system {number}" for number in dice.integers(400, size=3_000)]
    verdicts = [bool(one) for one in dice.integers(2, size=3_000)]
    records = table(verdicts, names, list(range(3_000)))
    expected = (
        pl.DataFrame({"system": names, "verdict": verdicts})
        .group_by("system", maintain_order=True)
        .agg(pl.len().alias("rows"), pl.col("verdict").mean().alias("accuracy"))
    )
    assert [one["system"] for one in records] == [*expected["system"], ALL_SYSTEMS]
    assert [one["rows"] for one in records] == [*expected["rows"], 3_000]
    shares = [one["accuracy"] for one in records[:-1]]
    assert shares == pytest.approx(expected["accuracy"].to_list())


def test_figures_of_more_rows_than_a_block_are_those_of_all_at_once() -> None:
    rng = np.random.default_rng(5)
    rows = 150_000
    questions = rng.integers(0, 90_000, rows)
    verdicts = rng.random(rows) < 0.8
    systems = ["a", "b", "b"] * (rows // 3)
    record = table(verdicts.tolist(), systems, questions.tolist())[-1]
    count = len(np.unique(questions))
    assert record["questions"] == count
    assert record["accuracy"] == pytest.approx(verdicts.mean(), rel=1e-12)
    right, answers = np.bincount(questions, weights=verdicts), np.bincount(questions)
    evidence = share_evidence(right, answers)
    assert record["effective_answers"] == pytest.approx(evidence.answers)
    assert record["independent_answers"] == pytest.approx(rows**2 / (answers @ answers))
    low, high = share_interval(float(verdicts.mean()), evidence)
    assert (record["accuracy_low"], record["accuracy_high"]) == pytest.approx((low, high))
    scores = pl.Series(verdicts.astype(float))
    assert record["mean_score"] == pytest.approx(scores.mean())


@pytest.mark.parametrize("wrong", [0, 1, 2, 5, 60])
def test_repeated_answers_say_no_less_than_the_questions_alone(wrong: int) -> None:
    """Five equal answers to each question are as good as one: neither interval nor gate falls far.

    Where hardly an answer is wrong, Student's degrees of freedom fell to 1: 99.7 [66.6, 100].
    """
    once = [place >= wrong for place in range(300)]
    [alone] = table(list(once), ["a"] * 300, list(range(300)))
    [repeated] = table(once * 5, ["a"] * 1500, list(range(300)) * 5)
    assert repeated["accuracy_low"] >= alone["accuracy_low"] - 1e-12
    assert repeated["accuracy_high"] <= alone["accuracy_high"] + 1e-12
    assert repeated["independent_answers"] == pytest.approx(300)
    for limit in (0.7, 0.9, 0.97):
        of_one, of_five = (gates([one], limit, confidence=0.95)[0] for one in (alone, repeated))
        assert of_five.passed == of_one.passed
        assert of_five.bound == pytest.approx(of_one.bound, abs=0.005)


def test_unequal_questions_count_by_their_answers() -> None:
    """Kish's effective size: one question of 100 answers and 100 of one are not 101 questions."""
    questions = [0] * 100 + list(range(1, 101))
    [record] = table([True] * 200, ["a"] * 200, questions)
    assert record["independent_answers"] == pytest.approx(200**2 / (100**2 + 100))


def test_plain_verdicts_have_the_figures_of_a_judge_that_gives_them() -> None:
    verdicts = [True, False, None, True, True, False, True, None]
    systems, questions = ["b", "b", "a", "a"] * 2, [1, 2, 1, 2, 1, 3, 1, 4]
    clusters = pl.DataFrame(
        {
            "system": pl.Series(systems, dtype=pl.Categorical),
            "question": pl.Series(questions, dtype=pl.UInt64),
        }
    )
    found = verdict_figures(pl.Series(verdicts, dtype=pl.Boolean), clusters)
    records = table(verdicts, systems, questions)
    assert [one["system"] for one in found] == ["b", "a", ALL_SYSTEMS]
    assert [one["judged"] for one in found] == [4, 2, 6]
    assert found == [{name: one[name] for name in found[0]} for one in records]
    assert verdict_figures(pl.Series([], dtype=pl.Boolean), clusters.clear()) == []
