"""Errors tagged by hand: drawn, labelled in the browser, counted beside the rules' tags."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import polars as pl
import pytest
from annotate_helpers import place, write_rows

import markscheme
from markscheme import cli
from markscheme.analysis import CATEGORIES
from markscheme.annotate.options import AnnotateOptions
from markscheme.errors import DataError, MarkschemeError

Run = Callable[..., str]


@pytest.fixture
def judged(tmp_path: Path) -> str:
    """Two judges that are wrong on the same four answers of each of two systems."""
    rows: list[dict[str, Any]] = []
    for number in range(12):
        wrong = number % 3 == 0
        rows += [
            {"id": f"{system}-{number}", "system": system, "question": f"Who wrote book {number}?",
             "references": [f"Georges Bizet {number}"], "label": 1,
             "answer": f"Bizet, {system}" if wrong else f"Georges Bizet {number}"}
            for system in ("one", "two")
        ]  # fmt: skip
    answers = write_rows(tmp_path / "answers.jsonl", rows)
    out = tmp_path / "run"
    assert cli.run(["judge", answers, "-j", "exact_match", "-j", "contains", "-o", str(out),
                     "-q"]) == 0  # fmt: skip
    return str(out)


def test_errors_go_through_the_browser_and_come_back_as_a_table(
    judged: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sample, tags = tmp_path / "to_tag.jsonl", tmp_path / "tags.jsonl"
    ask = ["failures", judged, "--judge-errors"]
    assert cli.run([*ask, "--to-tag", str(sample), "--sample", "3"]) == 0
    assert f"annotate {sample} --scale error" in " ".join(capsys.readouterr().err.split())
    drawn = pl.read_ndjson(sample)
    assert drawn["judge"].value_counts().sort("judge").rows() == [
        ("contains", 3), ("exact_match", 3)
    ]  # fmt: skip
    assert set(drawn["context"]) == {
        "contains rejects this answer; people accept it.",
        "exact_match rejects this answer; people accept it.",
    }
    project = tmp_path / "tags.sqlite"
    setup = AnnotateOptions(file=str(sample), scale="error", per_item=1, annotators=("Ann",))
    with place(project, setup) as made:
        worker = made.worker("Ann")
        seen = 0
        while worker.item:
            assert 'class="context" open' in worker.html
            synonym = list(CATEGORIES).index("synonym") + 1
            partial = list(CATEGORIES).index("partial_match") + 1
            worker.say(str(synonym if seen < 2 else partial))
            seen += 1
        admin = made.worker("admin").http
        assert "/admin/export/labels" not in admin.get("/admin").text
        assert admin.get("/admin/export/tags").text.count('"tag"') == 6
        assert seen == 6  # the same answer is an error of each judge by itself
    export = ["annotate-export", str(project), "--out", str(tmp_path / "x.jsonl")]
    assert cli.run(export) == 2
    assert "--as tags" in capsys.readouterr().err
    assert cli.run(["annotate-export", str(project), "--as", "tags", "--out", str(tags)]) == 0
    capsys.readouterr()
    assert cli.run([*ask, "--tags", str(tags), "--format", "json"]) == 0
    found = orjson.loads(capsys.readouterr().out)["tagged"]
    assert sorted(row["tag"] for row in found) == ["partial_match"] * 4 + ["synonym"] * 2
    assert {row["rule"] for row in found} == {"partial_match"}
    assert cli.run([*ask, "--tags", str(tags), "--examples", "0"]) == 0
    shown = capsys.readouterr().out
    assert "Tagged by hand" in shown
    assert "Tagged: 6 of 16 errors" in " ".join(shown.split())


def test_a_sample_is_drawn_of_each_judge_and_system_and_is_the_same_again(judged: str) -> None:
    result = markscheme.failures(judged, judge_errors=True, by="system")
    drawn = result.to_tag(2, seed=1)
    assert drawn.group_by("judge", "system").len()["len"].to_list() == [2] * 4
    assert drawn.equals(result.to_tag(2, seed=1))
    assert not drawn.equals(result.to_tag(2, seed=2))
    assert result.to_tag(100).height == 16
    filled = drawn.with_columns(tag=pl.lit("partial_match"))
    again = markscheme.failures(judged, judge_errors=True, by="system", tags=filled)
    table = again.tables[-1]
    assert table.header == ("judge", "system", "error", "by hand", "share", "by rules", "both")
    assert [row[2:] for row in table.rows] == [("partial_match", "2", "100.0", "2", "2")] * 4


def test_failures_of_exact_match_are_tagged_by_the_other_papers_modes(judged: str) -> None:
    result = markscheme.failures(judged)
    drawn = result.to_tag(3)
    assert drawn.height == 3
    filled = drawn.with_columns(tag=pl.lit("ambiguity"))
    again = markscheme.failures(judged, tags=filled)
    assert again.tagged is not None
    assert again.tagged["tag"].to_list() == ["ambiguity"] * 3
    assert set(again.tagged["rule"]) == set(result.frame["mode"])


def test_tags_that_cannot_be_used_are_named(judged: str) -> None:
    drawn = markscheme.failures(judged, judge_errors=True).to_tag(2)

    def refuse(tags: pl.DataFrame) -> str:
        with pytest.raises(DataError) as caught:
            markscheme.failures(judged, judge_errors=True, tags=tags)
        return str(caught.value)

    assert "row 1: wrong" in refuse(drawn.with_columns(tag=pl.lit("wrong")))
    assert "lack the column tag" in refuse(drawn.drop("tag"))
    both = pl.concat([drawn.with_columns(tag=pl.lit(tag)) for tag in ("synonym", "unknown")])
    assert "has two tags, synonym and unknown" in refuse(both)
    other = drawn.with_columns(tag=pl.lit("synonym"), answer_id=pl.lit("none"))
    assert "of an error found here" in refuse(other)
    unlabelled = [{"question": "q", "references": ["a"], "answer": "b", "verdict": False,
                   "judge": "mine"}]  # fmt: skip
    with pytest.raises(MarkschemeError, match="--labels"):
        markscheme.failures(unlabelled).to_tag()
