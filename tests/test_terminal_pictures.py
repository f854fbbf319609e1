"""Pictures of the terminal, remade by a script."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]
PICTURES = sorted((ROOT / "docs" / "pictures").glob("terminal-*.svg"))


@pytest.fixture(scope="module")
def maker() -> ModuleType:
    pytest.importorskip("pty", reason="terminals of their own are of Unix")
    return importlib.import_module("scripts.make_terminal_pictures")


def shown(name: str) -> str:
    return (ROOT / "docs" / "pictures" / f"terminal-{name}.svg").read_text("utf-8")


def test_there_is_one_for_each_command_and_a_page_shows_it(maker: ModuleType) -> None:
    assert {file.name for file in PICTURES} == {f"terminal-{name}.svg" for name in maker.COMMANDS}
    pages = (ROOT / "README.md", *(ROOT / "docs").glob("*.md"))
    text = "".join(page.read_text("utf-8") for page in pages)
    assert not [file.name for file in PICTURES if f"pictures/{file.name}" not in text]


def test_they_fetch_nothing_and_name_no_folder_of_a_machine() -> None:
    for file in PICTURES:
        svg = file.read_text("utf-8")
        assert "@font-face" not in svg
        assert "url(http" not in svg
        assert not re.search(r"/(work|tmp|home|root)/", svg)


def test_the_picture_of_columns_is_as_the_command_is(maker: ModuleType, tmp_path: Path) -> None:
    maker.lay_out(tmp_path)
    now = maker.words_of(maker.picture("columns", maker.COMMANDS["columns"], tmp_path))
    assert now == maker.words_of(shown("columns"))
    assert "question" in now


@pytest.mark.proof(area="browser")
def test_every_picture_is_as_its_command_is() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "make_terminal_pictures.py", "--check"],
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
