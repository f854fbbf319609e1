"""What `markscheme judges NAME` shows: parameters in words, their values, papers in full."""

from __future__ import annotations

import re

import pytest

from markscheme.analysis import describe_judge
from markscheme.analysis.bibliography import PAPERS, references
from markscheme.cli import run
from markscheme.contract import judges
from markscheme.errors import JudgeError, UnknownNameError


def test_a_name_with_parameters_shows_their_values_beside_the_defaults() -> None:
    found = describe_judge("token_f1(threshold=0.6)")
    assert found.data["name"] == "token_f1"
    assert found.data["example"] == "token_f1(threshold=0.6)"
    row = found.frame.row(0, named=True)
    assert (row["parameter"], row["default"], row["value"]) == ("threshold", "0.5", "0.6")
    (table,) = found.tables
    assert table.header == ("parameter", "type", "default", "value")
    assert table.rows[0][:4] == ("threshold", "a number", "0.5", "0.6")
    assert "value" not in describe_judge("token_f1").frame.columns


def test_a_notebook_and_markdown_have_what_the_terminal_shows(
    capsys: pytest.CaptureFixture[str],
) -> None:
    name = "llm_evouna(samples=3, temperature=0.5)"
    assert run(["judges", name]) == 0
    shown = capsys.readouterr().out
    found = describe_judge(name)
    for text in (shown, str(found), found.to_markdown(), found._repr_html_()):
        for part in (
            "0.5",
            "paper: Wang et al.",
            "needs: a chat model",
            "judge FILE",
            "temperature.",
        ):
            assert part in text


def test_wrong_parameters_and_unknown_names_are_errors() -> None:
    with pytest.raises(UnknownNameError, match="threshold"):
        describe_judge("token_f1(treshold=0.6)")
    with pytest.raises(JudgeError):
        describe_judge("token_f1(threshold=0.6")
    with pytest.raises(UnknownNameError, match="token_f1"):
        describe_judge("token_f2")


def test_parameters_are_described_though_a_parent_class_says_what_they_are() -> None:
    found = describe_judge("llm_evouna")
    said = dict(zip(found.frame["parameter"], found.frame["description"], strict=True))
    assert said["samples"] == "how many times to ask; more than one needs a temperature."
    for name in ("sure", "vote", "repair", "temperature", "max_tokens"):
        assert said[name], name
    assert "Attributes:" not in describe_judge("examiner").data["documentation"]


def test_every_paper_with_a_year_is_known_in_full_and_none_is_idle() -> None:
    named = {
        one.paper for one in judges().values() if one.judge.__module__.startswith("markscheme")
    }
    for paper in named:
        years = len(set(re.findall(r"[A-Z][\w.& ]*? \d{4}", paper)))
        assert len(references(paper)) >= years, paper
    assert {one for paper in named for one in references(paper)} == set(PAPERS.values())


def test_two_years_of_the_same_authors_are_two_papers() -> None:
    first, second = references("ours; thresholds by Angelopoulos et al. 2021 and 2024")
    assert "2021" in first
    assert "2024" in second
