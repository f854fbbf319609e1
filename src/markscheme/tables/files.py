"""Raw rows out of any source, and whole tables.

Sources are files (JSONL, JSON, CSV, TSV, Parquet, Arrow and Excel, compressed or not), standard
input, folders of Parquet files or of a Hugging Face dataset, data frames and lists of dicts.
Answers, judgments and labels are all read through here. This knows nothing of what the columns
mean; it yields batches of raw columns together with the line (or row) each value came from, and a
`Problem` for every row that is no row at all.
"""

from __future__ import annotations

import csv
import io
import itertools
import math
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, cast

import orjson
import polars as pl

from markscheme.errors import BadRowsError, DataError, Problem
from markscheme.tables import limits
from markscheme.tables.arrow import scan_arrow
from markscheme.tables.columns import ALIASES, plain_name
from markscheme.tables.formats import (
    EXPORT_IT,
    ForeignFormat,
    format_of_document,
    format_of_record,
    inspect_archive,
    workbook_rows,
)
from markscheme.tables.limits import Intake
from markscheme.tables.list_literals import parse_json
from markscheme.tables.objects import columns_of, frame_of, number_text, values_of
from markscheme.tables.opened import (
    ARCHIVE,
    BOM,
    COMPRESSION_SUFFIXES,
    PEEK,
    SUFFIXES,
    Opened,
    bare_path,
    binary_format,
    check_named,
    format_of,
    is_address,
    is_text,
    open_source,
    shown,
)
from markscheme.tables.parquet import scan_parquet
from markscheme.tables.paths import are_messages
from markscheme.tables.read_options import Format, ReadOptions
from markscheme.text import csv_value, in_rows

if TYPE_CHECKING:
    import pandas as pd

    from markscheme.tables.formats import CsvOutput

DATASET = "dataset:"
"""What a source begins with that is a public data set's name, and no file's."""

_SEPARATOR_LINES = (b"sep=;", b"sep=,", b"sep=\t")
_VIEWER_LABELS = {"answer_id", "label", "comment", "labelled_at"}
"""Columns of labels made in the viewer, `seal` too if it has not been removed: a line for each
change of an answer's label."""
_LOOKED_AT = 20
"""Rows of a CSV file by which its separator is known from a sign in the names of columns."""
_NO_JSON = re.compile(r"-?(?:NaN|Infinity)\b")
_END = "\x00the end of the file"
"""Both fields of a last line of our own: it ends up in one where a quote was never closed."""


_Objects: TypeAlias = "Sequence[Mapping[str, Any]] | Mapping[str, Any] | SupportsArrow"
Source: TypeAlias = "str | Path | pl.DataFrame | pl.LazyFrame | pd.DataFrame | _Objects"
"""What a table can be read from: a path, `-`, a Polars or pandas frame, a list of dicts, a dict of
lists, a `datasets.Dataset`, or anything that offers Arrow's C stream, as pyarrow's tables do."""


def sources_of(source: Source | Sequence[str | Path]) -> list[Source]:
    """One source, or several paths, as a list of sources; no rows at all are one source."""
    several = isinstance(source, list | tuple) and bool(source)
    if several and all(isinstance(one, str | Path) for one in source):  # type: ignore[union-attr]
        return list(source)  # type: ignore[arg-type]
    return [source]  # type: ignore[list-item]


def name_without_endings(path: str | Path) -> str:
    """A file's name up to its first ending: `answers` of `answers.part2.jsonl.gz`.

    A dot between two digits begins none: `gpt-4.1.jsonl` is `gpt-4.1`.
    """
    return re.split(r"\.(?!\d)|(?<!\d)\.", bare_path(path).name)[0]


def system_names(sources: Sequence[Source]) -> list[str]:
    """The systems' names where no column gives them: each file's name without its endings.

    Files of one name in several folders are of several systems: before the name come as many
    folders as distinguish them.
    """
    named = [one if isinstance(one, str | Path) and str(one) != "-" else None for one in sources]
    paths = [Path("system") if one is None else bare_path(one).absolute() for one in named]
    stems = [name_without_endings(path) or "system" for path in paths]
    folders = [path.parts[-2::-1] for path in paths]  # The nearest first.
    alike: dict[str, set[tuple[str, ...]]] = {stem: set() for stem in stems}
    for stem, parts in zip(stems, folders, strict=True):
        alike[stem].add(parts)
    depth = {
        stem: next(
            n for n in itertools.count() if len({parts[:n] for parts in found}) == len(found)
        )
        for stem, found in alike.items()
    }
    return [
        "/".join((*parts[: depth[stem]][::-1], stem))
        for stem, parts in zip(stems, folders, strict=True)
    ]


