"""`markscheme init`: a commented file of settings, which every command reads."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated

from markscheme.cli.app import console, notes
from markscheme.cli.options import command
from markscheme.cli.settings import NAME, SECTIONS, TEMPLATE, VARIABLE, settings_file, shown
from markscheme.errors import MarkschemeError
from markscheme.flags import Argument, Fields, Option, split_list
from markscheme.tables import ReadOptions


@command("init", example="markscheme init")
def init(
    read: Annotated[ReadOptions, Fields(only=("columns", *SECTIONS["reading"]))],
    file: Annotated[
        str | None,
        Argument(
            "File of answers; its columns, as recognised, and the options that read it are written "
            "to markscheme.toml.",
            metavar="FILE",
        ),
    ] = None,
    replace: Annotated[bool, Option("Replace an existing markscheme.toml.")] = False,
) -> None:
    """Write a commented markscheme.toml: columns, judges, gate, models and slices of a project.

    Every command that runs in this folder, or in a subfolder within the repository, reads the file.
    Options on the command line override environment variables, which override the file, which
    overrides defaults. MARKSCHEME_CONFIG names another file, or is 'none'.
    """
    target = Path(NAME)
    if target.exists() and not replace:
        raise MarkschemeError(f"{NAME} exists already; edit it, or pass --replace")
    above = settings_file()
    target.write_text(_filled(file, read), encoding="utf-8")
    named = os.environ.get(VARIABLE)
    if named and not (Path(named).is_file() and target.samefile(named)):
        console.print(f"written to {NAME}; commands do not read it while {VARIABLE} is {named}")
        return
    if above is not None and above.resolve() != target.resolve():
        notes.print(f"note: {shown(above)} no longer counts in this folder")
    console.print(f"written to {NAME}; every command run here reads it")


def _filled(file: str | None, read: ReadOptions) -> str:
    """The template with what is typed, and the columns of a file where there is one.

    Raises:
        DataError: the file cannot be read as answers.
    """
    places, wide = _columns_of(file, read) if file is not None else ({}, read.answer_columns)
    # Ids that were found by themselves may number questions in another file: that is for reading
    # to see.
    known = {ours: name for ours, name in places.items() if ours not in (name, "answer_id")}
    columns = known | {ours: places.get(ours, name) for ours, name in read.columns.items()}
    reading = {key: getattr(read, key) for key in SECTIONS["reading"]} | {"answer_columns": wide}
    default = ReadOptions()
    changed = {key: value for key, value in reading.items() if value != getattr(default, key)}
    text = TEMPLATE
    for section, values in (("columns", columns), ("reading", changed)):
        pairs = values.items()
        lines = [f"{_key(key)} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in pairs]
        text = text.replace(f"[{section}]\n", "".join([f"[{section}]\n", *lines]))
    return text


def _columns_of(file: str, read: ReadOptions) -> tuple[dict[str, str], tuple[str, ...]]:
    """The columns of a file by our names, and those that hold a system's answers each.

    One whose name has a comma is left to reading to recognise: no option can name it.
    """
    from markscheme.analysis import describe_columns
    from markscheme.errors import DataError

    found = describe_columns([file], read)
    if found.trouble:
        raise DataError(found.trouble)
    (source,) = found.sources[:1]
    if source.tool:
        return {}, ()
    places = {ours: name for ours, name in source.places.items() if "," not in name}
    return places, source.wide if split_list(",".join(source.wide)) == [*source.wide] else ()


def _key(name: str) -> str:
    """A key of TOML; that of the labels of one system, `label:gpt-4o`, is no bare one."""
    return name if name.isidentifier() else json.dumps(name, ensure_ascii=False)
