"""Rankings of systems beside the human ranking."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau, spearmanr

from markscheme.agreement import rank
from markscheme.agreement.question_averages import correlations
from markscheme.agreement.ranking import rank_systems
from markscheme.errors import AgreementError, DataError
from markscheme.results import Figure
from markscheme.stats import tau_interval

vectors = st.integers(2, 12).flatmap(
    lambda n: st.tuples(
        *(st.lists(st.integers(0, 6).map(float), min_size=n, max_size=n) for _ in range(2))
    )
)


@given(vectors)
def test_correlations_equal_scipy(pair: tuple[list[float], list[float]]) -> None:
    first, second = pair
    found = correlations(np.array(first), np.array(second))
    if len(set(first)) == 1 or len(set(second)) == 1:
        assert found == {}
        return
    tau, rho = kendalltau(first, second).statistic, spearmanr(first, second).statistic
    assert found["kendall"] == pytest.approx(tau, abs=1e-12)
    assert found["spearman"] == pytest.approx(rho, abs=1e-12)


def test_where_all_systems_are_equal_there_is_no_correlation() -> None:
    ranking = rank_systems(small().with_columns(em=True), measures=["em"], human="human")
    for found in (ranking.tau_b["em"], ranking.spearman["em"]):
        assert found == Figure(reason="all systems are equal on one side")


def small() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "question": ["q", "r"] * 3,
            "system": ["A", "A", "B", "B", "C", "C"],
            "em": [True, False, True, True, False, False],
            "human": [1, 1, 1, 0, 0, 0],
        }
    )


def test_a_small_case_by_hand() -> None:
    ranking = rank_systems(small(), measures=["em"], human="human", baseline="em")
    assert ranking.systems["system"].to_list() == ["A", "B", "C"]
    assert ranking.systems["em"].to_list() == [0.5, 1.0, 0.0]
    assert ranking.systems["human_delta"].to_list() == [0.5, -0.5, 0.0]
    assert ranking.systems["em_rank"].to_list() == [2, 1, 3]
    assert ranking.systems["em_rank_change"].to_list() == [1, -1, 0]
    em, human = ranking.measures.rows(named=True)
    assert (em["mean"], em["shortfall"], em["rank_changes"]) == (0.5, 0.0, 2)
    assert (human["gain"], human["shortfall"]) == (0.0, None)
    assert ranking.tau_b["em"].value == pytest.approx(1 / 3)


def made(questions: int, people: tuple[float, ...], seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    human = rng.random((questions, len(people))) < people
    return pl.DataFrame(
        {
            "question": np.repeat(np.arange(questions), len(people)).astype(str),
            "system": ["ABCDEF"[place] for place in range(len(people))] * questions,
            "em": (human ^ (rng.random(human.shape) < 0.05)).ravel(),
            "human": human.ravel(),
        }
    )


def test_the_interval_holds_the_figure() -> None:
    ranking = rank_systems(made(200, (0.9, 0.5, 0.2)), measures=["em"], human="human")
    tau = ranking.tau_b["em"]
    assert (tau.low, tau.value, tau.high, tau.method) == (1.0, 1.0, 1.0, "pairs")
    assert ranking.spearman["em"].low is None


def test_systems_near_each_other_leave_tau_open_up_to_one() -> None:
    # The percentiles of resampled tau covered a truth of 1 in 16% of such samples.
    for seed in range(20):
        table = made(50, (0.5, 0.51, 0.52, 0.53, 0.54, 0.9), seed)
        tau = rank_systems(table, measures=["em"], human="human").tau_b["em"]
        assert tau.high == pytest.approx(1.0)
        assert tau.low is not None
        assert tau.low < 0.5


def test_few_questions_give_no_interval() -> None:
    table = made(9, (0.9, 0.5, 0.2))
    assert rank_systems(table, measures=["em"], human="human").tau_b["em"].low is None


def test_a_pair_ranked_contrariwise_on_both_sides_is_known_to_be() -> None:
    rng = np.random.default_rng(0)
    sums = (rng.random((100, 2, 2)) < [[0.2, 0.9], [0.8, 0.3]]).astype(np.float64)
    found = tau_interval(-1.0, sums, np.ones((100, 2)))
    assert found == (-1.0, -1.0)
    # Ten answers a question that are all alike tell no more than one.
    assert tau_interval(-1.0, 10 * sums, np.full((100, 2), 10.0)) == found


def test_labels_of_a_part_are_no_answers_that_a_system_did_not_give() -> None:
    rows = [
        {"question": f"q{n}", "answer": "x", "system": system, "judge": "j", "verdict": True,
         "label": 1 if n < count else None}
        for system, count in (("A", 3), ("B", 5)) for n in range(8)
    ]  # fmt: skip
    with pytest.raises(AgreementError) as refused:
        rank(rows)
    assert "of the 5 here 'A' has 3; --common" in str(refused.value)
    assert rank(rows, common=True).ranking.questions == 3


def test_a_verdict_without_a_score_ranks_by_score_as_1_or_0() -> None:
    table = pl.DataFrame(
        [
            {"question": f"q{n}", "answer": f"{system}{n}", "system": system,
             "exact_match": int(n < right), "token_f1": min(1.0, 0.1 + n / 25),
             "label": int(n < right)}
            for system, right in (("good", 18), ("poor", 6)) for n in range(20)
        ]
    )  # fmt: skip
    options = {"judges": ("exact_match", "token_f1")}
    scored, accepted = (rank(table, scores=scores, **options) for scores in (True, False))
    assert scored.frame["exact_match"].to_list() == [0.9, 0.3]
    assert scored.frame["exact_match"].equals(accepted.frame["exact_match"])
    assert scored.frame["token_f1"][0] == pytest.approx(0.1 + 19 / 50)
    assert not any("not judged" in note for note in scored.data["matched"])


@pytest.mark.parametrize("score", [-1.0, 5.0, float("-inf")])
def test_scores_that_are_no_shares_rank_by_verdicts_alone(score: float) -> None:
    rows = [
        {"question": f"q{n}", "answer": f"{system}{n}", "system": system, "judge": "loglik",
         "score": score if system == "A" else None if n < 12 else score,
         "verdict": None if system == "B" and n < 12 else system == "A", "label": 1}
        for system in "AB" for n in range(15)
    ]  # fmt: skip
    with pytest.raises(AgreementError, match=f"'loglik' has the score {score:g}.*--by-score"):
        rank(rows, scores=True)
    assert rank(rows).frame["loglik"].to_list() == [1.0, 0.0]


def test_refusals() -> None:
    with pytest.raises(
        AgreementError, match="the same questions: of the 2 here 'C' has 1; --common"
    ):
        rank_systems(small().head(5), measures=["em"], human="human")
    with pytest.raises(AgreementError, match="two systems or more; there is 1"):
        rank_systems(small().head(2), measures=["em"], human="human")
    with pytest.raises(DataError, match="lacks 'f1'"):
        rank_systems(small(), measures=["f1"], human="human")


def test_nq301_rank_correlations(nq301_scores: pl.DataFrame) -> None:
    ranking = rank_systems(
        nq301_scores,
        measures=["em", "f1", "bem", "davinci"],
        human="human",
        baseline="em",
    )
    values = {name: figure.value or 0.0 for name, figure in ranking.tau_b.items()}
    assert round(values["davinci"], 2) == 0.75
    assert round(values["bem"], 4) == 0.6977
    assert round(values["em"], 4) == 0.2326
    assert round(values["f1"], 3) == 0.339
    gains = dict(ranking.measures.select("measure", "gain").iter_rows())
    assert [round(100 * gains[name]) for name in ("bem", "davinci", "human")] == [16, 21, 24]
    shortfalls = dict(ranking.measures.select("measure", "shortfall").iter_rows())
    assert round(100 * shortfalls["bem"], 1) == 7.6
    assert round(100 * shortfalls["davinci"], 1) == 2.9
    for name, figure in ranking.tau_b.items():
        assert figure.low is not None, name
        assert figure.high is not None, name
        assert figure.low <= values[name] <= figure.high


def two_systems(judge: str) -> list[dict[str, object]]:
    """Three questions, each answered by A and B, with a judge's score and a label."""
    return [
        {"question": q, "system": system, "answer": f"{system}{q}", judge: right, "label": right}
        for q in ("q", "r", "s")
        for system, right in (("A", True), ("B", q == "q"))
    ]


