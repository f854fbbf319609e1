"""What a file is by its first bytes: the encoding of a text, or what it is that is no text."""

from __future__ import annotations

import codecs
import io
import re
import zipfile

_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SEQUENCE = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
)
_LATIN = "cp1252"
_OTHERS = [
    "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "shift_jis", "euc_jp", "gb18030",
    "big5", "euc_kr", "koi8_r",
]  # fmt: skip

_EXPORT = "export its table as .csv, .jsonl or .parquet"
_KNOWN = (
    (b"%PDF-", "a PDF; give the table that it was printed from"),
    (b"\x89PNG", "a picture (PNG)"),
    (b"\xff\xd8\xff", "a picture (JPEG)"),
    (b"GIF8", "a picture (GIF)"),
    (b"SQLite format 3\x00", f"an SQLite database; {_EXPORT}"),
    (b"\x93NUMPY", f"an array of NumPy; {_EXPORT}"),
    (b"\x89HDF", f"an HDF5 file; {_EXPORT}"),
    (b"ORC", f"an ORC file; {_EXPORT}"),
    (b"Obj\x01", f"an Avro file; {_EXPORT}"),
    (b"7z\xbc\xaf", "a 7-Zip archive; unpack it first"),
    (b"Rar!", "a RAR archive; unpack it first"),
    (b"\x7fELF", "a program"),
    (b"MZ", "a program"),
    (b"{\\rtf", f"a document (RTF); {_EXPORT}"),
)
_TAR = slice(257, 262)
_PICKLED = tuple(bytes([0x80, protocol]) for protocol in range(2, 6))
_CONTROLS = bytes(sign for sign in range(32) if sign not in b"\t\n\r\f\x1b")
_MOST = 0.05
"""Control characters beyond this share of a file's beginning are no text's."""


def other_encoding(start: bytes) -> str | None:
    """The encoding of a text by its first bytes, or None where they are UTF-8.

    Bytes that are no UTF-8 among others that are belong to a damaged file of UTF-8, whose rows the
    reader names; so for them it is None as well.
    """
    for mark, name in _BOMS:
        if start.startswith(mark):
            return name
    wide = _wide(start)
    if wide is not None:
        return wide
    try:
        codecs.getincrementaldecoder("utf-8")().decode(start)
    except UnicodeDecodeError:
        pass
    else:
        return None
    if b"\x00" in start or _SEQUENCE.search(start):
        return None
    return _eight_bit(start)


def _wide(start: bytes) -> str | None:
    """UTF-16 without a mark: every second byte of Latin text is zero."""
    even, odd = start[0:400:2], start[1:400:2]
    if len(even) < 4 or len(odd) < 4:
        return None
    if odd.count(0) > 0.7 * len(odd) and not even.count(0):
        return "utf-16-le"
    if even.count(0) > 0.7 * len(even) and not odd.count(0):
        return "utf-16-be"
    return None


def _eight_bit(start: bytes) -> str | None:
    """Western European, unless the text is plainly of another script.

    A detector sees less in few foreign letters among many plain ones than the habit of Western
    spreadsheets tells, so it decides only where most letters are not ASCII.
    """
    letters = sum(byte >= 0x80 or chr(byte).isalpha() for byte in start)
    foreign = sum(byte >= 0x80 for byte in start)
    if foreign < 0.25 * max(letters, 1):
        return None if b"\xff" in start else _LATIN  # A broken byte, rather than its "ÿ".
    from charset_normalizer import from_bytes

    best = from_bytes(start[:200_000], cp_isolation=[_LATIN, *_OTHERS]).best()
    return best.encoding if best is not None else _LATIN


def seems_binary(head: bytes) -> str:
    """What a file that begins so seems to be, and what to do; "" where it may be a text."""
    if b"\x00" in head or _share(head) > 0 or not head.isascii():
        for magic, what in _KNOWN:
            if head.startswith(magic):
                return what
        if head[_TAR] == b"ustar":
            return "a tar archive; unpack it first"
        if head.startswith(_PICKLED):
            return f"a pickle of Python, which may run code when it is read; {_EXPORT}"
    elif head.startswith(_KNOWN[0][0]):
        return _KNOWN[0][1]
    return f"no text; {_EXPORT}" if _share(head) > _MOST else ""


def archive_of(content: bytes) -> str:
    """What an archive seems to be that is no workbook, and what to do; "" where it may be one."""
    names = zipfile.ZipFile(io.BytesIO(content)).namelist()
    if any(name.startswith("xl/") or name == "content.xml" for name in names):
        return ""
    if any(name.startswith(("word/", "ppt/")) for name in names):
        return f"a document of Word or PowerPoint; {_EXPORT}"
    inside = ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")
    return f"an archive of {len(names)} files ({inside}); unpack it and give the table"


def _share(head: bytes) -> float:
    """The share of control characters."""
    return 1 - len(head.translate(None, _CONTROLS)) / max(1, len(head))
