"""Packages of others that are broken, or in the way, spoil nothing but their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from core_alone import CORE_ALONE

COMMAND = """
from markscheme.cli.app import app, group
@group("{group}").command("{name}")
def run() -> None:
    "Theirs."
    print("THEIRS")
"""
JUDGE = """
from dataclasses import dataclass
import polars as pl
from markscheme import register
from markscheme.contract import Needs
@register("{name}", needs=Needs(chat=False))
@dataclass(frozen=True, kw_only=True)
class Mine:
    "Mine."
    {field}
    def judge(self, answers, models): return answers.select(score=pl.lit(0.5))
"""
ROW = '{"question": "Who?", "references": ["Ann"], "answer": "Ann"}\n'


class Packages:
    """Makes distributions in a folder, and runs the command line with them installed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "a.jsonl").write_text(ROW)

    def add(self, module: str, source: str, **points: str) -> None:
        """A distribution of one module, with its entry points: group to lines."""
        (self.folder / f"{module}.py").write_text(source)
        info = self.folder / f"{module}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
        groups = (f"[markscheme.{group}]\n{lines}\n" for group, lines in points.items())
        (info / "entry_points.txt").write_text("\n".join(groups))

    def run(self, *typed: str, alone: bool = False) -> tuple[int, str]:
        """Exit code, and all that was printed, on one line."""
        how = ["-c", CORE_ALONE] if alone else ["-m", "markscheme"]
        path = os.pathsep.join(filter(None, [str(self.folder), os.environ.get("PYTHONPATH")]))
        done = subprocess.run(
            [sys.executable, *how, *typed], check=False, capture_output=True, text=True,
            cwd=self.folder, env={**os.environ, "PYTHONPATH": path, "COLUMNS": "200"},
        )  # fmt: skip
        assert "Traceback" not in done.stderr, done.stderr
        return done.returncode, " ".join((done.stdout + done.stderr).split())


@pytest.fixture
def packages(tmp_path: Path) -> Packages:
    return Packages(tmp_path)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("def load(name, **_): raise KeyError('x')", "by p:load: KeyError: 'x'"),
        ("def load(name): return None", "TypeError"),
        ("def load(name, **_): return None", "gave NoneType, not a Polars data frame"),
        ("load = 3", "TypeError"),
        ("raise SystemExit('bye')", "SystemExit: bye"),
        ("", "AttributeError"),
    ],
)
def test_a_data_set_whose_reader_fails_is_an_error(
    source: str, said: str, packages: Packages
) -> None:
    packages.add("p", source, datasets="mine = p:load")
    for command in ("judge", "columns"):
        code, shown = packages.run(command, "dataset:mine")
        assert code == 2
        assert "data set 'mine'" in shown
        assert said in shown


def test_names_that_two_packages_have_are_named(packages: Packages) -> None:
    for name in ("p", "q"):
        packages.add(
            name, COMMAND.format(group="", name="mine"), datasets=f"mine = {name}:load",
            commands=f"mine = {name}",
        )  # fmt: skip
    assert packages.run("judge", "dataset:mine")[1].endswith("uninstall one")
    code, shown = packages.run("mine")
    assert code == 0
    assert "has a command of its name" in shown


def test_a_command_of_ours_is_replaced_by_no_package(packages: Packages) -> None:
    packages.add(
        "p", COMMAND.format(group="llm", name="drift"), commands="llm.drift = p\nagree.foo = p"
    )
    shown = packages.run("llm", "drift", "--help")[1]
    assert "markscheme has a command of its name" in shown
    assert "anchor" in shown.lower()
    assert "Theirs" not in shown


def test_a_command_of_a_package_goes_before_a_former_spelling(packages: Packages) -> None:
    packages.add("p", COMMAND.format(group="", name="bench"), commands="bench = p")
    assert packages.run("bench") == (0, "THEIRS")


def test_the_install_line_stays_beside_research_commands_of_others(packages: Packages) -> None:
    packages.add("p", COMMAND.format(group="research", name="mine"), commands="research.mine = p")
    assert packages.run("research", "mine", alone=True) == (0, "THEIRS")
    for typed in (["research", "study"], ["train", "examiner"]):
        code, shown = packages.run(*typed, alone=True)
        assert code == 2
        assert "pip install ./packages/research" in shown
    assert "No such command" in packages.run("train", "nonsense", alone=True)[1]
    assert "pip install ./packages/research" in packages.run("--help", alone=True)[1]


def test_a_module_that_ends_the_process_is_noted(packages: Packages) -> None:
    packages.add("p", "raise SystemExit('bye')", commands="mine = p", judges="mine = p")
    code, shown = packages.run("--help")
    assert code == 0
    assert "did not load: SystemExit: bye" in shown
    code, shown = packages.run("judges")
    assert code == 0
    assert "SystemExit: bye" in shown


@pytest.mark.parametrize("name", ["has space", "a.b", "", "None", "1abc", "x/y", "esc\\x1b[31m"])
def test_a_judge_has_a_name_that_can_be_typed(name: str, packages: Packages) -> None:
    (packages.folder / "mine.py").write_text(JUDGE.format(name=name, field=""))
    code, shown = packages.run("judge", "a.jsonl", "-j", "./mine.py:Mine")
    assert code == 2
    assert "cannot name a judge" in shown


@pytest.mark.parametrize("kind", ["list", "list[str]", "dict[str, int]", "set[str]"])
def test_a_parameter_that_could_be_changed_is_refused(kind: str, packages: Packages) -> None:
    field = f"import dataclasses; words: {kind} = dataclasses.field(default_factory=None)"
    (packages.folder / "mine.py").write_text(JUDGE.format(name="mine", field=field))
    code, shown = packages.run("judge", "a.jsonl", "-j", "./mine.py:Mine")
    assert code == 2
    assert "words" in shown
    assert "tuples of them" in shown


def test_siblings_of_two_judges_in_files_are_not_confused(packages: Packages) -> None:
    for name, value in (("ja", 0.1), ("jb", 0.9)):
        folder = packages.folder / name
        folder.mkdir()
        (folder / "helper.py").write_text(f"VALUE = {value}")
        source = JUDGE.format(name=name, field="").replace("0.5", "VALUE")
        (folder / f"{name}.py").write_text(f"from helper import VALUE\n{source}")
    code, shown = packages.run("judge", "a.jsonl", "-j", "ja/ja.py:Mine", "-j", "jb/jb.py:Mine")
    assert code == 2
    assert "helper.py has the name of another module" in shown
    assert packages.run("judge", "a.jsonl", "-j", "jb/jb.py:Mine")[0] == 0


@pytest.mark.parametrize("typed", ["./mine.py", "./mine.py::Mine", "panel(judges=[./mine.py:M])"])
def test_a_judge_in_a_file_that_cannot_be_read_says_how_one_is_written(
    typed: str, packages: Packages
) -> None:
    code, shown = packages.run("judge", "a.jsonl", "-j", typed)
    assert code == 2
    assert "FILE.py:CLASS" in shown
