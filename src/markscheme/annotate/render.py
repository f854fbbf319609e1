"""Pages from templates: everything escaped, nothing undefined."""

from __future__ import annotations

import hashlib
import importlib.resources
import re
import uuid
from typing import Any

from markdown_it import MarkdownIt
from markupsafe import Markup

from markscheme.results import share_text
from markscheme.web import answer_style, has_markup, plain_answer, render_answer, templates

ASSETS = ("annotate.css", "annotate.js", "enter.js", "htmx.min.js", "icon.svg")
STATIC = importlib.resources.files("markscheme.annotate") / "static"


_HEADING = re.compile(r"(</?h)[1-6]>")


def guidelines_html(text: str) -> Markup:
    """Guidelines as HTML: `# heading`, lists of `- `, and paragraphs; all else is as it is written.

    Every heading is one below that of the dialog.
    """
    found = MarkdownIt("zero").enable(["heading", "list"]).render(text)
    return Markup(_HEADING.sub(r"\g<1>3>", found))  # noqa: S704


def duration(seconds: float | None) -> str:
    """Seconds as people say them: `8 s`, `3 min`, `2 h 5 min`."""
    if seconds is None:
        return "-"
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


def shown(text: str) -> Markup:
    """An answer as its model means it, and as it is written, of which the page shows one.

    What `render_answer` gives is safe: it holds no element or attribute that a text chose.
    """
    raw = f'<div class="answer-text raw">{plain_answer(text)}</div>'
    if not has_markup(text):
        return Markup(raw.replace(" raw", ""))  # noqa: S704
    meant = f'<div class="answer-text meant">{render_answer(text)}</div>'
    return Markup(meant + raw)  # noqa: S704


def marked(text: str, spans: list[int]) -> Markup:
    """A text with the words marked that lie at `spans`, starts and ends in turn."""
    pairs = list(zip(spans[::2], spans[1::2], strict=True))
    return Markup(plain_answer(text, pairs))  # noqa: S704


def percent(value: float | None) -> str:
    """A share as a percentage."""
    return "-" if value is None else f"{share_text(value, digits=0)}%"


def static_file(name: str) -> bytes:
    """A file that pages load; the style sheet has the rules of rendered answers with its own."""
    content = (STATIC / name).read_bytes()
    return content + answer_style().encode() if name == "annotate.css" else content


def _asset(name: str) -> str:
    """The address of a static file, new with its content."""
    content = static_file(name)
    return f"/static/{name}?v={hashlib.sha256(content).hexdigest()[:12]}"


ENVIRONMENT = templates("markscheme.annotate")
ENVIRONMENT.globals |= {
    "asset": {name: _asset(name) for name in ASSETS}.__getitem__,
    "new_id": lambda: uuid.uuid4().hex,
}
ENVIRONMENT.filters |= {"duration": duration, "percent": percent, "shown": shown, "marked": marked}


def page(name: str, **values: Any) -> str:
    """A template filled in."""
    return ENVIRONMENT.get_template(name).render(**values)
