# ruff: noqa: E501 - tables of patterns and words read better unfolded
"""What all readers of values share: one writing for characters, and which of them are read.

Digits, signs, spaces and quotes are replaced character by character, so that spans hold.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

_SAME = (
    *"""
    -−‐‑‒﹣－˗ –— ~～〜 '’‘ʼ′ "″“”„ .٫．。 ,٬、， %٪％﹪ :：
    ;； (（ )） /／⁄∕ +＋ =＝ $＄ ¥￥ £￡ ?？ ·⋅∙ ×✕✖ ^ˆ °º μµ
    """.split(),
    " \u00a0\u2009\u202f\u2007\u2002\u2003\u3000",
)
"""Groups of characters that are written as the first of each."""

_BOLD = re.compile(r"(?<![\w)*])\*\*(?=[^\s*])([^*\n]+)\*\*")
_SPLIT_DECIMAL = re.compile(
    r"(?<![\w.,])(\d{1,3})\. (\d{1,2}(?=[- ]?(?:km|m|cm|mm|ft|kg|lb|mi|million|billion|percent|%|lit|inch|GHz|mph)))"
)
_CITED = re.compile(r"(?<=[\w.,;:!?)%*'\"])(\s?)\[\d{1,3}(?:[,–-]\s*\d{1,3})*\]")
_NUMBERING = re.compile(r"(?m)^[ \t]*\d{1,2}[.)](?=[ \t]+\S)")
_INLINE_NUMBERING = re.compile(r"(?:(?<=\s)|(?<=^))\(?\d[.)](?=\s+[^\W\d])")


SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺ⁿˣ", "0123456789-+nx")


@cache
def _table() -> dict[int, str]:
    table = {ord(one): group[0] for group in _SAME for one in group[1:]}
    for point in range(0x660, 0x1FC00):  # where the digits of all scripts lie
        char = chr(point)
        if unicodedata.category(char) == "Nd":
            table[point] = str(unicodedata.digit(char))
    for point in range(0xFF21, 0xFF5B):
        if chr(point).isalpha():
            table[point] = chr(point - 0xFEE0)
    return table


def plain(text: str) -> str:
    """The text in one writing, of the same length.

    Digits of every script become ASCII, signs and quotes the plain ones; bold marks, citation
    marks ("[1]") and the numbers of list items become spaces.

    >>> plain("−１２ kg"), plain("**5** km [2]")
    ('-12 kg', '  5   km    ')
    """
    if not text.isascii():
        text = text.translate(_table())
    if "**" in text:
        text = _BOLD.sub(lambda found: f"  {found[1]}  ", text)
    if "[" in text:
        text = _CITED.sub(lambda found: " " * len(found[0]), text)
    if "\n" in text:
        text = _NUMBERING.sub(lambda found: " " * len(found[0]), text)
    if ". " in text:
        text = _SPLIT_DECIMAL.sub(r" \1.\2", text)
    if "1" in text and "2" in text:
        marks = [found[0].strip("(.)") for found in _INLINE_NUMBERING.finditer(text)]
        if marks[:2] == ["1", "2"]:
            text = _INLINE_NUMBERING.sub(lambda found: " " * len(found[0]), text)
    return text


def take(used: bytearray, start: int, end: int) -> bool:
    """Mark a span as read; False where part of it was."""
    if any(used[start:end]):
        return False
    used[start:end] = b"\1" * (end - start)
    return True
