"""Excel's .xlsx (and LibreOffice's .ods): the sheet that holds a table."""

from __future__ import annotations

import datetime
import io
import re
from array import array
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any
from xml.parsers import expat

import numpy as np

from markscheme.errors import DataError
from markscheme.tables.limits import DEPTH, Intake, too_large
from markscheme.tables.objects import number_text

if TYPE_CHECKING:
    from python_calamine import CalamineSheet

EXPORT_IT = "export its table as .csv, .jsonl or .parquet; an archive must be unpacked first"
"""What to do with a file that is no table, as its error says."""
_NAME = re.compile(r"([A-Z]{1,3})([0-9]{1,7})")
_UNCOMPUTED = (
    "is a formula without a value: open the file in a spreadsheet and save it, which computes it"
)
_CELL_ELEMENTS = 3
"""Elements of a cell with its text; a part may have as many for each cell that may be used."""
_LONGEST = 20
"""Characters of a number that are read."""


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """A table in a workbook.

    `rows` are as long as `header`, which is row `start` of the sheet; `lines[i]` is the number of
    row i in it. `trouble` are rows that are not among them, by their number, and why.
    """

    header: list[str]
    start: int
    rows: list[list[str]]
    lines: list[int]
    trouble: dict[int, str]


def workbook_rows(content: bytes, intake: Intake, *, sheet: str | None = None) -> Sheet:
    """The table in a workbook.

    Args:
        content: of the file.
        intake: the file as it was read, for messages and limits.
        sheet: the title of its sheet; None takes the only one that holds a table.

    Raises:
        DataError: no sheet holds a table, several do, none has that title, one is too large, or
            python-calamine is not installed.
    """
    name = intake.name
    try:
        from python_calamine import CalamineError, CalamineWorkbook
    except ImportError:
        raise DataError(
            f"{name} is a workbook, which needs python-calamine: pip install python-calamine"
        ) from None

    if not content.startswith(b"PK"):
        # Its reader makes the rectangles of all sheets, however empty, before they can be counted.
        raise DataError(f"{name} is not a workbook of the kind .xlsx or .ods; {EXPORT_IT}")
    parts = _checked_sheets(content, intake)
    try:
        book = CalamineWorkbook.from_filelike(io.BytesIO(content))
        if sheet is not None and sheet not in book.sheet_names:
            there = ", ".join(map(repr, book.sheet_names))
            raise DataError(f"{name} has no sheet {sheet!r}; there are {there}")
        titles = book.sheet_names if sheet is None else [sheet]
        tables = {title: _filled_rows(book.get_sheet_by_name(title)) for title in titles}
    except CalamineError as error:
        raise DataError(f"{name} is not a table that can be read: {error}; {EXPORT_IT}") from None
    filled = [title for title, rows in tables.items() if len(rows) > 1]
    if not filled:
        raise DataError(f"{name} has no sheet with a header and rows")
    if len(filled) > 1:
        raise DataError(
            f"{name} has several sheets ({', '.join(map(repr, filled))}): save one "
            "as a file of its own, or, where answers are judged, name it with --sheet"
        )
    (title,) = filled
    (start, first), *numbered = tables[title]
    header = [_value(cell).strip() for cell in first]
    place = book.sheet_names.index(title)
    trouble = {
        row: f"the cell {cell} ({header[column - 1]}) {why}"
        for row, column, cell, why in (parts[place].trouble if place < len(parts) else ())
        if row > start and column <= len(header) and header[column - 1]
    }
    numbered = [(number, row) for number, row in numbered if number not in trouble]
    return Sheet(
        header=header,
        start=start,
        rows=[list(map(_value, row)) for _, row in numbered],
        lines=[number for number, _ in numbered],
        trouble=dict(sorted(trouble.items())),
    )


