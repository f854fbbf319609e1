"""Judges' names: text to object and back, checks, signatures, registration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from markscheme.contract import registry
from markscheme.contract.grammar import judge_name, parse_judge, signature
from markscheme.contract.judge import Judge
from markscheme.contract.registry import register
from markscheme.errors import JudgeError, MarkschemeError, UnknownNameError


@pytest.fixture(scope="module", autouse=True)
def _made_up_judges() -> Any:
    """Two judges for these tests only, taken out of the register again afterwards."""
    registry.judges()

    @register("made_up")
    @dataclass(frozen=True, kw_only=True)
    class MadeUp:
        """A judge with a parameter of every kind."""

        threshold: float = 0.5
        count: int = 3
        strict: bool = False
        text: str = "plain"
        mode: Literal["mean", "majority"] = "mean"
        limit: int | None = None
        names: tuple[str, ...] = ()
        first: Judge | None = None
        judges: tuple[Judge, ...] = ()

        def judge(self, answers: pl.DataFrame, models: Any) -> pl.DataFrame:
            return answers.select(pl.lit(value=True).alias("verdict"))

        def identity(self, models: Any) -> dict[str, str]:
            return {"weights": "abc123"}

    @register("needy")
    @dataclass(frozen=True, kw_only=True)
    class Needy:
        """A judge with a required parameter."""

        path: str

        def judge(self, answers: pl.DataFrame, models: Any) -> pl.DataFrame:
            return answers.select(pl.lit(value=True).alias("verdict"))

    yield
    for name in ("made_up", "needy"):
        del registry.JUDGES.known[name]


@pytest.mark.parametrize(
    "text",
    [
        "exact_match",
        "token_f1(threshold=0.8)",
        "made_up(count=-2)",
        "made_up(strict=true)",
        "made_up(text='two words')",
        "made_up(text='true')",
        "made_up(text='exact_match')",
        "made_up(text='lambda')",
        "made_up(mode=majority)",
        "made_up(limit=7)",
        "made_up(names=[a, 'b c'])",
        "made_up(first=token_f1(threshold=0.25), judges=[exact_match, made_up(count=9)])",
        "needy(path='x/y.json')",
    ],
)
def test_text_to_judge_and_back(text: str) -> None:
    judge = parse_judge(text)
    assert judge_name(judge) == text
    assert parse_judge(judge_name(judge)) == judge
    assert parse_judge(judge_name(judge, full=True)) == judge
    assert hash(judge) == hash(parse_judge(text))


def test_other_spellings_are_the_same_judge() -> None:
    assert parse_judge("token_f1(threshold=1)") == parse_judge("  token_f1( threshold = 1.0 ) ")
    assert judge_name(parse_judge("token_f1(threshold=0.5)")) == "token_f1"
    assert parse_judge("made_up(strict=True)") == parse_judge("made_up(strict=true)")


@given(text=st.text(), threshold=st.floats(allow_nan=False), count=st.integers())
def test_any_value_round_trips(text: str, threshold: float, count: int) -> None:
    made_up: Any = registry.entry("made_up").judge
    judge = made_up(text=text, threshold=threshold, count=count)
    if len(judge_name(judge)) < 20_000:
        assert parse_judge(judge_name(judge)) == judge


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("exact_mtch", UnknownNameError, "did you mean 'exact_match'"),
        ("zzz", UnknownNameError, "'markscheme judges' lists all"),
        ("token_f1(treshold=1)", UnknownNameError, "did you mean 'threshold'"),
        ("token_f1(0.5)", JudgeError, "parameters need their names"),
        ("token_f1(threshold=high)", JudgeError, "threshold='high' must be a number"),
        ("token_f1(threshold=true)", JudgeError, "threshold=True must be a number"),
        ("token_f1(threshold=1.5)", JudgeError, "must lie between 0 and 1"),
        ("made_up(mode=sum)", JudgeError, "must be one of 'mean', 'majority'"),
        ("made_up(first=nobody)", UnknownNameError, "no judge named 'nobody'"),
        ("made_up(judges=exact_match)", JudgeError, "must be a list, each a judge"),
        ("made_up(count=1.5)", JudgeError, "must be a whole number"),
        ("needy", JudgeError, "needy needs path"),
        ("token_f1(", JudgeError, "cannot read the judge"),
        ("needy(path=out/map.json)", JudgeError, "a text with signs in it needs quotes"),
        ("needy(path=gpt-4o-mini)", JudgeError, "and a text in quotes, as in"),
        ("", JudgeError, "1 to 20000 characters"),
        ("__import__('os').system('true')", JudgeError, "is not a judge"),
        ("token_f1(threshold=__import__('os'))", MarkschemeError, "no judge named '__import__'"),
        ("token_f1(threshold=[].__class__)", JudgeError, "cannot read"),
        ("(" * 3000 + ")" * 3000, JudgeError, "cannot read the judge"),
    ],
)
def test_errors_say_what_to_do(text: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        parse_judge(text)
    assert message in str(caught.value)


@given(st.text(max_size=200))
def test_any_text_is_a_judge_or_a_named_error(text: str) -> None:
    try:
        judge = parse_judge(text)
    except MarkschemeError:
        return
    assert parse_judge(judge_name(judge)) == judge


def test_signatures_hold_every_field_and_the_identity_of_inner_judges() -> None:
    judge = parse_judge("made_up(first=made_up(count=1))")
    text = signature(judge)
    for field in ("threshold=0.5", "count=1", "count=3", "first.0.weights=abc123", "markscheme="):
        assert field in text
    assert signature("token_f1") == signature(parse_judge("token_f1"))
    assert signature(parse_judge("token_f1")) != signature(parse_judge("token_f1(threshold=0.6)"))


def test_a_taken_name_and_an_unfit_class_are_refused() -> None:
    with pytest.raises(JudgeError, match="is taken"):

        @register("exact_match")
        @dataclass(frozen=True, kw_only=True)
        class Other:
            """Another."""

            def judge(self, answers: pl.DataFrame, models: Any) -> pl.DataFrame:
                return answers

    with pytest.raises(JudgeError, match="dataclass"):

        @register("mutable")
        @dataclass
        class Mutable:
            """Not frozen."""

            def judge(self, answers: pl.DataFrame, models: Any) -> pl.DataFrame:
                return answers
