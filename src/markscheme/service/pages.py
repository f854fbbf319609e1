"""Pages of a service that one can try: what it is, what it answers, and a form to judge with.

They hold nothing of anybody's data and are answered without a key; what they ask for goes through
the same door as every request.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from starlette.responses import HTMLResponse, Response
from starlette.types import Scope

from markscheme.contract import version
from markscheme.service.state import State
from markscheme.web import answer_script, answer_style, page_file, source_hash, templates

_PACKAGE = "markscheme.service"


class Pages:
    """The pages `/`, `/docs` and `/playground`, and the description `/openapi.json`."""

    def __init__(self, state: State) -> None:
        keys = bool(state.keys)
        # With keys, the list of judges is shown only to holders of a key.
        allowed: dict[str, Any] = {
            "keys": keys,
            "judges": [] if keys else [served.name for served in state.allowed.served],
        }
        self._pages: dict[str, Callable[[str], Response]] = {
            "/": _page("Judging answers over HTTP", "start.html", **allowed),
            "/docs": _page("What this service answers", "docs.html", "docs.js", **allowed),
            "/playground": _page("Playground", "playground.html", "playground.js", **allowed),
            # Written once: anybody may ask for it, as often as a machine can.
            "/openapi.json": lambda _: Response(state.description, media_type="application/json"),
        }

    def answer(self, scope: Scope, host: str) -> Response | None:
        """The page that a request asks for, with the address it was sent to; None for others."""
        page = self._pages.get(scope["path"])
        if page is None or scope["method"] not in ("GET", "HEAD"):
            return None
        return page(_reached(scope["scheme"], host))


def _reached(scheme: str, host: str) -> str:
    """The address under which the service was reached, for a command to copy."""
    return (
        f"{scheme}://{host}" if re.fullmatch(r"[\w.:\[\]-]{1,255}", host, re.ASCII) else "ADDRESS"
    )


def _page(title: str, name: str, script: str = "", **values: Any) -> Callable[[str], Response]:
    """What makes the response, of the address under which the service was reached."""
    style = page_file(_PACKAGE, "page.css") + answer_style()
    code = answer_script() + page_file(_PACKAGE, script) if script else ""
    runs = f"script-src '{source_hash(code)}'; " if code else ""
    policy = (
        f"default-src 'none'; style-src '{source_hash(style)}'; {runs}img-src data:; "
        "connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
    )
    headers = {
        "content-security-policy": policy,
        "cache-control": "no-cache",
        "referrer-policy": "same-origin",
    }
    values |= {"title": title, "version": version(), "style": style, "script": code}
    template = templates(_PACKAGE).get_template(name)
    return lambda address: HTMLResponse(template.render(values, address=address), headers=headers)