def _filled_rows(sheet: CalamineSheet) -> list[tuple[int, list[Any]]]:
    """The rows of a sheet that hold something, with their numbers, each as wide as the sheet."""
    start = sheet.start
    if start is None:
        return []
    above, left = start
    return [
        (number, [""] * left + row)
        for number, row in enumerate(sheet.to_python(skip_empty_area=True), start=above + 1)
        if any(cell not in ("", None) for cell in row)
    ]


def _column(letters: str) -> int:
    """The number of a column: 1 for A, 27 for AA."""
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - 64
    return number


def _checked_sheets(content: bytes, intake: Intake) -> list[_Part]:
    """The parts of an .xlsx archive that are its sheets, after the limits of all were checked.

    The reader makes the whole rectangle that a sheet's cells span, and a text for each cell that
    names a shared one: what that comes to is counted first, part by part as a stream.

    Raises:
        DataError: a limit is exceeded, or a part that matters is no XML.
    """
    parts: dict[str, _Part] = {}
    with intake.archive(content) as archive:
        for info in archive.infolist():
            name = info.filename.lower()
            part = parts[name] = _Part(intake)
            try:
                with archive.open(info) as stream:
                    part.read(stream)
            except expat.ExpatError as error:  # A picture; or a sheet that is called so.
                is_sheet = b"sheetData" in archive.read(info).replace(b"\0", b"")
                if is_sheet or name.endswith((".xml", ".rels")):
                    raise DataError(
                        f"{intake.name} is not a table that can be read: {error}; {EXPORT_IT}"
                    ) from None
    if "xl/workbook.bin" in parts:
        raise DataError(f"{intake.name} is a binary workbook (.xlsb); {EXPORT_IT}")
    every = parts.values()
    area = sum(part.rows * part.columns for part in every)
    intake.check_area(area, sum(part.cells for part in every), "its sheets span")
    shared = np.array([length for part in every for length in part.shared], np.int64)
    used = np.array([which for part in every for which in part.used], np.int64)
    text = int(shared[used[used < len(shared)]].sum()) + sum(part.text for part in every)
    intake.check_unpacked(text, "the text of its cells")
    targets = parts.get("xl/_rels/workbook.xml.rels", _Part(intake)).targets
    named = [targets.get(sheet, "") for part in every for sheet in part.sheets]
    if len(set(named)) < len(named):
        raise DataError(f"{intake.name}: several of its sheets are the same part; {EXPORT_IT}")
    return [parts.get(f"xl/{name}", _Part(intake)) for name in named]


