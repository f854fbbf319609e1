"""Settings of a team in one file: `markscheme.toml`, which every command reads.

The file of the working folder counts, else the nearest one above it within the repository. What is
typed comes first, then environment variables, then the file, then defaults.
"""

from __future__ import annotations

import difflib
import os
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from pathlib import Path
from typing import Any

from markscheme.cli.app import notes
from markscheme.errors import MarkschemeError
from markscheme.models import ModelOptions, ServerOptions

NAME = "markscheme.toml"
VARIABLE = "MARKSCHEME_CONFIG"
"""Names another file, or `none` for no file."""

_COMMANDS: Mapping[str, tuple[str, ...]] = {
    "judges": ("judge", "llm batch write"),
    "slices": ("judge", "columns", "diff", "failures"),
    "fail_under": ("judge",),
    "gate_slices": ("judge",),
    "confidence": ("judge",),
    "margin": ("diff",),
    "fail_on_regression": ("diff",),
}
"""The commands that take a setting, by the name of their parameter. Columns and readers' options
are taken by every command that reads answers as people have them, those of language models by
every command that has them."""

SECTIONS: Mapping[str, tuple[str, ...]] = {
    "": ("judges", "slices"),
    "columns": (),  # ours = theirs
    "reading": (
        "answer_columns",
        "input_format",
        "encoding",
        "sheet",
        "reference_separator",
        "on_bad_row",
        "repeats",
        "blank_answers",
    ),
    "gate": ("fail_under", "gate_slices", "confidence", "margin", "fail_on_regression"),
    "models": tuple(
        one.name
        for one in (*fields(ModelOptions), *fields(ServerOptions))
        if one.name not in ("server", "dry_run", "batch", "backoff")
    ),
}
"""The keys of the file, by section."""

_VARIABLES = {
    "ledger": "MARKSCHEME_LEDGER",
    "models": "MARKSCHEME_MODELS",
    "prices": "MARKSCHEME_PRICES",
}

TEMPLATE = """\
# Settings of this project, read by every markscheme command that is run in this folder or below.
# What is typed on the command line comes first, then environment variables, then this file.
# Remove the '#' of what you need; 'markscheme columns FILE' shows what a file is read as.

# judges = ["examiner", "exact_match"]
# slices = ["topic", "language"]        # columns of your own, to give figures by

[columns]
# question = "prompt"                   # paths into objects and lists too: "doc.question"
# references = "gold"
# answer = "output"

[reading]
# answer_columns = ["gpt-4o", "claude"] # a column a system
# reference_separator = "|"             # "Paris|Lyon" are two references
# encoding = "cp1252"
# sheet = "Answers"
# on_bad_row = "skip"
# repeats = "drop"                      # rows equal to an earlier one in every column
# blank_answers = "drop"                # blank cells are questions that a system never got

[gate]
# fail_under = 0.8                      # judge ends with 1 where a system is below
# gate_slices = true                    # or a slice
# confidence = 0.95                     # be so sure that it is not
# fail_on_regression = true             # diff ends with 1 where the new answers are worse
# margin = 0.02                         # beyond two points

[models]
# model = "gpt-4o-mini"
# base_url = "http://localhost:8000/v1"
# api_key_env = "MY_KEY"                # the variable that holds the key, never the key itself
# max_cost = 2.0
# ledger = "runs/ledger.sqlite"
"""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """A file of settings: its path, its `[columns]`, and its other values by key."""

    path: Path
    columns: Mapping[str, Any]
    values: Mapping[str, Any]


def shown(path: Path) -> str:
    """A path as people know it: from the working folder."""
    return os.path.relpath(path)


def _where(path: Path, key: str) -> str:
    """File and line of a key or a section, as errors name it."""
    begins = re.compile(rf"\s*\[?\s*[\"']?{re.escape(key)}\b")
    lines = path.read_text(encoding="utf-8-sig").splitlines()
    number = next((number for number, line in enumerate(lines, 1) if begins.match(line)), None)
    return f"{shown(path)}, line {number}" if number else shown(path)


