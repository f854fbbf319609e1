"""Excel's .xlsx (and LibreOffice's .ods): the first sheet that holds a table."""

from __future__ import annotations

import datetime
import io
from collections.abc import Iterable
from typing import Any

from markscheme.errors import DataError


def workbook_rows(content: bytes, name: str) -> tuple[str, list[str], list[list[str]], list[int]]:
    """The sheet's name, its header, its rows as long as the header, and the row number of each.

    Raises:
        DataError: no sheet holds a table, or python-calamine is not installed.
    """
    try:
        from python_calamine import CalamineError, CalamineWorkbook
    except ImportError:
        raise DataError(
            f"{name} is a workbook, which needs python-calamine: pip install python-calamine"
        ) from None

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
