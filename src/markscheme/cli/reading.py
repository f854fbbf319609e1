"""Options that every command which reads answers shares."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from markscheme.errors import MarkschemeError

if TYPE_CHECKING:
    from markscheme.tables import ReadOptions

_COUNTABLE = {".jsonl", ".ndjson", ".csv", ".tsv", ".tab"}


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


def parse_columns(text: str) -> dict[str, str]:
    """`question=q,answer=pred` as a mapping.

    Raises:
        MarkschemeError: a piece without `=`.
    """
    found = {}
    for piece in filter(None, (part.strip() for part in text.split(","))):
        ours, equals, theirs = piece.partition("=")
        if not equals or not theirs.strip():
            raise MarkschemeError(
                f"--columns {piece!r} is not OURS=THEIRS, as in question=q,answer=pred"
            )
        found[ours.strip()] = theirs.strip()
    return found


def count_rows(files: list[str]) -> int | None:
    """Rows in the files, for a progress bar; None where that cannot be had cheaply."""
    total = 0
    for name in files:
        file = Path(name)
        suffix = file.suffix.lower()
        if name == "-" or not file.is_file():
            return None
        if suffix in (".parquet", ".pq"):
            import polars as pl

            try:
                total += pl.scan_parquet(file).select(pl.len()).collect().item()
            except pl.exceptions.PolarsError:
                return None
        elif suffix in _COUNTABLE:
            with file.open("rb") as stream:
                total += sum(
                    block.count(b"\n") for block in iter(lambda: stream.read(1 << 20), b"")
                )
        else:
            return None
    return total
