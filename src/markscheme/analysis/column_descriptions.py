"""What a file is read as: format, columns, and its first rows as they will be judged."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import polars as pl

from markscheme.errors import Problem, gathered
from markscheme.flags import typed_columns, with_keywords
from markscheme.results import Column, Format, Table, TableResult
from markscheme.tables import FileOptions, ReadOptions, Source, SourcePreview, preview, sources_of
from markscheme.text import excerpt

_EXAMPLE, _LONGEST = 60, 300
_OTHERS = 20
_EMPTY = ("", "[]", "{}")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ColumnsResult(TableResult):
    """What sources are read as. `frame`: `source`, `column`, `read_as` (null: not used), `example`.

    Attributes:
        sources: each source's format, tool, columns, first rows and notes.
        trouble: why a source cannot be judged; "" where all can.
    """

    sources: tuple[SourcePreview, ...]
    trouble: str

    @property
    def problems(self) -> list[Problem]:
        """Malformed rows among those that were looked at, and labels that cannot be read."""
        return [problem for one in self.sources for problem in one.problems]

    @property
    def repeated_ids(self) -> list[Problem]:
        """Those of them whose id an earlier, different row has: such a file is not judged."""
        return [problem for one in self.sources for problem in one.repeated_ids]


def describe_columns(
    answers: Source | Sequence[str | Path],
    options: ReadOptions | None = None,
    *,
    rows: int = 3,
    **keywords: Any,
) -> ColumnsResult:
    """What `judge` would read a file as, without judging anything.

    Args:
        answers: what `markscheme.judge` takes.
        options: how it is read.
        rows: answers to show.
        keywords: fields of `ReadOptions`.

    Raises:
        DataError: it cannot be opened, or is no table at all.

    Example:
        >>> rows = [{"user_input": "Who wrote Emma?", "reference": "Austen", "response": "Austen"}]
        >>> describe_columns(rows).frame["read_as"].to_list()
        ['question', 'references', 'answer', 'system']
    """
    reading = with_keywords(ReadOptions, options, keywords)
    found = preview(sources_of(answers), reading, rows=rows)
    frame = pl.DataFrame(
        [
            {
                "source": one.source,
                "column": column.name,
                "read_as": column.read_as or None,
                "example": column.example,
            }
            for one in found
            for column in one.columns
        ],
        schema=dict.fromkeys(("source", "column", "read_as", "example"), pl.String),
    )
    tables = [table for one in found for table in _tables(one, reading)]
    return ColumnsResult(
        frame=frame,
        tables=tuple(tables),
        data={"command": "columns", "sources": [_plain(one, reading) for one in found]},
        sources=tuple(found),
        trouble="; ".join(one.trouble for one in found if one.trouble),
    )


def _tables(found: SourcePreview, reading: ReadOptions) -> list[Table]:
    used = [column for column in found.columns if column.read_as]
    unused = [column for column in found.columns if not column.read_as]
    others = [column for column in unused if column.example.strip() not in _EMPTY]
    notes = list(found.notes)
    if len(others) < len(unused):
        notes.append(f"{len(unused) - len(others)} columns are empty and not used")
    if len(others) > _OTHERS:
        notes.append(f"{len(others) - _OTHERS} more columns are not used; --format json has them")
    if found.problems:
        count = len(found.problems)
        notes.append(
            f"{count:,} of the first rows cannot be read whole: "
            + "; ".join(map(str.strip, gathered(found.problems)))
        )
    if not found.trouble:
        notes.append(f"to read it otherwise: {_command(found, reading)}")
    tables = [
        Table.of(
            f"{found.source} is {_what(found)}",
            (
                Column("read as", lambda column: column.read_as or "not used"),
                Column("column", "name"),
                Column("an example", lambda column: excerpt(column.example, _EXAMPLE)),
            ),
            (*used, *others[:_OTHERS]),
            notes,
        )
    ]
    if found.rows.height:
        names = dict.fromkeys(("question", "references", "answer", "system", *reading.slices))
        shown = found.rows.select(*names)
        tables.append(
            Table.of(
                f"The first {found.rows.height} answers as they will be judged",
                [Column(name, name, _VALUE, missing="(no answer)") for name in shown.columns],
                shown,
            )
        )
    return tables


def _what(found: SourcePreview) -> str:
    names = {
        "jsonl": "JSONL",
        "json": "JSON",
        "csv": "CSV",
        "tsv": "TSV",
        "parquet": "Parquet",
        "arrow": "Arrow",
        "xlsx": "a workbook",
    }
    kind = names.get(found.kind, found.kind) or "a table"
    if not found.tool:
        return kind
    return f"{'an archive' if found.kind == 'xlsx' else kind}: {found.tool}"


_FOUND = ("columns", "answer_columns")
"""Options whose values are found in the source; the others are as the user typed them."""


def _command(found: SourcePreview, reading: ReadOptions) -> str:
    """The command that says what was found, for the user to change."""
    source = shlex.quote(found.source) if found.kind else "FILE"
    parts = [f"markscheme judge {source}"]
    default = ReadOptions()
    for one in fields(FileOptions):
        value = getattr(reading, one.name)
        if one.name not in _FOUND and value != getattr(default, one.name):
            parts.append(f"--{one.name.replace('_', '-')} {shlex.quote(str(value))}")
    pairs = {
        ours: "NAME" if "," in place else place
        for ours, place in found.places.items()
        if (ours, place) != ("annotator_labels", "annotator_labels")
    }
    if pairs:
        parts.append(typed_columns(pairs))
    if found.wide:
        parts.append(f"--answer-columns {shlex.quote(','.join(found.wide))}")
    if reading.slices:
        parts.append(f"--slices {shlex.quote(','.join(reading.slices))}")
    return " ".join(parts)


def _value(value: Any) -> str:
    text = (" | ".join(map(str, value)) or "(none)") if isinstance(value, list) else str(value)
    return excerpt(text, _LONGEST)


_VALUE = Format(_value, numeric=False)


def _plain(found: SourcePreview, reading: ReadOptions) -> Mapping[str, Any]:
    return {
        "source": found.source,
        "format": found.kind,
        "tool": found.tool or None,
        "columns": [asdict(column) for column in found.columns],
        "rows": found.rows.to_dicts(),
        "problems": [asdict(problem) for problem in found.problems],
        "notes": list(found.notes),
        "trouble": found.trouble or None,
        "command": None if found.trouble else _command(found, reading),
    }
