"""The files of a package that its pages are made of: texts, templates, and what allows them."""

from __future__ import annotations

import base64
import hashlib
import importlib.resources
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import jinja2


def page_file(package: str, name: str) -> str:
    """A text file in the folder `page` of a package."""
    place = importlib.resources.files(package) / "page" / name
    return place.read_text(encoding="utf-8")


def templates(package: str) -> jinja2.Environment:
    """The templates in the folder `page` of a package: everything escaped, nothing undefined."""
    import jinja2

    return jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: page_file(package, name)),
        undefined=jinja2.StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def source_hash(text: str) -> str:
    """What a content security policy calls an inline script or style by."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
