"""Small files that ask for all memory or time of a machine: each a name and what writes it."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import zipfile
from collections.abc import Callable, Mapping

import polars as pl

HEADER = b"question,references,answer\n"
MAIN = "http://schemas.openxmlformats.org/"
RELATIONS = MAIN + "officeDocument/2006/relationships"
ZEROS = b"0" * 120_000_000


def zipped(parts: Mapping[str, str | bytes]) -> bytes:
    """An archive."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return target.getvalue()


def cell(place: str, text: str = "x", quote: str = '"') -> str:
    """A cell of a sheet; a place that is empty is left out."""
    named = f" r={quote}{place}{quote}" if place else ""
    return f'<c{named} t="inlineStr"><is><t>{text}</t></is></c>'


def xlsx(
    rows: str,
    *,
    shared: str = "",
    part: str = "worksheets/sheet1.xml",
    before: str = "",
    encoding: str = "utf-8",
    sheets: int = 1,
    parts: int = 1,
) -> bytes:
    """A workbook: a header, a row and what `rows` adds."""
    head = "".join(map(cell, ("A1", "B1", "C1"), ("question", "references", "answer")))
    body = "".join(map(cell, ("A2", "B2", "C2"), "qra"))
    sheet = (
        f'{before}<worksheet xmlns="{MAIN}spreadsheetml/2006/main"><sheetData><row r="1">{head}'
        f'</row><row r="2">{body}</row>{rows}</sheetData></worksheet>'
    )
    named = "".join(
        f'<sheet name="s{n}" sheetId="{n + 1}" r:id="s{n % parts}"/>' for n in range(sheets)
    )
    targets = [part, *(f"sheet{n}.xml" for n in range(1, parts))]
    links = "".join(
        f'<Relationship Id="s{n}" Type="{RELATIONS}/worksheet" Target="{target}"/>'
        for n, target in enumerate(targets)
    )
    members: dict[str, str | bytes] = {
        "[Content_Types].xml": f'<Types xmlns="{MAIN}package/2006/content-types"/>',
        "_rels/.rels": f'<Relationships xmlns="{MAIN}package/2006/relationships"><Relationship '
        f'Id="r" Type="{RELATIONS}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}spreadsheetml/2006/main" '
        f'xmlns:r="{RELATIONS}"><sheets>{named}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{MAIN}package/2006/relationships">'
        f'{links}<Relationship Id="t" Type="{RELATIONS}/sharedStrings" Target="sharedStrings.xml"/>'
        "</Relationships>",
    }
    members |= {f"xl/{target}": sheet.encode(encoding) for target in targets}
    if shared:
        members["xl/sharedStrings.xml"] = (
            f'<sst xmlns="{MAIN}spreadsheetml/2006/main"><si><t>{shared}</t></si></sst>'
        )
    return zipped(members)


def far(place: str = "XFD1048576", quote: str = '"') -> str:
    """A row with a cell far away."""
    row = "".join(filter(str.isdigit, place))
    return f'<row r="{row}">{cell(place, quote=quote)}</row>'


def ods(rows: str) -> bytes:
    """A spreadsheet of LibreOffice: a header and what `rows` adds."""
    names = " ".join(
        f'xmlns:{one}="urn:oasis:names:tc:opendocument:xmlns:{one}:1.0"'
        for one in ("office", "table", "text")
    )
    head = ods_row("".join(ods_cell(text) for text in ("question", "references", "answer")))
    return zipped(
        {
            "mimetype": "application/vnd.oasis.opendocument.spreadsheet",
            "META-INF/manifest.xml": "<manifest/>",
            "content.xml": f"<office:document-content {names}><office:body><office:spreadsheet>"
            f'<table:table table:name="a">{head}{rows}</table:table></office:spreadsheet>'
            "</office:body></office:document-content>",
        }
    )


def ods_row(cells: str, count: int = 1) -> str:
    """A row, repeated."""
    repeated = f'table:number-rows-repeated="{count}"'
    return f"<table:table-row {repeated}>{cells}</table:table-row>"


