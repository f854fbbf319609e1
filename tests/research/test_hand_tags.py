"""Errors tagged by hand: drawn, filled in, counted next to the rules' tags."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import markscheme
from markscheme.cli import run
from markscheme.errors import DataError, MarkschemeError
from markscheme_research.studies import errors_by_hand


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
    out = tmp_path / "run"
    markscheme.judge(rows, ["exact_match", "contains"], out=out)
    return str(out)


def test_what_is_drawn_and_filled_in_comes_back_as_a_table(
    judged: str, tmp_path: Path, cli: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    sample = tmp_path / "to_tag.csv"
    ask = ["research", "tags", judged, "--judge-errors"]
    cli(*ask, "--to-tag", sample, "--sample", "3")
    drawn = pl.read_csv(sample)
    assert drawn["judge"].value_counts().sort("judge").rows() == [
        ("contains", 3), ("exact_match", 3)
    ]  # fmt: skip
    assert set(drawn["context"]) == {
        "contains rejects this answer; people accept it.",
        "exact_match rejects this answer; people accept it.",
    }
    assert drawn["answer_id"].n_unique() == 6  # an answer is an error of each judge by itself
    tags = ["synonym"] * 2 + ["partial_match"] * 3 + [None]
    drawn.with_columns(tag=pl.Series(tags)).write_csv(sample)
    found = errors_by_hand(judged, judge_errors=True, tags=sample)
    assert cli(*ask, "--tags", sample, "--format", "json") == found.to_json()
    assert found.frame["tag"].sort().to_list() == ["partial_match"] * 3 + ["synonym"] * 2
    assert set(found.frame["rule"]) == {"partial_match"}
    shown = " ".join(cli(*ask, "--tags", sample).split())
    assert "Tagged by hand" in shown
    assert "Tagged: 5 of 16 errors" in shown
    assert "agree on 3 of 5" in shown
    assert run(ask) == 2
    assert "--to-tag FILE to draw errors, or --tags FILE" in capsys.readouterr().err


def test_tags_are_not_lost_to_another_draw(
    judged: str, tmp_path: Path, cli: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    sample = tmp_path / "to_tag.csv"
    ask = ["research", "tags", judged, "--judge-errors", "--to-tag", str(sample)]
    cli(*ask)
    cli(*ask, "--seed", "1")
    pl.read_csv(sample).with_columns(tag=pl.lit("synonym")).write_csv(sample)
    before = sample.read_bytes()
    assert run(ask) == 2
    assert "holds 16 tags, which would be lost" in " ".join(capsys.readouterr().err.split())
    assert sample.read_bytes() == before


def test_a_sample_is_drawn_of_each_judge_and_system_and_is_the_same_again(judged: str) -> None:
    def draw(**keywords: Any) -> pl.DataFrame:
        return errors_by_hand(judged, judge_errors=True, by="system", **keywords).frame

    drawn = draw(sample=2, seed=1)
    assert drawn.group_by("judge", "system").len()["len"].to_list() == [2] * 4
    assert drawn.equals(draw(sample=2, seed=1))
    assert not drawn.equals(draw(sample=2, seed=2))
    assert draw().height == 16
    filled = drawn.with_columns(tag=pl.lit("partial_match"))
    (table,) = errors_by_hand(judged, judge_errors=True, by="system", tags=filled).tables
    assert table.header == ("judge", "system", "error", "by hand", "share", "by rules", "both")
    assert [row[2:] for row in table.rows] == [("partial_match", "2", "100.0", "2", "2")] * 4


def test_failures_of_exact_match_are_tagged_by_the_other_papers_modes(judged: str) -> None:
    drawn = errors_by_hand(judged, sample=3).frame
    assert set(drawn["context"]) == {"exact_match rejects this answer; people accept it."}
    found = errors_by_hand(judged, tags=drawn.with_columns(tag=pl.lit("ambiguity")))
    assert found.frame["tag"].to_list() == ["ambiguity"] * 3
    assert set(found.frame["rule"]) == set(markscheme.failures(judged).frame["mode"])


def test_tags_that_cannot_be_used_are_named(judged: str) -> None:
    drawn = errors_by_hand(judged, judge_errors=True, sample=2).frame

    def refuse(tags: pl.DataFrame) -> str:
        with pytest.raises(DataError) as caught:
            errors_by_hand(judged, judge_errors=True, tags=tags)
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
        errors_by_hand(unlabelled)
