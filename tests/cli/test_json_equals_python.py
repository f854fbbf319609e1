"""`--format json` of a command is the Python call's `to_json`, to the byte."""

from __future__ import annotations

from pathlib import Path

import pytest

import markscheme
from markscheme.analysis import ledger_figures, make_statements, mark_claims, plan_calls
from markscheme.cli import run
from markscheme.contract import parse_judge
from markscheme.models import ModelOptions, Models
from markscheme.models.ledger import Ledger
from markscheme.tables import AnswersReader

Captured = pytest.CaptureFixture[str]


def printed(captured: Captured, *words: str | Path) -> str:
    assert run([*map(str, words), "--format", "json"]) == 0
    return captured.readouterr().out


def test_explain(capsys: Captured) -> None:
    said = "It was Jane Austen, in 1815."
    words = ("explain", "-q", "Who wrote Emma?", "-r", "Jane Austen", "-a", said)
    found = markscheme.explain("Who wrote Emma?", ["Jane Austen"], said)
    assert printed(capsys, *words) == found.to_json()
    assert found.frame.columns == ["feature", "meaning", "value", "effect"]
    assert found.frame.height > 6
    assert len(found.tables[-1].rows) == 6


def test_probe(example: Path, capsys: Captured) -> None:
    words = ("probe", "contains", example, "-q", "--limit", "50", "--probes", "capitals,injection")
    found = markscheme.probe("contains", example, limit=50, probes=("capitals", "injection"))
    assert printed(capsys, *words) == found.to_json()
    assert found.frame["probe"].to_list() == ["capitals", "injection"]
    assert found.frame["answers"].to_list() == [50, 50]


def test_failures(example: Path, tmp_path: Path, capsys: Captured) -> None:
    assert printed(capsys, "failures", example) == markscheme.failures(example).to_json()
    result = markscheme.judge(example, ["exact_match", "contains"], out=tmp_path / "run")
    found = markscheme.failures(result, judge_errors=True)
    assert printed(capsys, "failures", tmp_path / "run", "--judge-errors") == found.to_json()
    assert found.frame.height == 147
    assert found.error_rates is not None
    assert found.judge_errors is not None


def test_claims(capsys: Captured) -> None:
    said = "It was Jane Austen. She wrote it in 1815."
    words = ("claims", "-q", "Who wrote Emma?", "-r", "Jane Austen wrote it.", "-a", said)
    found = mark_claims("Who wrote Emma?", ["Jane Austen wrote it."], said, models=Models())
    assert printed(capsys, *words) == found.to_json()
    assert found.frame.height == 2


def test_ledger_stats(tmp_path: Path, capsys: Captured) -> None:
    place = str(tmp_path / "ledger.sqlite")
    Ledger(place).close()
    printed_text = printed(capsys, "ledger", "stats", "--ledger", place)
    assert printed_text == ledger_figures(place).to_json()


def test_a_dry_run_is_planned_from_python_as_well(example: Path, capsys: Captured) -> None:
    options = ModelOptions(model="small", dry_run=True)
    found = plan_calls(AnswersReader([str(example)]), [parse_judge("llm_grader")], options)
    words = ("judge", example, "-j", "llm_grader", "--model", "small", "--dry-run")
    assert run([*map(str, words)]) == 0
    shown = capsys.readouterr().out
    assert f"{found.frame['calls'].item():,}" in shown
    assert found.tables[0].title in shown


def test_statements_from_python(tmp_path: Path) -> None:
    file = tmp_path / "pairs.jsonl"
    file.write_text('{"question": "who wrote emma", "answer": "Jane Austen"}\n')
    found = make_statements(str(file), models=Models())
    assert found.frame["statement"].to_list() == ["Jane Austen wrote emma."]
    assert found.counts == {"rules": {"judged": 1}}
    assert found.tables == ()