def settings_file(folder: Path | None = None) -> Path | None:
    """The file of settings that counts in a folder, or None.

    Above the folder it is looked for up to the root of the repository only: a file in a folder that
    others share is nobody's settings.

    Raises:
        MarkschemeError: the variable names a file that is not there.
    """
    named = os.environ.get(VARIABLE)
    if named:
        if named == "none":
            return None
        if not Path(named).is_file():
            raise MarkschemeError(f"{VARIABLE} names {named}, and there is no such file")
        return Path(named)
    start = (folder or Path.cwd()).resolve()
    inside = [start, *start.parents]
    root = next((number for number, one in enumerate(inside) if (one / ".git").exists()), 0)
    return next((one / NAME for one in inside[: root + 1] if (one / NAME).is_file()), None)


def read_settings(path: Path) -> Settings:
    """The settings of a file.

    Raises:
        MarkschemeError: it is not TOML, or has a section or key that there is not.
    """
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError:
        raise MarkschemeError(f"{shown(path)} is not UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise MarkschemeError(f"{shown(path)} is not valid TOML: {error}") from None
    values: dict[str, Any] = {}
    columns: Mapping[str, Any] = {}
    for name, value in document.items():
        if not isinstance(value, Mapping):
            _check_key(path, name)
            values[name] = value
            continue
        if name not in SECTIONS:
            raise MarkschemeError(
                f"{_where(path, name)}: no section {name!r}; "
                f"{_nearest(name, [*filter(None, SECTIONS)])}"
            )
        for key in value:
            _check_key(path, key, name)
        if name == "columns":
            columns = value
        else:
            values |= value
    if "judges" in values:
        _check_no_file(path, values["judges"])
    return Settings(path=path, columns=columns, values=values)


def is_in_file(judge: str) -> bool:
    """Whether a judge is named by a file of one's own, such as `./mine.py:Judge`."""
    return ".py:" in judge


def _check_no_file(path: Path, judges: Any) -> None:
    """A file of settings comes with a folder of somebody's: it may not say which code is run."""
    for judge in judges if isinstance(judges, list) else [judges]:
        if isinstance(judge, str) and is_in_file(judge):
            raise MarkschemeError(
                f"{_where(path, 'judges')}: {judge!r} is a judge in a file, which only the command "
                "line names (-j); give it a name by an entry point "
                "(docs/how-to/extend.md)"
            )


def _check_key(path: Path, key: str, section: str = "") -> None:
    from markscheme.tables import LABEL_OF, OF_ANSWERS, is_annotator

    known: Sequence[str] = OF_ANSWERS if section == "columns" else SECTIONS[section]
    labels = section == "columns" and (is_annotator(key) or key.startswith(LABEL_OF))
    if key in known or labels:
        return
    owner = next((name for name, keys in SECTIONS.items() if key in keys), None)
    hint = _nearest(key, known)
    if owner is not None:
        hint = f"it belongs in [{owner}]" if owner else "it belongs in the top"
    inside = f" in [{section}]" if section else ""
    raise MarkschemeError(f"{_where(path, key)}: no key {key!r}{inside}; {hint}")


def _nearest(word: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(word, known, n=1, cutoff=0.5)
    return f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"


def defaults_of(
    command: str,
    parameters: Sequence[Any],
    typed: Sequence[str],
    convert: Callable[[Any, Any], object],
    *,
    reads_answers: bool,
) -> tuple[Settings, dict[str, Any]] | None:
    """The settings that a command takes, by the names of its parameters, as they would be typed.

    Args:
        command: its name, with that of its group.
        parameters: what it has.
        typed: its arguments; runs' folders have our columns already.
        convert: makes an option's value of what was typed, and raises where that cannot be.
        reads_answers: whether the command reads answers as people have them.

    Raises:
        MarkschemeError: the file is wrong, or a value is not of its option's type.
    """
    options = {one.name: one for one in parameters if one.param_type_name == "option"}
    wanted = [key for key in options if _takes(command, options[key], reads_answers)]
    if not wanted or {"--help", "-h", "--help-all"} & set(typed):
        return None
    path = settings_file()
    if path is None:
        return None
    found = read_settings(path)
    in_runs = _are_runs(parameters, typed)
    given: dict[str, Any] = {}
    if found.columns and "columns" in wanted and not in_runs:
        given["columns"] = [_pairs(found)]
    for key, value in found.values.items():
        if key not in wanted or os.environ.get(_VARIABLES.get(key, "")):
            continue
        if key in SECTIONS["reading"] and in_runs:
            continue
        if key == "answer_columns" and "columns" in given and "answer" in found.columns:
            raise MarkschemeError(
                f"{_where(path, key)}: answer_columns and a column for the answer are both given; "
                "leave one of them out"
            )
        given[key] = _value(path, value, options[key], convert)
    alone = "fail_under" not in given and not any(one.startswith("--fail-under") for one in typed)
    if command == "judge" and alone:
        for of_limit in ("confidence", "gate_slices"):
            given.pop(of_limit, None)
    return (found, given) if given else None


def _are_runs(parameters: Sequence[Any], typed: Sequence[str]) -> bool:
    """Whether a run's folder is typed for each argument; the value of an option is none."""
    valued, arguments = set(), 0
    for one in parameters:
        if one.param_type_name == "argument":
            arguments += 1
        elif not one.is_flag:
            valued.update(one.opts)
    placed = (one for before, one in pairwise(["", *typed]) if before not in valued)
    runs = sum(Path(one, "run.json").is_file() for one in placed)
    return runs >= max(arguments, 1)


def _takes(command: str, option: Any, reads_answers: bool) -> bool:
    key = option.name
    if key in _COMMANDS:
        return command in _COMMANDS[key]
    if key == "columns" or key in SECTIONS["reading"]:
        return reads_answers
    return bool(option.rich_help_panel == "Language models")


def _pairs(found: Settings) -> str:
    for ours, theirs in found.columns.items():
        if not isinstance(theirs, str) or "," in theirs or not theirs.strip():
            raise MarkschemeError(
                f"{_where(found.path, ours)}: the column for {ours} is the name of one, without a "
                f"comma, not {theirs!r}"
            )
    return ",".join(f"{ours}={theirs}" for ours, theirs in found.columns.items())


def columns_left(
    settings: Mapping[str, str], typed: Mapping[str, str], *, several: bool = False
) -> dict[str, str]:
    """The settings' columns that count where others are typed: those of other keys and columns.

    Args:
        settings, typed: our names to theirs.
        several: whether `--answer-columns` is typed, which replaces a column for the answer.

    >>> columns_left({"question": "q", "label:a": "x"}, {"question": "text", "label": "x"})
    {}
    """
    taken = set(typed.values()) - {"none"}
    replaced = {*typed, "answer"} if several else {*typed}
    return {
        ours: theirs
        for ours, theirs in settings.items()
        if ours not in replaced and theirs not in taken
    }


def _value(path: Path, value: Any, option: Any, convert: Callable[[Any, Any], object]) -> Any:
    """A value as the option takes it.

    Raises:
        MarkschemeError: it is not of the option's type.
    """
    flag = bool(option.is_flag)
    if option.multiple and isinstance(value, str):
        value = [value]
    items = value if option.multiple else [value]
    why = " (a list of texts)" if option.multiple else " (true or false)" if flag else ""
    if isinstance(items, list) and all(_is_plain(one, flag) for one in items):
        try:
            convert(option, value)
        except Exception as error:  # of the command-line library
            why = f": {getattr(error, 'message', error)}"
        else:
            return value
    raise MarkschemeError(
        f"{_where(path, option.name)}: {option.name} = {value!r} is not a valid value{why}"
    )


def _is_plain(value: Any, flag: bool) -> bool:
    return isinstance(value, bool) == flag and isinstance(value, str | int | float | bool)


def say(found: Settings, taken: Mapping[str, Any]) -> None:
    """Print what a command took from the file."""
    if taken:
        pairs = "; ".join(f"{key} = {_text(value)}" for key, value in taken.items())
        notes.print(f"note: from {shown(found.path)}: {pairs}", soft_wrap=True)


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)
