"""Who is let in to the viewer's pages: who has its token, and our own forms."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from urllib.parse import parse_qs, urlencode

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import cookie_parser
from starlette.responses import RedirectResponse
from starlette.types import Scope

COOKIE = "markscheme-view"
FORM = "markscheme-form"
LARGEST_BODY = 2_000_000


def admitting(token: str, form: str) -> Callable[[Scope, Headers], RedirectResponse | None]:
    """Lets in who has the token: by `?token=`, which becomes a cookie, or by that cookie.

    Another site cannot read a page (no cross-origin header is sent) or post a form (a header that
    only our page can set is required: `form`).
    """

    def admit(scope: Scope, headers: Headers) -> RedirectResponse | None:
        query = parse_qs(scope["query_string"].decode("latin-1"))
        given = query.pop("token", [""])[0]
        if given and _same(given, token):
            rest = urlencode(query, doseq=True)
            entered = RedirectResponse(scope["path"] + (f"?{rest}" if rest else ""), 303)
            entered.set_cookie(COOKIE, token, httponly=True, samesite="strict", path="/")
            entered.set_cookie(FORM, form, samesite="strict", path="/")
            return entered
        if not _same(cookie_parser(headers.get("cookie", "")).get(COOKIE, ""), token):
            raise HTTPException(
                401, "open the address that 'markscheme view' printed: it has the token"
            )
        reads = scope["method"] in ("GET", "HEAD")
        if not reads and not _same(headers.get("x-markscheme", ""), form):
            raise HTTPException(403, "this did not come from the viewer's own page")
        return None

    return admit


def _same(given: str, wanted: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), wanted.encode())
