"""Figures by columns of the user's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import markscheme
from markscheme.errors import DataError

ROWS = [
    {"question": f"q{number}", "gold": "a", "answer": "a" if number % 4 else "b",
     "topic": "odd" if number % 2 else "even", "size": number}
    for number in range(8)
]  # fmt: skip


@pytest.mark.parametrize("folder", [False, True])
def test_accuracy_by_a_column(tmp_path: Path, folder: bool) -> None:
    out = tmp_path / "run" if folder else None
    result = markscheme.judge(ROWS, "exact_match", slices=["topic", "size"], out=out)
    by = result.by("topic")
    assert dict(by.select("topic", "accuracy").iter_rows()) == {"even": 0.5, "odd": 1.0}
    assert by["judged"].to_list() == [4, 4]
    assert result.by("size").height == 8
    if out is not None:
        kept = pl.read_parquet(out / "answers.parquet")
        assert kept["topic"].to_list() == ["even", "odd"] * 4
    assert "topic" not in result.run.ignored


def test_a_column_that_is_not_there_is_named() -> None:
    with pytest.raises(DataError, match="no column 'topik', which --slices or"):
        markscheme.judge(ROWS, "exact_match", slices=["topik"])
    with pytest.raises(DataError, match="--slices topic"):
        markscheme.judge(ROWS, "exact_match").by("topic")


@pytest.mark.parametrize("name", ["status", "relation", "mode", "judge"])
def test_a_slice_with_the_name_of_a_column_of_judgments_is_refused(name: str) -> None:
    rows = [row | {name: row["topic"]} for row in ROWS]
    with pytest.raises(DataError, match=f"called '{name}', since .* such as to 'own_{name}'"):
        markscheme.judge(rows, "exact_match", slices=[name])
    assert markscheme.judge(rows, "exact_match").wrong().height == 2


def test_our_own_columns_are_slices_too() -> None:
    rows = [row | {"system": "one"} for row in ROWS]
    assert markscheme.judge(rows, "exact_match", slices=["system"]).by("system")["judged"][0] == 8


def test_a_blank_value_is_none_in_every_command(tmp_path: Path) -> None:
    """CSV has no null: its empty cells were a slice of their own, without a name."""
    topics = ("odd", "", " ", None)
    rows: list[dict[str, Any]] = [{**row, "topic": topics[n % 4]} for n, row in enumerate(ROWS)]
    result = markscheme.judge(rows, "exact_match", slices=["topic"])
    assert result.by("topic")["topic"].to_list() == ["odd", "(none)"]
    found = markscheme.failures(result, slices=("topic",))
    assert [one["topic"] for one in found.data["slices"]["topic"]] == ["odd", None]
    assert "(none)" in str(found)
    base = [{**row, "answer": "a"} for row in ROWS]
    changed = markscheme.diff(base, rows, judge="exact_match", slices=("topic",))
    assert "6 pairs have no topic on the new side" in str(changed)
    judged = tmp_path / "judged.csv"
    pl.DataFrame(rows).with_columns(verdict=1, label=pl.col("size") % 2).write_csv(judged)
    people = markscheme.agree(judged, slices=("topic",)).data["slices"]["topic"]["judge"]
    assert {topic: one.answers for topic, one in people.items()} == {"odd": 2, "(none)": 6}
