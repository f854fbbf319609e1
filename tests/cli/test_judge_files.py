"""`-j ./mine.py:Judge`: a judge in a file of one's own, on the command line alone."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import markscheme
from markscheme.cli import run
from markscheme.contract.registry import JUDGES
from markscheme.errors import MarkschemeError

JUDGE = '''
from dataclasses import dataclass
import polars as pl
from markscheme import register
from markscheme.contract import Needs
import {helper}

@register("{name}", needs=Needs(chat=False))
@dataclass(frozen=True, kw_only=True)
class Judge:
    """Accepts answers of at least so many characters."""

    least: int = 3

    def judge(self, answers, models):
        return answers.select(verdict=pl.col("answer").str.len_chars() >= self.least)

class Other:
    pass
'''
ROWS = [
    {"question": "Who?", "references": ["Austen"], "answer": "Jane", "system": "mine"},
    {"question": "Who?", "references": ["Austen"], "answer": "J", "system": "mine"},
]


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with a judge, what it imports from beside it, and answers."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    helper = f"helper_of_{tmp_path.name}"
    (tmp_path / f"{helper}.py").write_text("")
    file = tmp_path / f"mine_of_{tmp_path.name}.py"
    file.write_text(JUDGE.format(helper=helper, name=f"long_{tmp_path.name}"))
    (tmp_path / "answers.jsonl").write_text("\n".join(map(json.dumps, ROWS)))
    monkeypatch.chdir(tmp_path)
    yield file
    for name in [name for name in sys.modules if name.endswith(f"_of_{tmp_path.name}")]:
        del sys.modules[name]
    JUDGES.known.pop(f"long_{tmp_path.name}", None)


@pytest.mark.parametrize(
    ("parameters", "accuracy"), [("", 0.5), ("(least=1)", 1.0), ("(least=5)", 0.0)]
)
def test_it_judges(
    mine: Path, parameters: str, accuracy: float, capsys: pytest.CaptureFixture[str]
) -> None:
    judge = f"./{mine.name}:Judge{parameters}"
    assert run(["judge", "answers.jsonl", "-j", judge, "-q", "-o", "r", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["figures"][0]["accuracy"] == accuracy
    assert "source=" in found["figures"][0]["signature"]


def test_a_judge_in_a_package_may_import_what_lies_next_to_the_package(
    mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (mine.parent / "package").mkdir()
    (mine.parent / "package" / "__init__.py").touch()
    file = mine.rename(mine.parent / "package" / mine.name)
    monkeypatch.syspath_prepend(mine.parent)
    assert run(["judge", "answers.jsonl", "-j", f"package/{file.name}:Judge", "-q"]) == 0


def test_a_file_may_try_an_import_that_only_its_package_has(mine: Path) -> None:
    attempt = "try:\n    from ..limits import LEAST\nexcept ImportError:\n    LEAST = 3\n"
    mine.write_text(attempt + mine.read_text())
    assert run(["judge", "answers.jsonl", "-j", f"{mine.name}:Judge", "-q"]) == 0


def test_errors_say_what_to_do(mine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (mine.parent / "json.py").write_text("")
    (mine.parent / "broken_file.py").write_text("1 / 0")
    for judge, words in {
        "./nowhere.py:Judge": "nowhere.py is not there",
        f"{mine}:Nobody": "has no class 'Nobody'",
        f"{mine}:Other": "is not registered; write @markscheme.register(",
        "json.py:Judge": "has the name of another module",
        "broken_file.py:Judge": "cannot be imported: ZeroDivisionError",
    }.items():
        assert run(["judge", "answers.jsonl", "-j", judge, "-q"]) == 2
        assert words in capsys.readouterr().err.replace("\n", " ")


CRASHES = {
    "    least: int = 3": "    least: int = 3\n    def __post_init__(self): raise KeyError('mine')",
    "    def judge": "    def validate(self): raise KeyError('mine')\n\n    def judge",
    "        return ": "        raise KeyError('mine')\n        return ",
    '    """Accepts': '    raise KeyError("mine")\n    """Accepts',
}


@pytest.mark.parametrize("line", CRASHES)
@pytest.mark.parametrize(
    "command",
    [
        ["judge", "answers.jsonl", "-o", "r", "--fail-under", "0.5"],
        ["judge", "answers.jsonl", "-o", "r", "--workers", "2"],
        ["diff", "answers.jsonl", "answers.jsonl", "--fail-on-regression"],
    ],
)
def test_a_crash_of_its_code_is_an_error_and_no_failed_check(
    mine: Path, line: str, command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    mine.write_text(mine.read_text().replace(line, CRASHES[line], 1))
    number = mine.read_text().partition("KeyError")[0].count("\n") + 1
    assert run([*command, "-j", f"./{mine.name}:Judge", "-q"]) == 2
    printed = capsys.readouterr().err.replace("\n", "")
    assert "KeyError: 'mine'" in printed
    assert f"{mine}, line {number}" in printed
    assert "Traceback" not in printed


def test_only_debug_shows_where_it_was_called(mine: Path) -> None:
    mine.write_text(
        mine.read_text().replace("        return ", "        1 / 0\n        return ", 1)
    )
    command = ["diff", "answers.jsonl", "answers.jsonl", "-j", f"./{mine.name}:Judge", "-q"]
    for debug in ([], ["--debug"]):
        done = subprocess.run(
            [sys.executable, "-m", "markscheme", *command, *debug], capture_output=True, check=False
        )
        assert done.returncode == 2
        assert (b"Traceback" in done.stderr) == bool(debug)


def test_nothing_but_the_command_line_imports_a_file(
    mine: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(MarkschemeError):
        markscheme.parse_judge(f"{mine}:Judge")
    monkeypatch.delenv("MARKSCHEME_CONFIG", raising=False)
    for value in (f'["./{mine.name}:Judge"]', f'"./{mine.name}:Judge"'):
        (mine.parent / "markscheme.toml").write_text(f"judges = {value}\n")
        assert run(["judge", "answers.jsonl", "-q"]) == 2
        assert "which only the command line names" in capsys.readouterr().err.replace("\n", " ")
    assert mine.stem not in sys.modules
