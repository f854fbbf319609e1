"""Settings of a team in one file: `markscheme.toml`, which every command reads.

The file of the working folder counts, else the nearest one above it within the repository. What is
typed comes first, then environment variables, then the file, then defaults.
"""

from __future__ import annotations

import difflib
import os
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markscheme.cli.app import notes
from markscheme.errors import MarkschemeError

NAME = "markscheme.toml"
VARIABLE = "MARKSCHEME_CONFIG"
"""Names another file, or `none` for no file."""

_COMMANDS: Mapping[str, tuple[str, ...]] = {
    "judges": ("judge", "llm batch write"),
    "slices": ("judge", "columns", "diff", "failures"),
    "fail_under": ("judge",),
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
        "answer_columns", "input_format", "encoding", "sheet", "reference_separator",
        "on_bad_row",
    ),
    "gate": ("fail_under", "confidence", "margin", "fail_on_regression"),
    "models": (
        "model", "revision", "base_url", "api_key_env", "ledger", "models", "prices", "max_cost",
        "max_calls", "replay", "concurrency", "requests_per_minute", "tokens_per_minute", "timeout",
        "retries", "reasoning_effort", "reasoning_room", "verbosity", "service_tier",
    ),
}  # fmt: skip
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

[gate]
# fail_under = 0.8                      # judge ends with 1 where a system is below
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
    """A file of settings: its path, its text, and values by (section, key)."""

    path: Path
    text: str
    values: Mapping[tuple[str, str], Any]

    def where(self, section: str, key: str) -> str:
        """File and line of a key, as errors name it."""
        number = _line_of(self.text, section, key)
        return f"{shown(self.path)}, line {number}" if number else shown(self.path)


