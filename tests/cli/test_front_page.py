"""The list of commands, and the example with which each command's help begins."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import typer

from markscheme.cli import load_commands, run
from markscheme.cli.app import app
from markscheme.cli.front import GROUPS, MOVED, PANELS, example_of, name_of_now


def commands() -> Iterator[tuple[str, Any]]:
    load_commands()

    def walk(command: Any, path: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
        if hasattr(command, "commands"):
            for name, inner in command.commands.items():
                yield from walk(inner, (*path, name))
        elif not command.hidden:
            yield " ".join(path), command

    return walk(typer.main.get_command(app), ())


COMMANDS = dict(commands())


def test_the_commands_of_every_day_come_first(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    shown = capsys.readouterr().out
    places = [shown.index(f"─ {panel} ─") for panel in PANELS]
    assert places == sorted(places)
    assert "─ Others ─" not in shown
    first = shown[places[0] : places[1]]
    assert all(f" {name} " in first for name in PANELS["Start here"])


@pytest.mark.parametrize("name", COMMANDS)
def test_every_help_begins_with_one_example_that_can_be_typed(name: str) -> None:
    command = COMMANDS[name]
    example = example_of(name)
    assert example is not None
    assert command.help.startswith(f"For instance: `{example}`\n")
    assert "`" not in (command.short_help or "")
    assert example.startswith(f"markscheme {name_of_now(name)}")
    words = shlex.split(example)[1 + len(name_of_now(name).split()) :]
    # Parses; raises for an option that there is not and for an argument that is missing.
    command.make_context(name, list(words), resilient_parsing=False)


def test_eight_commands_come_first_and_no_line_is_broken_at_80_columns() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "markscheme", "--help"],
        capture_output=True, text=True, check=True, env={**os.environ, "COLUMNS": "80"},
    )  # fmt: skip
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    start = next(n for n, line in enumerate(lines) if "─ Start here ─" in line)
    end = next(n for n in range(start + 1, len(lines)) if lines[n].startswith("╰"))
    named = [line.split()[1] for line in lines[start + 1 : end] if line[2] != " "]
    assert named == list(PANELS["Start here"])
    assert len(PANELS["Start here"]) == 8


@pytest.mark.parametrize("old", MOVED)
def test_a_command_in_a_group_is_understood_by_its_old_name(
    old: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([old, "--help"]) == 0
    before = capsys.readouterr().out
    assert run([*MOVED[old].split(), "--help"]) == 0
    now = capsys.readouterr().out

    def options(shown: str) -> set[str]:
        return set(re.findall(r"--[a-z-]+", shown.partition("Options")[2]))

    assert options(before) == options(now)
    assert run(["--help"]) == 0
    assert f"│ {old} " not in capsys.readouterr().out


def test_a_group_lists_its_commands(capsys: pytest.CaptureFixture[str]) -> None:
    for group, (about, names) in GROUPS.items():
        assert run([group, "--help"]) == 0
        shown = " ".join(capsys.readouterr().out.split())
        assert about.split(":")[0] in shown
        assert all(f" {name} " in shown for name in names)
    assert run(["research", "rnak"]) == 2
    assert "rank" in capsys.readouterr().err
