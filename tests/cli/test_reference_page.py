"""The pages on the command line say what the commands say."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from scripts.make_cli_reference import commands, pages

from markscheme.cli.app import PANELS
from markscheme.cli.dispatch import FORMER
from with_research import needs_research

FOLDER = Path(__file__).parents[2] / "docs" / "reference"


@needs_research
def test_the_pages_are_as_the_commands_are() -> None:
    written = {path.name: path.read_text("utf-8") for path in FOLDER.glob("cli*.md")}
    assert written == pages(), "run: python scripts/make_cli_reference.py docs/reference"


@needs_research
def test_every_command_is_on_one_page_and_shared_options_are_described_once() -> None:
    made = pages()
    headings = re.findall(r"^### (.+)$", "\n".join(made.values()), re.MULTILINE)
    assert sorted(headings) == sorted(commands())
    text = "".join(made.values())
    assert text.count("- `--seed`: Random seed. [default: 0]\n") == 1
    assert text.count("- `--max-cost`: ") == 1
    assert "`--judge` (default: examiner)" in made["cli.md"]
    assert "--by-system" not in text


@needs_research
def test_the_pages_have_the_headings_of_the_list_of_commands() -> None:
    made = pages()
    every = ["Commands", *PANELS["Groups"], "Also"]
    found = re.findall(r"^## (.+)$", made["cli.md"] + made["cli-research.md"], re.MULTILINE)
    assert sorted(found) == sorted(["Shared options", "Language model options", *every])
    contents = re.findall(r"^\*\*\[(.+?)\]", "".join(made.values()), re.MULTILINE)
    assert sorted(contents) == sorted(every)
    everyday = made["cli.md"].partition("\n## Commands\n")[2].partition("\n## ")[0]
    assert tuple(re.findall(r"^### (.+)$", everyday, re.MULTILINE)) == PANELS["Commands"]


@needs_research
def test_every_option_of_a_command_is_described_or_mentioned_in_its_section() -> None:
    text = "\n".join(pages().values())
    for name, command in commands().items():
        section = text.partition(f"\n### {name}\n")[2].partition("\n### ")[0]
        for option in command.params:
            if option.param_type_name != "option" or option.name in ("help", "help_all"):
                continue
            models = getattr(option, "rich_help_panel", None) == "Language models"
            all_of_them = models and "#language-model-options): all" in section
            assert f"`{option.opts[0]}`" in section or all_of_them, (name, option.opts)


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
