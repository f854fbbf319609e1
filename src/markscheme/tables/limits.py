"""What readers take of a source: the limits of all formats, and the error where one is exceeded.

A small file can ask for all memory of a machine: compressed zeros, one cell in the last corner of a
sheet, a million empty lists. What such a file becomes is bounded by its own size on disk, so that
large files of people's data are read as before.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO, TextIO

import zstandard

from markscheme.errors import DataError

if TYPE_CHECKING:
    from markscheme.tables.read_options import ReadOptions

UNPACKED_BYTES = 64_000_000
UNPACKED_RATIO = 100
"""Bytes that a compressed file may become: these, and so many for each of its own. Texts that
people wrote are compressed to a tenth or a twentieth."""

VALUES = 500_000
VALUES_RATIO = 2
MOST_VALUES = 20_000_000
"""Values of a document or cells of a workbook, which are held in memory as a whole: the first
number and two for each byte of the file, and no more than the last number."""

AREA = 1_000_000
AREA_RATIO = 8
MOST_AREA = 10_000_000
"""Cells of the rectangle that a sheet's used cells span: the first number and eight for each used
cell, and no more than the last."""

GROUP_VALUES = 20_000_000
GROUP_VALUES_RATIO = 4
"""Values of a row group of Parquet: the first number and four for each byte of the file. Equal ones
take no room there, and much in memory."""

COLUMNS = 16_384
"""Columns of a table, as in Excel."""

DEPTH = 64
"""Levels of lists and objects in one another, and of elements in a workbook."""

ROW_FIELDS = 4
"""Bytes of one row, in longest fields (`ReadOptions.max_bytes`)."""

BATCH_BYTES = 64_000_000
"""Bytes of text in one batch; a batch ends early where its rows are long."""

BATCH_VALUES = 1_000_000
"""Values of rows of JSON in one batch, and in one row."""

BLANK_LINES = 1_000_000
"""Lines without content one after the other."""

_BLOCK = 1 << 20


def too_large(name: str, met: str, limit: str, advice: str) -> DataError:
    """The error of a source that exceeds a limit.

    Args:
        name: the source, as messages show it, with the place where there is one.
        met: what was met.
        limit: the most that is read, with its unit.
        advice: the option or the next step.
    """
    return DataError(f"{name}: {met}; the limit is {limit}: {advice}")


class Intake(io.RawIOBase):
    """A source's bytes as they are on disk, counted.

    Attributes:
        name: of the source, as messages show it.
        size: bytes read so far.
    """

    def __init__(self, name: str, stream: Any) -> None:
        self.name = name
        self.size = 0
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count: int = self._stream.readinto(buffer) or 0
        self.size += count
        return count

    def check_unpacked(self, size: int, what: str = "the file") -> None:
        """Raises DataError where `size` unpacked bytes are too many for what was read."""
        limit = UNPACKED_BYTES + UNPACKED_RATIO * self.size
        if size > limit:
            raise too_large(
                self.name,
                f"{what} unpacks to {size:,} bytes or more",
                f"{limit:,} bytes for a file of {self.size:,}",
                "if it is to be trusted, unpack it first, and save a table of it as .jsonl or .csv",
            )

    @contextmanager
    def archive(self, content: bytes) -> Iterator[zipfile.ZipFile]:
        """The source as the ZIP archive that its content is, to read within the block.

        Raises:
            DataError: its members are too large (no more than the sizes that they state is read),
                or it turns out to be damaged while they are read.
        """
        try:
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                sizes = sum(info.file_size for info in archive.infolist())
                self.check_unpacked(sizes, "the archive")
                yield archive
        except (
            zipfile.BadZipFile,
            ValueError,  # no JSON, or nested too deeply
            zlib.error,
            zstandard.ZstdError,
            EOFError,
            RuntimeError,  # encrypted, or of a version that nobody has written yet
        ) as error:
            raise DataError(f"{self.name}: the archive is damaged or cut: {error}") from None

    def check_values(self, count: int, what: str = "values", most: float = MOST_VALUES) -> None:
        """Raises DataError where so many values are too many for what was read, or for memory."""
        limit = min(VALUES + VALUES_RATIO * self.size, most)
        if count > limit:
            raise too_large(
                self.name,
                f"it holds {count:,} {what} or more",
                f"{limit:,} for a file of {self.size:,} bytes",
                "save its table as .jsonl or .csv, which are read row by row, or in parts",
            )

    def check_area(self, area: int, cells: int, what: str) -> None:
        """Raises DataError where so many used cells, or the rectangles of them, are too many."""
        self.check_values(cells, "cells")
        limit = min(AREA + AREA_RATIO * cells, MOST_AREA)
        if area > limit:
            raise too_large(
                self.name,
                f"{what} {area:,} cells, of which {cells:,} hold something",
                f"{limit:,}",
                "delete the cells that are far away, or save the table as CSV",
            )


class Blocks(io.RawIOBase):
    """What an iterator of bytes gives, as a stream."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks = blocks
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._ready = self._ready or memoryview(next(self._blocks, b""))
        count = min(len(buffer), len(self._ready))
        buffer[:count] = self._ready[:count]
        self._ready = self._ready[count:]
        return count


