"""Raw rows out of any source, and whole tables.

Sources are files (JSONL, JSON, CSV, TSV and Parquet, compressed or not), standard input, folders of
Parquet files, data frames and lists of dicts. Answers, judgments and labels are all read through
here. This knows nothing of what the columns mean; it yields batches of raw columns together with
the line (or row) each value came from, and a `Problem` for every row that is no row at all.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import itertools
import lzma
import sys
import tempfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, TypeAlias, cast, get_args

import numpy as np
import orjson
import polars as pl
import zstandard

from markscheme.errors import BadRowsError, DataError, Problem
from markscheme.tables.parquet import scan_parquet
from markscheme.text import csv_value

if TYPE_CHECKING:
    import pandas as pd

Format = Literal["jsonl", "json", "csv", "tsv", "parquet"]

SUFFIXES: Mapping[str, Format] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
}
_COMPRESSION_SUFFIXES = {".gz", ".bz2", ".xz", ".zst", ".zstd"}
_MAGIC = {b"\x1f\x8b": "gz", b"BZh": "bz2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zst"}
_WIDE_ENCODINGS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}
_BOM = b"\xef\xbb\xbf"
_PEEK = 4096
_SEPARATOR_LINES = (b"sep=;", b"sep=,", b"sep=\t")
_END = "\x00the end of the file"
"""Both fields of a last line of our own: it ends up in one where a quote was never closed."""


Source: TypeAlias = (
    "str | Path | pl.DataFrame | pl.LazyFrame | pd.DataFrame | Sequence[Mapping[str, Any]]"
)
"""What a table can be read from: a path, `-`, a Polars or pandas frame, or a list of dicts."""


@dataclass(kw_only=True)
class RawBatch:
    """Some consecutive rows of a source: columns as they stood, and where each row came from.

    `columns` maps names to equally long lists or series; `lines[i]` is the line (or row) of row i.
    `problems` are rows that could not be read at all and are not in `columns`.
    """

    source: str
    columns: dict[str, Sequence[Any] | pl.Series]
    lines: Sequence[int]
    unit: str = "line"
    problems: list[Problem] = field(default_factory=list)


def format_of(path: str, head: bytes) -> Format:
    """The format of a source from its name, else from its first bytes.

    Raises:
        DataError: neither tells.
    """
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    while suffixes and suffixes[-1] in _COMPRESSION_SUFFIXES:
        suffixes.pop()
    if suffixes and suffixes[-1] in SUFFIXES:
        return SUFFIXES[suffixes[-1]]
    text = head.removeprefix(_BOM).lstrip()
    if text.startswith(b"PAR1"):
        return "parquet"
    if text.startswith(b"{"):
        first = text.split(b"\n", 1)[0]
        try:
            orjson.loads(first)
        except orjson.JSONDecodeError:
            # An object that does not end on its line is one JSON document, unless the peek cut it.
            return "json" if b"\n" in text else "jsonl"
        return "jsonl"
    if text.startswith(b"["):
        return "json"
    first = text.split(b"\n", 1)[0]
    if b"\t" in first:
        return "tsv"
    if b"," in first or b";" in first:
        return "csv"
    raise DataError(
        f"{shown(path)}: cannot tell the format from the name or the content; pass "
        f"--input-format with one of {', '.join(get_args(Format))}"
    )


def shown(path: str) -> str:
    """A source's name as messages show it."""
    return "standard input" if path == "-" else path


@contextmanager
def open_source(path: str) -> Iterator[tuple[BinaryIO, bytes]]:
    """The decompressed bytes of a file or of standard input (`-`), and a look at their beginning.

    Raises:
        DataError: no such file, a folder, or an encoding other than UTF-8.
    """
    closing = ExitStack()
    try:
        raw: Any = sys.stdin.buffer if path == "-" else closing.enter_context(Path(path).open("rb"))
    except IsADirectoryError:
        raise DataError(f"{path} is a folder; name the files in it, or use a pattern") from None
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}") from None
    try:
        plain = _decompressed(io.BufferedReader(raw, buffer_size=1 << 20))
        head = plain.peek(_PEEK)[:_PEEK]
        for mark, encoding in _WIDE_ENCODINGS.items():
            if head.startswith(mark):
                raise DataError(
                    f"{shown(path)} is {encoding}; save it as UTF-8 "
                    f"(iconv -f {encoding} -t UTF-8) and try again"
                )
        yield cast("BinaryIO", plain), head
    except (EOFError, OSError, lzma.LZMAError, zlib.error, zstandard.ZstdError) as error:
        # The decompressors raise OSError too, without a number of the system's.
        if isinstance(error, OSError) and error.errno is not None:
            raise DataError(f"cannot read {shown(path)}: {error.strerror}") from None
        raise DataError(f"{shown(path)}: the compressed file is damaged or cut: {error}") from None
    finally:
        closing.close()


