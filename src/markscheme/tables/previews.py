"""What a source is read as, before anything is judged: its columns and its first answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from markscheme.errors import DataError, Problem
from markscheme.tables.answers import AnswersReader
from markscheme.tables.columns import LABEL_OF, REQUIRED
from markscheme.tables.files import RawBatch, Source, iter_raw, system_names
from markscheme.tables.opened import shown
from markscheme.tables.paths import sample, values_at
from markscheme.tables.predictions import Predictions, with_predictions
from markscheme.tables.read_options import ReadOptions
from markscheme.tables.recognition import Recognised, recognise_columns, unread

_LOOKED_AT = 200
"""Rows among which the one to show is chosen."""


@dataclass(frozen=True, kw_only=True)
class SourceColumn:
    """A column of a source, or what lies inside one, by its path.

    Attributes:
        name: its name or path, as `--columns` takes it.
        read_as: our column; in a wide table "answer of SYSTEM" or "label of SYSTEM"; "slice" where
            it is one alone; "" where it is not used.
        example: its value, as text, in a row that has most of the columns that are used; else its
            first that is not empty.
    """

    name: str
    read_as: str
    example: str


@dataclass(frozen=True, kw_only=True)
class SourcePreview:
    """What one source is read as.

    Attributes:
        source: its name.
        kind: the file's format; "" for data in memory.
        tool: the format of another tool that it is read as; "" where its columns are read by
            their names.
        columns: those that are used, in our order, then the others.
        places: our columns to those of the source that they are read from, as `--columns` takes
            them; not of the references, where several columns hold some.
        rows: the first answers as they will be judged; empty where reading failed.
        problems: malformed rows among those that were looked at.
        repeated_ids: rows among them, whose id an earlier, different row has.
        notes: what was guessed.
        trouble: why it cannot be read; "" where it can.
        wide: the columns that hold one system's answers each, as `--answer-columns` takes them.
    """

    source: str
    kind: str
    tool: str
    columns: tuple[SourceColumn, ...]
    places: Mapping[str, str]
    rows: pl.DataFrame
    problems: tuple[Problem, ...]
    repeated_ids: tuple[Problem, ...]
    notes: tuple[str, ...]
    trouble: str = ""
    wide: tuple[str, ...] = ()


def preview(
    sources: Sequence[Source], options: ReadOptions | None = None, *, rows: int = 3
) -> list[SourcePreview]:
    """What each source is read as, from its first batch.

    Args:
        sources: as `AnswersReader` takes them.
        options: how they are read.
        rows: answers to show.

    Raises:
        DataError: a source cannot be opened, or is no table at all. One whose columns are not
            recognised is described, with the trouble.
    """
    given = options or ReadOptions()
    needed = "declared" if given.references == "required" else given.references
    reading = replace(given, on_bad_row="skip", references=needed)
    kept, predicted = with_predictions(sources, reading)
    found: list[SourcePreview] = []
    reader = None
    for source, system in zip(kept, system_names(kept), strict=True):
        raw = next(iter_raw(source, reading), None)
        if raw is None:
            raise DataError(f"{shown(str(source))} holds no rows")
        reader = AnswersReader([source], reading, system=system, after=reader)
        found.append(_preview(raw, reader, predicted, rows))
    return found


def _preview(
    raw: RawBatch, reader: AnswersReader, predicted: Sequence[Predictions], rows: int
) -> SourcePreview:
    trouble, frame = "", pl.DataFrame()
    try:
        frame = reader.answers_of(raw, predicted, default_system=reader.system or "")
    except DataError as error:
        trouble = str(error)
    seen = reader.last or _known_so_far(raw, reader.options)
    known = seen.format or raw.format
    said = seen.said(raw.source)
    row = _fullest(raw, seen)
    return SourcePreview(
        source=raw.source,
        kind=raw.kind,
        tool=known.name if known else "",
        columns=(
            *_used(raw, seen, frame, row),
            *_others(raw, seen, row, foreign=known is not None, slices=reader.options.slices),
        ),
        places={
            ours: seen.place_of(ours)
            for ours in dict.fromkeys((*REQUIRED, *seen.places))
            if ours in seen.places and not (ours == "references" and seen.more_references)
        }
        | seen.annotators
        | {LABEL_OF + system: place for system, place in seen.labels.items()},
        rows=frame.head(rows),
        problems=tuple(reader.met.problems),
        repeated_ids=tuple(reader.repeated_ids),
        notes=(
            *(one for one in reader.said() if one != said),
            *reader.met.offered,
        ),
        trouble=trouble,
        wide=tuple(seen.answers.values()),
    )


def _known_so_far(raw: RawBatch, reading: ReadOptions) -> Recognised:
    """What is recognised of a source that lacks a column."""
    try:
        return recognise_columns(raw, reading.columns, reading.answer_columns, required=())
    except DataError:
        return Recognised()


def _used(raw: RawBatch, seen: Recognised, frame: pl.DataFrame, row: int) -> list[SourceColumn]:
    found = []
    for ours in dict.fromkeys((*REQUIRED, *seen.places)):
        if ours in seen.places:
            example = _example(seen.values.get(ours), row)
            found.append(SourceColumn(name=seen.place_of(ours), read_as=ours, example=example))
        elif ours == "answer":
            found += [
                SourceColumn(
                    name=place,
                    read_as=f"answer of {system}",
                    example=_example(values_at(raw.columns, place), row),
                )
                for system, place in seen.answers.items()
            ]
    labels = [(f"label of {system}", place) for system, place in seen.labels.items()]
    for read_as, place in (*labels, *seen.annotators.items()):
        example = _example(values_at(raw.columns, place), row)
        found.append(SourceColumn(name=place, read_as=read_as, example=example))
    if frame.height and "system" not in seen.places and not seen.answers:
        name = "(the file's name)"
        found.append(SourceColumn(name=name, read_as="system", example=frame["system"][0]))
    return found


def _others(
    raw: RawBatch, seen: Recognised, row: int, *, foreign: bool, slices: Sequence[str]
) -> list[SourceColumn]:
    """What is not used: of a foreign format nothing, since it is the tool's own bookkeeping."""
    if foreign:
        return []
    return [
        SourceColumn(
            name=leaf,
            read_as="slice" if leaf in slices else "",
            example=_example(values_at(raw.columns, leaf), row),
        )
        for leaf in unread(raw, seen)
    ]


def _fullest(raw: RawBatch, seen: Recognised) -> int:
    """The first of the rows looked at in which most of the columns that are used hold something."""
    places = (*seen.answers.values(), *seen.labels.values())
    columns = [*seen.values.values(), *(values_at(raw.columns, place) for place in places)]
    rows = range(min(_LOOKED_AT, len(raw.lines)))
    return max(
        rows, key=lambda row: sum(map(bool, (_cell(one, row) for one in columns))), default=0
    )


def _example(values: Sequence[Any] | pl.Series | None, row: int) -> str:
    """The value of a row as text; where it has none, the first that there is."""
    return _cell(values, row) or next(
        (str(one) for one in sample(() if values is None else values)), ""
    )


def _cell(values: Sequence[Any] | pl.Series | None, row: int) -> str:
    value = values[row] if values is not None and row < len(values) else None
    if isinstance(value, pl.Series):  # a list in Parquet
        value = value.to_list()
    return "" if value is None else str(value)
