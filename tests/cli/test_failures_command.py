"""`markscheme failures` as a user calls it."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import markscheme
from markscheme.cli import run

Captured = pytest.CaptureFixture[str]


def call(captured: Captured, *arguments: str | Path, exit_code: int = 0) -> str:
    assert run(list(map(str, arguments))) == exit_code
    return "".join(captured.readouterr())


def test_labelled_answers_are_enough(example: Path, tmp_path: Path, capsys: Captured) -> None:
    out, details = tmp_path / "modes.json", tmp_path / "tags.jsonl"
    shown = call(capsys, "failures", example, "--out", out, "--details", details)
    assert "147 answers that people accept" in shown
    assert "bridging_abridging" in shown
    assert "50.3" in shown
    assert len(json.loads(out.read_text())["modes"]) == 147
    tags = pl.read_ndjson(details)
    assert tags.height == 147
    assert tags["evidence"].null_count() == 0


def test_a_run_shows_which_judges_reject_what(
    example: Path, tmp_path: Path, capsys: Captured
) -> None:
    folder = tmp_path / "run"
    call(capsys, "judge", example, "-j", "exact_match", "-j", "contains", "-q", "-o", folder)
    shown = call(capsys, "failures", folder, "--judge-errors")
    assert "147 of 147" in shown
    assert "structure" in shown
    assert "answers that people accept" in call(capsys, "failures", folder, "--trusted", "contains")
    assert "exact_match" in call(capsys, "failures", folder, "--trusted", "nobody", exit_code=2)


def test_errors_of_judges_are_counted_by_system_and_written_out(
    example: Path, tmp_path: Path, capsys: Captured
) -> None:
    result = markscheme.judge(example, ["contains"], out=tmp_path / "run")
    details = tmp_path / "tags.csv"
    words = ("failures", tmp_path / "run", "--judge-errors", "--by", "system")
    shown = call(capsys, *words, "--details", details, "--format", "json")
    found = markscheme.failures(result, judge_errors=True, by="system")
    assert found.to_json() in shown
    assert found.judge_errors is not None
    table = found.tables[-1]
    assert table.header[:3] == ("judge", "kind", "system")
    for system in ("terse", "chatty", "parrot", "hedger"):
        rows = [row for row in table.rows if row[2] == system]
        errors = found.judge_errors.filter(pl.col("system") == system).height
        assert sum(int(row[4].replace(",", "")) for row in rows) == errors > 0
        assert sum(float(row[5]) for row in rows) == pytest.approx(100, abs=0.5)
    whole = markscheme.failures(result, judge_errors=True).tables[-1]
    assert whole.header[:3] == ("judge", "kind", "error")
    written = pl.read_csv(tmp_path / "tags-judge-errors.csv")
    assert written.height == found.judge_errors.height
    assert written["evidence"].null_count() == 0


def test_without_labels_it_says_what_to_give(tmp_path: Path, capsys: Captured) -> None:
    file = tmp_path / "answers.jsonl"
    file.write_text('{"question": "q", "references": ["a"], "answer": "b"}\n')
    assert "--labels" in call(capsys, "failures", file, exit_code=2)
