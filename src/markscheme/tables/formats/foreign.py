"""What a foreign format is: how it is recognised, and what its records mean."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Record = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class ForeignFormat:
    """Another tool's way of writing down questions, references and answers.

    Most exports need none: their columns have known names, perhaps inside objects. This is for
    those whose meaning cannot be had from names.

    Attributes:
        name: as it is shown, such as `promptfoo results`.
        matches: whether a record is of this format.
        ours: a record's columns under our names. A key that is missing is looked for among the
            record's own columns; `answer` None is an answer that was not given.
        records: the records of a whole JSON document, or None where it is not of this format.
        joined: makes records of all lines of a log; None where each line is one.
        note: what the reader of the figures must know; empty for nothing.
        places: our columns to where the tool keeps them, as they are shown.
        version: the tool's version that a whole JSON document names, or None.
    """

    name: str
    matches: Callable[[Record], bool]
    ours: Callable[[Record], Record]
    records: Callable[[Any], Sequence[Record] | None] | None = None
    joined: Callable[[Sequence[Record]], Sequence[Record]] | None = None
    note: str = ""
    places: Mapping[str, str] = field(default_factory=dict)
    version: Callable[[Any], Any] | None = None
