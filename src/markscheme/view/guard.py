"""What runs before the viewer's pages: this machine's names only, a token, and our own forms."""

from __future__ import annotations

import hmac
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs, urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOCAL = frozenset({"127.0.0.1", "localhost", "::1"})
COOKIE = "markscheme-view"
FORM = "markscheme-form"
LARGEST_BODY = 2_000_000
_HEADERS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


class Guard:
    """Lets in who has the token: by `?token=`, which becomes a cookie, or by that cookie.

    Another site cannot point its name here (the host must be this machine's), read a page (no
    cross-origin header is sent) or post a form (a header that only our page can set is wanted).
    """

    def __init__(self, app: ASGIApp, *, token: str, form: str) -> None:
        self._app = app
        self._token = token
        self._form = form

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        refused = self._refusal(scope)
        if refused is not None:
            await refused(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, guarded)

    def _refusal(self, scope: Scope) -> PlainTextResponse | RedirectResponse | None:
        headers = Headers(scope=scope)
        host = urlsplit(f"//{headers.get('host', '')}").hostname
        if host not in LOCAL:
            return PlainTextResponse("this page answers under this machine's own names only", 421)
        query = parse_qs(scope["query_string"].decode("latin-1"))
        given = query.pop("token", [""])[0]
        if given and _same(given, self._token):
            rest = urlencode(query, doseq=True)
            found = RedirectResponse(scope["path"] + (f"?{rest}" if rest else ""), 303)
            kept = {"samesite": "strict", "path": "/"}
            found.set_cookie(COOKIE, self._token, httponly=True, **kept)  # type: ignore[arg-type]
            found.set_cookie(FORM, self._form, **kept)  # type: ignore[arg-type]
            return found
        if not _same(_cookie(headers.get("cookie", "")), self._token):
            return PlainTextResponse(
                "open the address that 'markscheme view' printed: it has the token", 401
            )
        if scope["method"] in ("GET", "HEAD"):
            return None
        if not _same(headers.get("x-markscheme", ""), self._form):
            return PlainTextResponse("this did not come from the viewer's own page", 403)
        length = headers.get("content-length", "")
        if not length.isdecimal() or int(length) > LARGEST_BODY:
            return PlainTextResponse("too large", 413)
        return None


def _same(given: str, wanted: str) -> bool:
    return hmac.compare_digest(given.encode(), wanted.encode())


def _cookie(header: str) -> str:
    try:
        found = SimpleCookie(header).get(COOKIE)
    except CookieError:
        return ""
    return "" if found is None else found.value
