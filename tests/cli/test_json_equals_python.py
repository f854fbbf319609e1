"""`--format json` of a command is the Python call's `to_json`, to the byte."""

from __future__ import annotations

from pathlib import Path

import pytest

import markscheme
from markscheme.cli import run

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
