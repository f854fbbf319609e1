"""Pages of a service that one can try: what it is, what it answers, and a form to judge with.

They hold nothing of anybody's data and are answered without a key; what they ask for goes through
the same door as every request.
"""

from __future__ import annotations

import base64
import hashlib
import html
import importlib.resources
import re
from dataclasses import dataclass

from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from markscheme.contract import version
from markscheme.service.state import State
from markscheme.web import SAFE_HEADERS, answer_script, answer_style, host_name


@dataclass(frozen=True)
class _Page:
    content: bytes
    policy: str


class Pages:
    """Answers `/`, `/docs` and `/playground` itself and passes everything else on."""

    def __init__(self, app: ASGIApp, *, state: State) -> None:
        self._app = app
        self._hosts = state.settings.hosts
        judges = [(served.name, served is state.allowed.default) for served in state.allowed.served]
        keys = bool(state.keys)
        self._pages = {
            "/": _page("Judging answers over HTTP", "start.html", "", judges=judges, keys=keys),
            "/docs": _page("What this service answers", "docs.html", "docs.js", keys=keys),
            "/playground": _page(
                "Playground", "playground.html", "playground.js", judges=judges, keys=keys
            ),
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        page = self._pages.get(scope["path"]) if scope["type"] == "http" else None
        if page is None or scope["method"] not in ("GET", "HEAD"):
            await self._app(scope, receive, send)
            return
        response: Response
        host = next((v.decode("latin-1") for k, v in scope["headers"] if k == b"host"), "")
        if self._hosts is not None and host_name(host) not in self._hosts:
            response = PlainTextResponse("this server is reached as localhost only", 421)
        else:
            response = Response(
                page.content.replace(b"{{address}}", _reached(scope["scheme"], host).encode()),
                media_type="text/html",
                headers={
                    **SAFE_HEADERS,
                    "content-security-policy": page.policy,
                    "cache-control": "no-cache",
                },
            )
        await response(scope, receive, send)


def _reached(scheme: str, host: str) -> str:
    """The address under which the service was reached, for a command to copy."""
    return (
        f"{scheme}://{host}" if re.fullmatch(r"[\w.:\[\]-]{1,255}", host, re.ASCII) else "ADDRESS"
    )


def _page(
    title: str,
    name: str,
    script: str,
    *,
    judges: list[tuple[str, bool]] | None = None,
    keys: bool,
) -> _Page:
    style = _part("page.css") + answer_style()
    code = answer_script() + _part(script) if script else ""
    options = "".join(
        f"<option{' selected' if default else ''}>{html.escape(judge)}</option>"
        for judge, default in judges or ()
    )
    items = "".join(f"<li><code>{html.escape(judge)}</code></li>" for judge, _ in judges or ())
    # With keys, the list of judges is shown only to holders of a key.
    body = (
        _part(name)
        .replace("{{judges}}", "" if keys else options)
        .replace("{{list}}", "" if keys else f"<h2>Judges</h2><ul>{items}</ul>")
        .replace("{{key}}", _KEY if keys else "")
        .replace("{{bearer}}", " -H 'Authorization: Bearer KEY'" if keys else "")
    )
    shown = f"<script>{code}</script>" if code else ""
    text = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title} · markscheme {version()}</title>"
        f'<link rel="icon" href="data:,"><style>{style}</style></head><body>'
        '<header><nav aria-label="Pages"><b>markscheme</b> <a href="/">Start</a> '
        '<a href="/playground">Playground</a> <a href="/docs">Reference</a></nav></header>'
        f"<main><h1>{title}</h1>{body}</main>"
        f"{shown}</body></html>"
    )
    runs = f"script-src '{_hash(code)}'; " if code else ""
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; {runs}img-src data:; connect-src 'self'; "
        "form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
    )
    return _Page(text.encode(), policy)


_KEY = (
    '<p><label for="key">Key (stays on this page)</label>'
    '<input id="key" type="password" autocomplete="off" maxlength="400"></p>'
)


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _part(name: str) -> str:
    place = importlib.resources.files("markscheme.service") / "page" / name
    return place.read_text(encoding="utf-8")
