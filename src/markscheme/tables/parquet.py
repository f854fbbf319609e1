"""Parquet files, opened by the very name they have and only after their pages were looked at.

Polars takes signs such as `[` in a name for a pattern, and a page header with a wrong size makes it
ask for more memory than there is, which ends the process and cannot be caught. So every file is
opened here: names are names, and the lengths that a file states are compared with what it holds
before Polars relies on them.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

import polars as pl

from markscheme.errors import DataError
from markscheme.tables.limits import check_packed

_MAGIC = b"PAR1"
_TAIL = 8
_HEADER = 1024
"""Bytes read for a page's header at first; statistics of long texts make some longer."""

_DEEPEST = 32

Fields = dict[int, Any]
"""A Thrift struct: field numbers to values."""


def scan_parquet(
    files: str | Path | Sequence[str | Path], *, shown: str | None = None, grown: bool = False
) -> pl.LazyFrame:
    """Parquet files of one schema as one table, in the order given; names are never patterns.

    Args:
        files: a file or several; a folder means the `.parquet` files in it, by name.
        shown: the name in messages, where it is another than the file's.
        grown: earlier files may lack columns that the last one has, which are null there.

    Raises:
        DataError: a file cannot be read, is no Parquet file, or is damaged.
    """
    given = [files] if isinstance(files, str | Path) else files
    several = [
        part
        for file in given
        for part in (sorted(Path(file).glob("*.parquet")) if Path(file).is_dir() else [file])
    ]
    if not several:
        raise DataError(f"{shown or given[0]} is a folder without Parquet files")
    # Absolute, since Polars also reads `~` and addresses out of names.
    paths = [Path(os.path.abspath(file)) for file in several]  # noqa: PTH100 - keeps symlinks
    for file, path in zip(several, paths, strict=True):
        check_parquet(path, shown=shown or str(file))
    try:
        newest: dict[str, Any] = {}
        if grown:
            last = pl.scan_parquet(paths[-1], glob=False, hive_partitioning=False)
            newest = {"schema": last.collect_schema(), "missing_columns": "insert"}
        frame = pl.scan_parquet(paths, glob=False, hive_partitioning=False, **newest)
        frame.collect_schema()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        name = shown or ", ".join(str(file) for file in several[:3])
        raise DataError(f"{name}: cannot be read as Parquet: {error}") from None
    return frame


def read_parquet(file: str | Path) -> pl.DataFrame:
    """A Parquet file, whole.

    Raises:
        DataError: it cannot be read, is no Parquet file, or is damaged.
    """
    frame = scan_parquet(file)
    try:
        return frame.collect()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise DataError(f"{file}: cannot be read as Parquet: {error}") from None


def check_parquet(path: Path, *, shown: str | None = None) -> None:
    """Compare the lengths that a file states with what it holds.

    The footer and the header of each page are read, not the pages: some milliseconds a gigabyte.

    Raises:
        DataError: it cannot be opened, is no Parquet file, is damaged, or a row group holds too
            much to be read at once.
    """
    name = shown or str(path)
    try:
        with path.open("rb") as stream:
            size = os.fstat(stream.fileno()).st_size
            _check(stream, size, name)
    except OSError as error:
        raise DataError(f"cannot read {name}: {error.strerror}") from None
    except _DamageError as damage:
        raise DataError(
            f"{name}: damaged, or no Parquet file: {damage}; write or fetch it again"
        ) from None


class _DamageError(Exception):
    """What in a file cannot be."""


def _check(stream: BinaryIO, size: int, name: str) -> None:
    if size < len(_MAGIC) + _TAIL:
        raise _DamageError(f"{size} bytes are too few")
    start = stream.read(len(_MAGIC))
    stream.seek(size - _TAIL)
    tail = stream.read(_TAIL)
    if start != _MAGIC or tail[4:] != _MAGIC:
        raise _DamageError("it does not begin and end with PAR1 (cut short?)")
    length = int.from_bytes(tail[:4], "little")
    if length > size - _TAIL - len(_MAGIC):
        raise _DamageError("its footer is longer than the file")
    stream.seek(size - _TAIL - length)
    footer = _struct(stream.read(length), 0)[0]
    groups = _list(footer, 4)
    if sum(_whole(group, 3) for group in groups) != _whole(footer, 3):
        raise _DamageError("its row groups do not add up to its rows")
    for number, group in enumerate(groups):
        values = unpacked = 0
        for column, chunk in enumerate(_list(group, 1)):
            meta = chunk.get(3) if isinstance(chunk, dict) else None
            if not isinstance(meta, dict):
                raise _DamageError(f"row group {number} lacks the description of a column")
            try:
                _check_pages(stream, meta, rows=_whole(group, 3), end=size - _TAIL - length)
            except _DamageError as damage:
                raise _DamageError(f"row group {number}, column {column}: {damage}") from None
            values += _whole(meta, 5)
            unpacked += _whole(meta, 6)
        check_packed(f"{name}, row group {number}", size, values, unpacked)


