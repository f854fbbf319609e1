"""Entailment tests and makers of statements of other people, by name inside a judge."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import polars as pl
import pytest

import markscheme
from markscheme.contract.grammar import judge_name, parse_judge, signature
from markscheme.contract.judge import Needs
from markscheme.contract.registry import needs_of
from markscheme.errors import JudgeError, MarkschemeError
from markscheme.judges.entailment import (
    ENTAILMENT_TESTS,
    STATEMENT_MAKERS,
    register_entailment_test,
    register_statement_maker,
)
from with_research import cases, needs_research

ROW = {"question": "Who wrote Emma?", "references": ["Jane Austen"], "answer": "Jane"}


@dataclass(frozen=True, kw_only=True)
class SharedWords:
    """Entailed from a share of the hypothesis's words on."""

    share: float = 0.5

    def validate(self) -> None:
        if not 0 <= self.share <= 1:
            raise JudgeError(f"share={self.share} is out of range")

    def test(self, pairs: pl.DataFrame, models: Any) -> pl.DataFrame:
        scores = [
            len(set(p.split()) & set(h.split())) / max(1, len(set(h.split())))
            for p, h in pairs.select("premise", "hypothesis").iter_rows()
        ]
        score = pl.Series("score", scores, dtype=pl.Float64)
        return pairs.with_columns(
            score, entailed=score >= self.share, status=pl.lit("judged"),
            label=pl.lit(None, dtype=pl.String), reason=pl.lit(None, dtype=pl.String),
            raw=pl.lit(None, dtype=pl.String),
        )  # fmt: skip

    def identity(self, models: Any) -> dict[str, str]:
        return {}


@dataclass(frozen=True, kw_only=True)
class AnswerItself:
    """The answer is its own statement."""

    def make(self, pairs: pl.DataFrame, models: Any) -> pl.DataFrame:
        return pairs.with_columns(
            statement=pl.col("answer"), status=pl.lit("judged"),
            reason=pl.lit(None, dtype=pl.String), raw=pl.lit(None, dtype=pl.String),
        )  # fmt: skip

    def identity(self, models: Any) -> dict[str, str]:
        return {}


@pytest.fixture(autouse=True)
def _registered() -> Iterator[None]:
    register_entailment_test("shared_words", needs=Needs(chat=False), shorthand="share")(
        SharedWords
    )
    register_statement_maker("answer_itself")(AnswerItself)
    yield
    del ENTAILMENT_TESTS.known["shared_words"]
    del STATEMENT_MAKERS.known["answer_itself"]
    ENTAILMENT_TESTS.parse.cache_clear()
    STATEMENT_MAKERS.parse.cache_clear()


@pytest.mark.parametrize("judge", cases(["entailment", "claims"], "claims"))
def test_they_work_inside_a_judge(judge: str) -> None:
    name = f"{judge}(statements=answer_itself, test=shared_words)"
    found = markscheme.judge([ROW], name).judgments
    assert found["status"].to_list() == ["judged"]
    assert judge_name(parse_judge(name)) == name


@pytest.mark.parametrize("judge", cases(["entailment", "claims"], "claims"))
def test_a_part_that_drops_rows_is_named(judge: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SharedWords, "test", lambda _, pairs, models: pairs.head(0))
    with pytest.raises(JudgeError, match=r"test=.shared_words. returned 0 rows for \d"):
        markscheme.judge([ROW], f"{judge}(statements=answer_itself, test=shared_words)")


@needs_research
def test_a_part_with_parameters_reads_back() -> None:
    judge = parse_judge("entailment(test=shared_words(share=0.9))")
    assert judge == parse_judge("entailment(test='shared_words(share=0.9)')")
    assert parse_judge(judge_name(judge)) == judge
    assert ENTAILMENT_TESTS.parse("shared_words(share=0.9)") == SharedWords(share=0.9)
    loose = markscheme.judge([ROW], "entailment(test=shared_words(share=0.1))")
    strict = markscheme.judge([ROW], "entailment(test=shared_words(share=1.0), policy=both)")
    assert loose.judgments["verdict"].to_list() != strict.judgments["verdict"].to_list()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("shared_word", "no entailment test named 'shared_word'; did you mean 'shared_words'"),
        ("shared_words(shar=1)", "did you mean 'share'"),
        ("shared_words(share=high)", "share='high' must be a number"),
        ("shared_words(share=2.0)", "share=2.0 is out of range"),
        ("__import__('os')", "no entailment test named"),
    ],
)
def test_errors_say_what_to_do(name: str, message: str) -> None:
    with pytest.raises(MarkschemeError, match=message.replace("(", r"\(")):
        parse_judge(f"entailment(test={name!r})")


@needs_research
def test_needs_of_the_parts_count() -> None:
    assert needs_of(parse_judge("entailment(test=shared_words)")).chat is False
    assert needs_of(parse_judge("entailment(statements=answer_itself)")).chat is None
    assert needs_of(parse_judge("entailment(test=chat)")).chat is True
    assert needs_of(parse_judge("entailment(test='nli:x')")).weights == "required"


@needs_research
def test_the_signature_sees_the_source_of_a_part() -> None:
    assert " test.source=" in signature(parse_judge("entailment(test=shared_words)"))
    assert "source=" not in signature(parse_judge("entailment"))


def test_a_taken_name_and_an_unfit_class_are_refused() -> None:
    with pytest.raises(JudgeError, match="name 'embedded' of an entailment test is taken"):
        register_entailment_test("embedded")(SharedWords)
    with pytest.raises(JudgeError, match="with a method test"):
        register_entailment_test("other")(AnswerItself)
