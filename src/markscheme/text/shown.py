"""Untrusted text made safe to show: in a terminal, Markdown, LaTeX, HTML and spreadsheets.

Names of systems, answers and replies are anybody's text. Everything that is printed or written for
people goes through here, and only here.
"""

from __future__ import annotations

import re
from html import escape

_STEERING = {
    *range(0x00, 0x20),
    *range(0x7F, 0xA0),  # clear screens, move cursors, set titles
    *range(0x202A, 0x202F),
    *range(0x2066, 0x206A),  # turn the order of letters around
    *range(0x2028, 0x202A),
    *range(0xD800, 0xE000),
}
_ESCAPES = {
    code: f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
    for code in _STEERING - {ord("\n"), ord("\t")}
}

_LATEX = {c: f"\\{c}" for c in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}

_FORMULA = re.compile(r"'*(?:[=@\t\r]|[+-](?![\s\d.,]|$))")
"""What a spreadsheet would compute. Signed numbers and lists with dashes are text or numbers."""

_HTML = re.compile(r"<(?=[A-Za-z/!?])")
_ENTITY = re.compile(r"&(?=#?\w+;)")
_MENTION = re.compile(r"(?<![^\W_])@(?=\w)")


def printable(text: str) -> str:
    r"""The text with signs that would steer a terminal shown as escapes; lines and tabs stay.

    >>> printable("a\x1b[2Jb")
    'a\\x1b[2Jb'
    """
    return text if text.isascii() and text.isprintable() else text.translate(_ESCAPES)


def in_rows(count: int) -> str:
    """A number of rows, in words."""
    return counted(count, "row")


def counted(count: int, one: str, several: str = "") -> str:
    """A number of things, in words.

    Args:
        count: how many.
        one: what one is called, with its verb if there is one.
        several: what several are called, if that is not `one` with an s.

    >>> counted(1, "row"), counted(2000, "row"), counted(0, "label is", "labels are")
    ('1 row', '2,000 rows', '0 labels are')
    """
    return f"{count:,} {one if count == 1 else several or f'{one}s'}"


def one_line(text: str) -> str:
    """The text on one line, printable."""
    return printable(re.sub(r"\s+", " ", text).strip())


def excerpt(text: str, most: int) -> str:
    r"""The text on one line, without signs that would not be seen, of `most` characters at most.

    >>> excerpt("It was\n\x1b[2J Jane Austen.", 12)
    'It was [2J …'
    """
    flat = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
    return flat if len(flat) <= most else flat[: most - 1] + "…"


def markdown_cell(text: str) -> str:
    r"""A cell of a Markdown table: no HTML, link, image, mention or cell of its own.

    >>> markdown_cell("![x](https://host/x.png) <b>|")
    '!\\[x\\](https://host/x.png) &lt;b>\\|'
    """
    return _inert(re.sub(r"([\\`|\[\]])", r"\\\1", one_line(text)))


def markdown_note(text: str) -> str:
    """A sentence of ours in Markdown, with names in it: no HTML, image or mention."""
    return _inert(printable(text)).replace("![", "!\\[")


def _inert(text: str) -> str:
    """Without HTML, and with a space of no width where a forge would notify `@somebody`."""
    return _MENTION.sub("@\u200b", _HTML.sub("&lt;", _ENTITY.sub("&amp;", text)))


def latex_cell(text: str) -> str:
    """A cell of a LaTeX table."""
    return "".join(_LATEX.get(character, character) for character in one_line(text))


def html_text(text: str) -> str:
    """Text between HTML tags or in an attribute."""
    return escape(printable(text))


def csv_cell(text: str) -> str:
    """A cell of a table for spreadsheets: what would be a formula has an apostrophe before it.

    >>> csv_cell("=cmd|' /C calc'!A0"), csv_cell("-1.5"), csv_cell("- item")
    ("'=cmd|' /C calc'!A0", '-1.5', '- item')
    """
    return f"'{text}" if _FORMULA.match(text) else text


def csv_value(cell: str) -> str:
    """What a cell that `csv_cell` made holds.

    >>> csv_value(csv_cell("@SUM(A1)")), csv_value("'tis")
    ('@SUM(A1)', "'tis")
    """
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell
