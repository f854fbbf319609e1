"""How many rows files have, where that can be had cheaply."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

_COUNTABLE = {".jsonl", ".ndjson", ".csv", ".tsv", ".tab"}


def count_rows(files: Sequence[str]) -> int | None:
    """Rows in the files, for a progress bar; None where that cannot be had cheaply."""
    total = 0
    for name in files:
        file = Path(name)
        suffix = file.suffix.lower()
        if name == "-" or not file.is_file():
            return None
        if suffix in (".parquet", ".pq"):
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
