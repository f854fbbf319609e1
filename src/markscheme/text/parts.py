"""An answer's text as parts: fields, elements, cells, lines and sentences, each with its name.

JSON, HTML and XML, tables, comma-separated values, lines of key and value, Markdown and plain
sentences all become the same thing: a short text, and the key, heading, tag or column that it has.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from html.parser import HTMLParser
from typing import Any, NamedTuple

from markscheme.text.answer_pieces import sentences
from markscheme.text.replies import REASONING_TAGS, json_at


class Part(NamedTuple):
    """A part of a text.

    Attributes:
        name: the key, column, heading or element that it is the value of; empty for running text.
        text: without markup.
        raw: as it was written, with its name.
        follows: whether it continues the line of the part before it.
    """

    name: str
    text: str
    raw: str
    follows: bool = False


_MODEL_MARK = re.compile(
    r"<\|[^|<>\n]{1,40}\|>|\[/?INST\]|</?s>|<(?:bos|eos|eot|end|start_of_turn|end_of_turn)>"
    r"|<!--.*?-->|<!\[CDATA\[|\]\]>|<\?[^<>]*\?>|\[\[ ## (\w+) ## \]\]",
    re.DOTALL,
)
_CODE_FENCE = re.compile(r"(?m)^(`{3,}|~{3,})([\w+-]+)[ \t]*\n(.*?)\n\s*\1[ \t]*$", re.DOTALL)
_NO_CODE = frozenset(
    "answer csv html json markdown md output plaintext text toml txt xml yaml yml".split()
)
"""What a fence names that holds a text or fields; of others nothing is taken apart."""
_LAST_TAG = re.compile(r"</(\w{1,20})>\s*\Z")
_BRACKETED = re.compile(r"\[([A-Za-z][\w -]{0,30})(?:=[^\[\]\n]{0,80})?\](.*?)\[/\1\]", re.DOTALL)
_STYLES = frozenset("b color font i s size u url".split())
"""Names in brackets that only style a text."""
_TAG = re.compile(r"</?[A-Za-z][\w:-]{0,30}(?:\s[^<>]{0,300})?/?>")
_FEWEST_TAGS = 2


def parts(text: str) -> list[Part]:
    """The parts of a text, in order.

    >>> [(part.name, part.text) for part in parts('{"answer": "**Lima**", "confidence": 0.9}')]
    [('answer', 'Lima'), ('confidence', '0.9')]
    >>> [part.text for part in parts("# Result\\n\\nIt is Lima. See [the page](x.html).")]
    ['Result', 'It is Lima.', 'See the page.']
    """
    text = _BRACKETED.sub(
        lambda found: found[2] if found[1].lower() in _STYLES else f"\n{found[1]}:\n{found[2]}\n",
        text,
    )
    if (last := _LAST_TAG.search(text)) and f"<{last[1]}" not in text:
        text = text[: last.start()]  # what it ends began in the prompt
    text = _MODEL_MARK.sub(lambda mark: f"\n{mark[1]}:\n" if mark[1] else "\n", text)
    found, place = [], 0
    for fence in _CODE_FENCE.finditer(text):
        if fence[2].lower() not in _NO_CODE:
            found += [*_blocks(text[place : fence.start()]), Part("", fence[3].strip(), fence[0])]
            place = fence.end()
    return [*found, *_blocks(text[place:])]


# --- JSON -----------------------------------------------------------------------------------------

_MOST_OPENINGS = 20
"""Brackets at which JSON is tried to begin."""


def _blocks(text: str) -> Iterator[Part]:
    place = tried = 0
    for opening in re.finditer(r"[{\[](?=\s*[\"'{\[A-Za-z_])", text):
        start = opening.start()
        if start < place or tried == _MOST_OPENINGS:
            continue
        tried += 1
        found = _json(text, start)
        if found is not None:
            yield from _markup(text[place:start])
            yield from _leaves(found[0], "")
            place = found[1]
    yield from _markup(text[place:])


def _json(text: str, start: int) -> tuple[Any, int] | None:
    """An object, or a list of objects or texts, that begins here, and its end."""
    found = json_at(text, start)
    value = found[0] if found else None
    listed = isinstance(value, list) and (
        all(isinstance(item, str) for item in value)
        or any(isinstance(item, dict) for item in value)
    )
    return found if value and (listed or isinstance(value, dict)) else None


def _leaves(value: Any, name: str) -> Iterator[Part]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, str(key))
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner, name)
    elif isinstance(value, str) and value[:1] in "{[" and (found := _json(value, 0)):
        yield from _leaves(found[0], name)
    elif value is not None and str(value).strip():
        yield from _named(name, str(value), f"{name}: {value}")


def _named(name: str, value: str, raw: str) -> Iterator[Part]:
    """The sentences of a value, each with its name."""
    found = list(sentences(plain(value)))
    for place, sentence in enumerate(found):
        key = _KEY.fullmatch(sentence) if place else None
        if key and key[2] and len(key[1].split()) <= _MOST_INNER_KEY_WORDS:
            yield Part(key[1], key[2], sentence, follows=True)
            continue
        yield Part(name, sentence, raw if len(found) == 1 else sentence, follows=place > 0)


# --- HTML and XML ---------------------------------------------------------------------------------

_INLINE = frozenset(
    "a abbr b break cite code em emphasis font i kbd mark prosody q s say-as small span strong sub"
    " sup tt u var".split()
)
_GENERAL = frozenset(
    "article body div html li main ol p section span speak table tbody tr ul".split()
)
_NAMING = ("class", "id", "name", "key", "role")
_SILENT = frozenset(("script", "style", *REASONING_TAGS))


class _Elements(HTMLParser):
    """Gathers texts between tags with the name of the element around them."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[tuple[str, str]] = []
        self._open: list[tuple[str, str]] = []
        self._text = ""

    def end(self) -> None:
        """Close the text that is open."""
        if self._text.strip():
            self.found.append((self._open[-1][1] if self._open else "", self._text))
        self._text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """A block begins a new text; an inline element with a name of its own does so too."""
        said = {key: value or "" for key, value in attrs}
        naming = " ".join(said[key] for key in _NAMING if said.get(key))
        if tag in _INLINE and not naming:
            return
        self.end()
        if tag not in {"br", "hr", "img", "input", "meta", "link"}:
            own = "" if tag in _GENERAL or tag in _INLINE else tag
            self._open.append((tag, f"{own} {naming}".strip()))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """The attributes of an empty element are fields."""
        if tag not in _INLINE:
            self.end()
            self.found += [(f"{tag} {key}", value) for key, value in attrs if value]

    def handle_endtag(self, tag: str) -> None:
        """Ends a text where it ended a block."""
        for place in range(len(self._open) - 1, -1, -1):
            if self._open[place][0] == tag:
                self.end()
                del self._open[place:]
                return

    def handle_data(self, data: str) -> None:
        """Text of all elements but those that hold none for a reader."""
        if not _SILENT.intersection(tag for tag, _ in self._open):
            self._text += data


