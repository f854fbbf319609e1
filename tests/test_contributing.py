"""CONTRIBUTING.md's recipes work: each is applied to a copy of the checkout as it is printed.

A block that begins with `# PATH` is written to that file, one that begins with `# at the end of
PATH` is added to it, and a `sh` block's commands run in the copy.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import documents
from with_research import INSTALLED

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
RECIPES = ("A judge", "A reader of a format", "A statistic")
COPIED = ("src", "packages", "tests", "scripts", "recipes", "benchmarks", "examples", "docs")
LARGE = 300_000
"""Bytes from which a file of the copy is a link to the checkout's: weights."""
PLACE = re.compile(r"# (?P<end>at the end of )?(?P<path>[\w./-]+\.py)\n")


def recipe(title: str) -> list[documents.Block]:
    """The blocks of a section."""
    section = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", TEXT, re.MULTILINE | re.DOTALL)
    assert section is not None, title
    return documents.blocks(section[1])


def copied(folder: Path) -> Path:
    """A copy of the checkout that may be changed."""

    def copy(source: str, target: str) -> None:
        if Path(source).stat().st_size > LARGE:
            Path(target).symlink_to(source)
        else:
            shutil.copyfile(source, target)

    ignored = shutil.ignore_patterns("__pycache__", ".*_cache", "recorded", "*.egg-info")
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, copy_function=copy, ignore=ignored)
    for name in ("pyproject.toml", "Makefile", ".gitignore"):
        shutil.copyfile(ROOT / name, folder / name)
    return folder


def apply(blocks: list[documents.Block], folder: Path) -> list[str]:
    """Write a recipe's files; its commands."""
    commands = []
    for block in blocks:
        if block.language == "sh":
            commands += block.text.splitlines()
            continue
        place = PLACE.match(block.text)
        assert place is not None, f"the block names no file: {block.text[:80]}"
        file, text = folder / place["path"], block.text[place.end() :]
        assert place["end"] or not file.exists(), f"{file} exists"
        file.write_text(file.read_text("utf-8") + text if place["end"] else text, "utf-8")
    return commands


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A command in the copy, whose packages come before those installed."""
    sources = [
        folder / "src",
        folder / "packages" / "research" / "src",
        folder / "tests" / "support",
    ]
    assert command.startswith("python ")
    return subprocess.run(
        f"{shlex.quote(sys.executable)}{command.removeprefix('python')}", shell=True,
        cwd=folder, env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, sources))},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.joint
@pytest.mark.timeout(600)
@pytest.mark.parametrize("title", RECIPES)
def test_a_recipe_works_as_it_is_printed(title: str, tmp_path: Path) -> None:
    folder = copied(tmp_path)
    commands = apply(recipe(title), folder)
    where = run("python -m markscheme --version", folder)
    assert where.returncode == 0, where.stderr
    for command in commands:
        if not INSTALLED and re.search(r"markscheme_research|tests/research/", command):
            continue
        done = run(f"{command} -p no:cacheprovider" if "pytest" in command else command, folder)
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"


@pytest.mark.joint
@pytest.mark.timeout(600)
@pytest.mark.skipif(not INSTALLED, reason="the layers of research are part of the conventions")
def test_all_recipes_together_keep_the_conventions(tmp_path: Path) -> None:
    folder = copied(tmp_path)
    for title in RECIPES:
        apply(recipe(title), folder)
    assert run("python scripts/size.py --raise", folder).returncode == 0
    done = run("python -m pytest -p no:cacheprovider tests/test_conventions.py", folder)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("title", RECIPES)
def test_a_recipe_has_files_and_the_tests_that_pass(title: str) -> None:
    blocks = recipe(title)
    places = [PLACE.match(one.text) for one in blocks if one.language == "python"]
    named = [place["path"] for place in places if place]
    assert len(named) == len(places) >= 2
    commands = "".join(one.text for one in blocks if one.language == "sh")
    for path in named:
        assert path.startswith("src/markscheme/") or path in commands
