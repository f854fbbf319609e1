"""Over all commands: a flag has one help text, old spellings work, and no command computes."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest
from scripts.make_cli_reference import commands

from markscheme.cli import run as run_line
from markscheme.tables import FileOptions
from with_research import cases, needs_research

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "src" / "markscheme" / "cli"
RESEARCH = ROOT / "packages" / "research" / "src" / "markscheme_research" / "cli"
MODULES = [*sorted(FOLDER.glob("*.py")), *sorted(RESEARCH.glob("*.py"))]


COMMANDS = commands()


def bare(text: str | None) -> str:
    """A help text without the default, which a command has of its own."""
    return re.sub(r"\s*\[default: .*\]$", "", text or "", flags=re.DOTALL)


def test_there_are_as_many_help_texts_as_options() -> None:
    texts, flags = defaultdict(set), defaultdict(set)
    for command in COMMANDS.values():
        for one in command.params:
            if one.param_type_name == "option" and one.name not in ("help", "help_all"):
                key = one.opts[0]
                texts[key].add(bare(one.help))
                flags[bare(one.help)].add(key)
    assert {key: found for key, found in texts.items() if len(found) > 1} == {}
    assert {text: found for text, found in flags.items() if len(found) > 1} == {}
    assert len(texts) > 120


READERS = {
    "annotate", "columns", "diff", "explain", "failures", "judge", "llm batch write", "llm drift",
    "research amend", "research examples", "research probe", "research references expand",
    "research reliability", "research train entailment", "research train learned",
    "research tune-judge", "train examiner",
}  # fmt: skip
"""The commands that read a file of answers with references."""


def test_whatever_reads_answers_has_all_options_of_reading() -> None:
    wanted = {one.name for one in fields(FileOptions)}
    found = {
        name: wanted & {one.name for one in command.params} for name, command in COMMANDS.items()
    }
    assert {name for name, there in found.items() if "on_bad_row" in there} - {"init"} == READERS
    assert {name for name in READERS if found[name] != wanted} == set()
    assert {name for name, one in COMMANDS.items() if one.reads_answers} <= READERS


def test_every_option_says_what_it_is() -> None:
    for name, command in COMMANDS.items():
        for one in command.params:
            assert bare(one.help), f"{name}: {one.name} has no help"


OLD = {
    "agree": ["--judges", "--by"],
    "annotate": ["--judge", "--references"],
    "llm batch write": ["--format"],
    "calibrate": ["--judge", "--by"],
    "compare": ["--judges"],
    "estimate": ["--judge", "--by"],
    "failures": ["--judges"],
    "research hierarchy": ["--judges"],
    "plan-labels": ["--labels", "--label-count", "--by-system", "--judge"],
    "rank": ["--judges", "--scores"],
    "research references build": ["--examples"],
    "research references draw": ["--butref"],
    "research reliability": ["--judges", "--judge"],
    "research statements": ["--gold"],
    "research study cost": ["--protocol", "--seeds", "--per-question"],
    "research study lists": ["--protocol", "--seeds", "--per-question"],
    "train examiner": ["--seeds"],
    "research train learned": ["--batch", "--model", "-m"],
}
"""Spellings of before, which scripts have."""


@pytest.mark.parametrize("name", cases(OLD))
def test_old_spellings_are_understood(name: str) -> None:
    command = COMMANDS[name]
    assert {*OLD[name]} <= {
        *command.aliases,
        *(flag for one in command.params for flag in one.opts),
    }


@needs_research
def test_every_alias_leads_to_its_option() -> None:
    seen = 0
    for command in COMMANDS.values():
        known = {flag for one in command.params for flag in one.opts}
        aliases = getattr(command, "aliases", {})
        assert {now for now, *_ in aliases.values()} <= known
        seen += len(aliases)
    assert seen > 40


@pytest.mark.parametrize("module", MODULES, ids=lambda path: f"{path.parts[-3]}-{path.stem}")
def test_a_command_file_parses_calls_and_prints(module: Path) -> None:
    """Nothing in `cli` computes: no table or array library, no inner module of another package."""
    tree = ast.parse(module.read_text())
    typing_only = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in typing_only or not isinstance(node, ast.Import | ast.ImportFrom):
            continue
        names = (
            [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else [one.name for one in node.names]
        )
        for name in names:
            assert name.split(".")[0] not in {"polars", "numpy", "scipy", "pandas", "orjson"}, name
            if name.startswith("markscheme.") and not name.startswith("markscheme.cli"):
                place = FOLDER.parent.joinpath(*name.split(".")[1:])
                own = len(name.split(".")) == 2
                assert own or place.is_dir(), f"{name} is an inner module"


MACHINERY = {
    "__init__",
    "app",
    "dispatch",
    "options",
    "output",
    "progress_bar",
    "settings",
}
"""What makes commands, their help and their settings; none of them sees a result's figures."""