def ods_cell(text: str = "", count: int = 1) -> str:
    """A cell, repeated; empty without a text."""
    repeated = f'table:number-columns-repeated="{count}"'
    if not text:
        return f"<table:table-cell {repeated}/>"
    kind = 'office:value-type="string"'
    return f"<table:table-cell {kind} {repeated}><text:p>{text}</text:p></table:table-cell>"


def eval_log(samples: int, content: bytes) -> bytes:
    """A log of inspect_ai."""
    header = b'{"eval":{},"version":2,"plan":{}}'
    return zipped({"header.json": header} | {f"samples/{n}.json": content for n in range(samples)})


def table(rows: int, text: str, kind: str, **columns: pl.Expr) -> bytes:
    """A Parquet or Arrow file whose rows are all alike."""
    target = io.BytesIO()
    every = pl.repeat(text, rows)
    frame = pl.select(question=every, references=every, answer=every, **columns)
    if kind == "parquet":
        frame.write_parquet(target, row_group_size=rows)
    else:
        frame.write_ipc(target, compression="zstd")
    return target.getvalue()


def row(references: bytes) -> bytes:
    """A row of JSON."""
    return b'{"question":"q","answer":"a","references":' + references + b"}\n"


def nested(depth: int, inner: bytes) -> bytes:
    """Lists in lists."""
    return b"[" * depth + inner + b"]" * depth


def people(number: int) -> tuple[str, str, str]:
    """A question, its reference and an answer, as tables of people have them."""
    name = f"Author {7 * number}"
    return f"Who wrote book number {number}?", name, f"It was written by {name}, they say."


def workbook_of(rows: int) -> bytes:
    """An ordinary workbook."""
    lines = [
        f'<row r="{n}">{"".join(map(cell, (f"A{n}", f"B{n}", f"C{n}"), people(n)))}</row>'
        for n in range(3, rows + 2)
    ]
    return xlsx("".join(lines))


def document_of(rows: int) -> bytes:
    """An ordinary document of JSON."""
    names = ("question", "references", "answer")
    return json.dumps([dict(zip(names, people(n), strict=True)) for n in range(rows)]).encode()


GZ: Callable[[bytes], bytes] = gzip.compress

ORDINARY: Mapping[str, Callable[[], bytes]] = {
    "ordinary.xlsx": lambda: workbook_of(400_000),
    "ordinary.json": lambda: document_of(520_000),
}
"""Files that are no bombs, and are read whole before their first batch."""