def shown(path: Path) -> str:
    """A path as people know it: from the working folder."""
    return os.path.relpath(path)


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
        text = path.read_text(encoding="utf-8")
        document = tomllib.loads(text)
    except UnicodeDecodeError:
        raise MarkschemeError(f"{shown(path)} is not UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise MarkschemeError(f"{shown(path)} is not valid TOML: {error}") from None
    found = Settings(path=path, text=text, values={})
    values = dict(_checked(found, document))
    return Settings(path=path, text=text, values=values)


def _checked(found: Settings, document: Mapping[str, Any]) -> Iterator[tuple[tuple[str, str], Any]]:
    for name, value in document.items():
        if name in SECTIONS and isinstance(value, Mapping):
            for key, inner in value.items():
                _check_key(found, name, key)
                yield (name, key), inner
        else:
            _check_key(found, "", name, table=isinstance(value, Mapping))
            if name == "judges":
                _check_no_file(found, value)
            yield ("", name), value


def is_in_file(judge: str) -> bool:
    """Whether a judge is named by a file of one's own, such as `./mine.py:Judge`."""
    return ".py:" in judge


def _check_no_file(found: Settings, judges: Any) -> None:
    """A file of settings comes with a folder of somebody's: it may not say which code is run."""
    named = [judges] if isinstance(judges, str) else judges
    if not isinstance(named, list) or not all(isinstance(one, str) for one in named):
        raise MarkschemeError(
            f"{found.where('', 'judges')}: judges = {judges!r} is no value for it (a list of "
            "judges' names)"
        )
    for one in named:
        if is_in_file(one):
            raise MarkschemeError(
                f"{found.where('', 'judges')}: {one!r} is a judge in a file, which only the "
                "command line names (-j); give it a name by an entry point "
                "(docs/how-to/write-a-judge.md)"
            )


def _check_key(found: Settings, section: str, key: str, *, table: bool = False) -> None:
    if section == "columns":
        from markscheme.tables import OF_ANSWERS

        known: Sequence[str] = OF_ANSWERS
    else:
        known = [name for name in SECTIONS if name] if table else SECTIONS[section]
    if key in known:
        return
    places = {
        one: f"[{name}]" if name else "the top" for name, keys in SECTIONS.items() for one in keys
    }
    what = "section" if table else "key"
    if key in places and not table:
        hint = f"it belongs in {places[key]}"
    else:
        near = difflib.get_close_matches(key, known, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"
    inside = f" in [{section}]" if section else ""
    raise MarkschemeError(
        f"{found.where(section if not table else key, '' if table else key)}: no {what} "
        f"{key!r}{inside}; {hint}"
    )


def _line_of(text: str, section: str, key: str) -> int | None:
    """The line of a key, or of a section's heading where the key is empty."""
    inside = ""
    for number, line in enumerate(text.splitlines(), start=1):
        heading = re.match(r"\s*\[\s*([^\]]+?)\s*\]", line)
        if heading:
            inside = heading[1].strip("\"' ").split(".")[0]
            if not key and inside == section:
                return number
        elif key and inside == section:
            name = re.match(r"\s*[\"']?([^\"'=]+?)[\"']?\s*=", line)
            if name and name[1].split(".")[0] == key:
                return number
        elif key and not inside and re.match(rf"\s*{re.escape(section)}\.{re.escape(key)}", line):
            return number
    return None


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
        typed: its arguments; a run's folder among them has our columns already.
        convert: makes an option's value of what was typed, and raises where that cannot be.
        reads_answers: whether the command reads answers as people have them.

    Raises:
        MarkschemeError: the file is wrong, or a value is not of its option's type.
    """
    options = {one.name: one for one in parameters if one.param_type_name == "option"}
    wanted = [key for key in _keys() if _takes(command, key, options, reads_answers)]
    if not wanted or {"--help", "-h", "--help-all"} & set(typed):
        return None
    path = settings_file()
    if path is None:
        return None
    found = read_settings(path)
    in_run = any(Path(one, "run.json").is_file() for one in typed)
    given: dict[str, Any] = {}
    columns = {key: value for (section, key), value in found.values.items() if section == "columns"}
    if columns and "columns" in wanted and not in_run:
        given["columns"] = [_pairs(found, columns)]
    for (section, key), value in found.values.items():
        if section == "columns" or key not in wanted or os.environ.get(_VARIABLES.get(key, "")):
            continue
        if section == "reading" and in_run:
            continue
        if key == "answer_columns" and "columns" in given and "answer" in columns:
            raise MarkschemeError(
                f"{found.where(section, key)}: answer_columns and a column for the answer are both "
                "given; leave one of them out"
            )
        given[key] = _value(found, (section, key), value, options[key], convert)
    alone = "fail_under" not in given and not any(one.startswith("--fail-under") for one in typed)
    if command == "judge" and alone:
        given.pop("confidence", None)  # It is of the limit.
    return (found, given) if given else None


def _keys() -> list[str]:
    return [*(key for keys in SECTIONS.values() for key in keys), "columns"]


def _takes(command: str, key: str, options: Mapping[str, Any], reads_answers: bool) -> bool:
    if key not in options:
        return False
    if key in _COMMANDS:
        return command in _COMMANDS[key]
    if key == "columns" or key in SECTIONS["reading"]:
        return reads_answers
    panel: str | None = options[key].rich_help_panel
    return panel == "Language models"


def _pairs(found: Settings, columns: Mapping[str, Any]) -> str:
    for ours, theirs in columns.items():
        if not isinstance(theirs, str) or "," in theirs or not theirs.strip():
            raise MarkschemeError(
                f"{found.where('columns', ours)}: the column for {ours} is the name of one, "
                f"without a comma, not {theirs!r}"
            )
    return ",".join(f"{ours}={theirs}" for ours, theirs in columns.items())


def _value(
    found: Settings,
    place: tuple[str, str],
    value: Any,
    option: Any,
    convert: Callable[[Any, Any], object],
) -> Any:
    """A value as the option takes it.

    Raises:
        MarkschemeError: it is not of the option's type.
    """
    flag = bool(option.is_flag)
    if option.multiple and isinstance(value, str):
        value = [value]
    items = value if option.multiple else [value]
    why = ""
    if isinstance(items, list) and all(_is_plain(one, flag) for one in items):
        try:
            convert(option, value)
        except Exception as error:  # of the command-line library
            why = f": {getattr(error, 'message', error)}"
        else:
            return value
    wanted = "" if why else " (true or false)" if flag else (
        " (a list of texts)" if option.multiple else ""
    )  # fmt: skip
    raise MarkschemeError(
        f"{found.where(*place)}: {place[1]} = {value!r} is no value for it{wanted}{why}"
    )


def _is_plain(value: Any, flag: bool) -> bool:
    return isinstance(value, bool) == flag and isinstance(value, str | int | float | bool)


def say(found: Settings, taken: Mapping[str, Any]) -> None:
    """Print what a command took from the file."""
    if taken:
        pairs = "; ".join(f"{key} = {_text(value)}" for key, value in taken.items())
        notes.print(f"note: from {shown(found.path)}: {pairs}", markup=False, soft_wrap=True)


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)