def _decompressed(stream: io.BufferedReader) -> io.BufferedReader:
    start = stream.peek(8)
    kind = next((name for magic, name in _MAGIC.items() if start.startswith(magic)), None)
    if kind is None:
        return stream
    opened: Any
    if kind == "gz":
        opened = gzip.open(stream)
    elif kind == "bz2":
        opened = bz2.open(stream)
    elif kind == "xz":
        opened = lzma.open(stream)
    else:
        opened = zstandard.ZstdDecompressor().stream_reader(stream, read_across_frames=True)
    return io.BufferedReader(opened, buffer_size=1 << 20)


def iter_raw(
    source: Source, *, format: Format | None = None, batch_rows: int
) -> Iterator[RawBatch]:
    """Batches of raw rows of one source, in order.

    Args:
        source: a file, a folder of Parquet files, `-` for standard input, a Polars or pandas frame,
            or a list of dicts.
        format: what a file is; None finds out from the name or the content.
        batch_rows: rows per batch at the most.

    Raises:
        DataError: the source as a whole cannot be read.
    """
    if isinstance(source, str | Path):
        return _file_batches(str(source), format, batch_rows)
    if isinstance(source, pl.DataFrame):
        return frame_batches("the data frame", source.lazy(), batch_rows)
    if isinstance(source, pl.LazyFrame):
        return frame_batches("the lazy frame", source, batch_rows)
    if type(source).__module__.startswith("pandas"):
        return _pandas_batches(cast("pd.DataFrame", source), batch_rows)
    if isinstance(source, Sequence):
        return records_batches("the data", source, batch_rows)
    raise DataError(
        f"a table cannot be read from {type(source).__name__}; give a path, a Polars or pandas "
        "data frame, or a list of dicts"
    )


def _file_batches(path: str, format: Format | None, batch_rows: int) -> Iterator[RawBatch]:
    check_named(path)
    if path != "-" and Path(path).is_dir():
        yield from frame_batches(path, scan_parquet(_parts(path)), batch_rows)
        return
    with open_source(path) as (stream, head):
        if not head:
            raise DataError(f"{shown(path)} is empty")
        kind = format or format_of(path, head)
        if kind == "jsonl":
            yield from _iter_jsonl(path, stream, batch_rows)
        elif kind == "json":
            yield from _iter_json(path, stream, batch_rows)
        elif kind == "parquet":
            yield from _iter_parquet(path, stream, head, batch_rows)
        else:
            yield from _iter_delimited(path, stream, head, kind, batch_rows)


def read_table(source: Source) -> pl.DataFrame:
    """A table as it stands in a source, whole.

    Raises:
        DataError: the file cannot be read or has no rows.
        BadRowsError: some of its rows cannot be read.
    """
    if isinstance(source, pl.DataFrame):
        return source
    batches = list(iter_raw(source, batch_rows=1_000_000))
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
    return pl.concat(frames, how="diagonal_relaxed")


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
    """Python values as a column; values of mixed kinds (`true` beside `"yes"`) as text."""
    if isinstance(values, pl.Series):
        return values
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) > 1 and not kinds <= {int, float} and list not in kinds and dict not in kinds:
        return pl.Series(name, [None if v is None else str(v) for v in values], dtype=pl.String)
    return pl.Series(name, values, strict=False)


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
            else f"a lone surrogate (U+{code:04X}), which is no character, at character "
            f"{error.start + 1}"
        )
        raise ValueError(f"the {ours} holds {what}") from None


def count_rows(files: Sequence[str | Path]) -> int | None:
    """Rows of files, for a progress bar: of Parquet, and of text with a row a line.

    Line breaks within quotes count, so for CSV and TSV it may be too many. None where the rows of
    one of the files cannot be had cheaply.
    """
    counts = [_rows_of(Path(file)) for file in files]
    return None if None in counts else sum(filter(None, counts))


def _rows_of(file: Path) -> int | None:
    kind = SUFFIXES.get(file.suffix.lower())
    if not file.is_file() or kind in (None, "json"):
        return None
    if kind == "parquet":
        try:
            return int(scan_parquet(file).select(pl.len()).collect().item())
        except (DataError, pl.exceptions.PolarsError):
            return None
    with file.open("rb") as stream:
        lines = sum(block.count(b"\n") for block in iter(lambda: stream.read(1 << 20), b""))
    return max(0, lines - (kind in ("csv", "tsv")))