def _markup(text: str) -> Iterator[Part]:
    if "<" not in text or (
        len(_TAG.findall(text)) < _FEWEST_TAGS and not re.search(r"<[A-Za-z][^<>]*/>", text)
    ):
        yield from _lines(text)
        return
    reader = _Elements()
    reader.feed(text)
    reader.close()
    reader.end()
    label = ""
    for name, inner in reader.found:
        last = name.rpartition(" ")[2]
        if last in {"dt", "th"}:
            label = inner.strip()
            yield Part("", plain(label), label)
            continue
        for part in _lines(inner):
            yield part._replace(name=part.name or (label if last in {"dd", ""} else name))
        if last == "dd":
            label = ""


# --- Lines ----------------------------------------------------------------------------------------

_BEGINS = re.compile(
    r"(?:[\s•‣▪·→➤▶►👉✅✔🔹💡]|>(?!\s*[\d.])|#{1,6}\s|\*(?=\s)|[–-](?=\s+\D)|\[![A-Z]+\])*"
    r"(?:\(?1[.)]\s+(?!.*\s2[.)]\s))?(?:\[[xX ]\]\s*)?"
)
"""Marks of headings, quotations, items, notes and tasks before a line."""
_NUMBERED = re.compile(r"\s*(?:\(?\d{1,2}[.)]|\[\d{1,2}\])\s+(?=\S)")
_HEADING = re.compile(r"[\s#*_]*[A-Za-z]+(?: [A-Za-z]+){0,2}[\s*_]*")
"""A line that is one to three words: what it says is the name of the list below it."""
_ITEM = re.compile(r"\s*(?:[*•·–-]|\d{1,2}[.)])\s")
_RULE = re.compile(r"[\s|:+=*_~#.—–-]*")
_FENCE = re.compile(r"(?:`{3,}|~{3,})\s*[\w+-]*")
_STAMP = re.compile(
    r"(?:\[?(?:\d{4}-\d\d-\d\d[T ])?\d\d:\d\d:\d\d[\d:.,]*Z?\]?\s*|\[[\w-]{1,20}\]\s+(?=\w)"
    r"|(?:INFO|DEBUG|WARN|ERROR|LOG)\b:?\s+|>{2,3}\s+)+"
)
"""Times and levels before a line of a log, and prompts of a terminal."""
_KEY = re.compile(
    r"[\s*_\"'`(#]*([A-Za-z](?:[\w /.()'’-]{0,40}?\w)?[)]?)[*_\"'`)#]*"
    r"(?:\s*(?:：|:(?!//|\d))|(?<=\w\w\w)(?:\s+=|=(?=[\"'\w]))|\s*(?:=>|->|→|>>))[*_]*\s*(.*)",
    re.DOTALL,
)
_MOST_KEY_WORDS, _MOST_INNER_KEY_WORDS = 6, 3
_FIELDS = re.compile(r"([A-Za-z_][\w.]*)=(\"[^\"]*\"|'[^']*'|\S+)")
_LITERAL = re.compile(r"\"([^\"\\]*)\"|'([^'\\]*)'")
_CODE = re.compile(r"^\s*(?:print|return|console\.log|const|let|var|assert|echo|puts)\b")


