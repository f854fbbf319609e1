"""The Python calls: the same judgments from every kind of input, and one answer at a time."""

from __future__ import annotations

import doctest
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

import markscheme
from markscheme import api

JUDGES = ["exact_match", "contains", "token_f1(threshold=0.6)"]


@pytest.fixture
def wanted(example: Path) -> pl.DataFrame:
    return markscheme.judge(example, JUDGES).judgments


def test_a_path_a_frame_and_a_list_of_dicts_give_the_same(
    example: Path, wanted: pl.DataFrame
) -> None:
    frame = pl.read_ndjson(example)
    inputs: list[Any] = [str(example), [example], frame, frame.lazy(), frame.to_dicts()]
    inputs.append(pd.read_json(example, lines=True))
    for given in inputs:
        assert markscheme.judge(given, JUDGES).judgments.equals(wanted)


def test_ids_that_were_given_come_back(example: Path, wanted: pl.DataFrame) -> None:
    ids = pl.read_ndjson(example)["id"].to_list()
    assert wanted.filter(pl.col("judge") == "exact_match")["answer_id"].to_list() == ids


def test_judges_as_objects_or_names(example: Path, wanted: pl.DataFrame) -> None:
    judges = [markscheme.parse_judge(name) for name in JUDGES]
    assert markscheme.judge(example, judges).judgments.equals(wanted)
    single = markscheme.judge(example, judges[0]).judgments
    assert single.equals(wanted.filter(pl.col("judge") == "exact_match"))


def test_the_summary_is_a_table_and_prints(example: Path) -> None:
    result = markscheme.judge(example, "contains")
    summary = result.summary
    assert summary["system"].to_list() == ["terse", "chatty", "hedger", "parrot", "(all)"]
    assert summary["accuracy"].is_between(summary["accuracy_low"], summary["accuracy_high"]).all()
    assert "| contains | terse |" in result.to_markdown()
    assert "contains   terse" in str(result)


def test_marking_one_answer() -> None:
    judgment = markscheme.mark("Who wrote Emma?", "Jane Austen", "jane austen!", "exact_match")
    assert judgment.verdict is True
    assert judgment
    assert judgment.judge == "exact_match"
    assert not markscheme.mark("Who wrote Emma?", ["Jane Austen"], "Emily", "exact_match")


def test_no_answer_is_wrong_and_what_cannot_be_judged_is_no_false() -> None:
    silence = markscheme.mark("Who?", ["Ann"], None, "exact_match")  # type: ignore[arg-type]
    assert (silence.verdict, silence.explanation) == (False, "no answer was given")
    judgment = markscheme.mark("Who?", ["("], "Ann", "regex")
    assert judgment.status == "failed"
    assert judgment.verdict is None
    with pytest.raises(ValueError, match="no verdict: failed"):
        bool(judgment)


def test_bad_input_is_named() -> None:
    with pytest.raises(markscheme.MarkschemeError, match="row 1: no references"):
        markscheme.mark("Who?", " ", "Ann", "exact_match")
    with pytest.raises(markscheme.MarkschemeError, match="cannot be read from int"):
        markscheme.judge(17, "exact_match")  # type: ignore[arg-type]
    with pytest.raises(markscheme.MarkschemeError, match="twice"):
        markscheme.judge([{"question": "q", "gold": "a", "answer": "a"}], ["contains"] * 2)
    with pytest.raises(markscheme.MarkschemeError, match="no cleaning named 'spam'"):
        markscheme.judge([], "contains", clean="spam")  # type: ignore[arg-type]


def test_examples_in_docstrings_hold() -> None:
    assert doctest.testmod(api).failed == 0
    assert doctest.testmod(api).attempted >= 4


def test_a_result_writes_its_report(tmp_path: Path) -> None:
    rows = [
        {"question": "Who wrote Emma?", "references": ["Jane Austen"], "answer": said, "label": one}
        for said, one in (("Jane Austen", 1), ("<script>Emily</script>", 0))
    ]
    result = markscheme.judge(rows, ["exact_match", "contains"])
    page = result.report(tmp_path / "in memory.html").read_text()
    assert "<html" in page
    assert "<script>Emily" not in page
    kept = markscheme.judge(rows, "exact_match", out=tmp_path / "run")
    assert kept.report(tmp_path / "kept.html").stat().st_size > 10_000


def test_answers_of_a_result_are_read_as_often_as_they_are_asked_for(example: Path) -> None:
    result = markscheme.judge(example, "exact_match")
    assert result.answers.equals(result.answers)
    assert result.wrong().equals(result.wrong())
