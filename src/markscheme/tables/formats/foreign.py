"""Foreign formats: what one is, all of them, and the one that a document or a record is of.

A format is one file of this folder with `FORMAT` and, as a tuple of sets of texts, `COLUMNS`: the
columns that its records have.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

Record = Mapping[str, Any]

_FOLDER = Path(__file__).parent
_WRITTEN = re.compile(r"^COLUMNS = (\(.*?\))\n\n", re.MULTILINE | re.DOTALL)


@functools.cache
def _columns() -> Mapping[str, tuple[set[str], ...]]:
    """Each format's module and the columns that its records have, of which one set must be there.

    They are read from the text of the files (`COLUMNS`), so that a table of plain columns is read
    without importing any format. The order of formats is without effect: their columns differ.
    """
    found = {}
    for file in sorted(_FOLDER.glob("*.py")):
        if written := _WRITTEN.search(file.read_text("utf-8")):
            found[file.stem] = ast.literal_eval(written[1])
    return found


@dataclass(frozen=True, kw_only=True)
class ForeignFormat:
    """Another tool's way of writing down questions, references and answers.

    Most exports need none: their columns have known names, perhaps inside objects. This is for
    those whose meaning cannot be had from names.

    Attributes:
        name: as it is shown, such as `promptfoo results`.
        ours: a record's columns under our names. A key that is missing is looked for among the
            record's own columns; `answer` None is an answer that was not given.
        matches: whether a record that has the format's columns is of it; None where they say so.
        records: the records of a whole JSON document, or None where it is not of this format.
        joined: makes records of all lines of a log; None where each line is one.
        notes: what the reader of the figures must know of some records, with their number.
        variant: which of several answers to its question a record holds, such as lm-eval's filter;
            it becomes a part of the system's name, so that no system counts a question twice.
        whole: columns of the record that hold nothing but what `ours` takes of them.
        places: our columns to where the tool keeps them, as they are shown.
    """

    name: str
    ours: Callable[[Record], Record]
    matches: Callable[[Record], bool] | None = None
    records: Callable[[Any], Sequence[Record] | None] | None = None
    joined: Callable[[Sequence[Record]], Sequence[Record]] | None = None
    notes: Callable[[Sequence[Record]], Mapping[str, int]] | None = None
    variant: Callable[[Record], str | None] | None = None
    whole: frozenset[str] = frozenset()
    places: Mapping[str, str] = field(default_factory=dict)


def format_of_document(document: Any) -> tuple[ForeignFormat, Sequence[Record]] | None:
    """The format of a whole JSON document, and its records."""
    for one in map(_format, _columns()):
        if one.records is not None:
            records = one.records(document)
            if records is not None:
                return one, records
    return None


def format_of_record(record: Record) -> ForeignFormat | None:
    """The format that a record of a file is of."""
    for module, alternatives in _columns().items():
        if any(columns <= record.keys() for columns in alternatives):
            one = _format(module)
            if one.matches is None or one.matches(record):
                return one
    return None


def _format(module: str) -> ForeignFormat:
    found: ForeignFormat = import_module(f"{__package__}.{module}").FORMAT
    return found