def check_columns(name: str, count: int) -> None:
    """Raises DataError where a table has too many columns."""
    if count > COLUMNS:
        raise too_large(
            name,
            f"it has {count:,} columns",
            f"{COLUMNS:,}",
            "keep the columns that are needed, or write them as rows",
        )


def check_packed(name: str, size: int, values: int, unpacked: int) -> None:
    """Raises DataError where a row group is too large for a file of `size` bytes."""
    advice = "write it with smaller row groups, or in parts"
    most = GROUP_VALUES + GROUP_VALUES_RATIO * size
    if values > most:
        raise too_large(name, f"it holds {values:,} values", f"{most:,}", advice)
    most = UNPACKED_BYTES + UNPACKED_RATIO * size
    if unpacked > most:
        raise too_large(name, f"it unpacks to {unpacked:,} bytes", f"{most:,}", advice)


def check_table(name: str, rows: int, columns: int) -> None:
    """Raises DataError where a table whose rows have different fields has too many cells."""
    check_columns(name, columns)
    if rows * columns > MOST_VALUES:
        raise too_large(
            name,
            f"its {rows:,} rows have {columns:,} different fields, {rows * columns:,} cells",
            f"{MOST_VALUES:,}",
            "give all rows the same fields",
        )


def values_of_json(content: bytes) -> int:
    """How many values a JSON text holds, from above: its commas and opening brackets."""
    return sum(map(content.count, (b",", b"[", b"{")))


def check_depth(value: Any) -> None:
    """Raises ValueError where lists and objects are nested too deeply."""
    level = [value]
    for _ in range(DEPTH):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, list | dict)
        ]
        if not level:
            return
    raise ValueError(
        f"lists and objects are nested in one another too deeply; the limit is {DEPTH:,} levels: "
        "flatten them"
    )


def lines_within(name: str, stream: BinaryIO, most: int) -> Iterator[tuple[int, bytes, int]]:
    """The lines of a text that are not blank: number, content, and length in bytes.

    Of a line longer than `most` bytes only the beginning is given, so that no more is ever held.

    Raises:
        DataError: too many lines in a row are blank.
    """
    number = blank = 0
    while line := stream.readline(most + 1):
        number += 1
        if line == b"\n" or line.isspace():
            blank += 1
            _check_blank(name, number, blank)
            continue
        blank, length, rest = 0, len(line), line
        while length > most and not rest.endswith(b"\n") and (rest := stream.readline(_BLOCK)):
            length += len(rest)
        yield number, line, length


class RowLines:
    """The lines of a CSV file, which may be several to a row.

    Attributes:
        size: characters since the last row; the reader sets it to 0 after each.
    """

    def __init__(self, name: str, stream: TextIO, options: ReadOptions) -> None:
        self.size = 0
        self._name = name
        self._stream = stream
        self._options = options

    def __iter__(self) -> Iterator[str]:
        """Raises DataError where a row is too long."""
        most, number, blank = ROW_FIELDS * self._options.max_bytes, 0, 0
        while line := self._stream.readline(most + 1):
            number += 1
            self.size += len(line)
            if line.isspace():
                blank += 1
                _check_blank(self._name, number, blank)
            else:
                blank = 0
            if self.size > most:
                raise DataError(
                    f"{self._name}, line {number}: {long_row(self.size, self._options)} "
                    "(is a quote opened and never closed?)"
                )
            yield line


def long_row(size: int, options: ReadOptions) -> str:
    """What is wrong with a row of so many bytes."""
    most = ROW_FIELDS * options.max_bytes
    return (
        f"the row has {size:,} bytes or more; the limit is {most:,}, {ROW_FIELDS} times that of a "
        "field (--max-bytes raises it)"
    )


def _check_blank(name: str, line: int, count: int) -> None:
    if count > BLANK_LINES:
        raise too_large(
            f"{name}, line {line:,}",
            f"{count:,} lines in a row are blank",
            f"{BLANK_LINES:,}",
            "remove them",
        )
