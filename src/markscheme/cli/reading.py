"""Options that every command which reads answers shares."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

from markscheme.errors import MarkschemeError
from markscheme.options import parse_columns

if TYPE_CHECKING:
    from markscheme.tables import ReadOptions


def read_options(
    *,
    columns: str = "",
    format: str | None = None,
    reference_separator: str = "auto",
    on_bad_row: str = "error",
    max_bytes: int = 4_000_000,
) -> ReadOptions:
    """Reading options from the command line's words.

    Raises:
        MarkschemeError: a word is not among the choices.
    """
    from markscheme.tables import Format, ReadOptions

    formats = get_args(Format)
    if format is not None and format not in formats:
        raise MarkschemeError(f"--format {format!r} is none of {', '.join(formats)}")
    if on_bad_row not in ("error", "skip"):
        raise MarkschemeError(f"--on-bad-row {on_bad_row!r} is neither error nor skip")
    chosen: Any = {"format": format, "on_bad_row": on_bad_row}
    return ReadOptions(
        columns=parse_columns(columns),
        reference_separator=reference_separator,
        max_bytes=max_bytes,
        **chosen,
    )