class SupportsArrow(Protocol):
    """An object that offers its table through Arrow's C stream."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


@dataclass(kw_only=True)
class RawBatch:
    """Some consecutive rows of a source: columns as they stood, and where each row came from.

    `columns` maps names to equally long lists or series; `lines[i]` is the line (or row) of row i.
    `problems` are rows that could not be read at all and are not in `columns`. `format` is another
    tool's whose document they are of; `kind` is the format of the file; `notes` say what was
    guessed to read them.
    """

    source: str
    columns: dict[str, Sequence[Any] | pl.Series]
    lines: Sequence[int]
    unit: str = "line"
    problems: list[Problem] = field(default_factory=list)
    format: ForeignFormat | None = None
    kind: str = ""
    notes: tuple[str, ...] = ()


def iter_raw(source: Source, options: ReadOptions) -> Iterator[RawBatch]:
    """Batches of raw rows of one source, in order.

    Args:
        source: a file, a folder of Parquet files or of a Hugging Face dataset, `-` for standard
            input, `dataset:NAME` for a data set that a package offers, a frame or Arrow table, a
            list of dicts or a dict of lists.
        options: what a file is, in which encoding, which sheet, and how many rows a batch has; the
            others are of what the columns mean.

    Raises:
        DataError: the source as a whole cannot be read.
    """
    if isinstance(source, str | Path):
        return _file_batches(str(source), options)
    batch_rows = options.batch_rows
    if type(source).__module__.startswith("pandas"):
        return _pandas_batches(cast("pd.DataFrame", source), batch_rows)
    frame = frame_of(source)
    if frame is not None:
        lazy = isinstance(source, pl.LazyFrame)
        return frame_batches("the lazy frame" if lazy else "the data frame", frame, batch_rows)
    if isinstance(source, Mapping):
        return _columns_batches("the data", columns_of(source), batch_rows)
    if isinstance(source, Sequence):
        return records_batches("the data", source, batch_rows)
    if isinstance(source, Iterable) and type(source).__module__.startswith("datasets"):
        return records_batches("the data", list(source), batch_rows)
    raise DataError(
        f"a table cannot be read from {type(source).__name__}; give a path, a Polars or pandas "
        "data frame, a list of dicts or a dict of lists"
    )


def _file_batches(path: str, options: ReadOptions) -> Iterator[RawBatch]:
    check_named(path)
    batch_rows = options.batch_rows
    if path.startswith(DATASET):
        from markscheme.tables.datasets import read_dataset

        frame = read_dataset(path.removeprefix(DATASET)).lazy()
        yield from frame_batches(path, frame, batch_rows)
        return
    if path != "-" and Path(path).is_dir():
        for batch in frame_batches(path, _folder_frame(path), batch_rows):
            batch.kind = "a folder"
            yield batch
        return
    with open_source(path, options.encoding) as opened:
        stream, head = opened.stream, opened.head
        if not head:
            raise DataError(f"{shown(path)} is empty")
        if binary_format(head) is None and not is_text(head):
            raise DataError(f"{shown(path)} is not a table: {EXPORT_IT}")
        kind = options.input_format or format_of(path, head)
        if options.input_format in (None, "xlsx") and head.startswith(ARCHIVE):
            batches = _iter_archive(opened, batch_rows, options.sheet)
        elif kind == "xlsx":
            batches = _iter_workbook(opened.intake, stream.read(), batch_rows, options.sheet)
        else:
            batches = _batches_of(path, kind, opened, options)
        for batch in batches:
            batch.notes += opened.notes
            batch.kind = kind
            yield batch


def _batches_of(
    path: str, kind: Format, opened: Opened, options: ReadOptions
) -> Iterator[RawBatch]:
    if kind == "jsonl":
        return _iter_jsonl(path, opened, options)
    if kind == "json":
        return _document_batches(path, _document(path, opened), options.batch_rows)
    if kind in ("parquet", "arrow"):
        return _iter_columnar(path, kind, opened, options.batch_rows)
    return _iter_delimited(path, opened, kind, options)


def _folder_frame(path: str) -> pl.LazyFrame:
    """The table in a folder: of Parquet files, or of a dataset that `save_to_disk` wrote."""
    folder = Path(path)
    if (folder / "dataset_dict.json").is_file():
        splits = sorted(one.parent for one in folder.glob("*/state.json"))
        if len(splits) != 1:
            raise DataError(
                f"{path} is a dataset with {len(splits)} splits; give one of them: "
                f"{', '.join(map(str, splits))}"
            )
        folder = splits[0]
    state = folder / "state.json"
    if state.is_file():
        names = [one["filename"] for one in orjson.loads(state.read_bytes())["_data_files"]]
        return pl.concat([scan_arrow(folder / Path(name).name) for name in names])
    arrow = sorted(folder.glob("*.arrow"))
    if arrow and not any(folder.glob("*.parquet")):
        return pl.concat([scan_arrow(file) for file in arrow])
    if (folder / "run.json").is_file() and (answers := folder / "answers.parquet").is_file():
        raise DataError(f"{path} is the folder of a run; the answers in it are {answers}")
    return scan_parquet(folder)


def column_names(source: Source, options: ReadOptions) -> list[str]:
    """The columns of a source, as far as its first rows have them.

    Raises:
        DataError: it cannot be read.
    """
    first = next(iter_raw(source, options), None)
    return [] if first is None else list(first.columns)


def read_table(source: Source, options: ReadOptions | None = None) -> pl.DataFrame:
    """A whole table as in its source; of labels made in the viewer, the last of each answer.

    Args:
        source: as `iter_raw` takes it.
        options: what a file is; whatever they say of bad rows, none is left out.

    Raises:
        DataError: the file cannot be read or has no rows.
        BadRowsError: some of its rows cannot be read.
    """
    if isinstance(source, pl.DataFrame):
        return _last_labels(source)
    batches = list(iter_raw(source, replace(options or ReadOptions(), batch_rows=1_000_000)))
    problems = [problem for batch in batches for problem in (*batch.problems, *_not_unicode(batch))]
    if problems:
        raise BadRowsError(problems)
    frames = [
        pl.DataFrame({name: _series(name, values) for name, values in batch.columns.items()})
        for batch in batches
        if batch.lines
    ]
    if not frames:
        name = repr(str(source)) if isinstance(source, str | Path) else "the data"
        raise DataError(f"{name} has no rows")
    return _last_labels(pl.concat(frames, how="diagonal_relaxed"))


def _last_labels(table: pl.DataFrame) -> pl.DataFrame:
    if set(table.columns) - {"seal"} == _VIEWER_LABELS:
        return table.unique("answer_id", keep="last", maintain_order=True)
    return table


def _not_unicode(batch: RawBatch) -> list[Problem]:
    """Rows with bytes that are not UTF-8, which CSV and TSV may hold."""
    found = []
    for name, values in batch.columns.items():
        if isinstance(values, pl.Series):
            continue
        for line, value in zip(batch.lines, values, strict=True):
            if isinstance(value, str) and not value.isascii():
                try:
                    check_characters(value, name)
                except ValueError as error:
                    found.append(Problem(batch.source, line, str(error), unit=batch.unit))
    return found


def _series(name: str, values: Sequence[Any] | pl.Series) -> pl.Series:
    """Python values as a column; values of mixed kinds (`true` and `"yes"`, 4 and 2.5) as text."""
    if isinstance(values, pl.Series):
        return values
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) > 1 and list not in kinds and dict not in kinds:
        cells = [
            number_text(v) if isinstance(v, int | float) else None if v is None else str(v)
            for v in values
        ]
        return pl.Series(name, cells, dtype=pl.String)
    found = pl.Series(name, values, strict=False)
    if len(found) == len(values):
        return found
    # Polars gives [{}, 1] more rows than one.
    cells = [None if value is None else orjson.dumps(value).decode() for value in values]
    return pl.Series(name, cells, dtype=pl.String)


def check_characters(text: str, ours: str) -> None:
    """Raises ValueError where a text cannot be UTF-8, naming the column, the byte and its place."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        code = ord(text[error.start])
        what = (
            f"a byte that is not UTF-8 (0x{code - 0xDC00:02X}) at character {error.start + 1}; "
            "save the file as UTF-8"
            if 0xDC80 <= code <= 0xDCFF
            else f"a lone surrogate (U+{code:04X}), which is not a character, at character "
            f"{error.start + 1}"
        )
        raise ValueError(f"the {ours} holds {what}") from None