def _lines(text: str) -> Iterator[Part]:
    table: list[list[str]] = []
    label, listed = "", False
    lines = text.split("\n")
    if sum(bool(_NUMBERED.match(line)) for line in lines) > 1:
        lines = [_NUMBERED.sub("- ", line) for line in lines]
    lines = [
        f"{line.strip()}:" if _ITEM.match(below) and _HEADING.fullmatch(line) else line
        for line, below in zip(lines, [*lines[1:], ""], strict=True)
    ]
    if rows := _separated(lines):
        yield from _cells(rows)
        return
    for line in (*lines, ""):
        if line.strip().startswith("|") or line.count(" | ") > 1 or (table and "|" in line):
            table.append([cell.strip() for cell in line.strip().strip("|").split("|")])
            continue
        yield from _cells(table)
        table = []
        bare = line.strip()
        if not bare or _RULE.fullmatch(bare) or _FENCE.fullmatch(bare):
            continue
        if (stamp := _STAMP.match(bare)) and stamp.end() < len(bare):
            bare = bare[stamp.end() :]
        if label and listed and not _ITEM.match(bare):
            label, listed = "", False
        for part in _line(bare):
            if part.text:
                yield part if part.name or not label else part._replace(name=label)
                if not (listed := bool(_ITEM.match(bare))):
                    label = ""
            else:
                label, listed = part.name, False
                yield part._replace(name="", text=f"{label}:")


