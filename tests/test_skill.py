"""The file for coding agents is in the package, is short, and its commands run."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import pytest
from typer.main import get_command

import documents
from markscheme.cli import load_commands
from markscheme.cli.app import app

SKILL = Path(str(files("markscheme"))) / "SKILL.md"
ROOT = Path(__file__).parents[1]


def test_it_is_short_and_has_a_name_and_a_description() -> None:
    front, body = re.fullmatch(r"---\n(.*?)---\n(.*)", SKILL.read_text("utf-8"), re.S).groups()
    assert re.fullmatch(r"name: markscheme\ndescription: .{50,400}\n", front)
    assert len(body.split()) <= 550


def test_commands_that_it_names_exist() -> None:
    load_commands()
    table = re.findall(r"^\| .* \|$", SKILL.read_text("utf-8"), re.M)
    named = {one for row in table for one in re.findall(r"`([a-z-]+)(?: --\w+)?`", row)}
    assert {"judge", "failures", "agree", "estimate", "compare"} <= named
    assert named <= set(get_command(app).commands)


@pytest.mark.joint
def test_its_commands_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MARKSCHEME_LEDGER", raising=False)
    with documents.sandbox(ROOT, tmp_path):
        assert documents.run_page(SKILL) == 5