class _Part:
    """One part of a workbook, read as a stream of XML.

    Attributes:
        cells: cells with a value.
        rows: of the rectangle from the sheet's first cell to the last of these.
        columns: of that rectangle.
        sheets: the keys of the sheets that it names.
        targets: parts in the folder `xl`, by their keys.
        shared: the lengths of the texts that cells share.
        used: for each cell that names such a text, which.
        text: characters of cells that are written once and repeated.
        trouble: row, column and name of the cells that should hold a value, and why they do not.
            Programs that write workbooks leave formulas without a value; only a spreadsheet
            computes them. A formula whose value is an empty text says so (`t="str"`).
    """

    def __init__(self, intake: Intake) -> None:
        self.sheets: list[str] = []
        self.targets: dict[str, str] = {}
        self.shared, self.used = array("q"), array("q")
        self.text = 0
        self.trouble: list[tuple[int, int, str, str]] = []
        self._intake = intake
        self._depth = self._elements = self.cells = self._length = 0
        self._row = self._column = self.rows = self.columns = 0
        self._cell: dict[str, str] = {}
        self._value = ""
        self._has: set[str] = set()
        self._repeated = 1
        self._wide: list[tuple[int, int]] = []

    def read(self, stream: IO[bytes]) -> None:
        """Raises ExpatError where it is no XML, and DataError where a limit is exceeded."""
        parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._read_text
        parser.ParseFile(stream)
        self._check()

    def _start(self, tag: str, given: dict[str, str]) -> None:
        name = tag.rpartition(":")[2]
        self._depth += 1
        self._elements += 1
        if self._elements % 4096 == 0:
            self._check()
        if self._depth > DEPTH:
            name, advice = self._intake.name, EXPORT_IT
            raise too_large(name, "its XML is nested too deeply", f"{DEPTH:,} levels", advice)
        if name in ("c", "table-cell", "covered-table-cell"):
            self._cell, self._has, self._length, self._value = given, set(), 0, ""
            self._column += name == "c"
            if name == "c" and (found := _NAME.fullmatch(given.get("r", "").upper())):
                self._row, self._column = int(found[2]), _column(found[1])
        elif name == "row":
            self._row, self._column = _number(given.get("r"), self._row + 1), 0
        elif name == "table-row":
            self._repeated = _number(given.get("table:number-rows-repeated"), 1)
            self._column, self._wide = 0, []
        elif name in ("v", "is", "f", "p"):
            self._has.add(name)
            self._value = ""
        elif name == "si":
            self._length = 0
        elif name == "table":
            self._row = self.rows = self.columns = 0
        elif name == "sheet":
            self.sheets.append(next((v for key, v in given.items() if key.endswith(":id")), ""))
        elif name == "Relationship":
            target = given.get("Target", "").replace("\\", "/").lower().removeprefix("/")
            self.targets[given.get("Id", "")] = target.removeprefix("xl/")

    def _read_text(self, text: str) -> None:
        self._length += len(text)
        self._value = (self._value + text)[:_LONGEST]

    def _end(self, tag: str) -> None:
        name = tag.rpartition(":")[2]
        self._depth -= 1
        if name == "v":
            self._cell["value"] = self._value
        elif name == "c":
            self._end_cell()
        elif name == "si":
            self.shared.append(self._length)
        elif name in ("table-cell", "covered-table-cell"):
            repeated = _number(self._cell.get("table:number-columns-repeated"), 1)
            self._column += repeated
            if "p" in self._has or any(key.endswith("value-type") for key in self._cell):
                self._wide.append((repeated, self._length))
                self.columns = max(self.columns, self._column)
        elif name == "table-row":
            self._row += self._repeated
            if self._wide:
                self.rows = self._row
                self.cells += self._repeated * sum(count for count, _ in self._wide)
                self.text += self._repeated * sum(count * size for count, size in self._wide)

    def _end_cell(self) -> None:
        value, kind = self._cell.get("value", ""), self._cell.get("t")
        if value or "is" in self._has:
            self.cells += 1
            self.rows = max(self.rows, self._row)
            self.columns = max(self.columns, self._column)
        if kind == "s" and value.isdecimal() and len(value) < _LONGEST - 1:
            self.used.append(int(value))
        why = None
        if kind == "e":
            why = f"is the error {value or None}: correct or empty it"
        elif "f" in self._has and not value and not ("v" in self._has and kind == "str"):
            why = _UNCOMPUTED
        if why and "r" in self._cell:
            self.trouble.append((self._row, self._column, self._cell["r"], why))

    def _check(self) -> None:
        """Refuse a sheet whose cells would not fit into memory, before the rectangle is made.

        One cell at XFD1048576 makes 17 thousand million of them, and ends the process.
        """
        self._intake.check_values(self._elements // _CELL_ELEMENTS, "cells, used or not,")
        what = f"a sheet reaches to row {self.rows:,} and column {self.columns:,}:"
        self._intake.check_area(self.rows * self.columns, self.cells, what)


def _number(text: str | None, default: int) -> int:
    return int(text) if text and text.isdecimal() and len(text) < _LONGEST else default


def _value(cell: Any) -> str:
    """A cell as it is shown: whole numbers without a point, dates as people write them."""
    if isinstance(cell, int | float):
        return number_text(cell) or ""
    if isinstance(cell, datetime.datetime) and cell.time() == datetime.time(0):
        return cell.date().isoformat()
    if isinstance(cell, datetime.date | datetime.time):
        return cell.isoformat()
    return str(cell)
