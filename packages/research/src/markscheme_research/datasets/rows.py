"""What the loaders share: reading published files, and rows in the answers table's form."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from markscheme.errors import DataError
from markscheme.tables import ANSWERS_SCHEMA
from markscheme_research.datasets.locations import Local


@dataclass(frozen=True, kw_only=True)
class Family:
    """How the datasets of one format are read.

    Attributes:
        options: a frozen dataclass; its fields are what `load` accepts.
        load: the answers table of a local copy.
        counts: sizes of a local copy, under the names the catalogue records them by.
    """

    options: type
    load: Callable[[Local, Any], pl.DataFrame]
    counts: Callable[[Local], dict[str, int]]


def as_answers(frame: pl.DataFrame) -> pl.DataFrame:
    """`frame` with every column of the answers table, typed and in order; others are left out."""
    present = set(frame.columns)
    return frame.select(
        (pl.col(name) if name in present else pl.lit(None)).cast(kind).alias(name)
        for name, kind in ANSWERS_SCHEMA.items()
    )


@contextmanager
def reading(path: Path, what: str) -> Iterator[None]:
    """Turns whatever goes wrong with a file's content into an error that names the file.

    Raises:
        DataError: the block failed because the file is not what `what` says.
    """
    try:
        yield
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror or error}") from error
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        detail = f"{type(error).__name__}: {error}"
        raise DataError(
            f"{path} is not {what} as published ({detail}); "
            "'markscheme research datasets check' compares it with the recorded checksum"
        ) from error


def read_json(path: Path) -> Any:
    """The content of a JSON file, in which bare NaN is allowed as some published files have it."""
    return json.loads(path.read_text("utf-8-sig"))


def read_json_lines(path: Path) -> list[dict[str, Any]]:
    """The objects of a file with one JSON object a line; empty lines are passed over."""
    lines = path.read_text("utf-8-sig").split("\n")
    return [json.loads(line) for line in lines if line.strip()]


def read_tsv(path: Path, *, quoted: bool) -> list[list[str]]:
    """The rows of a tab-separated file.

    With `quoted` a field may be wrapped in double quotes; without, a quote is a character like any
    other. Lines end only at a line feed, since some cells hold other line separators.

    Raises:
        ValueError: a row has another number of cells than the first one.
    """
    text = path.read_text("utf-8-sig")
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    filled = [line for line in lines if line]
    rows = list(csv.reader(filled, delimiter="\t")) if quoted else [x.split("\t") for x in filled]
    odd = [number for number, row in enumerate(rows, start=1) if len(row) != len(rows[0])]
    if odd:
        raise ValueError(f"row {odd[0]} has {len(rows[odd[0] - 1])} cells, not {len(rows[0])}")
    return rows


def text_or_none(value: Any) -> str | None:
    """A text as UTF-8 can hold it (a lone surrogate becomes `?`); None for anything else."""
    if not isinstance(value, str):
        return None
    return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")
