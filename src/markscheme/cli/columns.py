"""`markscheme columns`: what a file is read as, before anything is judged."""

from __future__ import annotations

from typing import Annotated

from markscheme.cli.options import Files, Shown, command
from markscheme.errors import BadRowsError, DataError
from markscheme.flags import Option
from markscheme.tables import ReadOptions


@command("columns", example="markscheme columns answers.csv", reads_answers=True)
def columns(
    files: Files,
    read: ReadOptions,
    shown: Shown,
    rows: Annotated[int, Option("Number of answers to show.", minimum=0)] = 3,
) -> None:
    """Show how a file is read: its format, its columns, and three answers as they would be judged.

    Nothing is judged. If no column is recognised as question, references or answer, the columns are
    shown with an example of each, and the option to pass. Where `judge` would stop, this stops with
    the same error and exit code.
    """
    from markscheme.analysis import describe_columns

    found = describe_columns(list(files), read, rows=rows)
    shown.show(found)
    if found.trouble:
        raise DataError(found.trouble)
    problems = found.problems if read.on_bad_row == "error" else []
    if problems or found.repeated_ids:
        raise BadRowsError([*problems, *found.repeated_ids], skippable=not found.repeated_ids)
