"""File names are names: signs that shells and libraries read as patterns mean nothing here."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import polars as pl
import pytest

import markscheme
from markscheme.cli import run
from markscheme.engine.shards import input_pieces
from markscheme.tables.parquet import read_parquet

ROW = {"question": "Who wrote Emma?", "references": ["Jane Austen"], "answer": "Jane Austen"}


def table(*answers: str) -> pl.DataFrame:
    return pl.DataFrame([{**ROW, "answer": answer} for answer in answers])


@pytest.mark.parametrize("name", ["pq[1].parquet", "pq*.parquet", "pq?.parquet", "~.parquet"])
def test_a_parquet_file_is_the_one_of_that_very_name(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    table("wrong").write_parquet(tmp_path / "pq1.parquet")
    with (tmp_path / name).open("wb") as stream:
        table("Jane Austen", "Jane Austen").write_parquet(stream)
    assert read_parquet(name).height == 2
    result = markscheme.judge(name, "exact_match")
    assert result.judgments["verdict"].to_list() == [True, True]
    assert run(["judge", name, "-j", "exact_match", "-o", "out", "-q"]) == 0
    assert pl.read_parquet(tmp_path / "out" / "judgments.parquet").height == 2


def test_a_folder_with_brackets_is_not_the_folder_that_they_match(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    table("wrong").write_parquet("other.parquet")
    table("Jane Austen").write_parquet("mine.parquet")
    markscheme.judge("other.parquet", "exact_match", out="r1")
    before = (tmp_path / "r1" / "judgments.parquet").read_bytes()
    assert run(["judge", "mine.parquet", "-j", "exact_match", "-o", "r[1]", "-q"]) == 0
    assert pl.read_parquet("r[1]/judgments.parquet", glob=False)["verdict"].to_list() == [True]
    assert (tmp_path / "r1" / "judgments.parquet").read_bytes() == before


def test_ray_takes_a_pattern_only_where_no_file_has_that_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("fsspec")
    monkeypatch.chdir(tmp_path)
    for name in ("pq1.parquet", "pq[1].parquet", "pq2.parquet"):
        with (tmp_path / name).open("wb") as stream:
            table("a").write_parquet(stream)
    pieces, _ = input_pieces(["pq[1].parquet"])
    assert [Path(piece.path).name for piece in pieces] == ["pq[1].parquet"]
    pieces, _ = input_pieces(["pq[12].parquet"])
    assert [Path(piece.path).name for piece in pieces] == ["pq1.parquet", "pq2.parquet"]


def test_later_steps_read_the_answers_of_the_run_with_that_very_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    labelled = {"label": 1.0, "topic": "another run's"}
    table("wrong").with_columns(**{k: pl.lit(v) for k, v in labelled.items()}).write_parquet("o.pq")
    table("Jane Austen").with_columns(topic=pl.lit("novels")).write_parquet("mine.pq")
    judge = ["-j", "exact_match", "--slices", "topic", "-q"]
    assert run(["judge", "o.pq", *judge, "-o", "r1"]) == 0
    capsys.readouterr()
    for name in ("r[1]", "r[2J"):  # one that matches the other run, one that is no pattern
        assert run(["judge", "mine.pq", *judge, "-o", name]) == 0
        assert run(["failures", name]) == 0
        shown = capsys.readouterr()
        assert "novels" in shown.out
        assert "another run" not in shown.out
        assert "--labels" not in shown.err


def test_no_module_reads_parquet_by_a_name_that_polars_takes_for_a_pattern() -> None:
    source = Path(markscheme.__file__).parent
    found = [
        path.relative_to(source).as_posix()
        for path in source.rglob("*.py")
        if re.search(r"pl\.(scan|read)_parquet\((?![^()]*glob=False)", path.read_text("utf-8"))
    ]
    # What trains a model reads tables that it has just written itself.
    assert not [name for name in found if not name.startswith("training/")]


def test_a_name_that_is_no_text_is_one_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    name = os.fsdecode(b"\xff\xfe.jsonl")
    Path(name).write_text(json.dumps(ROW) + "\n")
    for arguments in ([name], [name, "-o", "run"]):
        assert run(["judge", *arguments, "-j", "exact_match", "-q"]) == 2
        assert "is not valid UTF-8" in capsys.readouterr().err
