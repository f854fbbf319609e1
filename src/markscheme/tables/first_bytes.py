"""What a file is by its first bytes: whether it is a text, and in which encoding."""

from __future__ import annotations

import codecs
import re

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
_OTHERS = """
    cp1250 cp1251 cp1253 cp1254 cp1255 cp1256 shift_jis euc_jp gb18030 big5 euc_kr koi8_r
    """.split()

_PDF = b"%PDF-"
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


def is_text(head: bytes) -> bool:
    """Whether a file that begins so may be a text."""
    controls = len(head) - len(head.translate(None, _CONTROLS))
    return controls <= _MOST * len(head) and not head.startswith(_PDF)
