"""The list of commands, and the example with which each command's help begins."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Any

import pytest
import typer

from markscheme.cli import load_commands, run
from markscheme.cli.app import app
from markscheme.cli.front import EXAMPLES, PANELS


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
    example = EXAMPLES[name]
    assert command.help.startswith(f"For instance: `{example}`\n")
    assert "`" not in (command.short_help or "")
    words = shlex.split(example)[1 + len(name.split()) :]
    # Parses; raises for an option that there is not and for an argument that is missing.
    command.make_context(name, list(words), resilient_parsing=False)