BOMBS: Mapping[str, Callable[[], bytes]] = {
    # Bytes
    "zeros.csv.gz": lambda: GZ(HEADER + ZEROS),
    "zeros.jsonl.xz": lambda: lzma.compress(ZEROS, preset=0),
    "rows.csv.gz": lambda: GZ(HEADER + b"q,r,a\n" * 20_000_000),
    "rows.jsonl.gz": lambda: GZ(row(b'["r"]') * 2_500_000),
    "one-row.jsonl.gz": lambda: GZ(row(b'["' + b"a" * 30_000_000 + b'"]')),
    "one-row.csv.gz": lambda: GZ(HEADER + b"q,r," + b"a" * 30_000_000),
    "quote.csv.gz": lambda: GZ(HEADER + b'q,r,"' + b"a\n" * 30_000_000),
    "utf-16.csv.gz": lambda: GZ(("q,references,answer\nq,r," + "é" * 25_000_000).encode("utf-16")),
    "latin.csv.gz": lambda: GZ(HEADER + b"q,r,caf\xe9 \n" * 6_000_000),
    # Blank lines and fields
    "newlines.jsonl.gz": lambda: GZ(b"\n" * 24_000_000),
    "newlines.csv.gz": lambda: GZ(HEADER + b"\n" * 24_000_000),
    "commas.csv.gz": lambda: GZ(HEADER + b"," * 60_000_000),
    # Values, columns and depth
    "lists.json.gz": lambda: GZ(b"[" + b"[]," * 20_000_000 + b"[]]"),
    "lists.jsonl": lambda: row(b"[" + b"[]," * 4_000_000 + b"[]]"),
    "lists.jsonl.gz": lambda: GZ(row(b"[" + b"[]," * 300_000 + b"[]]") * 60),
    "references.jsonl.gz": lambda: GZ(row(b"[" + b'"a",' * 900_000 + b'"b"]')),
    "keys.jsonl": lambda: b"".join(b'{"question":"q","k%d":1}\n' % n for n in range(60_000)),
    "keys.json": lambda: b"[{" + b",".join(b'"k%d":1' % n for n in range(200_000)) + b"}]",
    "columns.csv": lambda: b",".join(b"c%d" % n for n in range(1_000_000)) + b"\n",
    "python-list.csv": lambda: HEADER + b'q,"[' + b"'a'," * 700_000 + b"'b']\",a\n",
    "deep.json": lambda: nested(100_000, b"1"),
    "deep-number.json": lambda: nested(900, b"1" * 24),
    "deep-references.jsonl": lambda: row(nested(900, b'"a"')),
    # Workbooks
    "far.xlsx": lambda: xlsx(far()),
    "far-quotes.xlsx": lambda: xlsx(far(quote="'")),
    "far-after-text.xlsx": lambda: xlsx(far(), before="x"),
    "far-picture.xlsx": lambda: xlsx(far(), before="x", part="media/a.png"),
    "far-part.xlsx": lambda: xlsx(far(), part="other/s.xml"),
    "far-utf-16.xlsx": lambda: xlsx(
        far(), encoding="utf-16", before='<?xml version="1.0" encoding="UTF-16"?>'
    ),
    "unnamed-cells.xlsx": lambda: xlsx(("<row>" + "<c><v>1</v></c>" * 16_000 + "</row>") * 150),
    "empty-cells.xlsx": lambda: xlsx(("<row>" + "<c/>" * 16_000 + "</row>") * 600),
    "diagonal.xlsx": lambda: xlsx("".join(far(f"XFD{n * 100}") for n in range(3, 3000))),
    "shared.xlsx": lambda: xlsx(
        "".join(f'<row><c r="A{n}" t="s"><v>0</v></c></row>' for n in range(3, 100_000)),
        shared="x" * 100_000,
    ),
    "same-empty-sheet.xlsx": lambda: xlsx(("<row>" + "<c/>" * 16_000 + "</row>") * 9, sheets=9000),
    "far-sheets.xlsx": lambda: xlsx(far("A300000"), sheets=500, parts=500),
    "old.xls": lambda: b"\xd0\xcf\x11\xe0" + bytes(10_000),
    "deep.xlsx": lambda: xlsx("<a>" * 2_000_000),
    "long-cell.xlsx": lambda: xlsx(f'<row r="3">{cell("A3", "x" * 60_000_000)}</row>'),
    "formulas.xlsx": lambda: xlsx("<row><c><f>1</f></c></row>" * 900_000),
    "far.ods": lambda: ods(
        ods_row(ods_cell("", 3), 1_048_570) + ods_row(ods_cell("", 16_383) + ods_cell("x"))
    ),
    "repeated.ods": lambda: ods(ods_row(ods_cell("x" * 30_000, 3), 300_000)),
    # Logs and columns of equal values
    "samples.eval": lambda: eval_log(200, b'{"id":"' + b"0" * 1_000_000 + b'"}'),
    "lists.eval": lambda: eval_log(1, b"[" + b"[]," * 15_000_000 + b"[]]"),
    "many-samples.eval": lambda: eval_log(20_000, b"{}"),
    "equal.parquet": lambda: table(4_000_000, "q" * 1000, "parquet"),
    "equal-long.parquet": lambda: table(3_000, "a" * 2_000_000, "parquet"),
    "equal.arrow": lambda: table(400_000, "q" * 1000, "arrow"),
}
