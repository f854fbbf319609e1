"""`research may-replace`: the alternative annotator test (Calderon et al. 2025)."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ttest_1samp
from statsmodels.stats.multitest import multipletests

import markscheme
from markscheme.errors import AgreementError
from markscheme.stats import score_statistic
from markscheme_research import may_replace
from markscheme_research.studies import alternative_annotator_test
from markscheme_research.studies.alternative_annotator import (
    LEVEL,
    _discoveries,
    noninferiority_p,
)


def annotators(size: int, seed: int = 0) -> tuple[pl.DataFrame, pl.Series]:
    rng = np.random.default_rng(seed)
    truth = rng.random(size) < 0.5
    ratings = pl.DataFrame(
        {
            f"h{place}": np.where(rng.random(size) < 0.85, truth, ~truth).astype(float)
            for place in range(3)
        }
    )
    return ratings, pl.Series(np.where(rng.random(size) < 0.95, truth, ~truth).astype(float))


def test_the_alternative_annotator_test_by_hand() -> None:
    """Every quantity again, item by item, as the paper defines it."""
    ratings, judge = annotators(80)
    found = alternative_annotator_test(ratings, judge, epsilon=0.1)
    p_values = []
    for place, one in enumerate(found.against):
        others = [ratings[name] for name in ratings.columns if name != ratings.columns[place]]
        differences, wins = [], []
        for item in range(80):
            mine = np.mean([judge[item] == other[item] for other in others])
            theirs = np.mean([ratings[item, place] == other[item] for other in others])
            wins.append(mine >= theirs)
            differences.append(float(theirs >= mine) - float(mine >= theirs))
        assert one.judge_advantage == pytest.approx(np.mean(wins))
        p_values.append(noninferiority_p(differences.count(1.0), differences.count(-1.0), 80, 0.1))
        assert one.test == one.p.method == "exact"
        assert one.p.value == pytest.approx(p_values[-1])
        # With this many items the paper's t-test says much the same.
        theirs = ttest_1samp(differences, 0.1, alternative="less").pvalue
        assert p_values[-1] == pytest.approx(theirs, rel=1, abs=0.01)
    won = multipletests(p_values, alpha=0.05, method="fdr_by")[0]
    assert [one.won for one in found.against] == won.tolist()
    assert found.winning_rate == pytest.approx(won.mean())
    assert found.passed
    assert found.advantage == pytest.approx(np.mean([one.judge_advantage for one in found.against]))


def rejected(items: int, margin: float, level: float) -> np.ndarray:
    """(items + 1, items + 1) outcomes (worse, better) for which the test passes the judge."""
    worse, better = np.meshgrid(np.arange(items + 1), np.arange(items + 1), indexing="ij")
    real = worse + better <= items
    order = np.where(real, score_statistic(worse, better, items, margin), np.inf)
    values = np.unique(order[real])  # p rises with the statistic, so its limit is found by halving
    low, high = -1, len(values) - 1
    while low < high:
        middle = (low + high + 1) // 2
        at = np.argwhere(order == values[middle])[0]
        if noninferiority_p(int(at[0]), int(at[1]), items, margin) <= level:
            low = middle
        else:
            high = middle - 1
    return order <= values[low] if low >= 0 else np.zeros_like(real)


@pytest.mark.parametrize("items", [10, 15, 20, 25, 29, 30, 60, 300])
@pytest.mark.parametrize("margin", [0.1, 0.15, 0.2])
def test_a_judge_exactly_epsilon_worse_passes_at_most_one_time_in_twenty(
    items: int, margin: float
) -> None:
    """All outcomes summed, for any share of ties: no simulation. Wilcoxon's passed 18 to 79%."""
    sizes = pass_rates(items, margin)
    assert max(sizes) <= 0.0501
    if items >= 60:  # and it is not merely timid
        assert sizes[-1] > 0.03


def pass_rates(items: int, margin: float) -> list[float]:
    """How often a judge exactly `margin` worse passes, for several shares of ties."""
    from scipy.stats import multinomial

    passed = np.argwhere(rejected(items, margin, 0.05))
    outcomes = np.column_stack([passed, items - passed.sum(axis=1)])
    return (
        [
            float(
                multinomial.pmf(outcomes, items, [margin + wins, wins, 1 - margin - 2 * wins]).sum()
            )
            for wins in (0.0, 0.01, 0.037, 0.1, 0.2, (1 - margin) / 2 - 1e-9)
        ]
        if len(passed)
        else [0.0]
    )


@pytest.mark.proof(area="statistics")
def test_the_pass_rate_is_at_most_5_percent_at_every_number_of_items() -> None:
    rates = {items: max(pass_rates(items, 0.1)) for items in range(10, 301)}
    assert max(rates.values()) <= 0.05
    assert min(rate for items, rate in rates.items() if items >= 60) > 0.03


