"""Judges that ask no chat model read answers without formatting, wherever they are asked."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import markscheme
from markscheme.contract import parse_judge, signature
from markscheme.engine import signed
from markscheme.errors import DataError
from markscheme.flags import CLEANING
from markscheme.models import Models
from markscheme.testing import ScriptedChat

ROWS = [
    {"question": "Which country?", "references": ["France"], "answer": "France [1]"},
    {"question": "Which river?", "references": ["Rhône"], "answer": "Rhône. Can I help you more?"},
    {"question": "Which river?", "references": ["Rhône"], "answer": "Rhône"},
    {"question": "What is written?", "references": ["a [1]"], "answer": "a [1]"},
    {"question": "Which river?", "references": ["Rhône"], "answer": None},
]


def test_marks_and_offers_are_not_judged_and_are_counted() -> None:
    result = markscheme.judge(ROWS, "exact_match")
    assert result.judgments.sort("answer_id")["verdict"].sum() == 4
    assert [rows for note, rows in result.run.notes.items() if "--clean none" in note] == [2]
    raw = markscheme.judge(ROWS, "exact_match", clean="none")
    assert raw.judgments["verdict"].sum() == 2
    assert not [note for note in raw.run.notes if "clean" in note]


def test_a_chat_model_is_sent_the_answer_as_it_stands() -> None:
    chat = ScriptedChat(replies=lambda _: "yes")
    result = markscheme.judge(ROWS, "llm_grader", models=Models(chat=chat))
    sent = [request.messages[-1].content for request in chat.seen]
    assert any("France [1]" in text for text in sent)
    assert any("Can I help you more?" in text for text in sent)
    assert not [note for note in result.run.notes if "clean" in note]


def test_a_judge_inside_of_one_that_asks_reads_plain_answers() -> None:
    chat = ScriptedChat(replies=lambda _: "yes")
    judge = "cascade(first=exact_match, then=llm_grader)"
    result = markscheme.judge(ROWS[:2], judge, models=Models(chat=chat))
    assert result.judgments["verdict"].to_list() == [True, True]
    assert not chat.seen  # The first judge was sure: it saw "France" and "Rhône.".
    assert [rows for note, rows in result.run.notes.items() if "clean" in note] == [2]


def test_one_answer_and_its_explanation_are_judged_as_in_a_run() -> None:
    row = ROWS[0]
    for judge in ("exact_match", "examiner"):
        alone = markscheme.mark(row["question"], row["references"], row["answer"], judge)
        run = markscheme.judge([row], judge).judgments.row(0, named=True)
        assert (alone.verdict, alone.score) == (run["verdict"], run["score"])
        assert alone.signature == run["signature"]
    explained = markscheme.explain(row["question"], row["references"], row["answer"])
    assert explained.answer == "France"
    assert explained.judgment["score"] == alone.score


def test_cleaning_is_in_the_signature_and_in_the_plan(tmp_path: Path) -> None:
    judge, asking = parse_judge("exact_match"), parse_judge("llm_grader")
    models = Models(chat=ScriptedChat(replies=lambda _: "yes"))
    assert signed(judge, None, CLEANING) == f"{signature(judge)} clean=formatting"
    assert signed(judge, None, "none") == signature(judge)
    assert signed(asking, models, CLEANING) == signature(asking, models)
    markscheme.judge(ROWS, "llm_grader", models=models, out=tmp_path / "asking")
    plan = json.loads((tmp_path / "asking" / "run.json").read_text())
    assert plan["options"] == {"clean": None}  # As before cleaning was the default: it resumes.


def test_a_run_keeps_the_answers_and_is_resumed_with_the_same_note(tmp_path: Path) -> None:
    first = markscheme.judge(ROWS, "exact_match", out=tmp_path / "run")
    again = markscheme.judge(ROWS, "exact_match", out=tmp_path / "run")
    kept = pl.read_parquet(tmp_path / "run" / "answers.parquet")
    assert kept["answer"].to_list() == [row["answer"] for row in ROWS]
    assert "answer_plain" not in kept.columns
    assert again.run.notes == first.run.notes
    assert again.judgments.equals(first.judgments)
    with pytest.raises(markscheme.errors.RunError, match="clean"):
        markscheme.judge(ROWS, "exact_match", out=tmp_path / "run", clean="none")


def test_an_unknown_cleaning_is_refused() -> None:
    with pytest.raises(DataError, match="no cleaning named 'soap'; there are formatting, none"):
        markscheme.judge(ROWS, "exact_match", clean="soap")  # type: ignore[arg-type]
