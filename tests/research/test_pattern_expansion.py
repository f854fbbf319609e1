"""Patterns written out: every text matches, what is endless is left, answers become literals."""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars as pl
import pytest

import markscheme
import markscheme_research
from markscheme.cli import run
from markscheme.errors import DataError
from markscheme_research.datasets import load
from markscheme_research.studies import expand_pattern, expand_references, literal_pattern

CASES = {
    r"Mt\.? (?:St\.|Saint) Helens?": "Mt. St. Helens",
    r"(Ben|Benjamin) Franklin|B\. Franklin": "Benjamin Franklin",
    r"J\.?\s?F\.?\s?K(ennedy)?": "J. F. Kennedy",
    r"12:?30": "1230",
    r"Kennedy.*Airport": "Kennedy Airport",
    r"[Cc]olou?r": "Color",
    r"^\s*Etna\s*$": "Etna",
    r"a.b": "a.b",
    r"(1[789]|20) miles?": "18 miles",
    r"2,159 miles|3,?474(.2[0-9]*)?\s*m": "2,159 miles",
}


@pytest.mark.parametrize("pattern", CASES)
def test_every_text_matches_its_pattern_and_the_plain_reading_is_among_them(pattern: str) -> None:
    found = expand_pattern(pattern, most=40)
    assert CASES[pattern] in found
    assert len(found) == len(set(found))
    assert all(re.fullmatch(pattern, text, re.IGNORECASE | re.MULTILINE) for text in found)


@pytest.mark.parametrize(
    "pattern",
    [r"1\d+ feet", r"(a+)+$", r"(?<=x)y", "(", "", ".*", r"\bno\b(?!w)", r"[^0-9]*", r"(\w)\1"],
)
def test_what_stands_for_texts_without_number_is_left(pattern: str) -> None:
    assert expand_pattern(pattern) == []


def test_no_alternative_is_crowded_out() -> None:
    assert expand_pattern(r"a?b?c?d?e?f|zebra", most=2) == ["abcdef", "zebra"]


def test_a_hostile_pattern_ends() -> None:
    assert len(expand_pattern("(a|b|c|d)?" * 60 + "x", most=5)) == 5
    assert expand_pattern("(" * 150 + "a" + ")" * 150) in ([], ["a"])
    assert expand_pattern("(x{9}){9}" * 3) in ([], ["x" * 243])


@pytest.mark.parametrize(
    ("answer", "text", "found"),
    [
        ("6", "1,600", False), ("6", "16", False), ("6", "6.5", False), ("6", "It is 6.", True),
        ("6", "6", True), ("6", "1.6", False), ("6", "a, 6, b", True),
        ("C++", "in C++ it", True), ("C++", "C", False), ("a.b", "axb", False),
        ("New York", "New  York", True), ("York", "Yorkshire", False),
    ],
)  # fmt: skip
def test_an_accepted_answer_is_found_as_it_stands_and_not_inside_others(
    answer: str, text: str, found: bool
) -> None:
    assert bool(re.search(literal_pattern(answer), text, re.MULTILINE)) is found
    row = {"question": "q", "references": [literal_pattern(answer)], "answer": text,
           "reference_kind": "regex"}  # fmt: skip
    assert markscheme.judge([row], "regex").judgments["verdict"].to_list() == [found]


ROWS = [
    {"question": "How many?", "references": ["six|VI"], "answer": answer, "label": label,
     "system": system, "reference_kind": "regex"}
    for answer, label, system in (("6", 1, "a"), ("1,600", 0, "b"), ("It is six.", 1, "b"))
]  # fmt: skip


def test_patterns_are_amended_with_escaped_literals_and_scored_by_patterns() -> None:
    found = markscheme_research.amend(ROWS)
    assert found.systems.to_dicts() == [
        {"system": "a", "answers": 1, "before": 0.0, "after": 1.0},
        {"system": "b", "answers": 2, "before": 0.5, "after": 0.5},
    ]
    assert found.tables[0].title.startswith("Pattern match")
    verdicts = markscheme.judge(found.frame, "regex").judgments["verdict"]
    assert verdicts.to_list() == [True, False, True]


def test_expanded_references_are_read_by_every_judge(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "answers.jsonl"
    rows = [*ROWS, {**ROWS[0], "question": "How far?", "references": [r"5\d+ feet"]}]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = expand_references(str(file))
    assert found.counts == {
        "rows": 4, "rows_expanded": 3, "patterns": 2, "patterns_expanded": 1, "texts": 2,
    }  # fmt: skip
    assert found.left == (r"5\d+ feet",)
    judged = markscheme.judge(found.frame, "contains").judgments
    assert judged["verdict"].to_list() == [False, False, True, None]
    out = tmp_path / "out.jsonl"
    assert run(["references", "expand", str(file), "-o", str(out), "--format", "json"]) == 0
    assert capsys.readouterr().out == found.to_json()
    assert markscheme.read_answers(out)["references"].to_list()[0] == ["six", "VI"]


def test_plain_references_are_not_taken_for_patterns(example: Path) -> None:
    with pytest.raises(DataError, match="no reference is a pattern"):
        expand_references(str(example))


def test_nearly_all_of_curatedtrecs_patterns_are_written_out_and_every_text_matches(
    data_dir: Path,
) -> None:
    patterns = load("curatedtrec", data_dir=data_dir, split="full")
    texts = patterns.with_columns(
        answer=pl.Series([expand_pattern(one) for (one,) in patterns["references"]])
    )
    written = texts.filter(pl.col("answer").list.len() > 0)
    assert (texts.height, written.height) == (867, 860)
    every = written.explode("answer").with_columns(
        answer_id=pl.int_range(pl.len()).cast(pl.String), system=pl.lit("written out")
    )
    judged = markscheme.judge(every, judges=["regex"]).judgments
    assert every.height > 2_000
    assert judged["verdict"].sum() == every.height  # by another engine than that which wrote them