def _line(line: str) -> Iterator[Part]:
    """The parts of a line; a key without a value is a part without a text."""
    fields = _FIELDS.findall(line) if "=" in line else []
    if len(fields) > 1 and re.match(rf"\S*{re.escape(fields[0][0])}=|\S+ \|", line):
        for name, value in fields:
            yield Part(name, plain(value.strip("\"'")), f"{name}={value}")
        return
    if _CODE.match(line) and len(found := _LITERAL.findall(line)) == 1:
        yield Part("", plain("".join(found[0])), line)
        return
    raw, begins = line, _BEGINS.match(line)
    line = plain(line[begins.end() :] if begins and begins.end() < len(line) else line)
    key = _KEY.fullmatch(line)
    balanced = key and all(key[1].count(one) == key[1].count(end) for one, end in ("()", "[]"))
    if key and balanced and len(key[1].split()) <= _MOST_KEY_WORDS:
        value = key[2].strip().strip("\"'").rstrip(";")
        empty = not value or re.fullmatch(r"[|>][+-]?", value)
        if empty:
            yield Part(key[1], "", raw)
        yield from _named(key[1], "" if empty else value, raw)
        return
    found = list(sentences(line))
    for place, sentence in enumerate(found):
        yield Part("", sentence, raw if len(found) == 1 else sentence, follows=place > 0)


def _separated(lines: Sequence[str]) -> list[list[str]]:
    """Rows of comma-, semicolon- or tab-separated values below a line of names; else none."""
    full = [line for line in lines if line.strip()]
    for mark in ("\t", ";", ","):
        if len(full) > 1 and all(mark in line for line in full):
            rows = list(csv.reader(full, delimiter=mark, skipinitialspace=True))
            names = all(re.fullmatch(r"[A-Za-z]\w*", name.strip()) for name in rows[0])
            if names and all(len(row) == len(rows[0]) for row in rows):
                return rows
    return []


def _cells(rows: Sequence[Sequence[str]]) -> Iterator[Part]:
    """The cells of a table: named by the first column of two, or else by the first row."""
    rows = [row for row in rows if not all(_RULE.fullmatch(cell) for cell in row)]
    width = len(rows[0]) if rows else 0
    named = len(rows) > 1 and all(len(row) == width for row in rows)
    if named and width == 2 and len(rows) > 2:
        yield from (Part(plain(key), plain(value), f"{key}: {value}") for key, value in rows)
        return
    for row in rows[1:] if named else rows:
        for name, cell in zip(rows[0] if named else [""] * len(row), row, strict=False):
            if cell.strip():
                yield Part(plain(name), plain(cell), f"{name}: {cell}" if name else cell)


# --- Within a line --------------------------------------------------------------------------------

_INNER = (
    (
        re.compile(
            r"\\(?:boxed|f?box|text(?:bf|it)?|math(?:rm|bf|it)|emph|paragraph|(?:sub)*section)\*?"
            r"\{((?:[^{}]|\{[^{}]*\})*)\}"
        ),
        r"\1",
    ),
    (re.compile(r"\$?\\(?:hfill|qed|blacksquare|square|noindent|(?:small|med|big)skip)\b\$?"), ""),
    (re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*\)"), r"\1"),
    (
        re.compile(r"(?<!\w)(\*{1,3}|_{1,3}|`{1,3}|~~|\${1,2})(?=\S)([^*`~$]+)(?<=\S)\1(?!\w)"),
        r"\2",
    ),
    (re.compile(r"^\*{1,3}(?=\w)|(?<=[\w.!?])\*{1,3}$|\\[()\[\]](?!\w)|^\\item\s"), ""),
)
_MARKED = re.compile(r"[\\\[*_`~$]")
"""A character that each of these patterns needs."""
_QUOTED = re.compile(r"[\"“”„«‘「]([^\"“”„«»‘’「」]+)[\"”“»’」]([.!]?)")


def plain(text: str) -> str:
    """A line without markup of LaTeX and Markdown: links become their text.

    >>> plain(r"It is **\\boxed{42}** ([source](a.html))")
    'It is 42 (source)'
    """
    if _MARKED.search(text):
        for pattern, by in (*_INNER, *_INNER):  # one within another
            text = pattern.sub(by, text)
    text = text.strip()
    quoted = _QUOTED.fullmatch(text)
    return quoted[1] + quoted[2] if quoted else text