def check_named(path: str, what: str = "file") -> None:
    """Raises DataError where a name is empty, which would be taken for this folder."""
    if not path.strip():
        raise DataError(
            f"the name of a {what} is empty (a variable that is not set?); give a {what}"
        )


def _parts(folder: str) -> list[Path]:
    """The Parquet files of a table that is kept as a folder of parts, in order."""
    parts = sorted(Path(folder).glob("*.parquet"))
    if not parts:
        raise DataError(f"{folder} is a folder without Parquet files; give a file")
    if Path(folder, "run.json").exists():
        raise DataError(
            f"{folder} is the folder of a run, with tables of several kinds; give one of them: "
            f"{', '.join(map(str, parts))}"
        )
    return parts


def _iter_jsonl(path: str, stream: BinaryIO, batch_rows: int) -> Iterator[RawBatch]:
    records: list[dict[str, Any]] = []
    lines: list[int] = []
    problems: list[Problem] = []
    loads = orjson.loads
    for number, raw in enumerate(stream, start=1):
        line = raw.removeprefix(_BOM) if number == 1 else raw
        if number == 1 and (line.strip() == b"[" or line.lstrip().startswith(b"[{")):
            raise DataError(
                f"{shown(path)} holds one list of JSON, not an object a line; "
                "pass --input-format json"
            )
        try:
            record = loads(line)
        except orjson.JSONDecodeError as error:
            if line.strip():
                problems.append(Problem(shown(path), number, _json_trouble(line, error)))
            continue
        if isinstance(record, dict):
            records.append(record)
            lines.append(number)
        else:
            problems.append(Problem(shown(path), number, _not_an_object(record)))
        if len(records) >= batch_rows:
            yield _from_records(path, records, lines, problems)
            records, lines, problems = [], [], []
    if records or problems:
        yield _from_records(path, records, lines, problems)


def _json_trouble(line: bytes, error: orjson.JSONDecodeError) -> str:
    if b"\x00" in line:
        return f"a NUL byte at column {line.index(0) + 1}; remove it"
    return f"not valid JSON: {error.msg} (column {error.colno})"


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
    columns: dict[str, Sequence[Any] | pl.Series] = {
        str(name): [record.get(name) for record in records] for name in names
    }
    return RawBatch(source=shown(path), columns=columns, lines=lines, unit=unit, problems=problems)


def _iter_json(path: str, stream: BinaryIO, batch_rows: int) -> Iterator[RawBatch]:
    content = stream.read().removeprefix(_BOM)
    try:
        document = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise DataError(
            f"{shown(path)}, line {error.lineno}, column {error.colno}: not valid JSON: {error.msg}"
            + (
                " (if each line is an object, pass --input-format jsonl)"
                if b"}\n{" in content
                else ""
            )
        ) from None
    if isinstance(document, dict):
        lists = {name: v for name, v in document.items() if isinstance(v, list) and v}
        tables = [name for name, rows in lists.items() if isinstance(rows[0], dict)]
        if tables and tables[0] != next(iter(lists)):
            tables = []  # A record with lists of its own.
        if len(tables) > 1:
            raise DataError(
                f"{shown(path)} holds several tables ({', '.join(tables)}); save the one you want "
                "as a file of its own"
            )
        document = lists[tables[0]] if tables else [document]
    if not isinstance(document, list):
        raise DataError(f"{shown(path)}: {_not_an_object(document)}")
    yield from records_batches(path, document, batch_rows)


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
    path: str, stream: BinaryIO, head: bytes, kind: Format, batch_rows: int
) -> Iterator[RawBatch]:
    first = head.removeprefix(_BOM).split(b"\n", 1)[0].rstrip(b"\r")
    if first.startswith(b"{") and _is_object(first):
        raise DataError(f"{shown(path)} holds an object of JSON a line; pass --input-format jsonl")
    # Bytes that are not UTF-8 become lone surrogates, which the row check names by line.
    text = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="surrogateescape", newline="")
    csv.field_size_limit(sys.maxsize)
    mark = "\t" if kind == "tsv" else _mark(first)
    reader = csv.reader(itertools.chain(text, [_END + mark + _END]), delimiter=mark)
    header = next(row for row in reader if row and row != ["sep=", ""])
    if header == [_END, _END]:
        return
    if header[-1].endswith(_END):
        raise DataError(f"{shown(path)}, line 1: a quote that is opened here is never closed")
    if any("\udc80" <= sign <= "\udcff" for name in header for sign in name):
        raise DataError(
            f"{shown(path)}, line 1: the names of columns are not UTF-8; save it as such"
        )
    # Spreadsheets write columns without a name where cells right of the table were once used.
    twice = sorted({name for name in header if name.strip() and header.count(name) > 1})
    if twice:
        raise DataError(f"{shown(path)}, line 1: columns named twice: {', '.join(twice)}")
    rows: list[list[str]] = []
    lines: list[int] = []
    problems: list[Problem] = []
    number = reader.line_num + 1
    for row in reader:
        if row == [_END, _END]:
            break
        if row and row[-1].endswith(_END):
            message = "a quote that is opened here is never closed, so the rest cannot be read"
            problems.append(Problem(shown(path), number, message))
        elif len(row) == len(header):
            rows.append(row)
            lines.append(number)
        elif row:
            message = f"{len(row)} fields where the header has {len(header)}"
            problems.append(Problem(shown(path), number, message))
        number = reader.line_num + 1
        if len(rows) >= batch_rows:
            yield _from_rows(path, header, rows, lines, problems)
            rows, lines, problems = [], [], []
    if rows or problems:
        yield _from_rows(path, header, rows, lines, problems)


