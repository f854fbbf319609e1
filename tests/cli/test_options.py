"""Flags made from option classes: types, ranges, lists, hidden spellings, shared fields."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
import typer
from typer.testing import CliRunner

from markscheme.cli.app import _GROUPS
from markscheme.cli.options import command
from markscheme.flags import (
    Argument,
    By,
    Columns,
    Default,
    Fields,
    Judges,
    Labels,
    Option,
    Seed,
    out_of_range,
)
from markscheme.models import ModelOptions


@dataclass(frozen=True, kw_only=True)
class Inner:
    depth: Annotated[int, Option("How deep.", minimum=1, maximum=9)] = 3


@dataclass(frozen=True, kw_only=True)
class Many:
    """A field of every kind."""

    judges: Judges = ()
    by: By = None
    columns: Columns = field(default_factory=dict)
    seeds: Annotated[tuple[int, ...], Option("Seeds.", split=True)] = (0, 1)
    files: Annotated[tuple[Path, ...], Option("Files.", ("--file",))] = ()
    way: Annotated[Literal["plain", "wide"], Option("Which way.")] = "plain"
    on: Annotated[bool, Option("Switch.")] = True
    unsure: Annotated[bool | None, Option("May be.")] = None
    share: Annotated[float | None, Option("Of all.", aliases=("--part",))] = None
    folder: Annotated[str | Path, Option("Where.")] = "here"
    inner: Inner = field(default_factory=Inner)
    seed: Seed = 0
    hidden: int = 7


@dataclass(frozen=True, kw_only=True)
class Labelled:
    seed: Annotated[Seed, Default("a lucky one")] = 0


@dataclass(frozen=True, kw_only=True)
class Other:
    seed: Annotated[int, Option("Another seed.")] = 0


def run(*words: str, options: Any = Many) -> tuple[int, str, Any]:
    """Exit code, output and the options that the command was called with."""
    app, got = typer.Typer(rich_markup_mode="markdown"), []

    def work(what: Annotated[str, Argument("What.")], options: Any, seed: Seed = 0) -> None:
        got.append((what, options, seed))

    work.__annotations__["options"] = options
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(_GROUPS, "trial", app)  # a group of its own, beside the application
        command("trial work", example="markscheme trial work this")(work)
    done = CliRunner().invoke(app, ["this", *words], env={"COLUMNS": "300", "TERM": "dumb"})
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.output, got[0] if got else None


def test_without_flags_the_class_says_what_holds() -> None:
    assert run() == (0, "", ("this", Many(), 0))


@pytest.mark.parametrize(
    ("words", "changed"),
    [
        (["--judge", "a(x=1, y=2),b", "-j", "c"], {"judges": ("a(x=1, y=2)", "b", "c")}),
        (["--judges", "a,b"], {"judges": ("a", "b")}),
        (["--by", "system"], {"by": "system"}),
        (["--by-system"], {"by": "system"}),
        (["--columns", "question=q, answer=a"], {"columns": {"question": "q", "answer": "a"}}),
        (["--seeds", "3,4"], {"seeds": (3, 4)}),
        (["--file", "a", "--file", "b,c"], {"files": (Path("a"), Path("b,c"))}),
        (["--way", "wide"], {"way": "wide"}),
        (["--no-on"], {"on": False}),
        (["--unsure"], {"unsure": True}),
        (["--no-unsure"], {"unsure": False}),
        (["--share", "0.5"], {"share": 0.5}),
        (["--part", "0.5"], {"share": 0.5}),
        (["--part=0.5"], {"share": 0.5}),
        (["--folder", "there"], {"folder": "there"}),
        (["--depth", "9"], {"inner": Inner(depth=9)}),
    ],
)
def test_a_flag_sets_its_field(words: list[str], changed: Mapping[str, Any]) -> None:
    code, _, got = run(*words)
    assert code == 0
    assert got == ("this", Many(**changed), 0)
    assert all(type(getattr(got[1], name)) is type(value) for name, value in changed.items())


def test_a_shared_field_is_one_flag() -> None:
    assert run("--seed", "5") == (0, "", ("this", Many(seed=5), 5))


@pytest.mark.parametrize("words", [["--depth", "0"], ["--depth", "10"], ["--way", "no"],
                                   ["--hidden", "1"], ["--share", "x"]])  # fmt: skip
def test_a_value_out_of_range_is_refused(words: list[str]) -> None:
    assert run(*words)[0] == 2


def test_an_item_of_a_list_that_is_no_number_is_named() -> None:
    with pytest.raises(Exception, match="--seeds 'x' is not a whole number"):
        run("--seeds", "1,x")


def test_help_shows_each_flag_once_and_no_old_spelling() -> None:
    shown = run("--help")[1]
    assert shown.count("--judge") == 1
    assert shown.count("--seed ") == 1
    for old in ("--judges", "--by-system", "--part", "--hidden"):
        assert old not in shown
    assert "Random seed." in shown


@dataclass(frozen=True, kw_only=True)
class Long(ModelOptions):
    labels: Labels = None
    way: Annotated[Literal["plain", "wide"], Option("Which way.")] = "plain"
    format: Annotated[
        Literal["parquet", "arrow", "sqlite", "workbook"] | None, Option("Which format.")
    ] = None


def test_help_leaves_out_rare_options_of_a_long_list_and_help_all_shows_them() -> None:
    code, short, _ = run("--help", options=Long)
    assert code == 0
    code, whole, _ = run("--help-all", options=Long)
    assert code == 0
    flags = set(re.findall(r"^│ (--[a-z-]+)", whole, re.MULTILINE))
    shown = set(re.findall(r"^│ (--[a-z-]+)", short, re.MULTILINE))
    assert shown < flags
    assert {"--labels", "--model", "--max-cost", "--way"} <= shown
    assert {"--retries", "--timeout", "--seed"} <= flags - shown
    assert short.rstrip().endswith(f"--help-all shows {len(flags - shown)} more options")
    assert "more options" not in whole
    assert short.index("--labels") < short.index("--format") < short.index("--way")
    assert run("--retries", "1", options=Long)[0] == 0


def test_a_short_list_is_shown_whole() -> None:
    shown = run("--help", options=Labelled)[1]
    assert "--seed" in shown
    assert "--help-all" not in shown
    assert "--seed" in run("--help-all", options=Labelled)[1]


def test_values_are_shown_in_standard_words() -> None:
    shown = run("--help-all", options=Long)[1]
    for flag, metavar in [
        ("--labels", "PATH"), ("--way", "plain|wide"), ("--format", "WORD"), ("--retries", "N"),
        ("--timeout", "X"), ("--base-url", "TEXT"),
    ]:  # fmt: skip
        assert re.search(rf"{flag} +{re.escape(metavar)} ", shown), flag
    assert "Which format. One of parquet, arrow, sqlite, workbook." in shown
    assert not re.search(r"<(str|int|float|path|list)|range", shown)
    assert "[OPTIONS] WHAT" in shown


def test_a_command_takes_some_fields_and_defaults_of_its_own() -> None:
    some = Annotated[ModelOptions, Fields(only=("timeout", "model"), defaults={"timeout": 5.0})]
    code, _, got = run("-m", "small", options=some)
    assert code == 0
    assert got[1].model == "small"
    assert got[1].server.timeout == 5.0
    assert run("--max-cost", "1", options=some)[0] == 2


def test_a_default_in_words_is_shown() -> None:
    shown = run("--help", options=Labelled)[1]
    assert "Random seed. [default: a lucky one]" in shown


def test_two_options_of_one_name_are_refused() -> None:
    with pytest.raises(TypeError, match="two different options are called seed"):
        run(options=Other)


def test_an_address_to_write_to_keeps_its_slashes(monkeypatch: pytest.MonkeyPatch) -> None:
    import markscheme.engine
    from markscheme.cli import run

    targets: list[str] = []

    def noted(_: object, __: object, target: str, **___: object) -> None:
        targets.append(target)
        raise markscheme.MarkschemeError("far enough")

    monkeypatch.setattr(markscheme.engine, "run_on_ray", noted)
    command = ["judge", "s3://bucket/a.parquet", "-j", "exact_match", "-q", "--engine", "ray"]
    assert run([*command, "--out", "s3://bucket/run"]) == 2
    assert targets == ["s3://bucket/run"]


def test_numbers_of_any_size_are_compared_and_nan_is_none() -> None:
    assert out_of_range(10**400, 1, None) == ""
    assert out_of_range(-(10**400), 1, None).endswith("must be 1 or more")
    assert out_of_range(float("inf"), None, None) == ""
    assert out_of_range(float("nan"), None, None) == "nan, and must be a number"
