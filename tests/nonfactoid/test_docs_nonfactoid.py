"""The commands that docs/non-factoid.md shows with their output print just that."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from markscheme.cli import run
from markscheme.cli.app import console


def shown(root: Path) -> list[tuple[str, list[str]]]:
    """Commands of the document's console blocks, and the lines below them."""
    text = (root / "docs" / "non-factoid.md").read_text("utf-8")
    found: list[tuple[str, list[str]]] = []
    for block in re.findall(r"```console\n(.*?)```", text, re.DOTALL):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            else:
                found[-1][1].append(line.rstrip())
    return found


def test_shown_commands_print_what_is_shown(
    root: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "examples").symlink_to(root / "examples")
    (tmp_path / "build").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(console, "_width", 140)
    commands = shown(root)
    assert len(commands) >= 4
    for command, expected in commands:
        words = shlex.split(command)
        assert words[0] == "markscheme"
        assert run(words[1:]) == 0, capsys.readouterr().err
        lines = capsys.readouterr().out.splitlines()
        assert [line.rstrip() for line in lines if line.strip()] == expected, command


@pytest.mark.parametrize("name", ["build", "draw", "shots", "apply"])
def test_every_references_command_is_documented(root: Path, name: str) -> None:
    assert f"markscheme references {name}" in (root / "docs" / "non-factoid.md").read_text("utf-8")


@pytest.mark.parametrize("name", ["lists", "seeds", "shots", "order", "cost"])
def test_every_study_is_documented(root: Path, name: str) -> None:
    assert f"markscheme study {name}" in (root / "docs" / "non-factoid.md").read_text("utf-8")
