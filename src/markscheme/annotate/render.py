"""Pages from templates: everything escaped, nothing undefined."""

from __future__ import annotations

import hashlib
import importlib.resources
import uuid
from dataclasses import dataclass
from typing import Any, Literal

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from markscheme.web import answer_style, has_markup, plain_answer, render_answer

ASSETS = ("annotate.css", "annotate.js", "enter.js", "htmx.min.js", "icon.svg")
STATIC = importlib.resources.files("markscheme.annotate") / "static"


@dataclass(frozen=True, kw_only=True)
class Block:
    """A piece of guidelines: a heading, a paragraph or a list."""

    kind: Literal["heading", "paragraph", "list"]
    lines: tuple[str, ...]


def blocks(text: str) -> list[Block]:
    """Guidelines as pieces: `# heading`, lines that begin with `- `, and paragraphs."""
    found: list[Block] = []
    for part in text.replace("\r\n", "\n").split("\n\n"):
        for line in filter(None, (line.strip() for line in part.split("\n"))):
            if line.startswith("#"):
                found.append(Block(kind="heading", lines=(line.lstrip("# "),)))
            elif line.startswith(("- ", "* ")):
                found = _joined(found, "list", line[2:].strip())
            else:
                found = _joined(found, "paragraph", line)
        # A blank line ends a paragraph.
        found.append(Block(kind="paragraph", lines=()))
    return [block for block in found if block.lines]


def _joined(found: list[Block], kind: Literal["paragraph", "list"], line: str) -> list[Block]:
    if found and found[-1].kind == kind and (found[-1].lines or kind == "paragraph"):
        return [*found[:-1], Block(kind=kind, lines=(*found[-1].lines, line))]
    return [*found, Block(kind=kind, lines=(line,))]


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
    return "-" if value is None else f"{100 * value:.0f}%"


def static_file(name: str) -> bytes:
    """A file that pages load; the style sheet has the rules of rendered answers with its own."""
    content = (STATIC / name).read_bytes()
    return content + answer_style().encode() if name == "annotate.css" else content


def _asset(name: str) -> str:
    """The address of a static file, new with its content."""
    content = static_file(name)
    return f"/static/{name}?v={hashlib.sha256(content).hexdigest()[:12]}"


def make_environment() -> Environment:
    """The templates with what they may call."""
    environment = Environment(
        loader=PackageLoader("markscheme.annotate"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    assets = {name: _asset(name) for name in ASSETS}
    environment.globals |= {"asset": assets.__getitem__, "new_id": lambda: uuid.uuid4().hex}
    environment.filters |= {"duration": duration, "percent": percent, "shown": shown}
    environment.filters |= {"marked": marked}
    return environment


ENVIRONMENT = make_environment()


def page(name: str, **values: Any) -> str:
    """A template filled in."""
    return ENVIRONMENT.get_template(name).render(**values)
