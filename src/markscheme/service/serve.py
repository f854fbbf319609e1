"""Running the service: the port it takes, and how it stops."""

from __future__ import annotations

import time
from types import FrameType

import uvicorn
from fastapi import FastAPI

from markscheme.web import BoundedProtocol

LOCAL = frozenset({"127.0.0.1", "localhost", "::1"})


class DrainingServer(uvicorn.Server):
    """A server that a first signal empties and a second one stops.

    On the first, readiness says 503 and new work is refused; after `linger` seconds, in which a
    proxy notices, the port is closed; what was accepted is finished, for at most `grace` seconds.
    """

    def __init__(self, app: FastAPI, *, linger: float, grace: float) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http=BoundedProtocol,
                log_level="error",
                access_log=False,
                server_header=False,
                proxy_headers=False,
                timeout_keep_alive=75,
                timeout_graceful_shutdown=round(grace),
                lifespan="on",
            )
        )
        self._service = app.state.service
        self._linger = linger
        self._close_at: float | None = None

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to stop; at once if it was asked for before."""
        if self._close_at is not None:
            super().handle_exit(sig, frame)
            return
        self._service.stopping = True
        self._close_at = time.monotonic() + self._linger

    async def on_tick(self, counter: int) -> bool:
        """Called ten times a second; true ends the service."""
        if self._close_at is not None:
            self._service.finish_accepted()
            if time.monotonic() >= self._close_at:
                return True
        return await super().on_tick(counter)
