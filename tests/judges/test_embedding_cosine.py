"""Likeness by the sentence encoder that ships; where research's encoders are missing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl
import pytest

from markscheme.contract import registry
from markscheme.contract.grammar import parse_judge, signature
from markscheme.engine.execute import apply
from markscheme.errors import MissingExtraError
from markscheme.judges.outcomes import MOST_ENCODED, with_nearest_references
from markscheme.models.local.encoder import _loaded as opened
from markscheme.models.local.encoder import token_encoder
from markscheme.models.local.weights import in_batches
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


class Recorded:
    """The encoder that ships, and what it was given."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def encode(self, texts: Sequence[str]) -> Any:
        self.texts += texts
        return token_encoder().encode(texts)

    def encoder(self) -> Recorded:
        return self


def test_a_long_answer_is_one_text_however_many_references_it_has() -> None:
    """What is held and read grows with the row, not with the answer times its references."""
    answer = "Paris is the capital. " * 2_500
    references = [f"{number} Zorvex" for number in range(40)]
    models = Recorded()
    rows = table(answer, references=references)
    parse_judge("embedding_cosine").judge(rows, models)
    assert len(models.texts) == 2 * len(references)
    held = {id(text): len(text) for text in models.texts}
    assert len(held) == 1 + len(references)
    assert sum(held.values()) < 2 * len(answer)


def test_of_very_many_references_the_nearest_are_read() -> None:
    few = [f"{number} Zorvex" for number in range(20)]
    answers = table("It is Paris, on the Seine.", references=["Oslo", "Paris on the Seine", *few])
    read = with_nearest_references(answers, 5)["references"].to_list()[0]
    assert len(read) == 5
    assert "Paris on the Seine" in read
    many = [f"{number} Zorvex" for number in range(3 * MOST_ENCODED)]
    models = Recorded()
    crowded = table("It is Paris.", references=[*many, "Paris"])
    outcome = parse_judge("embedding_cosine").judge(crowded, models)
    assert len(set(models.texts)) == 1 + MOST_ENCODED
    alone = parse_judge("embedding_cosine").judge(table("It is Paris."), Recorded())
    assert outcome["score"].to_list() == alone["score"].to_list(), "the nearest is among them"
    assert alone["explanation"].to_list() == [None]
    assert outcome["explanation"].to_list() == ["the nearest 100 of 301 references were read"]


def test_texts_of_which_the_same_is_read_are_read_once() -> None:
    calls: list[int] = []

    def run(feeds: Any) -> Any:
        calls.append(len(feeds["input_ids"]))
        return [row.sum() for row in feeds["input_ids"]]

    _, tokenizer = opened()
    texts = [f"{'Zorvex ' * 2_000}{number}" for number in range(50)]
    found = in_batches(tokenizer, [*texts, "Paris"], run, max_tokens=128)
    assert sum(calls) == 2
    assert len(found) == 51
    assert len(set(found)) == 2
