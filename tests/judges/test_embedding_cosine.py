"""Likeness by the sentence encoder that ships; where research's encoders are missing."""

from __future__ import annotations

import polars as pl
import pytest

from markscheme.contract import registry
from markscheme.contract.grammar import parse_judge, signature
from markscheme.engine.execute import apply
from markscheme.errors import MissingExtraError
from markscheme.models.local.encoder import token_encoder
from markscheme.tables.answers import read_answers


def table(*answers: str, references: list[str] | None = None) -> pl.DataFrame:
    return read_answers(
        [
            {"question": "What is the capital of France?", "answer": text, "id": str(place),
             "references": references or ["Paris"]}
            for place, text in enumerate(answers)
        ]
    )  # fmt: skip


def test_cosines_tell_answers_apart() -> None:
    answers = table("Paris.", "the city of Paris", "Oslo", "I like rivers")
    outcomes = apply(parse_judge("embedding_cosine"), answers)
    close, longer, other, unrelated = outcomes["score"]
    assert min(close, longer) > 0.9 > other > unrelated
    assert outcomes["verdict"].to_list() == [score >= 0.77 for score in outcomes["score"]]


def test_the_best_reference_counts() -> None:
    several = table("Paris", references=["Berlin", "Paris", "Oslo"])
    assert apply(parse_judge("embedding_cosine"), several)["score"].to_list() == [1.0]


def test_without_the_question_only_answer_and_reference_are_compared() -> None:
    judge = parse_judge("embedding_cosine(question=false)")
    score = apply(judge, table("Oslo"))["score"][0]
    oslo, paris = token_encoder().encode(["Oslo", "Paris"]).astype(float)
    assert score == pytest.approx(max(0.0, float(oslo @ paris)), abs=1e-4)
    assert score < apply(parse_judge("embedding_cosine"), table("Oslo"))["score"][0]


def test_its_signature_holds_the_weights() -> None:
    text = signature(parse_judge("embedding_cosine(threshold=0.5)"))
    assert f"encoder={token_encoder().revision}" in text
    assert "threshold=0.5" in text


def test_rows_without_reference_are_skipped() -> None:
    bare = table("Paris").with_columns(references=pl.Series([[]], dtype=pl.List(pl.String)))
    assert apply(parse_judge("embedding_cosine"), bare)["status"].to_list() == ["skipped"]


@pytest.mark.parametrize("name", ["bem", "bertscore", "bleurt", "reference_overlap"])
def test_judges_of_pytorch_need_the_research_package(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = ("bem", "bertscore", "bleurt", "reference_overlap")
    others = {name: one for name, one in registry.judges().items() if name not in theirs}
    monkeypatch.setattr(registry.JUDGES, "known", others)
    monkeypatch.setattr(registry.importlib.metadata, "entry_points", lambda **_: ())
    with pytest.raises(MissingExtraError, match=r"needs an extra: .*packages/research"):
        apply(parse_judge(name), table("Paris"))
