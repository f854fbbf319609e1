"""The prompts of Yao & Barbosa's marks are as Table 17 prints them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from markscheme.errors import JudgeError
from markscheme.judges.prompted.prompt import STAGES, shipped

EXPLAIN, RATE = "inference_yao", "inference_difficulty_yao"


@pytest.fixture(scope="module")
def paper(papers: Path) -> str:
    text = (papers / "yao-barbosa-2024-entailment.txt").read_text()
    return re.sub(r"\s+", " ", text)


@pytest.mark.parametrize(
    ("name", "values"),
    [(EXPLAIN, {"s1": "{s1}", "s2": "{s2}"}), (RATE, {})],
)
def test_they_are_as_printed(name: str, values: dict[str, str], paper: str) -> None:
    *system, (role, asked) = shipped()[name].turns(values)
    assert role == "user"
    assert [text for _, text in system] in ([], ["You are a helpful assistant and an expert in "
                                                 "reasoning."])  # fmt: skip
    assert f"| {re.sub(chr(92) + 's+', ' ', asked)} |" in paper


def test_the_papers_sampling() -> None:
    for name in (EXPLAIN, RATE):
        prompt = shipped()[name]
        assert (prompt.temperature, prompt.max_tokens, prompt.quoted) == (0.0, 300, True)
        assert prompt.parser in STAGES


@given(s1=st.text(max_size=60), s2=st.text(max_size=60))
def test_statements_stand_in_the_prompt_as_they_are(s1: str, s2: str) -> None:
    _, (_, asked) = shipped()[EXPLAIN].turns({"s1": s1, "s2": s2})
    assert f"S1: {s1}\nS2: {s2}\nNow, list" in asked


def test_a_missing_statement_is_an_error() -> None:
    with pytest.raises(JudgeError, match="'s2' is undefined"):
        shipped()[EXPLAIN].turns({"s1": "x"})