SUMS = {"sum", "min", "max", "abs", "round", "sorted", "mean", "median", "fmean", "Counter"}
TABLES = {
    "agg", "columns", "drop_nulls", "filter", "group_by", "head", "iter_rows", "join", "n_unique",
    "row", "rows", "select", "sort", "tail", "to_dicts", "to_list", "unique", "value_counts",
    "with_columns",
}  # fmt: skip
ALLOWED = {
    ("annotate", "max"): "aligns the names of people beside their links",
    ("llm_batch", "sorted"): "the reasons of failed requests, in the alphabet's order",
    ("judge", "sorted"): "remarks on replies, in the alphabet's order",
    ("judge", "total * len(chosen)"): "the length of the progress bar",
    ("judge", "len(names) - _NAMED"): "how many names of columns are left out of a message",
    ("reliability", "rows * options.repetitions"): "the length of the progress bar",
    ("statements", "found.pairs - SHOWN"): "how many pairs are left out of the excerpt",
}
"""Arithmetic in a command file, each with the reason why it is no figure of a result."""


def is_text(node: ast.expr) -> bool:
    """Whether an operand is text, so that `+` or `%` joins and fills in."""
    if isinstance(node, ast.BinOp):
        return is_text(node.left) or is_text(node.right)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id in {"str", "Text"}
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return is_text(node.func.value)
    if isinstance(node, ast.IfExp):
        return is_text(node.body)
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def computing(tree: ast.AST) -> Iterator[str]:
    """Every piece of a module that makes a figure: arithmetic, aggregates, work on tables."""
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp) and not isinstance(node.op, ast.BitOr | ast.BitAnd):
            paths = isinstance(node.op, ast.Div) and is_text(node.right)
            if not (paths or is_text(node.left) or is_text(node.right)):
                yield ast.unparse(node)
        elif isinstance(node, ast.AugAssign) and not is_text(node.value):
            yield ast.unparse(node)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id in SUMS:
                yield node.func.id
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            words = isinstance(node.func.value, ast.Constant)
            if node.func.attr in TABLES | SUMS and not words:
                yield f".{node.func.attr}"
        elif (
            isinstance(node, ast.For | ast.comprehension)
            and isinstance(node.iter, ast.Attribute)
            and node.iter.attr in {"frame", "judgments"}
        ):
            yield f"for ... in {ast.unparse(node.iter)}"


def test_no_command_makes_a_figure() -> None:
    """A command prints what the public function gave, which Python users therefore have as well."""
    found = {
        (module.stem, what)
        for module in MODULES
        if module.stem not in MACHINERY
        for what in computing(ast.parse(module.read_text()))
    }
    assert found - set(ALLOWED) == set()
    assert set(ALLOWED) - found == set(), "an exception that nothing needs any more"


@pytest.mark.parametrize(
    "line",
    [
        "share = right / judged",
        "total += one",
        "worst = min(figures)",
        "frame.group_by('judge').agg(x)",
        "for row in found.frame: print(row)",
        "kept = [row for row in table.iter_rows()]",
    ],
)
def test_a_line_that_computes_is_found(line: str) -> None:
    assert list(computing(ast.parse(line)))


def test_knowing_the_commands_loads_nothing_heavy() -> None:
    code = (
        "import sys; from markscheme.cli import load_commands; load_commands(); print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"polars", "numpy", "scipy", "torch", "openai"} & set(done.stdout.split())


@pytest.mark.proof(area="documents")
def test_the_help_of_every_command_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    for name in COMMANDS:
        assert run_line([*name.split(), "--help"]) == 0, name
    assert capsys.readouterr().out