def test_blanks_are_passed_over() -> None:
    ratings, judge = annotators(25, seed=2)
    holes = ratings.with_columns(pl.when(pl.int_range(25) > 4).then("h0").alias("h0"))
    found = alternative_annotator_test(holes, judge)
    assert found.against[0].items == 20
    assert {one.test for one in found.against} == {"exact"}


def test_items_of_one_question_are_no_items_of_their_own() -> None:
    ratings, judge = annotators(30, seed=2)
    many, said = pl.concat([ratings] * 10), pl.concat([judge] * 10)
    asked = pl.Series([*range(30)] * 10)
    once = alternative_annotator_test(ratings, judge)
    repeated = alternative_annotator_test(many, said, questions=asked)
    for one, other in zip(once.against, repeated.against, strict=True):
        assert other.test == "t"
        assert (other.p.value or 0) > (one.p.value or 0) / 4
    with pytest.raises(AgreementError, match="of 5 questions"):
        alternative_annotator_test(many, said, questions=asked % 5)


def test_a_bad_judge_fails() -> None:
    ratings, judge = annotators(100, seed=3)
    found = alternative_annotator_test(ratings, 1.0 - judge)
    assert found.winning_rate == 0.0
    assert not found.passed


def test_unanimity_passes_where_the_items_are_enough() -> None:
    same = pl.DataFrame({name: [1.0, 0.0] * 20 for name in ("a", "b", "c")})
    found = alternative_annotator_test(same, same["a"])
    assert found.passed
    assert 0.85**40 <= (found.against[0].p.value or 0) < 0.01
    assert not alternative_annotator_test(same.head(12), same["a"].head(12)).passed


def test_the_alternative_annotator_test_refuses() -> None:
    ratings, judge = annotators(40)
    with pytest.raises(AgreementError, match=r"three annotators or more.*there are 2"):
        alternative_annotator_test(ratings.select("h0", "h1"), judge)
    with pytest.raises(AgreementError, match="only 5 items"):
        alternative_annotator_test(ratings.head(5), judge.head(5))
    with pytest.raises(AgreementError, match="epsilon=2"):
        alternative_annotator_test(ratings, judge, epsilon=2)


@settings(max_examples=20)  # statsmodels collects garbage in every call
@given(st.lists(st.floats(0, 0.2), min_size=1, max_size=12))
def test_discoveries_equal_statsmodels(values: list[float]) -> None:
    stands, corrected, *_ = multipletests(values, alpha=LEVEL, method="fdr_by")
    found = _discoveries(values)
    clear = np.abs(corrected - LEVEL) > 1e-12  # on the edge the two may round apart
    assert np.array(found)[clear].tolist() == stands[clear].tolist()


# --- the command ------------------------------------------------------------------------------


def test_the_command_prints_what_the_function_returns(
    example: Path, tmp_path: Path, cli: Callable[..., str]
) -> None:
    result = markscheme.judge(example, ["contains", "token_f1"], out=tmp_path / "run")
    out = cli("research", "may-replace", tmp_path / "run", "--labels", example)
    assert "496 judgments matched with labels by answer_id" in out
    assert "contains may not replace an annotator" in out
    assert "epsilon 0.15" in out
    words = ("--judge", "contains", "--epsilon", "0.3", "--format", "json")
    found = may_replace(result, judges="contains", epsilon=0.3)
    assert cli("research", "may-replace", tmp_path / "run", *words) == found.to_json()
    assert json.loads(found.to_json())["judges"]["contains"]["epsilon"] == 0.3
    assert found.frame.columns == [
        "judge", "annotator", "items", "judge_advantage", "annotator_advantage", "test", "p", "won",
    ]  # fmt: skip
    assert found.frame["p"].to_list() == [one.p.value for one in found.judges["contains"].against]
    assert math.isclose(found.frame["won"].mean(), found.judges["contains"].winning_rate)


def test_annotators_with_grades_need_a_bar(cli: Callable[..., str], tmp_path: Path) -> None:
    path = tmp_path / "graded.csv"
    rows = "\n".join(f"{i},{i % 2},{i % 4},{i % 4},{(i + 1) % 4}" for i in range(40))
    path.write_text(f"answer_id,verdict,annotator1,annotator2,annotator3\n{rows}\n")
    words = ("research", "may-replace", path)
    assert "--positive-from" in cli(*words, code=2)
    assert "winning rate" in cli(*words, "--positive-from", "2")


def test_the_former_option_names_the_command(cli: Callable[..., str], example: Path) -> None:
    said = cli("agree", example, "--alternative-annotator", code=2)
    assert "'markscheme agree --alternative-annotator' is 'markscheme research may-replace'" in said
