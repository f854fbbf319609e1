"""Cleaning takes out what chat adds around an answer, and never the answer."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from markscheme.text.clean import clean_series


def clean(text: str) -> str:
    """One text cleaned alone."""
    cleaned: str = clean_series(pl.Series([text]))[0]
    return cleaned


@pytest.mark.parametrize(
    ("chat", "cleaned"),
    [
        ("Paris[^1^].", "Paris."),
        ("Paris [1], says the guide [2, 3].", "Paris, says the guide."),
        ("Paris[^1^][^2^] it is.", "Paris it is."),
        ("Paris[^1^](https://example.org/a_(b)).", "Paris."),
        ("Paris [1](https://example.org/a) .", "Paris ."),
        ("Nova Scotia⁶⁷.  More", "Nova Scotia.  More"),
        ("Paris.¹ Rome.²", "Paris. Rome."),
        ("in 1994⁶ and by Ali⁷, Baltimore ⁶⁷.", "in 1994 and by Ali, Baltimore."),
        ("Paris【4†source】.", "Paris."),
        ("Paris \ue200cite\ue202turn0search3\ue201.", "Paris ."),
        ("Paris (source: Wikipedia).", "Paris."),
        ("It is [Paris](https://example.org).", "It is Paris."),
        ("It is **Paris**.", "It is Paris."),
        ("Paris 😊", "Paris"),
        ("China🇨🇳, France🇫🇷", "China, France"),
        ("Paris.\n\nSources:\n1. https://example.org\n2. https://example.com", "Paris."),
        ("Paris.\nSource: Conversation with Bing, 3/1/2023\n(1) Paris. https://x.org", "Paris."),
        ("Paris.\n\nLearn more: https://example.org", "Paris."),
        ("[1]: https://example.org Paris\nParis[1].", "Paris."),
        ("Paris. Would you like to know more about Paris?", "Paris."),
        ("Paris! Is there anything else I can help you with? 😊", "Paris!"),
        ("[Paris](https://x.org),[Rome](https://y.org)", "Paris,Rome"),
        ("Paris. Do you need a map? Would you like a guide?", "Paris."),
        ("Paris. I hope this helps! Do you have any other questions?", "Paris."),
        ("Paris. Let me know if you need more.", "Paris."),
        ("It is in Paris. Are you planning a trip there?", "It is in Paris."),
        ("Paris. Source: Conversation with Bing, 3/1/2023 (1) Paris. https://x.org", "Paris."),
        ("Paris (Source: Conversation with Bing)", "Paris"),
    ],
)  # fmt: skip
def test_what_chat_adds_goes(chat: str, cleaned: str) -> None:
    assert clean(chat) == cleaned


@pytest.mark.parametrize(
    "answer",
    [
        "10⁶ km², E = mc²",
        "The source: a spring in the hills",
        "They asked: are you planning a trip there? Nobody was.",
        "Who's Afraid of Virginia Woolf?",
        "The play asks: who would you like to be?",
        "array[0] and [a] and [1999]",
        "2 ** 3",
        "use .NET",
        "《论语》 and 【书】",
        "https://example.org",
        "References to Paris are many",
        "Paris.\nDo you want to see a map? Or a guide?",
        "",
        "Paris",
    ],
)
def test_what_belongs_to_the_answer_stays(answer: str) -> None:
    assert clean(answer) == answer


@pytest.mark.parametrize(
    "answer", ["[1]", "🇫🇷", "Would you like to know more?", "Sources:\nhttps://x.org", "⁶", "**a**"]
)
def test_never_empties_an_answer(answer: str) -> None:
    assert clean(answer).strip()


chat = st.lists(
    st.one_of(
        st.sampled_from(
            ["Paris", " ", "\n", ".", "[1]", "[^2^]", "⁶", "😊", "**", "?", "(1)", "é"]
        ),
        st.sampled_from(
            ["Sources:", "Would you like more?", "https://x.org", "[a](https://x.org)"]
        ),
        st.text(max_size=3),
    ),
    max_size=12,
).map("".join)


@given(st.lists(chat, max_size=10))
def test_column_equals_scalar_and_nothing_is_emptied(texts: list[str]) -> None:
    column = pl.Series("answer", texts, dtype=pl.String)
    got = clean_series(column)
    assert got.to_list() == [clean(text) for text in texts]
    for text, cleaned in zip(texts, got, strict=True):
        assert (cleaned == "") == (text == "")


def test_nulls_name_and_order_are_kept() -> None:
    got = clean_series(pl.Series("answer", ["a [1]", None, "b"]))
    assert got.name == "answer"
    assert got.to_list() == ["a", None, "b"]


@pytest.mark.parametrize("piece", ["[1", "\n", "**", "? ", "would you like", " (source:", "[^1^]"])
def test_hostile_answers_take_linear_time(piece: str) -> None:
    clean(piece * 100_000)


def test_evouna_keeps_its_answers(data_dir: Path) -> None:
    questions = json.loads((data_dir / "evouna" / "NQ.json").read_text(encoding="utf-8"))
    bing = pl.Series([q["answer_newbing"] for q in questions if q["answer_newbing"]])
    cleaned = clean_series(bing)
    assert 50 < (cleaned != bing).sum() < 100
    assert bing.str.contains("[⁶-⁹]").sum() > 50
    assert cleaned.str.contains("[⁶-⁹]").sum() <= 2
    fid = pl.Series([q["answer_fid"] for q in questions if q["answer_fid"]])
    assert clean_series(fid).equals(fid)
