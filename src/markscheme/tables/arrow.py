"""Arrow files and streams, opened only after the lengths that they state were looked at.

A record batch says how long each of its buffers is, and a compressed buffer how long it becomes.
Where that is wrong, Polars asks for more memory than there is, which ends the process and cannot be
caught. So the lengths are compared with what the file holds before Polars relies on them.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import polars as pl
from flatbuffers import number_types
from flatbuffers.table import Table as Record

from markscheme.errors import DataError
from markscheme.tables.limits import check_packed

_MAGIC = b"ARROW1"
_CONTINUES = b"\xff\xff\xff\xff"
_DICTIONARY, _BATCH = 2, 3
"""Kinds of messages, as `Message.header_type` numbers them (Arrow's `Message.fbs`)."""
_BLOCK, _BUFFER, _NODE = 24, 16, 16
"""Bytes of the structs `Block` (offset and lengths of a message), `Buffer` (offset, length) and
`FieldNode` (length, nulls)."""
_LONGEST_HEAD = 64_000_000


def scan_arrow(file: Path, name: str | None = None) -> pl.LazyFrame:
    """A file of Arrow, as a file or as a stream.

    Args:
        file: its path.
        name: the name in messages, where it is another than the file's.

    Raises:
        DataError: it is neither, or damaged, or holds too much to be read at once.
    """
    shown = name or str(file)
    try:
        with file.open("rb") as stream:
            streamed = not _check(stream, os.fstat(stream.fileno()).st_size, shown)
        frame = pl.read_ipc_stream(file).lazy() if streamed else pl.scan_ipc(file, glob=False)
        frame.collect_schema()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise DataError(f"{shown}: cannot be read as Arrow: {error}") from None
    except (struct.error, IndexError, ValueError, TypeError, OverflowError) as error:
        raise DataError(
            f"{shown}: damaged, or no Arrow file ({error}); write or fetch it again"
        ) from None
    return frame


def _check(stream: BinaryIO, size: int, name: str) -> bool:
    """Whether it is a file, with a footer, rather than a stream.

    Raises:
        DataError: it holds too much to be read at once.
        ValueError, struct.error and others: a length that cannot be.
    """
    in_file = stream.read(8).startswith(_MAGIC)
    if in_file:
        for place in _in_footer(stream, size):
            _check_message(stream, place, size, name)
        return True
    begins: int | None = 0
    while begins is not None and begins < size:
        begins = _check_message(stream, begins, size, name)
    return False


def _in_footer(stream: BinaryIO, size: int) -> Iterator[int]:
    """Where the footer of a file says that dictionaries and batches begin."""
    stream.seek(max(0, size - 10))
    tail = stream.read(10)
    if tail[4:] != _MAGIC:
        raise ValueError("it does not end with ARROW1: cut short?")
    length = int.from_bytes(tail[:4], "little", signed=True)
    if not 0 < length <= size - 10:
        raise ValueError("its footer is longer than the file")
    stream.seek(size - 10 - length)
    footer = _root(stream.read(length))
    for field in (2, 3):  # dictionaries, record batches
        for place in _items(footer, field, _BLOCK):
            yield int(footer.Get(number_types.Int64Flags, place))


def _head(stream: BinaryIO, place: int, size: int) -> tuple[Record | None, int]:
    """A message without its body, None at the end of a stream; and where the body begins."""
    stream.seek(place)
    start = stream.read(8)
    new = start[:4] == _CONTINUES  # files before Arrow 0.15 have the length alone
    length = struct.unpack_from("<i", start, 4 if new else 0)[0]
    begins = place + (8 if new else 4)
    if length == 0:
        return None, begins
    if not 0 < length <= min(size - begins, _LONGEST_HEAD):
        raise ValueError(f"a message of {length:,} bytes at byte {place:,}")
    stream.seek(begins)
    return _root(stream.read(length)), begins + length


def _check_message(stream: BinaryIO, place: int, size: int, name: str) -> int | None:
    """Check the lengths in a message; where it ends, None at the end of a stream."""
    head, body = _head(stream, place, size)
    if head is None:
        return None
    kind = _number(head, 1, number_types.Uint8Flags)
    length = _number(head, 3, number_types.Int64Flags)
    if not 0 <= length <= size - body:
        raise ValueError(f"the body of a message at byte {place:,} is longer than the file")
    if kind in (_DICTIONARY, _BATCH):
        batch = _child(head, 2)
        if kind == _DICTIONARY and batch is not None:
            batch = _child(batch, 1)
        if batch is None:
            raise ValueError(f"a message at byte {place:,} without a batch")
        values, unpacked = _sizes(stream, batch, body, length)
        check_packed(f"{name}, batch at byte {place:,}", size, values, unpacked)
    return body + length


def _sizes(stream: BinaryIO, batch: Record, body: int, length: int) -> tuple[int, int]:
    """How many values a batch holds, and bytes when they are unpacked.

    Args:
        stream: the file.
        batch: its description.
        body: where its buffers begin.
        length: of all of them.
    """
    packed = _child(batch, 3) is not None
    values = unpacked = 0
    for node in _items(batch, 1, _NODE):
        count = batch.Get(number_types.Int64Flags, node)
        if count < 0:
            raise ValueError(f"a column of {count} values")
        values += count
    for buffer in _items(batch, 2, _BUFFER):
        offset, own = (batch.Get(number_types.Int64Flags, buffer + at) for at in (0, 8))
        if not 0 <= offset <= length or not 0 <= own <= length - offset:
            raise ValueError(f"a buffer of {own:,} bytes outside of its message")
        if packed and own:
            stream.seek(body + offset)
            own = max(own, struct.unpack("<q", stream.read(8))[0])  # -1: not compressed
        unpacked += own
    return values, unpacked


def _root(content: bytes) -> Record:
    return Record(content, struct.unpack_from("<I", content)[0])


def _number(record: Record, field: int, kind: type) -> int:
    """A number of a table, 0 where it is left out."""
    place = record.Offset(4 + 2 * field)
    return int(record.Get(kind, place + record.Pos)) if place else 0


def _child(record: Record, field: int) -> Record | None:
    """A table within a table."""
    place = record.Offset(4 + 2 * field)
    return Record(record.Bytes, record.Indirect(place + record.Pos)) if place else None


def _items(record: Record, field: int, width: int) -> range:
    """Where the structs of a vector begin in the bytes of a table."""
    place = record.Offset(4 + 2 * field)
    if not place:
        return range(0)
    first = record.Vector(place)
    last = first + width * record.VectorLen(place)
    if last > len(record.Bytes):
        raise ValueError("a list that is longer than its message")
    return range(first, last, width)
