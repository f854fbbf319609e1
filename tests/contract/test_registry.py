"""What is known of judges without asking them anything."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl
import pytest

import markscheme
from markscheme.contract import registry
from markscheme.contract.grammar import judge_name, parse_judge
from markscheme.contract.registry import asks_chat, parts
from markscheme.errors import JudgeError


@pytest.mark.parametrize(
    ("name", "asks"),
    [
        ("examiner", False),
        ("claims", False),
        ("claims(test=chat)", True),
        ("claims(statements='chat:other')", True),
        ("entailment", False),
        ("entailment(statements=chat)", True),
        ("llm_kamalloo", True),
        ("cascade(first=examiner, then=llm_kamalloo)", True),
        ("cascade(first=token_f1, then=contains)", False),
        ("panel(judges=(examiner, cascade(first=token_f1, then=pairwise)))", True),
    ],
)
def test_who_asks_a_chat_model_is_known_beforehand(name: str, asks: bool) -> None:
    assert asks_chat(parse_judge(name)) is asks


def test_parts_are_the_judge_and_those_inside_it_at_any_depth() -> None:
    nested = "panel(judges=(exact_match, cascade(first=token_f1, then=contains)))"
    names = [judge_name(part).partition("(")[0] for part in parts(parse_judge(nested))]
    assert names == ["panel", "exact_match", "cascade", "token_f1", "contains"]


def test_a_method_that_cannot_be_called_with_answers_and_models_is_refused() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Forgetful:
        """Has no models."""

        def judge(self, answers: pl.DataFrame) -> pl.DataFrame:
            return answers

    with pytest.raises(JudgeError, match=r"write def judge\(self, answers, models\)"):
        markscheme.register("forgetful")(Forgetful)
    assert "forgetful" not in markscheme.judges()


def test_an_exception_inside_a_judge_names_the_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_ENTRIES", dict(registry._ENTRIES))

    @markscheme.register("raises_inside")
    @dataclass(frozen=True, kw_only=True)
    class Raises:
        """Raises."""

        def judge(self, answers: pl.DataFrame, models: Any) -> pl.DataFrame:
            raise ValueError("my own bug")

    row = {"question": "q", "references": ["r"], "answer": "a"}
    with pytest.raises(ValueError, match="my own bug") as caught:
        markscheme.judge([row], Raises())
    assert caught.value.__notes__ == ["raised by the judge raises_inside (answers: 1)"]
