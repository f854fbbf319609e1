"""Cascades: who decides, and what it costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl
import pytest

from markscheme.contract import registry
from markscheme.contract.grammar import judge_name, parse_judge
from markscheme.contract.registry import register
from markscheme.engine.execute import apply
from markscheme.errors import JudgeError
from markscheme.tables.answers import read_answers

SEEN: list[int] = []


@pytest.fixture(scope="module", autouse=True)
def _made_up_judges() -> Any:
    """A cheap judge that reads its score off the answer, and a dear one that counts its calls."""
    registry.judges()

    @register("cheap")
    @dataclass(frozen=True, kw_only=True)
    class Cheap:
        """The answer is the score; "?" is a failure."""

        def judge(self, answers: pl.DataFrame, models: Any) -> pl.DataFrame:
            score = answers["answer"].cast(pl.Float64, strict=False)
            return pl.DataFrame({"score": score, "seconds": [0.5] * len(score)}).with_columns(
                status=pl.when(score.is_null()).then(pl.lit("failed")).otherwise(pl.lit("judged")),
                verdict=score >= 0.5,
            )

    @register("dear")
    @dataclass(frozen=True, kw_only=True)
    class Dear:
        """Accepts all, or fails."""

        status: str = "judged"

        def judge(self, answers: pl.DataFrame, models: Any) -> pl.DataFrame:
            SEEN.append(answers.height)
            verdict = True if self.status == "judged" else None
            said = {
                "verdict": verdict, "status": self.status, "cost_usd": 0.25, "seconds": 1.0,
                "explanation": "looked it up", "raw": "Yes",
            }  # fmt: skip
            return pl.DataFrame([said] * answers.height)

    yield
    for name in ("cheap", "dear"):
        del registry.JUDGES.known[name]


def answers(*texts: str) -> pl.DataFrame:
    return read_answers(
        [{"question": f"Who? {i}", "references": ["X"], "answer": text}
         for i, text in enumerate(texts)]
    )  # fmt: skip


def test_the_cheap_judge_decides_where_it_is_sure_and_the_dear_one_sees_the_rest() -> None:
    SEEN.clear()
    judge = parse_judge("cascade(first=cheap, then=dear)")
    rows = apply(judge, answers("0.95", "0.5", "0.05", "?", "0.9", "0.1"))
    assert rows["verdict"].to_list() == [True, True, False, True, True, False]
    assert SEEN == [2]
    assert rows["explanation"].to_list() == [
        "decided by cheap, score 0.95",
        "decided by dear (cheap unsure, score 0.5): looked it up",
        "decided by cheap, score 0.05",
        "decided by dear (cheap failed): looked it up",
        "decided by cheap, score 0.9",
        "decided by cheap, score 0.1",
    ]
    assert rows["cost_usd"].to_list() == [None, 0.25, None, 0.25, None, None]
    assert rows["seconds"].to_list() == [0.5, 1.5, 0.5, 1.5, 0.5, 0.5]
    assert rows["raw"].to_list() == [None, "Yes", None, "Yes", None, None]


def test_the_dear_judge_is_not_asked_where_nothing_is_left() -> None:
    SEEN.clear()
    apply(parse_judge("cascade(first=cheap, then=dear)"), answers("1", "0"))
    assert SEEN == []


def test_what_the_dear_judge_could_not_judge_is_not_judged() -> None:
    rows = apply(
        parse_judge("cascade(first=cheap, then=dear(status=refused))"), answers("0.5", "1")
    )
    assert rows["status"].to_list() == ["refused", "judged"]
    assert rows["verdict"].to_list() == [None, True]
    assert rows["score"].to_list() == [None, 1.0]


def test_the_cascades_thresholds_overrule_the_cheap_judges_own() -> None:
    rows = apply(
        parse_judge("cascade(first=cheap, then=dear, accept=0.3, reject=0.2)"), answers("0.4")
    )
    assert rows["verdict"].to_list() == [True]
    never = apply(
        parse_judge("cascade(first=cheap, then=dear, accept=2, reject=-1)"), answers("1", "0")
    )
    assert never["explanation"].str.starts_with("decided by dear").all()


def test_cascades_nest_and_their_names_read_back() -> None:
    inner = "cascade(first=token_f1, then=contains, accept=0.8)"
    text = f"cascade(first=exact_match, then={inner}, reject=-1.0)"
    judge = parse_judge(text)
    assert judge_name(judge) == text
    for wrong in ("accept=0.1, reject=0.1", "accept=3", "reject=-2", "accept=0.0, reject=0.5"):
        with pytest.raises(JudgeError):
            parse_judge(f"cascade(first=exact_match, then=contains, {wrong})")
