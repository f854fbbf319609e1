"""All foreign formats, and the one that a document or a record is of."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import Any

from markscheme.tables.formats.foreign import ForeignFormat, Record

MODULES = (
    "inspect_log",
    "promptfoo",
    "lm_eval",
    "openai_evals",
    "squad",
    "linkage",
    "trivia_qa",
)
"""One file a format, each with `FORMAT`. The order matters to none: their marks differ."""


@cache
def foreign_formats() -> tuple[ForeignFormat, ...]:
    """The formats that are read by more than the names of their columns."""
    return tuple(import_module(f"{__package__}.{name}").FORMAT for name in MODULES)


def format_of_document(document: Any) -> tuple[ForeignFormat, Sequence[Record]] | None:
    """The format of a whole JSON document, and its records."""
    for one in foreign_formats():
        if one.records is not None:
            records = one.records(document)
            if records is not None:
                return one, records
    return None


def format_of_record(record: Record) -> ForeignFormat | None:
    """The format that a record of a file is of."""
    return next((one for one in foreign_formats() if one.matches(record)), None)