def _mark(first: bytes) -> str:
    """What separates the fields of a CSV file, by its first line."""
    if first in _SEPARATOR_LINES:  # Excel's own way of saying it; no row.
        return chr(first[-1])
    return next((mark for mark in ",;\t" if mark.encode() in first), ",")


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(orjson.loads(line), dict)
    except orjson.JSONDecodeError:
        return False


def _from_rows(
    path: str,
    header: list[str],
    rows: list[list[str]],
    lines: list[int],
    problems: list[Problem],
) -> RawBatch:
    values: list[Sequence[str]] = [*zip(*rows, strict=True)] if rows else [()] * len(header)
    for place, column in enumerate(values):
        if any(cell.startswith("'") for cell in column):
            values[place] = [csv_value(cell) for cell in column]
    columns: dict[str, Sequence[Any] | pl.Series] = dict(zip(header, values, strict=True))
    return RawBatch(source=shown(path), columns=columns, lines=lines, problems=problems)


def _iter_parquet(path: str, stream: BinaryIO, head: bytes, batch_rows: int) -> Iterator[RawBatch]:
    on_disk = path != "-" and Path(path).suffix.lower() not in _COMPRESSION_SUFFIXES
    if on_disk and head.startswith(b"PAR1"):
        yield from frame_batches(path, scan_parquet(path), batch_rows)
        return
    # Parquet is read from its end, which a pipe does not have.
    with tempfile.NamedTemporaryFile(suffix=".parquet") as spool:
        while chunk := stream.read(1 << 20):
            spool.write(chunk)
        spool.flush()
        yield from frame_batches(path, scan_parquet(spool.name, shown=shown(path)), batch_rows)


def frame_batches(path: str, frame: pl.LazyFrame, batch_rows: int) -> Iterator[RawBatch]:
    """Batches from a lazy frame, without holding all of it; `row 1` is the first.

    Raises:
        DataError: it cannot be read to its end.
    """
    start = 1
    try:
        for part in frame.collect_batches(chunk_size=batch_rows, maintain_order=True):
            for piece in part.iter_slices(batch_rows):
                columns: dict[str, Sequence[Any] | pl.Series] = dict(piece.to_dict())
                lines = range(start, start + piece.height)
                yield RawBatch(source=shown(path), columns=columns, lines=lines, unit="row")
                start += piece.height
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise DataError(f"{shown(path)}: cannot be read as Parquet: {error}") from None


def _pandas_batches(frame: pd.DataFrame, batch_rows: int) -> Iterator[RawBatch]:
    name = "the data frame"
    frame = frame.apply(_with_gaps)
    try:
        return frame_batches(name, pl.from_pandas(frame).lazy(), batch_rows)
    except (ImportError, ValueError, TypeError, NotImplementedError, pl.exceptions.PolarsError):
        # Read value by value: a column of several kinds, such as numbers among texts, or no
        # pyarrow, which pandas does not bring and Polars wants for texts.
        columns = {str(column): values_of(frame[column]) for column in frame.columns}
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        return records_batches(name, rows, batch_rows)


def values_of(column: pd.Series[Any]) -> list[Any]:
    """A pandas column as Python's own values, None where pandas holds that one is missing."""
    column = _with_gaps(column)
    there = column.notna()
    return [
        value.item() if isinstance(value, np.generic) else value
        for value in column.astype(object).where(there, None)
    ]


def _with_gaps(column: pd.Series[Any]) -> pd.Series[Any]:
    """Whole numbers with gaps as such: pandas makes floats of them, and 8 would be read as 8.0."""
    if column.dtype.kind != "f" or not column.hasnans:
        return column
    known = column.dropna()
    whole = bool(((known % 1 == 0) & (known.abs() < 2**53)).all())
    return column.astype("Int64") if whole else column
