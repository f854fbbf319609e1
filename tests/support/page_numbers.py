"""What stands in a page, number by number: each with the section, the row and the column it has."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html.parser import HTMLParser

NUMBER = re.compile(r"(?<![\w.])[+-]?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?(?!\w)")
_VOID = frozenset(["br", "hr", "img", "input", "link", "meta", "wbr"])
_SILENT = frozenset(["script", "style", "title", "head"])

Place = tuple[str, ...]
"""Where a text stands: its section, then `says`, `note`, `mark`, `axis` or row and column."""


class Page(HTMLParser):
    """The visible texts of a page by their place; texts of one place in order of appearance."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.texts: dict[Place, list[str]] = {}
        self._open: list[tuple[str, dict[str, str | None]]] = []
        self._section = "page"
        self._term = ""
        self._header: list[str] = []
        self._cells: list[tuple[str, bool]] = []
        self._text: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _VOID:
            return
        self._flush()
        found = dict(attrs)
        self._open.append((tag, found))
        if tag == "section":
            self._section = (found.get("id") or "").removeprefix("section-")
        elif tag == "thead":
            self._header = []
        elif tag == "tr":
            self._cells = []

    def handle_endtag(self, tag: str) -> None:
        if tag in _VOID:
            return
        self._flush(cell=tag in ("td", "th"))
        if tag == "tr" and self._cells:
            self._row()
        while self._open and self._open.pop()[0] != tag:
            pass
        if tag == "section":
            self._section = "page"

    def handle_data(self, data: str) -> None:
        self._text.append(data)

    def _flush(self, *, cell: bool = False) -> None:
        tags = [tag for tag, _ in self._open]
        inside = not cell and any(tag in ("td", "th") for tag in tags)
        if inside:  # A cell's text is whole at its end.
            return
        text = " ".join("".join(self._text).split())
        self._text = []
        if cell:
            if "thead" in tags:
                self._header.append(text)
            else:
                classes = self._open[-1][1].get("class") or ""
                self._cells.append((text, "number" in classes))
        elif text and tags[-1:] == ["dt"]:
            self._term = text
        elif text and not (_SILENT & set(tags) and "svg" not in tags):
            self._add((self._section, self._kind(tags)), text)

    def _row(self) -> None:
        """The cells of a row, by what stands before its first number."""
        numeric = [number for _, number in self._cells]
        end = numeric.index(True) if True in numeric else 1
        name = " · ".join(text for text, _ in self._cells[:end])
        for heading, (text, _) in zip(self._header, self._cells, strict=True):
            self._add((self._section, name, heading), text)
        self._cells = []

    def _kind(self, tags: Sequence[str]) -> str:
        if "svg" in tags:
            return "mark" if "title" in tags else "axis"
        if "dd" in tags:
            return self._term
        classes = {name for _, found in self._open for name in (found.get("class") or "").split()}
        known = [name for name in ("says", "note", "absent", "facts", "hint") if name in classes]
        return known[-1] if known else tags[-1]

    def _add(self, place: Place, text: str) -> None:
        self.texts.setdefault(place, []).append(text)


def numbers(text: str, names: Iterable[str] = ()) -> list[str]:
    """The numbers of a text as they are printed, without those of `names` in it."""
    for name in sorted(names, key=len, reverse=True):
        text = text.replace(name, " ")
    return [found.replace(",", "").lstrip("+") for found in NUMBER.findall(text)]


def shares(*values: float | None) -> list[str]:
    """Shares as percentages with one decimal."""
    return [f"{100 * value:z.1f}" for value in values if value is not None]


def thirds(*values: float | None) -> list[str]:
    """Numbers with three decimals."""
    return [f"{value:z.3f}" for value in values if value is not None]
