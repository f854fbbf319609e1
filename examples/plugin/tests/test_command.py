"""The command counts, and prints what its function gives."""

import json
from pathlib import Path

import pytest
from markscheme_numbers.command import CountOptions, count_numbers

from markscheme.cli import run

ROWS = [
    {"question": "When?", "references": ["1815"], "answer": "On 23.12.1815", "system": "a"},
    {"question": "Who?", "references": ["Austen"], "answer": "Jane Austen", "system": "a"},
    {"question": "When?", "references": ["1815"], "answer": "1815", "system": "b"},
]


@pytest.fixture
def answers(tmp_path: Path) -> str:
    """A file of answers."""
    file = tmp_path / "answers.jsonl"
    file.write_text("\n".join(map(json.dumps, ROWS)))
    return str(file)


def test_numbers_are_counted_by_system(answers: str) -> None:
    assert count_numbers([answers]).frame.rows() == [("a", 2, 1), ("b", 1, 1)]
    assert count_numbers([answers], CountOptions(least=2)).frame.rows() == [
        ("a", 2, 1),
        ("b", 1, 0),
    ]


def test_the_command_prints_the_same(answers: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["count-numbers", answers, "--least", "2", "--format", "json"]) == 0
    assert capsys.readouterr().out == count_numbers([answers], CountOptions(least=2)).to_json()
