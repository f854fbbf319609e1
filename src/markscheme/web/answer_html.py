"""Answers as models write them, as HTML that is safe to show: one renderer for every page.

Markdown (with tables and code) and LaTeX are shown as what they mean; anything that a browser could
run or load is shown as text. Rendering must never change what an answer says, so whatever Markdown
would take for a mark-up of values (`5*3*2`, `__init__`, `> 3`, `- 5` on one line) stays as written.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from markscheme.web.page_files import page_file

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

# --- LaTeX formulae as MathML, made of known elements only; as readable source where that fails ---


_LONGEST_FORMULA = 2_000
_DEEPEST_FORMULA = 40
_WIDE = 40
"""Characters from which a formula may be wider than a telephone."""
_ELEMENTS = frozenset(
    """
    math mrow mi mn mo mtext ms mspace mfrac msqrt mroot msub msup msubsup munder mover munderover
    mmultiscripts mprescripts none mtable mtr mtd mstyle mpadded mphantom menclose merror
    """.split()
)
_ATTRIBUTES = frozenset(
    """
    display mathvariant stretchy fence separator accent accentunder linethickness movablelimits
    columnalign notation form displaystyle scriptlevel symmetric largeop width minsize maxsize
    """.split()
)


def mathml(formula: str, source: str, *, block: bool) -> str:
    """A formula as HTML.

    Args:
        formula: LaTeX without its delimiters.
        source: with them, shown where the formula cannot be read or its library is not installed.
        block: whether it is on a line of its own.
    """
    shown = f'<code class="latex" dir="ltr">{html.escape(source, quote=False)}</code>'
    plain = formula.replace("\\{", "").replace("\\}", "")
    if len(formula) > _LONGEST_FORMULA or plain.count("{") != plain.count("}"):
        return shown
    try:
        from latex2mathml.converter import convert_to_element
    except ImportError:
        return shown
    try:
        element = convert_to_element(formula, display="block" if block else "inline")
        made = _serialised(element, 0)
    except Exception:  # It raises what it likes on LaTeX that it does not know.
        return shown
    # The source goes along for reading aloud and for hovering.
    kind = "formula block" if block else "formula"
    reached = ' tabindex="0"' if len(formula) > _WIDE else ""  # It scrolls, so keys must get there.
    return f'<span class="{kind}" dir="ltr" title="{html.escape(source)}"{reached}>{made}</span>'


def _serialised(element: Any, depth: int) -> str:
    """An element with known names only: the library passes on what `\\href` and `\\text` hold."""
    tag = str(element.tag).rpartition("}")[2]
    if depth > _DEEPEST_FORMULA or tag not in _ELEMENTS:
        raise ValueError(tag)
    attributes = "".join(
        f' {name}="{html.escape(str(value))}"'
        for name, value in element.attrib.items()
        if name in _ATTRIBUTES
    )
    # Its texts hold character references, which are decoded and escaped again.
    text = html.escape(html.unescape(element.text or ""), quote=False)
    inner = "".join(_serialised(child, depth + 1) for child in element)
    return f"<{tag}{attributes}>{text}{inner}</{tag}>"


# --- Answers as models write them, as HTML that is safe to show: one renderer for every page ------


LONGEST = 20_000
"""Characters of one answer that are rendered; what comes after is shown as plain text."""

# Characters of the private use area that replace something while a text is rendered. Those that
# an answer itself has are shown as "unknown character" instead.
_OPEN, _CLOSE, _STAR, _LINE, _MATH, _END = "\ue000\ue001\ue002\ue003\ue004\ue005"
_PRIVATE = re.compile("[\ue000-\ue005]")
_MARKED = re.compile(f"{_OPEN}([^{_OPEN}{_CLOSE}]*){_CLOSE}")
_PLACE = re.compile(f"{_MATH}([0-9]+){_END}")

# A single or double star between letters or figures multiplies or raises.
_TIMES = re.compile(r"(?<=[0-9A-Za-z)])\*{1,2}(?=[0-9A-Za-z(])")

_TAG = re.compile(r"<[^>]*>")
_NUMBERING = re.compile(r"^(?:[ \t>*+-]|\d{1,9}[.)])+", re.MULTILINE)
_WORDS = re.compile(r"[^\W_]+")

_MATH_OR_CODE = re.compile(
    r"""
      (?P<code> ```.*?(?:```|\Z) | ~~~.*?(?:~~~|\Z) | `[^`\n]+` )
    | \$\$ (?P<dollars> [^$]{1,2000} ) \$\$
    | \\\[ (?P<brackets> .{1,2000}? ) \\\]
    | \\\( (?P<parentheses> .{1,2000}? ) \\\)
    | (?<![\w$\\]) \$
      (?P<dollar> (?=[^$\n]*[\\^{}=+\ue003]|[A-Za-z]\$) (?!\s) [^$\n]{0,400} (?<!\s) ) \$ (?![\w$])
    """,
    re.VERBOSE | re.DOTALL,
)

_MARKUP = re.compile(
    r"""[*`]|~~|\\[(\[]|\$|!?\[[^\]\n]*\]\(  # inline
    | ^[ ]{0,3}(?: \#{1,6}[ ] | [-+>][ ] | \d{1,9}[.)][ ] | \|.*\| | -{3,}[ ]*$ | ={3,}[ ]*$ )
    | \|[ ]*:?-{2,}""",
    re.VERBOSE | re.MULTILINE,
)


def has_markup(text: str) -> bool:
    """Whether a text may have Markdown or LaTeX; one without is shown as it is."""
    return _MARKUP.search(text) is not None


def render_answer(text: str, marks: Sequence[tuple[int, int]] = ()) -> str:
    """An answer as a fragment of HTML, for an element of the class `answer-text`.

    Only elements without address, script or style come out: paragraphs, lists, tables, code, marks
    and MathML. Links and pictures are shown as their text and address.

    Args:
        text: as the model wrote it.
        marks: places to mark (start, end, in characters), in order, apart from each other.
    """
    source = _TIMES.sub(lambda found: _STAR * len(found.group()), _PRIVATE.sub("\ufffd", text))
    source = _with_marks(source.replace("_", _LINE), marks)
    rest = source[LONGEST:]
    source, formulae = _without_math(source[:LONGEST])
    plain = source.strip("\n").replace("\r\n", "\n")
    if "\n" in plain:
        found = _markdown().render(plain)
    else:  # One line is no list, heading or quotation: "- 5" and "> 3" are values.
        found = f'<p dir="auto">{_markdown().renderInline(plain)}</p>\n'
    if _letters(html.unescape(_TAG.sub("", found))) < _letters(_NUMBERING.sub("", plain)):
        # Too deep, a row with too many cells, the title of a link: whatever Markdown drops.
        return plain_answer(text, marks)
    if rest:
        found += f'<p dir="auto" class="lines">{_text(rest)}</p>\n'
    found = found.replace(_STAR, "*").replace(_LINE, "_")
    return _PLACE.sub(lambda place: formulae[int(place[1])], found)


def plain_answer(text: str, marks: Sequence[tuple[int, int]] = ()) -> str:
    """A text as it was written, nothing interpreted, as HTML for the same place."""
    shown = _text(_with_marks(_PRIVATE.sub("\ufffd", text), marks))
    return f'<p dir="auto" class="lines">{shown}</p>'


def answer_style() -> str:
    """The style sheet of rendered answers; it uses the colours that the page defines."""
    return page_file("markscheme.web", "answer.css")


def answer_script() -> str:
    """The script that shows rendered answers, and why they fit their references or not."""
    return page_file("markscheme.web", "answer.js")


def _letters(text: str) -> int:
    """How many letters and figures a text has."""
    return sum(map(len, _WORDS.findall(text)))


def _with_marks(text: str, marks: Sequence[tuple[int, int]]) -> str:
    parts, at = [], 0
    for start, end in marks:
        if start < at or end <= start:
            continue
        parts += [text[at:start], _OPEN, text[start:end], _CLOSE]
        at = end
    return "".join([*parts, text[at:]])


def _without_math(text: str) -> tuple[str, list[str]]:
    """The text with a placeholder for each formula, and the formulae as HTML."""
    found: list[str] = []

    def replaced(match: re.Match[str]) -> str:
        if match["code"] is not None:
            return match.group()
        formula = match["dollars"] or match["brackets"] or match["parentheses"] or match["dollar"]
        source = match.group()
        if not formula or not formula.strip():
            return source
        block = match["dollars"] is not None or match["brackets"] is not None
        found.append(mathml(_restored(formula), _restored(source), block=block))
        return f"{_MATH}{len(found) - 1}{_END}"

    return _MATH_OR_CODE.sub(replaced, text), found


def _restored(text: str) -> str:
    """As it was written, without marks."""
    return (
        text.replace(_OPEN, "").replace(_CLOSE, "").replace(_STAR, "*").replace(_LINE, "_").strip()
    )


def _text(content: str) -> str:
    """Text with its marks as elements."""
    escaped = html.escape(content, quote=False)
    marked = _MARKED.sub(r"<mark>\1</mark>", escaped)
    return marked.replace(_OPEN, "").replace(_CLOSE, "").replace(_STAR, "*").replace(_LINE, "_")


@cache
def _markdown() -> MarkdownIt:
    """CommonMark with tables and struck text; without HTML, entities and link definitions.

    Elements are ours only, and every text goes through `_text`.
    """
    from markdown_it import MarkdownIt

    made = MarkdownIt("commonmark", {"html": False, "breaks": True, "xhtmlOut": False})
    made.enable(["table", "strikethrough"])
    # "entity": what was written as &lt; is shown so. "reference" would swallow its lines, "code"
    # would take an indented line for a program, "html" stays off with the option.
    made.disable(["entity", "reference", "code"])
    # Whatever the address is, it is only shown.
    made.validateLink = lambda url: True  # type: ignore[method-assign] # noqa: ARG005
    made.normalizeLink = lambda url: url  # type: ignore[method-assign]
    for name, shown in _SHOWN.items():
        made.add_render_rule(name, lambda _, tokens, at, *__, shown=shown: shown(tokens[at]))
    made.add_render_rule("link_close", _link_close)
    return made


def _fence(token: Token) -> str:
    name = token.info.strip()
    said = f'<span class="language">{_text(name)}</span>' if name else ""
    return f'<pre dir="ltr">{said}<code>{_text(token.content)}</code></pre>\n'


def _image(token: Token) -> str:
    address = _text(str(token.attrGet("src") or ""))
    return f'<span class="link">[picture: {_text(token.content)}] ({address})</span>'


def _opening(tag: str, token: Token) -> str:
    if token.hidden:
        return ""
    start = token.attrGet("start")
    first = f' start="{int(start)}"' if start is not None else ""
    return f'<{tag}{first} dir="auto">'


_SHOWN: dict[str, Callable[[Token], str]] = {
    "text": lambda token: _text(token.content),
    "code_inline": lambda token: f'<code dir="ltr">{_text(token.content)}</code>',
    "fence": _fence,
    "image": _image,
    "link_open": lambda _: '<span class="link">',
    "paragraph_open": partial(_opening, "p"),
    "bullet_list_open": partial(_opening, "ul"),
    "ordered_list_open": partial(_opening, "ol"),
    "th_open": partial(_opening, "th"),
    "td_open": partial(_opening, "td"),
    # No heading of the page, whose outline an answer must not change.
    "heading_open": lambda token: f'<p dir="auto" class="heading level-{token.tag[1]}">',
    "heading_close": lambda _: "</p>\n",
    "table_open": lambda _: (
        '<div class="wide" role="group" aria-label="Table of the answer" tabindex="0">'
        '<table dir="auto">'
    ),
    "table_close": lambda _: "</table></div>\n",
}
"""How the tokens of Markdown become HTML that are not as the library has them."""


def _link_close(_renderer: Any, tokens: Sequence[Token], at: int, *_: Any) -> str:
    opened = next(t for t in reversed(tokens[:at]) if t.type == "link_open")
    address = str(opened.attrGet("href") or "")
    said = "".join(t.content for t in tokens[:at] if t.type == "text")
    shown = "" if not address or address in said else f" ({_text(address)})"
    return f'</span><bdi class="address">{shown}</bdi>' if shown else "</span>"
