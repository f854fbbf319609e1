"""The list of commands, and the example with which each command's help begins."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys

import pytest
from scripts.make_cli_reference import commands

from core_alone import CORE_ALONE
from markscheme.cli import run
from markscheme.cli.app import GROUPS, PANELS
from markscheme.cli.dispatch import FORMER, RESEARCH, spelled_now
from with_research import cases, needs_research

COMMANDS = commands()


def test_the_commands_of_every_day_come_first(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    shown = capsys.readouterr().out
    places = [shown.index(f"─ {panel} ─") for panel in PANELS]
    assert places == sorted(places)
    first = shown[places[0] : places[1]]
    assert all(f" {name} " in first for name in PANELS["Commands"])


@pytest.mark.parametrize("name", COMMANDS)
def test_every_help_begins_with_one_example_that_can_be_typed(name: str) -> None:
    command = COMMANDS[name]
    (example,) = re.findall(r"\AFor instance: `(markscheme .*)`$", command.help, re.MULTILINE)
    assert "`" not in (command.short_help or "")
    assert example.startswith(f"markscheme {name}")
    words = shlex.split(example)[1 + len(name.split()) :]
    # Parses; raises for an option that there is not and for an argument that is missing.
    command.make_context(name, list(words), resilient_parsing=False)


def test_the_commands_come_first_in_their_order_and_no_line_is_broken_at_80_columns() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "markscheme", "--help"],
        capture_output=True, text=True, check=True, env={**os.environ, "COLUMNS": "80"},
    )  # fmt: skip
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    start = next(n for n, line in enumerate(lines) if "─ Commands ─" in line)
    end = next(n for n in range(start + 1, len(lines)) if lines[n].startswith("╰"))
    named = [line.split()[1] for line in lines[start + 1 : end] if line[2] != " "]
    assert named == [
        "judge", "explain", "failures", "view", "annotate", "plan-labels", "agree", "estimate",
        "compare", "rank", "diff", "report", "judges", "serve",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "old", cases(FORMER, *(old for old, now in FORMER.items() if now.startswith("research ")))
)
def test_a_command_is_understood_by_its_former_spelling(
    old: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*old.split(), "--help"]) == 0
    before = capsys.readouterr()
    assert f"'markscheme {FORMER[old]}' now" in " ".join(before.err.split())
    assert run([*FORMER[old].split(), "--help"]) == 0
    now = capsys.readouterr()
    assert before.out == now.out
    assert not now.err
    assert run(["--help"]) == 0
    assert f"│ {old} " not in capsys.readouterr().out


@needs_research
def test_a_group_lists_its_commands(capsys: pytest.CaptureFixture[str]) -> None:
    for group, about in GROUPS.items():
        assert run([group, "--help"]) == 0
        shown = " ".join(capsys.readouterr().out.split())
        assert about in shown
        inside = {name.split()[1] for name in COMMANDS if name.startswith(f"{group} ")}
        assert inside
        assert all(f" {name} " in shown for name in inside)
    assert inside == set(RESEARCH)
    assert run(["research", "probee"]) == 2
    assert "probe" in capsys.readouterr().err


@pytest.mark.parametrize("typed", ["reproduce wang-2023", "research reproduce", "train learned"])
def test_without_the_research_package_its_commands_say_how_it_is_installed(typed: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CORE_ALONE, *typed.split()],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert f"markscheme {' '.join(spelled_now(typed.split())[:2])} is not installed" in done.stderr
    assert "pip install ./packages/research" in done.stderr


def test_options_of_training_that_do_nothing_any_more_are_noted(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rest = ["--data", "answers.jsonl", "--out", "mine"]
    typed = ["train", "examiner", *rest[:2], "--encoder", "shipped", *rest[2:], "--epochs=2"]
    assert spelled_now(typed) == ["train", "examiner", *rest]
    said = " ".join(capsys.readouterr().err.split())
    assert "note: --encoder, --epochs: no longer used, to be removed in 0.3" in said
    other = ["research", "train", "learned", "--epochs", "2"]
    assert spelled_now(other) == other
    assert capsys.readouterr().err == ""


def test_without_the_research_package_the_front_page_says_so() -> None:
    done = subprocess.run(
        [sys.executable, "-c", CORE_ALONE, "--help"], capture_output=True, text=True, check=True
    )
    assert "pip install ./packages/research" in " ".join(done.stdout.split())


def test_without_the_research_package_the_list_of_judges_names_its_own() -> None:
    done = subprocess.run(
        [sys.executable, "-c", CORE_ALONE, "judges"], capture_output=True, text=True, check=True
    )
    assert (
        "./packages/research (in a checkout) adds bem, bertscore, bleurt, claims, jury, learned"
        in done.stdout
    )


def test_a_command_of_another_package_that_is_broken_stops_no_other() -> None:
    broken = CORE_ALONE.replace(
        "from markscheme.cli import run",
        "point = importlib.metadata.EntryPoint('mine', 'no_such_module', 'markscheme.commands')\n"
        "kept = importlib.metadata.entry_points\n"
        "importlib.metadata.entry_points = lambda **asked: [*kept(**asked), point]\n"
        "from markscheme.cli import run",
    )
    done = subprocess.run(
        [sys.executable, "-c", broken, "--help"], capture_output=True, text=True, check=True
    )
    assert "judge" in done.stdout
    assert "the command 'mine' of no_such_module did not load: ModuleNotFoundError" in done.stderr
