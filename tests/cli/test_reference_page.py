"""The page on the command line says what the commands say."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from scripts.make_cli_reference import commands, reference

from markscheme.cli.dispatch import FORMER
from with_research import needs_research

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "cli.md"


@needs_research
def test_the_page_is_as_the_commands_are() -> None:
    assert PAGE.read_text() == reference(), (
        "run: python scripts/make_cli_reference.py > docs/reference/cli.md"
    )


def test_every_command_has_its_options_on_it() -> None:
    page = PAGE.read_text()
    headings = ("judge", "agree", "research study seeds", "research datasets fetch")
    for heading in headings:
        assert f"## {heading}\n" in page
    assert "| `--seed` | Seed for everything random. [default: 0] |" in page
    assert "--by-system" not in page


_ALONE = """
import os, sys, typer
from markscheme.cli import load_commands
from markscheme.cli.app import app
for typed in sys.stdin.read().splitlines():
    child = os.fork()
    if not child:
        load_commands(typed.split())
        command = typer.main.get_command(app)
        for word in typed.split():
            command = getattr(command, "commands", {}).get(word)
        os._exit(command is None)
    if os.waitpid(child, 0)[1]:
        print(typed)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="each command is tried in a forked process")
def test_every_command_is_found_by_a_process_that_loads_it_alone() -> None:
    typed = "\n".join(commands())
    done = subprocess.run(
        [sys.executable, "-c", _ALONE], input=typed, capture_output=True, text=True, check=True
    )
    assert not done.stdout, f"not found: {done.stdout}"


@needs_research
def test_former_spellings_are_of_commands() -> None:
    known = list(commands())
    for now in FORMER.values():
        assert any(f"{name} ".startswith(f"{now} ") for name in known), now
