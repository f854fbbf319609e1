"""LaTeX formulae as MathML, made of known elements only; as readable source where that fails."""

from __future__ import annotations

import html
from typing import Any

_LONGEST = 2_000
_DEEPEST = 40
_WIDE = 40
"""Characters from which a formula may be wider than a telephone."""
_ELEMENTS = frozenset(
    ["math", "mrow", "mi", "mn", "mo", "mtext", "ms", "mspace", "mfrac", "msqrt", "mroot", "msub",
     "msup", "msubsup", "munder", "mover", "munderover", "mmultiscripts", "mprescripts", "none",
     "mtable", "mtr", "mtd", "mstyle", "mpadded", "mphantom", "menclose", "merror"]
)  # fmt: skip
_ATTRIBUTES = frozenset(
    ["display", "mathvariant", "stretchy", "fence", "separator", "accent", "accentunder",
     "linethickness", "movablelimits", "columnalign", "notation", "form", "displaystyle",
     "scriptlevel", "symmetric", "largeop", "width", "minsize", "maxsize"]
)  # fmt: skip


def mathml(formula: str, source: str, *, block: bool) -> str:
    """A formula as HTML.

    Args:
        formula: LaTeX without its delimiters.
        source: with them, shown where the formula cannot be read or its library is not installed.
        block: whether it stands on a line of its own.
    """
    shown = f'<code class="latex" dir="ltr">{html.escape(source, quote=False)}</code>'
    plain = formula.replace("\\{", "").replace("\\}", "")
    if len(formula) > _LONGEST or plain.count("{") != plain.count("}"):
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
    if depth > _DEEPEST or tag not in _ELEMENTS:
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
