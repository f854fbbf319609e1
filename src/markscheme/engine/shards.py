"""The pieces of a large input: Parquet row groups or whole files, on any fsspec file system."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from markscheme.errors import DataError
from markscheme.tables import (
    PART,
    AnswersReader,
    ReadOptions,
    check_named,
    file_system,
    system_names,
    whole_file,
    without_secrets,
)

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

PIECE_ROWS = 65_536
"""Rows of a piece, as far as row groups allow: as many as a batch of the local engine."""


@dataclass(frozen=True, kw_only=True)
class Piece:
    """A part of the input that one worker judges at a time.

    Attributes:
        number: its place in the input, from 0.
        path: the file's path or address.
        system: the system's name where no column gives it.
        groups: row groups of a Parquet file; None for a whole file of another kind.
        first_row: rows of the file before this piece.
    """

    number: int
    path: str
    system: str
    groups: tuple[int, ...] | None = None
    first_row: int = 0

    def __str__(self) -> str:
        """The piece's name in messages."""
        if self.groups is None:
            return without_secrets(self.path)
        return f"{without_secrets(self.path)}, row groups {self.groups[0]} to {self.groups[-1]}"


def input_pieces(paths: Sequence[str]) -> tuple[list[Piece], str]:
    """The pieces of files, directories and patterns, in order, and a mark of their content.

    The mark changes with the files' names, sizes and times, so that pieces of different inputs
    never meet in one run.

    Raises:
        DataError: a path matches nothing, or is no Parquet file although its name says so, or
            all files are empty.
    """
    files: list[tuple[AbstractFileSystem, str]] = []
    sources: list[str] = []
    mark = blake2b(digest_size=16)
    for path in paths:
        check_named(path)
        system, inside = file_system(path)
        found, folder = [inside], system.isdir(inside)
        if folder:
            inner = system.ls(inside, detail=False)
            found = sorted(name for name in inner if name.endswith(".parquet"))
        elif not system.isfile(inside) and any(sign in inside for sign in "*?["):
            found = sorted(system.glob(inside))  # A pattern, since no file has that very name.
        if not found or not all(system.isfile(name) for name in found):
            raise DataError(f"{without_secrets(path)} matches no file")
        for name in found:
            info = system.info(name)
            seen = info.get("mtime") or info.get("LastModified") or info.get("ETag") or ""
            mark.update(f"{name} {info.get('size')} {seen}\n".encode())
            files.append((system, name))
            sources.append(inside if folder else name)  # The files of a folder are one table.
    pieces: list[Piece] = []
    for (system, name), of in zip(files, system_names(sources), strict=True):
        pieces += _of_file(system, name, of, first=len(pieces))
    if not pieces:
        raise DataError(f"{', '.join(map(without_secrets, paths))} holds no answers")
    return pieces, mark.hexdigest()


def _of_file(system: AbstractFileSystem, name: str, of: str, *, first: int) -> Iterator[Piece]:
    address = system.unstrip_protocol(name)
    if not name.endswith((".parquet", ".pq")):
        yield Piece(number=first, path=address, system=of)
        return
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

    try:
        with system.open(name, "rb") as stream:
            meta = ParquetFile(stream).metadata
    except pa.ArrowInvalid as error:
        raise DataError(f"{without_secrets(address)}: {error}") from None
    groups: list[int] = []
    rows = start = 0
    for group in range(meta.num_row_groups):
        groups.append(group)
        rows += meta.row_group(group).num_rows
        # What writes many files writes empty ones too.
        if rows >= PIECE_ROWS or (rows and group == meta.num_row_groups - 1):
            yield Piece(
                number=first, path=address, system=of, groups=tuple(groups), first_row=start
            )
            first, start, rows, groups = first + 1, start + rows, 0, []


def read_piece(piece: Piece, options: ReadOptions) -> AnswersReader:
    """A reader of one piece; its batches are those of the local engine where pieces are as long."""
    system, inside = file_system(piece.path)
    path = inside if "file" in system.protocol else piece.path
    if piece.groups is None:
        return AnswersReader([path], options, system=piece.system)
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

    with system.open(inside, "rb") as stream:
        table: pa.Table = ParquetFile(stream).read_row_groups(list(piece.groups))
    frame: Any = pl.from_arrow(table)
    return AnswersReader(
        [frame], options, first_row=piece.first_row, part_of=path, system=piece.system
    )


def scan_parts(system: AbstractFileSystem, names: Sequence[str]) -> pl.LazyFrame:
    """Parquet files of one schema as one table, on any file system, in the order given.

    Of each file no more than the columns that are needed is fetched, when they are needed.
    """
    from polars.io.plugins import register_io_source
    from pyarrow.parquet import ParquetFile

    with system.open(names[0], "rb") as stream:
        schema = pl.read_parquet_schema(stream)

    def parts(
        columns: list[str] | None, predicate: pl.Expr | None, most: int | None, _size: int | None
    ) -> Iterator[pl.DataFrame]:
        for name in names:
            with system.open(name, "rb") as stream:
                table = ParquetFile(stream).read(columns=columns)
            read: Any = pl.from_arrow(table)
            # Arrow has categories that grow for ours that do not.
            frame = read.cast({column: schema[column] for column in read.columns})
            if most is not None:
                frame = frame.head(most)
                most -= frame.height
            yield frame if predicate is None else frame.filter(predicate)
            if most == 0:
                return

    return register_io_source(parts, schema=schema)


def write_whole(path: str, content: bytes) -> None:
    """Write a file that appears under its name only when it is complete."""
    system, inside = file_system(path)
    if "file" in system.protocol:
        # A name of its own for each process: two workers may write the same piece after a crash.
        with whole_file(Path(inside), ending=f".{os.getpid()}{PART}") as temporary:
            temporary.write_bytes(content)
    else:
        with system.open(inside, "wb") as handle:
            handle.write(content)
