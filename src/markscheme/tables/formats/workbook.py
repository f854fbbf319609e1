"""Excel's .xlsx (and LibreOffice's .ods): the first sheet that holds a table."""

from __future__ import annotations

import datetime
import io
import re
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import IO, Any
from xml.etree import ElementTree

from markscheme.errors import DataError

MOST_CELLS = 20_000_000
"""Of a sheet: a million rows of twenty columns."""
_CELL = re.compile(rb'\br="([A-Z]{1,3})([0-9]{1,7})"')


def workbook_rows(content: bytes, name: str) -> tuple[str, list[str], list[list[str]], list[int]]:
    """The sheet's name, its header, its rows as long as the header, and the row number of each.

    Raises:
        DataError: no sheet holds a table, one is too large, or python-calamine is not installed.
    """
    try:
        from python_calamine import CalamineError, CalamineWorkbook
    except ImportError:
        raise DataError(
            f"{name} is a workbook, which needs python-calamine: pip install python-calamine"
        ) from None

    _check_extent(content, name)
    try:
        book = CalamineWorkbook.from_filelike(io.BytesIO(content))
        sheets = [(title, book.get_sheet_by_name(title)) for title in book.sheet_names]
        tables = [(title, sheet.to_python(skip_empty_area=False)) for title, sheet in sheets]
    except CalamineError as error:
        raise DataError(f"{name} cannot be read as a workbook: {error}") from None
    filled = [(title, rows) for title, rows in tables if sum(map(_filled, rows)) > 1]
    if not filled:
        raise DataError(f"{name} has no sheet with a header and rows")
    if len(filled) > 1:
        raise DataError(
            f"{name} has several sheets ({', '.join(title for title, _ in filled)}); save the one "
            "you want as a file of its own"
        )
    title, rows = filled[0]
    start = next(place for place, row in enumerate(rows) if _filled(row))
    header = [str(cell).strip() for cell in rows[start]]
    twice = sorted({one for one in header if one and header.count(one) > 1})
    if twice:
        raise DataError(f"{name}, row {start + 1}: columns named twice: {', '.join(twice)}")
    numbered = [(n, row) for n, row in enumerate(rows, start=1) if n > start + 1 and _filled(row)]
    return title, header, [list(map(_value, row)) for _, row in numbered], [n for n, _ in numbered]


def _check_extent(content: bytes, name: str) -> None:
    """Refuse a sheet whose cells would not fit into memory, before the whole rectangle is made.

    One cell at XFD1048576 makes 17 thousand million of them, and ends the process. A binary
    workbook (.xls) holds no more than 16 million.

    Raises:
        DataError: the outermost cell is too far away.
    """
    for rows, columns in _extents(content):
        if rows * columns > MOST_CELLS:
            raise DataError(
                f"{name}: a sheet reaches to row {rows:,} and column {columns:,}, which are "
                f"{rows * columns:,} cells (at most {MOST_CELLS:,}): delete the cells that stand "
                "far away, or save the table as CSV"
            )


def _extents(content: bytes) -> Iterator[tuple[int, int]]:
    """Rows and columns of each sheet of an archive; its reader says what is damaged."""
    damaged = (zipfile.BadZipFile, ElementTree.ParseError, RuntimeError, ValueError)
    with suppress(*damaged), zipfile.ZipFile(io.BytesIO(content)) as archive:
        for member in archive.namelist():
            with archive.open(member) as part:
                if member.startswith("xl/worksheets/") and member.endswith(".xml"):
                    yield _extent_of_xlsx(part)
                elif member == "content.xml":
                    yield _extent_of_ods(part)


def _extent_of_xlsx(part: IO[bytes]) -> tuple[int, int]:
    rows, columns, before = 0, 0, b""
    while block := part.read(1 << 20):
        text = before + block
        for letters, row in _CELL.findall(text):
            rows = max(rows, int(row))
            column = 0
            for letter in letters:
                column = 26 * column + letter - 64
            columns = max(columns, column)
        before = text[-20:]
    return rows, columns


def _extent_of_ods(part: IO[bytes]) -> tuple[int, int]:
    """Rows and columns with values; empty ones are repeated to the sheet's end as a rule."""
    rows, columns, wide = 0, 0, 0
    for _, element in ElementTree.iterparse(part):  # noqa: S314 - expat bounds entities
        kind = element.tag.rpartition("}")[2]
        given = {key.rpartition("}")[2]: value for key, value in element.items()}
        if kind == "table-cell" and "value-type" in given:
            wide += int(given.get("number-columns-repeated", 1))
        elif kind == "table-row":
            if wide:
                rows += int(given.get("number-rows-repeated", 1))
                columns = max(columns, wide)
            wide = 0
            element.clear()
    return rows, columns


def _filled(row: Iterable[Any]) -> bool:
    return any(cell not in ("", None) for cell in row)


def _value(cell: Any) -> str:
    """A cell as it is shown: whole numbers without a point, dates as people write them."""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    if isinstance(cell, datetime.datetime) and cell.time() == datetime.time(0):
        return cell.date().isoformat()
    if isinstance(cell, datetime.date | datetime.time):
        return cell.isoformat()
    return str(cell).lower() if isinstance(cell, bool) else str(cell)