def test_a_judge_called_like_a_column_of_the_ranking_is_refused() -> None:
    with pytest.raises(AgreementError, match="a judge is called 'answers'"):
        rank(two_systems("answers"), judges="answers")


@pytest.mark.parametrize("name", ["x_rank", "x_delta", "x_rank_change", "human_rank"])
def test_a_judge_called_like_a_column_of_another_judge_is_refused(name: str) -> None:
    rows = [row | {name: row["system"] == "A"} for row in two_systems("x")]
    with pytest.raises(AgreementError, match=f"a judge is called '{name}'"):
        rank(rows, judges=f"x,{name}")


@pytest.mark.parametrize("name", ["token_f2", "human", "system"])
def test_a_baseline_that_is_no_judge_is_named_with_the_judges_there_are(name: str) -> None:
    with pytest.raises(AgreementError, match=f"no judge named '{name}'.*'token_f1'"):
        rank(two_systems("token_f1"), judges="token_f1", baseline=name)


# Table 1 of Kamalloo et al. (2023): per cent of answers that are right, by system.
HUMAN = [71.4, 75.8, 58.8, 64.8, 65.8, 70.1, 66.5, 73.1, 69.4, 67.1, 73.1, 71.4]
BEM = [63.5, 59.5, 52.5, 58.1, 59.5, 62.5, 60.8, 65.8, 63.1, 62.1, 64.5, 63.8]
DAVINCI = [77.1, 67.8, 55.1, 61.5, 63.1, 66.1, 63.1, 70.4, 67.1, 64.8, 68.4, 68.4]


@pytest.mark.parametrize(
    ("measure", "printed"), [("human", HUMAN), ("bem", BEM), ("davinci", DAVINCI)]
)
def test_amended_references_give_table_1(
    nq301_scores: pl.DataFrame, measure: str, printed: list[float]
) -> None:
    means = nq301_scores.group_by("system", maintain_order=True).agg(
        pl.col(measure).cast(pl.Float64).mean(), pl.len()
    )
    assert means["len"].to_list() == [301] * 12
    ours = [round(round(100 * mean, 2), 1) for mean in means[measure]]
    assert ours == printed
