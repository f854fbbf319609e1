"""The commands that docs/non-factoid.md shows with their output print just that."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest


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


def test_shown_commands_print_what_is_shown(root: Path, tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(root / "examples")
    (tmp_path / "build").mkdir()
    commands = shown(root)
    assert len(commands) >= 4
    for command, expected in commands:
        words = shlex.split(command)
        assert words[0] == "markscheme"
        done = subprocess.run(
            [sys.executable, "-m", "markscheme", *words[1:]],
            check=False, cwd=tmp_path, capture_output=True, text=True, timeout=300,
            env={**os.environ, "COLUMNS": "140"},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        lines = [line.rstrip() for line in done.stdout.splitlines() if line.strip()]
        assert lines == expected, command


@pytest.mark.parametrize("name", ["build", "draw", "shots", "apply"])
def test_every_references_command_is_documented(root: Path, name: str) -> None:
    assert f"markscheme references {name}" in (root / "docs" / "non-factoid.md").read_text("utf-8")


@pytest.mark.parametrize("name", ["lists", "seeds", "shots", "order", "cost"])
def test_every_study_is_documented(root: Path, name: str) -> None:
    assert f"markscheme study {name}" in (root / "docs" / "non-factoid.md").read_text("utf-8")
