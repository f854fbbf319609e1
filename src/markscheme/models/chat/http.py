"""Posting JSON to a model's server: one connection pool, nothing followed to another host.

Every protocol goes through here, so that each guard is written once: the size
of a reply, redirects, time-outs, and what kind of failure an attempt met.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit
from urllib.request import getproxies, proxy_bypass

import orjson

from markscheme.errors import MissingExtraError
from markscheme.models.chat.event_loop import loop_thread

if TYPE_CHECKING:
    import aiohttp

LARGEST_REPLY = 8 << 20
"""Bytes of a response that are read, decompressed. The longest reply of a model is a few hundred
kilobytes, log-probabilities of every token some megabytes."""

_PIECE = 1 << 16
_MOST_REDIRECTS = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class HttpResponse:
    """What a server sent. Names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    content: bytes

    @property
    def body(self) -> object:
        """The content as JSON; None where it is none."""
        try:
            return orjson.loads(self.content)
        except ValueError:
            return None


class ConnectFailedError(Exception):
    """No connection was made at all."""


class ConnectionBrokeError(Exception):
    """A connection was made and broke, or gave no reply in time."""


class RejectedResponseError(Exception):
    """A response that is not read: too large, or a redirect to another host."""


class HttpClient:
    """Calls to one server. Opened in the loop's thread at the first request."""

    def __init__(self, *, timeout: float, connections: int) -> None:
        self._timeout = timeout
        self._connections = connections
        self._session: aiohttp.ClientSession | None = None

    async def send(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        content: bytes | None,
        *,
        largest: int | None = None,
    ) -> HttpResponse:
        """Any call.

        Args:
            method: `GET` or `POST`.
            url, headers: where, and with what; the content is JSON unless a header says otherwise.
            content: what is sent; None for nothing.
            largest: bytes of the response that are read; None for `LARGEST_REPLY`.

        Raises:
            ConnectFailedError, ConnectionBrokeError, RejectedResponseError: see there.
            MissingExtraError: the HTTP library is not installed.
        """
        session = self._opened()
        import aiohttp

        try:
            async with asyncio.timeout(self._timeout):
                for _ in range(_MOST_REDIRECTS):
                    async with session.request(
                        method,
                        url,
                        data=content,
                        headers=headers,
                        allow_redirects=False,
                        proxy=_proxy_for(url),
                    ) as response:
                        if 300 <= response.status < 400 and "Location" in response.headers:
                            url = _followed(url, response.status, response.headers["Location"])
                            continue
                        return HttpResponse(
                            status=response.status,
                            headers={k.lower(): v for k, v in response.headers.items()},
                            content=await _read(response, largest or LARGEST_REPLY),
                        )
                raise RejectedResponseError("the server redirects in a circle")
        except TimeoutError:
            raise ConnectionBrokeError(f"no reply within {self._timeout:g} s") from None
        except (aiohttp.ClientConnectorError, aiohttp.InvalidURL) as error:
            raise ConnectFailedError(str(error)) from None
        except (aiohttp.ClientError, OSError, ValueError) as error:
            reason = str(error) or type(error).__name__
            raise ConnectionBrokeError(f"connection broke: {reason}") from None

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            try:
                import aiohttp
            except ImportError:
                raise MissingExtraError("a model behind a server", "llm") from None
            # aiohttp's own time-outs are off: the one around an attempt covers all of it.
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=self._connections),
                timeout=aiohttp.ClientTimeout(total=None),
                cookie_jar=aiohttp.DummyCookieJar(),
                headers={"Content-Type": "application/json", "User-Agent": "markscheme"},
            )
            loop_thread().at_exit(self._session.close)
        return self._session


@lru_cache
def _proxy_for(url: str) -> str | None:
    """The proxy that the environment names for an address (`HTTPS_PROXY`, `NO_PROXY`)."""
    # aiohttp's own look at the environment costs a thread's work for every request, and sends a
    # password of ~/.netrc to servers that were given no key.
    parts = urlsplit(url)
    return None if proxy_bypass(parts.hostname or "") else getproxies().get(parts.scheme)


async def _read(response: Any, largest: int) -> bytes:
    size = response.headers.get("Content-Length", "")
    too_large = f"the server's reply is larger than {largest >> 20} MiB"
    if size.isascii() and size.isdigit() and int(size) > largest:
        response.close()
        raise RejectedResponseError(too_large)
    if size and "Content-Encoding" not in response.headers:
        return bytes(await response.read())
    pieces, total = [], 0
    async for piece in response.content.iter_chunked(_PIECE):
        total += len(piece)
        if total > largest:
            response.close()
            raise RejectedResponseError(too_large)
        pieces.append(piece)
    return b"".join(pieces)


def _followed(url: str, status: int, location: str) -> str:
    """Where a redirect leads, if the questions may go there: to the same host, as they are."""
    target = urljoin(url, location)
    here, there = urlsplit(url), urlsplit(target)
    secured = here.scheme == "http" and there.scheme == "https"
    same = here.hostname == there.hostname and (here.netloc == there.netloc or secured)
    if status not in (307, 308) or not same or there.scheme not in (here.scheme, "https"):
        raise RejectedResponseError(
            f"the server redirects (HTTP {status}) to {there.scheme}://{there.netloc}, and "
            "questions are not sent on to another address; if it is the right one, give it as "
            "--base-url"
        )
    return target
