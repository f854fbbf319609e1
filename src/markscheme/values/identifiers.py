"""Versions and codes: what is written with figures and is no amount, and must match exactly.

"v2.30" is not 2.3, and the 52 of "B-52" is no number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from markscheme.values.characters import take
from markscheme.values.dates import MONTHS
from markscheme.values.kinds import Identifier
from markscheme.values.units import read_unit

_TAIL = r"(?:[-.]?(?:alpha|beta|rc|dev|post|a|b|pre)[.-]?\d*)?"
_VERSION = re.compile(
    rf"(?<![\w.,/:-])(?:[vV]\.?\s?)?\d+(?:\.\d+){{2,}}{_TAIL}(?![\w/:]|[.,]\d)"
    rf"|(?<![\w.])[vV]\.?\d+(?:\.\d+)*{_TAIL}(?!\w|\.\d)"
)
_NAMED = re.compile(
    r"\b(?:versions?|release|firmware|ver\.?|build|revision|versión|versione|versão|versie|версия|"
    r"версии|sürüm|バージョン|版本|버전)\s*(?:no\.?\s*|number\s+)?v?(?P<code>\d+(?:\.\d+)*[a-z]?)"
    r"(?!\w|\.\d|[:/,]\d)",
    re.IGNORECASE,
)
_BARE = re.compile(
    r"(?<![\w.,/:$€£-])v?\d+(?:\.\d+)+(?![\w%]|[.,:/]\d|\s?(?:%|°|kg|km|cm|mm|GB|MB))"
)
"""A number with a point, where the question asks for a version."""
_GROUPED = re.compile(r"(?!(?:(?:1?\d\d?|2[0-4]\d|25[0-5])(?:\.|\Z)){4}\Z)\d{1,3}(?:\.\d{3})+")
"""A number whose thousands points part, and no address as 192.168.100.200."""
_CODE = re.compile(
    r"(?<![\w./@-])(?:[A-Z]{1,6}|[A-Z][a-z]{0,2})-?\d{1,6}(?:[-/.]?[A-Z0-9]+)*[a-z]?"
    r"(?![\w%]|-\d|,\d{3}|:\d)"
    r"|(?<![\w./@$€£¥₹-])\d{1,4}[A-Z]{1,2}\d*(?!\w|-)"
)
_SHORT = re.compile(r"\d+[MBT]")
_LETTERS = re.compile(r"[A-Za-z]*")
_NO_CODE = frozenset(
    [*MONTHS, "usd", "eur", "gbp", "ad", "bc", "v", "mid", "pre", "top", "sub", "non"]
)
"""Letters before figures that make a date, an amount, a version or a "mid-1990"."""
_UNIT_LETTERS = 2
"""Letters of a unit that no code is likely to end with: a room may be 12A or 4B."""


def version_parts(raw: str) -> tuple[str, ...]:
    """The parts of a version, without a leading v; text after the figures is a part of its own.

    >>> version_parts("v2.30"), version_parts("2.0-rc1")
    (('2', '30'), ('2', '0', 'rc1'))
    """
    raw = raw.strip().lower().strip(" .").removeprefix("v").lstrip(". ")
    return tuple(part for part in re.split(r"[.\-_ ]+|(?<=\d)(?=[a-z])", raw) if part)


def read_identifiers(
    text: str, used: bytearray, *, version: bool, amount: bool = False
) -> Iterator[Identifier]:
    """The versions and codes of a plain text; `used` marks the characters taken.

    Args:
        text: as `characters.plain` gives it.
        used: a byte for each character, set where another value has been read.
        version: whether the question asks for a version; then every number with a point is one.
        amount: whether it asks for a number or money; then "300M" is none.
    """
    for pattern in (_VERSION, _NAMED, *([_BARE] if version else [])):
        for hit in pattern.finditer(text):
            code = hit["code"] if pattern is _NAMED else hit[0]
            if not _GROUPED.fullmatch(code) and take(used, hit.start(), hit.end()):
                parts = version_parts(code)
                yield Identifier(
                    start=hit.start(), end=hit.end(), text=hit[0], code=".".join(parts), parts=parts
                )
    for hit in _CODE.finditer(text):
        if amount and _SHORT.fullmatch(hit[0]):
            continue
        if _is_code(hit[0]) and take(used, hit.start(), hit.end()):
            code = re.sub(r"[-/.]", "", hit[0]).upper()
            yield Identifier(start=hit.start(), end=hit.end(), text=hit[0], code=code)


def _is_code(text: str) -> bool:
    """Whether letters with figures are a code, and no date, amount or quantity (25MB, 400V)."""
    hit = _LETTERS.match(text)
    letters = hit[0] if hit else ""
    if letters:
        return letters.lower() not in _NO_CODE
    figures = len(text) - len(text.lstrip("0123456789"))
    unit = read_unit(text, figures) if len(text) - figures >= _UNIT_LETTERS else None
    return unit is None or unit[1] != len(text)
