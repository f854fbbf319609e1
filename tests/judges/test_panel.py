"""Panels: majority and mean, members that did not judge, ties, sums."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl
import pytest

from markscheme.contract import registry
from markscheme.contract.grammar import judge_name, parse_judge, signature
from markscheme.contract.registry import register
from markscheme.engine.execute import apply
from markscheme.errors import JudgeError
from markscheme.tables.answers import read_answers
from markscheme.tables.judgments import JUDGMENTS_SCHEMA


@pytest.fixture(scope="module", autouse=True)
def _member() -> Any:
    """A judge that says what it is told to; taken out of the register again afterwards."""
    registry.judges()

    @register("says")
    @dataclass(frozen=True, kw_only=True)
    class Says:
        """Says the same of every answer."""

        score: float | None = None
        verdict: bool | None = None
        status: str = "judged"
        relation: str | None = None
        marks: float | None = None
        cost: float | None = None

        def judge(self, answers: pl.DataFrame, models: Any) -> pl.DataFrame:
            verdict = self.verdict
            if verdict is None and self.score is not None:
                verdict = self.score >= 0.5
            values = {
                "status": self.status, "score": self.score, "verdict": verdict,
                "relation": self.relation, "marks": self.marks, "cost_usd": self.cost,
            }  # fmt: skip
            return answers.select(
                pl.repeat(value, pl.len(), dtype=JUDGMENTS_SCHEMA[name]).alias(name)
                for name, value in values.items()
            )

    yield
    del registry.JUDGES.known["says"]


def answers(count: int = 1) -> pl.DataFrame:
    return read_answers(
        [{"question": "Who wrote Emma?", "references": ["Jane Austen"], "answer": f"a{i}"}
         for i in range(count)]
    )  # fmt: skip


def vote(*members: str, **options: str) -> dict[str, Any]:
    extra = "".join(f", {key}={value}" for key, value in options.items())
    judge = parse_judge(f"panel(judges=[{', '.join(members)}]{extra})")
    return apply(judge, answers()).row(0, named=True)


def test_the_majority_decides() -> None:
    row = vote("says(score=0.9)", "says(score=0.8)", "says(score=0.1)")
    assert (row["status"], row["verdict"], row["score"]) == ("judged", True, pytest.approx(0.6))
    assert row["explanation"] == (
        "2 of 3 accept: says(score=0.9): yes (0.90); says(score=0.8): yes (0.80); "
        "says(score=0.1): no (0.10)"
    )
    assert vote("says(score=0.6)", "says(score=0.6, cost=1)", "says(score=0.0)")["verdict"] is True


def test_the_mean_decides_where_asked() -> None:
    members = ("says(score=0.6)", "says(score=0.6, cost=1)", "says(score=0.0)")
    row = vote(*members, vote="mean")
    assert row["verdict"] is False
    assert row["explanation"].startswith("2 of 3 accept, and the mean score of 0.40 decides: ")
    assert vote(*members, vote="mean", threshold="0.39")["verdict"] is True


def test_a_member_that_did_not_judge_has_no_vote() -> None:
    row = vote("says(score=0.2)", "says(status=failed)", "says(status=refused)")
    assert (row["verdict"], row["score"]) == (False, 0.2)
    assert "failed" in row["explanation"]
    row = vote("says(status=failed)", "says(status=refused)", "says(status=refused, cost=2)")
    assert (row["status"], row["score"], row["verdict"]) == ("refused", None, None)


def test_verdicts_without_scores_count_as_one_and_nought() -> None:
    row = vote("says(verdict=true)", "says(verdict=false)", "says(verdict=true, cost=1)")
    assert (row["verdict"], row["score"]) == (True, pytest.approx(2 / 3))


def test_a_tie_goes_to_the_mean_score_or_stays_open() -> None:
    row = vote("says(score=0.9)", "says(score=0.4)")
    assert row["verdict"] is True
    assert row["explanation"].startswith("1 of 2 accept, and the mean score of 0.65 decides: ")
    assert vote("says(score=0.6)", "says(score=0.0)")["verdict"] is False
    row = vote("says(score=1.0)", "says(score=0.0)")
    assert (row["status"], row["verdict"], row["score"]) == ("unparsed", None, None)
    assert row["explanation"].startswith("a tie")


def test_relation_is_the_commonest_among_those_who_agree_and_marks_are_means() -> None:
    row = vote(
        "says(score=1.0, relation=superior, marks=1.0)", "says(score=0.9, relation=equivalent)",
        "says(score=0.8, relation=superior, marks=0.5)", "says(score=0.0, relation=incorrect)",
    )  # fmt: skip
    assert (row["relation"], row["marks"]) == ("superior", 0.75)


def test_costs_are_summed_and_unknown_ones_stay_unknown() -> None:
    row = vote("says(score=1.0, cost=0.5)", "says(score=1.0, cost=0.25)", "says(score=1.0)")
    assert (row["cost_usd"], row["tokens_in"]) == (0.75, None)


@pytest.mark.parametrize(
    "text",
    ["panel(judges=[exact_match])", "panel(judges=[])", "panel(judges=[contains, contains])",
     "panel(judges=[contains, exact_match], threshold=3)"],
)  # fmt: skip
def test_a_panel_needs_different_members_and_a_threshold_in_range(text: str) -> None:
    with pytest.raises(JudgeError):
        parse_judge(text)


def test_names_nest_and_signatures_hold_every_member() -> None:
    text = (
        "panel(judges=[token_f1(threshold=0.7), panel(judges=[contains, exact_match])], vote=mean)"
    )
    judge = parse_judge(text)
    assert judge_name(judge) == text
    assert "threshold=0.7" in signature(judge)
    assert "contains" in signature(judge)


def test_a_member_that_loses_rows_is_named() -> None:
    registry.judges()

    @register("loses")
    @dataclass(frozen=True, kw_only=True)
    class Loses:
        """Returns nothing."""

        def judge(self, answers: pl.DataFrame, models: Any) -> pl.DataFrame:
            return answers.select(verdict=pl.lit(value=True))[:0]

    try:
        for text in ("panel(judges=[loses, contains])", "cascade(first=loses, then=contains)"):
            with pytest.raises(JudgeError, match="loses returned 0 rows for 1 answers"):
                apply(parse_judge(text), answers())
    finally:
        del registry.JUDGES.known["loses"]