def _check_pages(stream: BinaryIO, meta: Fields, *, rows: int, end: int) -> None:
    values, unpacked, packed = _whole(meta, 5), _whole(meta, 6), _whole(meta, 7)
    first, dictionary = _whole(meta, 9), meta.get(11) or 0
    place = dictionary if isinstance(dictionary, int) and 0 < dictionary < first else first
    if values < rows or place < len(_MAGIC) or place + packed > end:
        raise _DamageError("its place or size is impossible")
    last, seen = place + packed, 0
    while place < last and seen < values:
        header, length = _page_header(stream, place, last)
        plain, stored = _whole(header, 2), _whole(header, 3)
        if plain > unpacked or place + length + stored > last:
            raise _DamageError(f"the page at byte {place} is larger than its column")
        held = next((header[kind] for kind in (5, 7, 8) if kind in header), {1: 0})
        count = _whole(held, 1) if isinstance(held, dict) else -1
        if 7 in header:
            if count > plain:
                raise _DamageError(f"the dictionary at byte {place} is larger than its page")
        else:
            seen += count
        if count < 0 or seen > values:
            raise _DamageError(f"the page at byte {place} has more values than its column")
        place += length + stored
    if seen != values:
        raise _DamageError("its pages do not add up to its values")


def _page_header(stream: BinaryIO, place: int, last: int) -> tuple[Fields, int]:
    wanted = _HEADER
    while True:
        stream.seek(place)
        content = stream.read(min(wanted, last - place))
        try:
            return _struct(content, 0)
        except _DamageError:
            if len(content) < wanted:
                raise
            wanted *= 16


def _list(struct: Fields, number: int) -> list[Any]:
    found = struct.get(number)
    if not isinstance(found, list):
        raise _DamageError("its footer lacks a list")
    return found


def _whole(struct: Any, number: int) -> int:
    found = struct.get(number) if isinstance(struct, dict) else None
    if isinstance(found, bool) or not isinstance(found, int) or found < 0:
        raise _DamageError("a count or a size is missing or below zero")
    return found


# Thrift's compact protocol (https://github.com/apache/thrift/blob/master/doc/specs/
# thrift-compact-protocol.md), as far as Parquet's footer and page headers use it.
_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LISTS, _SETS, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 12


def _struct(data: bytes, place: int, depth: int = 0) -> tuple[Fields, int]:
    """A struct and where it ends."""
    if depth > _DEEPEST:
        raise _DamageError("a description is nested too deeply")
    fields: Fields = {}
    number = 0
    try:
        while (head := data[place]) != 0:
            place += 1
            if head >> 4:
                number += head >> 4
            else:
                raw, place = _varint(data, place)
                number = (raw >> 1) ^ -(raw & 1)
            kind = head & 15
            if kind in (_TRUE, _FALSE):
                fields[number] = kind == _TRUE
            else:
                fields[number], place = _value(data, place, kind, depth)
    except IndexError:
        raise _DamageError("a description ends early") from None
    return fields, place + 1


def _value(data: bytes, place: int, kind: int, depth: int) -> tuple[Any, int]:
    if kind in (4, 5, 6):
        raw, place = _varint(data, place)
        return (raw >> 1) ^ -(raw & 1), place
    if kind == _BINARY:
        length, place = _varint(data, place)
        if length > len(data) - place:
            raise _DamageError("a description ends early")
        return None, place + length  # No text matters here.
    if kind == _STRUCT:
        return _struct(data, place, depth + 1)
    if kind in (_LISTS, _SETS):
        return _items(data, place, depth)
    if kind in (_TRUE, _FALSE, _BYTE):
        return data[place], place + 1
    if kind == _DOUBLE:
        return None, place + 8
    raise _DamageError("a description has a field of no known kind")


def _items(data: bytes, place: int, depth: int) -> tuple[list[Any], int]:
    head = data[place]
    place += 1
    count, kind = head >> 4, head & 15
    if count == 15:
        count, place = _varint(data, place)
    if count > len(data) - place:
        raise _DamageError("a list is longer than its description")
    found = []
    for _ in range(count):
        value, place = _value(data, place, kind, depth + 1)
        found.append(value)
    return found, place


def _varint(data: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[place]
        place += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, place
        shift += 7
        if shift > 63:
            raise _DamageError("a number has too many digits")
