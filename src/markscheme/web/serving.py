"""The server that runs every app, and what closes connections that wait too long or are too many.

Uvicorn waits for a request's headers for ever, and again with each byte of them: slow clients
could fill a server.
"""

from __future__ import annotations

import asyncio
import resource
import time
from typing import TYPE_CHECKING, Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.auto import AutoHTTPProtocol

HEADER_SECONDS = 10.0
"""From a connection, or the first byte of its next request, to the end of the headers."""

MOST_CONNECTIONS = 1_000

if TYPE_CHECKING:
    _Protocol = Any
else:
    _Protocol = AutoHTTPProtocol


def most_connections() -> int:
    """Connections that are held at once; files of the process that are left are for its work."""
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return max(8, min(MOST_CONNECTIONS, files // 2 if files > 0 else MOST_CONNECTIONS))


class BoundedProtocol(_Protocol):  # type: ignore[misc]
    """Uvicorn's protocol with a time-out for headers and an end to the number of connections.

    Where there are too many, the one that has waited longest for headers goes.
    """

    header_seconds = HEADER_SECONDS
    most: int = most_connections()

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Count the connection, and begin to wait for its headers."""
        self._since: float | None = None
        self._timer: asyncio.TimerHandle | None = None
        super().connection_made(transport)
        self._wait()
        if len(self.connections) > self.most:
            waiting = [one for one in self.connections if getattr(one, "_since", None) is not None]
            min(waiting, key=lambda one: one._since, default=self).transport.abort()

    def data_received(self, data: bytes) -> None:
        """Take bytes; whole headers end the waiting."""
        if self._between_requests():
            self._wait()
        super().data_received(data)
        if not self._between_requests():
            self._stop()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._stop()
        super().connection_lost(exc)

    def _between_requests(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _wait(self) -> None:
        if self._timer is None:
            self._since = time.monotonic()
            self._timer = self.loop.call_later(self.header_seconds, self._expire)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._since = None

    def _expire(self) -> None:
        self._timer = self._since = None
        # Between two requests of one connection uvicorn's own time-out holds.
        if self._between_requests():
            self.transport.abort()


class Server(uvicorn.Server):
    """Uvicorn's server with bounded connections, and nothing about itself in what it sends.

    Args:
        app: what answers.
        settings: of uvicorn's configuration, instead of what all apps have or besides it.
    """

    def __init__(self, app: ASGIApp, **settings: Any) -> None:
        plain: dict[str, Any] = {
            "http": BoundedProtocol,
            "log_level": "warning",
            "access_log": False,
            "server_header": False,
            "proxy_headers": False,
            "lifespan": "off",
        }
        super().__init__(uvicorn.Config(app, **plain | settings))
