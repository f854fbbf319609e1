"""What a file that is no table seems to be, by its first bytes."""

from __future__ import annotations

import io
import zipfile

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
