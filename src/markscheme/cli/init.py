"""`markscheme init`: a commented file of settings, which every command reads."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from markscheme.cli.app import console, notes
from markscheme.cli.options import command
from markscheme.cli.settings import NAME, TEMPLATE, settings_file, shown
from markscheme.errors import MarkschemeError
from markscheme.flags import Argument, Columns, Option


@command("init", example="markscheme init")
def init(
    columns: Columns,
    file: Annotated[
        str | None,
        Argument(
            "File of answers whose columns, as recognised, are written to markscheme.toml.",
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
    text = TEMPLATE if file is None else _with_columns(file, columns)
    target.write_text(text, encoding="utf-8")
    if above is not None and above.resolve() != target.resolve():
        notes.print(f"note: {shown(above)} no longer counts in this folder")
    console.print(f"written to {NAME}; every command run here reads it")


def _with_columns(file: str, columns: Mapping[str, str]) -> str:
    """The template with the columns of a file under [columns].

    Raises:
        DataError: the file cannot be read as answers.
    """
    from markscheme.analysis import describe_columns
    from markscheme.errors import DataError

    found = describe_columns([file], columns=columns)
    if found.trouble:
        raise DataError(found.trouble)
    (source,) = found.sources[:1]
    pairs = [
        f"{one.read_as} = {json.dumps(one.name, ensure_ascii=False)}"
        for one in source.columns
        if one.read_as in ("question", "references", "answer", "system", "label", "context")
        and one.read_as != one.name
        and not one.name.startswith("(")
    ]
    if not pairs or source.tool:
        return TEMPLATE
    head, _, rest = TEMPLATE.partition("[columns]\n")
    return "\n".join([f"{head}[columns]", *pairs, rest])