def count_rows(files: Sequence[str | Path]) -> int | None:
    """Rows of files, for a progress bar: of Parquet, CSV and TSV, and text with one row per line.

    Blank lines count. None where the rows of one of the files cannot be had cheaply.
    """
    counts = [_rows_of(Path(file)) for file in files]
    return None if None in counts else sum(filter(None, counts))


def _rows_of(file: Path) -> int | None:
    kind = SUFFIXES.get(file.suffix.lower())
    if not file.is_file() or kind in (None, "json", "arrow", "xlsx"):
        return None
    try:
        if kind == "parquet":
            frame = scan_parquet(file)
        elif kind in ("csv", "tsv"):
            frame = pl.scan_csv(file, glob=False, infer_schema=False, ignore_errors=True)
        else:
            with file.open("rb") as stream:
                return sum(block.count(b"\n") for block in iter(lambda: stream.read(1 << 20), b""))
        return int(frame.select(pl.len()).collect().item())
    except (DataError, pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return None


def _iter_jsonl(path: str, opened: Opened, options: ReadOptions) -> Iterator[RawBatch]:
    records: list[dict[str, Any]] = []
    lines: list[int] = []
    problems: list[Problem] = []
    log, joined = None, None
    size = values = total = 0
    most = limits.ROW_FIELDS * options.max_bytes
    for number, raw, length in limits.lines_within(shown(path), opened.stream, most):
        line = raw.removeprefix(BOM)  # Of files set one behind another, each has its own.
        if number == 1 and (line.strip() == b"[" or line.lstrip().startswith(b"[{")):
            raise DataError(
                f"{shown(path)} holds one list of JSON, not one object per line; "
                "pass --input-format json"
            )
        held = limits.values_of_json(line)
        total += held
        opened.intake.check_values(total, most=math.inf)
        try:
            record = _json_row(line, length, held, options)
        except ValueError as error:
            if line.strip():
                problems.append(Problem(shown(path), number, _json_trouble(line, error)))
            continue
        if isinstance(record, dict):
            if not records:
                log = format_of_record(record)
                joined = log.joined if log is not None else None
            records.append(record)
            lines.append(number)
            size += len(line)
            values += held
        else:
            problems.append(Problem(shown(path), number, _not_an_object(record)))
        full = size >= limits.BATCH_BYTES or values >= limits.BATCH_VALUES
        if (full or len(records) >= options.batch_rows) and joined is None:
            yield _from_records(path, records, lines, problems)
            records, lines, problems = [], [], []
            size = values = 0
    if joined is not None:
        for batch in records_batches(path, joined(records), options.batch_rows):
            yield replace(batch, problems=problems, format=log)
            problems = []
    elif records or problems:
        yield _from_records(path, records, lines, problems)


def _json_row(line: bytes, length: int, values: int, options: ReadOptions) -> Any:
    """Raises ValueError where a line, perhaps cut, is no JSON or too large."""
    if length > limits.ROW_FIELDS * options.max_bytes:
        raise ValueError(limits.long_row(length, options))
    if values > limits.BATCH_VALUES:
        raise ValueError(
            f"the row holds {values:,} values; the limit is {limits.BATCH_VALUES:,}: write it as "
            "several rows"
        )
    return parse_json(line)


def _json_trouble(line: bytes, error: ValueError) -> str:
    if not isinstance(error, orjson.JSONDecodeError):
        return str(error)
    if b"\x00" in line:
        return f"a NUL byte at column {line.index(0) + 1}; remove it"
    return f"not valid JSON: {_why_no_json(error)} (column {error.colno})"


def _why_no_json(error: orjson.JSONDecodeError) -> str:
    """What is wrong; Python's `json.dumps` writes NaN and Infinity, which JSON does not have."""
    word = _NO_JSON.match(error.doc, error.pos)
    return f"{word[0]} is no value of JSON; write null" if word else error.msg


def _not_an_object(value: Any) -> str:
    return f"a JSON object with fields was expected, not {type(value).__name__} {str(value)[:40]!r}"


def _from_records(
    path: str,
    records: Sequence[Mapping[str, Any]],
    lines: Sequence[int],
    problems: list[Problem],
    unit: str = "line",
) -> RawBatch:
    names: dict[str, None] = {}
    for record in records:
        if len(record) != len(names) or record.keys() != names.keys():
            names.update(dict.fromkeys(record))
    limits.check_table(shown(path), len(records), len(names))
    columns: dict[str, Sequence[Any] | pl.Series] = {
        str(name): [record.get(name) for record in records] for name in names
    }
    return RawBatch(source=shown(path), columns=columns, lines=lines, unit=unit, problems=problems)


def read_document(path: str, options: ReadOptions) -> tuple[Any, tuple[str, ...]]:
    """A file of one JSON document, whole, and notes on how it was read; None of any other file.

    Raises:
        DataError: it cannot be read, is no JSON, holds too many values or nests them too deeply.
    """
    with open_source(path, options.encoding) as opened:
        if (options.input_format or format_of(path, opened.head)) != "json":
            return None, ()
        return _document(path, opened), opened.notes


def _document(path: str, opened: Opened) -> Any:
    content = opened.stream.read().removeprefix(BOM)
    opened.intake.check_values(limits.values_of_json(content))
    try:
        return parse_json(content)
    except orjson.JSONDecodeError as error:
        raise DataError(
            f"{shown(path)}, line {error.lineno}, column {error.colno}: not valid JSON: "
            + _why_no_json(error)
            + " (if each line is an object, pass --input-format jsonl)" * (b"}\n{" in content)
        ) from None
    except ValueError as error:
        raise DataError(f"{shown(path)}: {error}") from None


def _document_batches(path: str, document: Any, batch_rows: int) -> Iterator[RawBatch]:
    """The batches of a whole JSON document: a table in a usual form, or another tool's."""
    foreign = format_of_document(document)
    if foreign is not None:
        found, records = foreign
        for batch in records_batches(path, records, batch_rows):
            batch.format = found
            yield batch
        return
    if isinstance(document, dict):
        columns = _json_columns(document)
        if columns is not None:
            yield from _columns_batches(path, columns, batch_rows)
            return
        rows = rows_in(path, document)
        document = [document] if rows is None else rows
    if not isinstance(document, list):
        raise DataError(f"{shown(path)}: {_not_an_object(document)}")
    yield from records_batches(path, document, batch_rows)


def rows_in(path: str, document: Mapping[str, Any]) -> list[Any] | None:
    """The rows of the table that an object of JSON holds under one of its names.

    None of an object without one, and of one that is itself a row: a conversation, or a question
    with its references, whose lists of objects are its passages.

    Raises:
        DataError: it holds several tables.
    """
    tables = {
        name: rows
        for name, rows in document.items()
        if isinstance(rows, list) and rows and isinstance(rows[0], dict)
    }
    names = {plain_name(name) for name in document.keys() - tables.keys()}
    is_row = all(names & set(ALIASES[ours]) for ours in ("question", "references"))
    if is_row or are_messages(document.get("messages")):
        return None
    if len(tables) > 1:
        raise DataError(
            f"{shown(path)} holds several tables ({', '.join(tables)}); save the one you want as a "
            "file of its own"
        )
    return next(iter(tables.values()), None)


def _json_columns(document: dict[str, Any]) -> dict[str, list[Any]] | None:
    """The columns of a table as pandas and MLflow write it, or None where it is no such document.

    `{"columns": [...], "data": [[...]]}`, a dict of dicts by row (`to_json`'s own), or a dict of
    lists.
    """
    names, rows = document.get("columns"), document.get("data")
    if isinstance(names, list) and isinstance(rows, list):
        if all(isinstance(row, list) and len(row) == len(names) for row in rows):
            return {str(name): [row[n] for row in rows] for n, name in enumerate(names)}
        return None
    values = list(document.values())
    if len(values) < 2:
        return None
    if all(isinstance(one, dict) for one in values) and values[0]:
        keys = list(values[0])
        by_row = all(list(one) == keys for one in values) and keys[0].isdigit()
        return {n: list(one.values()) for n, one in document.items()} if by_row else None
    if all(isinstance(one, list) for one in values):
        same = len({len(one) for one in values}) == 1 and values[0]
        if same and not isinstance(values[0][0], dict):
            return document
    return None


def _columns_batches(
    path: str, columns: Mapping[str, list[Any]], batch_rows: int
) -> Iterator[RawBatch]:
    height = len(next(iter(columns.values()), []))
    for start in range(0, height, batch_rows):
        part = {name: values[start : start + batch_rows] for name, values in columns.items()}
        lines = range(start + 1, min(start + batch_rows, height) + 1)
        yield RawBatch(source=shown(path), columns=dict(part), lines=lines, unit="row")


def records_batches(path: str, rows: Sequence[Any], batch_rows: int) -> Iterator[RawBatch]:
    """Batches from rows already in memory; `row 1` is the first."""
    for start in range(0, len(rows), batch_rows):
        records, lines, problems = [], [], []
        for number, row in enumerate(rows[start : start + batch_rows], start=start + 1):
            if isinstance(row, Mapping):
                records.append(row)
                lines.append(number)
            else:
                problems.append(Problem(shown(path), number, _not_an_object(row), unit="row"))
        yield _from_records(path, records, lines, problems, unit="row")


def _iter_delimited(
    path: str, opened: Opened, kind: Format, options: ReadOptions
) -> Iterator[RawBatch]:
    first = opened.head.removeprefix(BOM).split(b"\n", 1)[0].rstrip(b"\r")
    if first.startswith(b"{") and _is_object(first):
        raise DataError(f"{shown(path)} holds an object of JSON a line; pass --input-format jsonl")
    # Bytes that are not UTF-8 become lone surrogates, which the row check names by line.
    text = io.TextIOWrapper(
        opened.stream, encoding="utf-8-sig", errors="surrogateescape", newline=""
    )
    csv.field_size_limit(sys.maxsize)
    mark = "\t" if kind == "tsv" else _mark(opened.head.removeprefix(BOM))
    source = limits.RowLines(shown(path), text, options)
    reader = csv.reader(itertools.chain(source, [_END + mark + _END]), delimiter=mark)
    header = next(row for row in reader if row and row != ["sep=", ""])
    if header == [_END, _END]:
        return
    if header[-1].endswith(_END):
        raise DataError(f"{shown(path)}, line 1: a quote that is opened here is never closed")
    if any("\udc80" <= sign <= "\udcff" for name in header for sign in name):
        raise DataError(
            f"{shown(path)}, line 1: the names of columns are not UTF-8; save it as such"
        )
    limits.check_columns(shown(path), len(header))
    _check_named_once(header, f"{shown(path)}, line 1")
    rows: list[list[str]] = []
    lines: list[int] = []
    problems: list[Problem] = []
    number = reader.line_num + 1
    outputs: Sequence[CsvOutput] | None = None
    size = source.size = 0
    for row in reader:
        if row == [_END, _END]:
            break
        if row and row[-1].endswith(_END):
            message = "a quote that is opened here is never closed, so the rest cannot be read"
            problems.append(Problem(shown(path), number, message))
            break
        filled = any(map(str.strip, row))  # Spreadsheets write separators alone below a table.
        if filled and len(row) == len(header):
            rows.append(row)
            lines.append(number)
            size += source.size + 16 * len(row)  # A field takes 8 bytes, in a row and in a column.
        elif filled:
            message = f"{len(row)} fields where the header has {len(header)}"
            problems.append(Problem(shown(path), number, message))
        number = reader.line_num + 1
        source.size = 0
        if len(rows) >= options.batch_rows or size >= limits.BATCH_BYTES:
            outputs = _outputs(header, rows) if outputs is None else outputs
            yield _from_rows(path, header, rows, lines, problems, outputs=outputs)
            rows, lines, problems, size = [], [], [], 0
    if rows or problems:
        outputs = _outputs(header, rows) if outputs is None else outputs
        yield _from_rows(path, header, rows, lines, problems, outputs=outputs)


def _outputs(header: list[str], rows: Sequence[Sequence[str]]) -> list[CsvOutput]:
    """promptfoo's outputs, as the first rows of a file show them; empty for any other file."""
    from markscheme.tables.formats import csv_outputs

    answers = [row for row in rows if not _is_header(row, header)]
    return csv_outputs(header, [*zip(*answers, strict=True)] if answers else [()] * len(header))


def _check_named_once(header: Sequence[str], where: str) -> None:
    """Raises DataError for names of several columns but promptfoo's, which follow each provider."""
    # Spreadsheets write columns without a name where cells right of the table were once used.
    twice = {name for name, count in Counter(header).items() if name.strip() and count > 1}
    if "Status" in twice:
        from markscheme.tables.formats import repeats_of_csv

        twice -= repeats_of_csv(header)
    if twice:
        raise DataError(f"{where}: columns named twice: {', '.join(sorted(twice))}")


def _mark(head: bytes) -> str:
    """What separates the fields of a CSV file that begins so.

    Of several marks in its first line it is the one by which most rows have as many fields.
    """
    first = head.split(b"\n", 1)[0].rstrip(b"\r")
    if first in _SEPARATOR_LINES:  # Excel's own way of saying it; no row.
        return chr(first[-1])
    marks = [mark for mark in ",;\t|" if mark.encode() in first]
    if len(marks) < 2:
        return marks[0] if marks else ","
    text = head.decode("utf-8", "replace")
    whole = text if len(head) < PEEK else text.rpartition("\n")[0]

    def alike(mark: str) -> float:
        lines = csv.reader(io.StringIO(whole, newline=""), delimiter=mark)
        header, *rows = ([len(row) for row in lines if row])[:_LOOKED_AT] or [0]
        return sum(width == header for width in rows) / max(1, len(rows))

    return max(marks, key=alike)


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(orjson.loads(line), dict)
    except orjson.JSONDecodeError:
        return False


def _is_header(row: Sequence[str], header: list[str]) -> bool:
    return (
        len(row) > 1
        and row[-1] == header[-1]
        and [row[0].removeprefix("\ufeff"), *row[1:]] == header
    )


def _from_rows(
    path: str,
    header: list[str],
    rows: Sequence[Sequence[str]],
    lines: list[int],
    problems: list[Problem],
    *,
    outputs: Sequence[CsvOutput],
) -> RawBatch:
    """A batch of rows of CSV or of a workbook; `outputs` are promptfoo's columns, if it is its."""
    again = {place for place, row in enumerate(rows) if _is_header(row, header)}
    notes: tuple[str, ...] = ()
    for line, row in zip(lines, rows, strict=True):
        if len(header) > 2 and row[0] in header and row != header and set(row) == set(header):
            raise DataError(
                f"{shown(path)}, line {line}: the header is repeated here with its columns in "
                "another order, so what follows would be read into wrong columns; make a file of "
                "each part"
            )
    if again:  # Files were put together, or one was appended to.
        first = lines[min(again)]
        notes = (
            f"{shown(path)}: the header is repeated in {in_rows(len(again))}, left out (the first "
            f"is line {first:,})",
        )
        rows = [row for place, row in enumerate(rows) if place not in again]
        lines = [line for place, line in enumerate(lines) if place not in again]
    values: list[Sequence[str]] = [*zip(*rows, strict=True)] if rows else [()] * len(header)
    for place, column in enumerate(values):
        if any(cell.startswith("'") for cell in column):
            values[place] = [csv_value(cell) for cell in column]
    if outputs:
        from markscheme.tables.formats import csv_records

        found = [csv_records(header, row, outputs) for row in zip(*values, strict=True)]
        repeated = [line for line, results in zip(lines, found, strict=True) for _ in results]
        batch = _from_records(path, list(itertools.chain(*found)), repeated, problems)
        return replace(batch, notes=notes)
    columns: dict[str, Sequence[Any] | pl.Series] = dict(zip(header, values, strict=True))
    return RawBatch(
        source=shown(path), columns=columns, lines=lines, problems=problems, notes=notes
    )


def _iter_columnar(path: str, kind: Format, opened: Opened, batch_rows: int) -> Iterator[RawBatch]:
    packed = bare_path(path).suffix.lower() in COMPRESSION_SUFFIXES
    here = path != "-" and not is_address(path)
    if here and not packed and binary_format(opened.head) == kind:
        yield from frame_batches(path, _scan(Path(path), kind, shown(path)), batch_rows)
        return
    # Parquet is read from its end, which a pipe does not have.
    with tempfile.NamedTemporaryFile(suffix=f".{kind}") as spool:
        while chunk := opened.stream.read(1 << 20):
            spool.write(chunk)
        spool.flush()
        yield from frame_batches(path, _scan(Path(spool.name), kind, shown(path)), batch_rows)


def _scan(file: Path, kind: Format, name: str) -> pl.LazyFrame:
    return scan_parquet(file, shown=name) if kind == "parquet" else scan_arrow(file, name)


def _iter_archive(opened: Opened, batch_rows: int, sheet: str | None) -> Iterator[RawBatch]:
    """An archive: a log of inspect_ai, or a workbook."""
    content, intake = opened.stream.read(), opened.intake
    log = inspect_archive(content, intake)
    if log is None:
        yield from _iter_workbook(intake, content, batch_rows, sheet)
    else:
        yield from _document_batches(intake.name, log, batch_rows)


def _iter_workbook(
    intake: Intake, content: bytes, batch_rows: int, sheet: str | None
) -> Iterator[RawBatch]:
    name = intake.name
    found = workbook_rows(content, intake, sheet=sheet)
    _check_named_once(found.header, f"{name}, row {found.start}")
    problems = [Problem(name, row, said, unit="row") for row, said in found.trouble.items()]
    outputs = _outputs(found.header, found.rows[:batch_rows])
    for start in range(0, len(found.rows) or 1, batch_rows):
        part = slice(start, start + batch_rows)
        rows, lines = found.rows[part], found.lines[part]
        batch = _from_rows(name, found.header, rows, lines, problems, outputs=outputs)
        batch.unit = "row"
        yield batch
        problems = []


def frame_batches(path: str, frame: pl.LazyFrame, batch_rows: int) -> Iterator[RawBatch]:
    """Batches from a lazy frame, without holding all of it; `row 1` is the first.

    Raises:
        DataError: it cannot be read to its end.
    """
    start = 1
    try:
        for part in frame.collect_batches(chunk_size=batch_rows, maintain_order=True):
            limits.check_columns(shown(path), part.width)
            for piece in itertools.chain(*map(_by_bytes, part.iter_slices(batch_rows))):
                columns: dict[str, Sequence[Any] | pl.Series] = dict(piece.to_dict())
                lines = range(start, start + piece.height)
                yield RawBatch(source=shown(path), columns=columns, lines=lines, unit="row")
                start += piece.height
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise DataError(f"{shown(path)}: cannot be read to its end: {error}") from None


def _by_bytes(frame: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """The frame in parts, where its texts are too long for one batch: equal texts share memory in
    it, and no longer once they are rows."""
    sizes = [
        pl.col(name).str.len_bytes()
        if kind == pl.String
        else pl.col(name).list.eval(pl.element().str.len_bytes()).list.sum()
        for name, kind in frame.schema.items()
        if kind in (pl.String, pl.List(pl.String))
    ]
    if not sizes:
        yield frame
        return
    part = frame.select(pl.sum_horizontal(sizes).cum_sum() // limits.BATCH_BYTES).to_series()
    start = 0
    for count in part.rle().struct.field("len"):
        yield frame.slice(start, count)
        start += count


def _pandas_batches(frame: pd.DataFrame, batch_rows: int) -> Iterator[RawBatch]:
    name = "the data frame"
    try:
        return frame_batches(name, pl.from_pandas(frame).lazy(), batch_rows)
    except (ImportError, ValueError, TypeError, NotImplementedError, pl.exceptions.PolarsError):
        # Read value by value: a column of several kinds, such as numbers among texts, or no
        # pyarrow, which pandas does not bring and Polars wants for texts.
        columns = {str(column): values_of(frame[column]) for column in frame.columns}
        return _columns_batches(name, columns, batch_rows)
