"""Excel's .xlsx (and LibreOffice's .ods): the sheet that holds a table."""

from __future__ import annotations

import datetime
import io
import re
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, Any
from xml.etree import ElementTree

from markscheme.errors import DataError

EXPORT_IT = "export its table as .csv, .jsonl or .parquet; an archive must be unpacked first"
"""What to do with a file that is no table, as its error says."""
MOST_CELLS = 20_000_000
"""Of a sheet: a million rows of twenty columns."""
_DAMAGED = (
    zipfile.BadZipFile,
    ElementTree.ParseError,
    RuntimeError,
    ValueError,
    KeyError,
    IndexError,
    StopIteration,
)
"""What a damaged archive raises here; its reader says what is wrong with it."""
_NAME = re.compile(r"([A-Z]{1,3})([0-9]{1,7})")
_FORMULA = re.compile(rb"<(?:\w+:)?f[\s/>]")
_ERROR = b't="e"'
_UNCOMPUTED = (
    "is a formula without a value: open the file in a spreadsheet and save it, which computes it"
)
_CELL = re.compile(rb'\br="([A-Z]{1,3})([0-9]{1,7})"')


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """A table in a workbook.

    `rows` are as long as `header`; `lines[i]` is the number of row i in the sheet. `trouble` are
    rows that are not among them, by their number, and why.
    """

    header: list[str]
    rows: list[list[str]]
    lines: list[int]
    trouble: dict[int, str]


def workbook_rows(content: bytes, name: str, *, sheet: str | None = None) -> Sheet:
    """The table in a workbook.

    Args:
        content: of the file.
        name: of the file, for messages.
        sheet: the title of its sheet; None takes the only one that holds a table.

    Raises:
        DataError: no sheet holds a table, several do, none has that title, one is too large, or
            python-calamine is not installed.
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
        if sheet is not None and sheet not in book.sheet_names:
            there = ", ".join(map(repr, book.sheet_names))
            raise DataError(f"{name} has no sheet {sheet!r}; there are {there}")
        titles = book.sheet_names if sheet is None else [sheet]
        tables = {
            title: book.get_sheet_by_name(title).to_python(skip_empty_area=False)
            for title in titles
        }
    except CalamineError as error:
        raise DataError(f"{name} is no table that can be read: {error}; {EXPORT_IT}") from None
    filled = [title for title, rows in tables.items() if sum(map(_filled, rows)) > 1]
    if not filled:
        raise DataError(f"{name} has no sheet with a header and rows")
    if len(filled) > 1:
        raise DataError(
            f"{name} has several sheets ({', '.join(map(repr, filled))}): save one "
            "as a file of its own, or, where answers are judged, name it with --sheet"
        )
    (title,) = filled
    rows = tables[title]
    start = next(place for place, row in enumerate(rows) if _filled(row))
    header = [str(cell).strip() for cell in rows[start]]
    twice = sorted({one for one in header if one and header.count(one) > 1})
    if twice:
        raise DataError(f"{name}, row {start + 1}: columns named twice: {', '.join(twice)}")
    trouble = {
        row: f"the cell {cell} ({header[column - 1]}) {why}"
        for row, column, cell, why in _without_value(content, book.sheet_names.index(title))
        if row > start + 1 and column <= len(header) and header[column - 1]
    }
    numbered = [
        (number, row)
        for number, row in enumerate(rows, start=1)
        if number > start + 1 and number not in trouble and _filled(row)
    ]
    return Sheet(
        header=header,
        rows=[list(map(_value, row)) for _, row in numbered],
        lines=[number for number, _ in numbered],
        trouble=dict(sorted(trouble.items())),
    )


def _without_value(content: bytes, place: int) -> Iterator[tuple[int, int, str, str]]:
    """Row, column and name of the cells of an .xlsx sheet that should hold a value, and why not.

    Programs that write workbooks leave formulas without a value; only a spreadsheet computes them.
    A formula whose value is an empty text says so (`t="str"`), and an error such as #N/A (`t="e"`).
    """
    if not content.startswith(b"PK"):
        return
    with suppress(*_DAMAGED), zipfile.ZipFile(io.BytesIO(content)) as archive:
        if "xl/workbook.xml" not in archive.namelist():
            return
        part = archive.read(_sheet_part(archive, place))
        if _FORMULA.search(part) is None and _ERROR not in part:
            return
        for _, element in ElementTree.iterparse(io.BytesIO(part)):  # noqa: S314 - expat bounds entities
            if _tag(element) != "c":
                continue
            parts = {_tag(child): child.text for child in element}
            computed = parts.get("v") or ("v" in parts and element.get("t") == "str")
            found = _NAME.fullmatch(element.get("r", ""))
            why = None
            if element.get("t") == "e":
                why = f"is the error {parts.get('v')}: correct or empty it"
            elif "f" in parts and not computed:
                why = _UNCOMPUTED
            if found and why:
                yield int(found[2]), _column(found[1]), found[0], why
            element.clear()


def _sheet_part(archive: zipfile.ZipFile, place: int) -> str:
    """The member of an archive that holds its n-th sheet."""
    with archive.open("xl/workbook.xml") as part:
        sheets = [one for _, one in ElementTree.iterparse(part) if _tag(one) == "sheet"]  # noqa: S314
    wanted = next(value for key, value in sheets[place].items() if key.endswith("}id"))
    with archive.open("xl/_rels/workbook.xml.rels") as part:
        links = [one for _, one in ElementTree.iterparse(part)]  # noqa: S314
    target = next(one.get("Target", "") for one in links if one.get("Id") == wanted)
    return target.removeprefix("/") if target.startswith("/") else f"xl/{target}"


def _tag(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]


def _column(letters: str) -> int:
    """The number of a column: 1 for A, 27 for AA."""
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - 64
    return number


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
                f"{rows * columns:,} cells (at most {MOST_CELLS:,}): delete the cells that are "
                "far away, or save the table as CSV"
            )


def _extents(content: bytes) -> Iterator[tuple[int, int]]:
    """Rows and columns of each sheet of an archive; its reader says what is damaged."""
    with suppress(*_DAMAGED), zipfile.ZipFile(io.BytesIO(content)) as archive:
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
            columns = max(columns, _column(letters.decode()))
        before = text[-20:]
    return rows, columns


def _extent_of_ods(part: IO[bytes]) -> tuple[int, int]:
    """Rows and columns with values; empty ones are repeated to the sheet's end as a rule."""
    rows, columns, wide = 0, 0, 0
    for _, element in ElementTree.iterparse(part):  # noqa: S314 - expat bounds entities
        kind = _tag(element)
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
