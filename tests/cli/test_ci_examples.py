"""The workflow and the hook in `examples/ci`: valid, with commands that there are."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from markscheme.cli import load_commands
from markscheme.cli.app import app

ROOT = Path(__file__).parents[2]
FILES = ("answers.yml", "pre-commit-config.yaml")


@pytest.mark.parametrize("name", FILES)
def test_the_page_shows_the_file(name: str) -> None:
    assert (ROOT / "examples" / "ci" / name).read_text() in (
        ROOT / "docs" / "how-to" / "compare-runs.md"
    ).read_text()


@pytest.mark.parametrize("name", FILES)
def test_its_commands_can_be_typed(name: str) -> None:
    import typer

    yaml = pytest.importorskip("yaml")
    document = yaml.safe_load((ROOT / "examples" / "ci" / name).read_text())
    if "jobs" in document:
        (job,) = document["jobs"].values()
        lines = [step["run"] for step in job["steps"] if "run" in step]
    else:
        lines = [hook["entry"] for repo in document["repos"] for hook in repo["hooks"]]
    typed = [shlex.split(line) for line in lines if line.startswith("markscheme ")]
    assert typed
    load_commands()
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    for _, command, *words in typed:
        commands[command].make_context(command, words)
