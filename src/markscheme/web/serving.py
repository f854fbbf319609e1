"""The server that runs every app, and what closes connections that wait too long or are too many.

Uvicorn waits for a request's headers for ever, and again with each byte of them: slow clients
could fill a server.
"""

from __future__ import annotations

import asyncio
import os
import resource
import select
import socket
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_CONNECTIONS = 1_000

_GRACE = 0.5
"""Seconds that a client has to send something before its connection goes to make room for others:
between connecting and sending, the system may let other programs run."""

_ONE_READ = 8_192
"""Bytes read at once; in tiny chunks they hold up the others for long enough."""

_QUICK = 0.001
"""Seconds of processor time for what is read at once, many times what a usual body needs."""

_PAUSE = 4.0
"""How long a connection is not read after that, as a multiple of the time that it took and of the
number of connections that are paused: together they have at most a fifth of the event loop."""

NO_MEMORY = (
    "error: there is no memory left; what was acknowledged is saved. Start the same command again, "
    "with more memory\n"
)


def most_connections() -> int:
    """Connections that are held; for half a second there may be twice as many. Half of the files
    that the process may open are for its work."""
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return max(8, min(MOST_CONNECTIONS, files // 4 if files > 0 else MOST_CONNECTIONS))


_Protocol: Any = H11Protocol  # Others have no `conn`, which says what came behind a request.


class BoundedProtocol(_Protocol):  # type: ignore[misc]
    """Uvicorn's protocol with a time-out for headers and an end to the number of connections.

    Where there are too many, one goes that has waited for its client for half a second: of the
    clients with most of those, the one that has waited longest and has sent nothing that is still
    to be read. A client is the owner that an app's guard notes in the state of a request; all
    without one count as one. Where there are twice as many, one goes that has just come, too.
    """

    header_seconds = 10.0
    """From a connection, or the first byte of its next request, to the end of the headers."""
    most: int = most_connections()

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Count the connection, and begin to wait for its headers."""
        self._timer: asyncio.TimerHandle | None = None
        self._paused = False
        super().connection_made(transport)
        transport.max_size = _ONE_READ  # type: ignore[attr-defined]
        self._wait()
        if len(self.connections) > self.most:
            self.loop.call_later(_GRACE, self._make_room, self.most, _GRACE)
        if len(self.connections) > 2 * self.most:
            self.loop.call_soon(self._make_room, 2 * self.most, 0.0)

    def _make_room(self, bound: int, seconds: float) -> None:
        """Close connections until `bound` are left, of those that have waited so long."""
        if len(self.connections) <= bound:
            return
        waiting: defaultdict[str, list[Any]] = defaultdict(list)
        now = time.monotonic()
        for one in self.connections:
            if one._waits_for_client() and now - one._since >= seconds:
                state = one.scope["state"] if one.scope else {}
                waiting[state.get("owner") or ""].append(one)
        for some in waiting.values():
            some.sort(key=lambda one: one._since)
        while any(waiting.values()) and len(self.connections) > bound:
            most = max(waiting.values(), key=len)
            one = next((one for one in most if not one._has_sent()), most[0])
            most.remove(one)
            self.connections.discard(one)
            one.transport.abort()

    def _waits_for_client(self) -> bool:
        """For a request, for the rest of its body, or to read what was answered."""
        return (
            self._between_requests()
            or self.cycle.more_body
            or self.transport.get_write_buffer_size() > 0
        )

    def _has_sent(self) -> bool:
        """Something that is still to be read: a crowd is accepted before anything of it is read."""
        poll = select.poll()
        poll.register(self.transport.get_extra_info("socket"), select.POLLIN)
        return bool(poll.poll(0))

    def data_received(self, data: bytes) -> None:
        """Take bytes; whole headers end the waiting."""
        if self._between_requests():
            self._wait()
        began = time.thread_time()
        super().data_received(data)
        self._pause_after(time.thread_time() - began)
        if not self._between_requests():
            self._stop()

    def _pause_after(self, seconds: float) -> None:
        """Read nothing for a while after what took so long, such as chunks of a byte, each of which
        costs as much as a large one. The limits on time go on."""
        if seconds > _QUICK and not self.transport.is_closing():
            self.transport.pause_reading()
            self._paused = True
            paused = sum(one._paused for one in self.connections)
            self.loop.call_later(_PAUSE * seconds * paused, self._resume)

    def _resume(self) -> None:
        self._paused = False
        if not self.flow.read_paused:  # Else the app reads on when it has room.
            self.transport.resume_reading()

    def on_response_complete(self) -> None:
        """Go on, unless the client sent more requests without reading: they are not answered."""
        if self.conn.trailing_data[0] and self.cycle.more_body is False:
            self.transport.close()
        super().on_response_complete()

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
        self._timer = None

    def _expire(self) -> None:
        self._timer = None
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
            "loop": "asyncio",  # uvloop's transports have no `max_size`.
            "log_level": "warning",
            "access_log": False,
            "server_header": False,
            "proxy_headers": False,
            "ws": "none",
            "lifespan": "off",
        }
        super().__init__(uvicorn.Config(app, **plain | settings))

    def run(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve until a signal. A thread that ends because memory does ends the process: what
        waits for it, such as the event loop for the thread's start, would wait for ever."""
        before = sys.unraisablehook, threading.excepthook
        sys.unraisablehook = _ending_without_memory(before[0])
        threading.excepthook = _ending_without_memory(before[1])
        try:
            super().run(sockets)
        finally:
            sys.unraisablehook, threading.excepthook = before


def _ending_without_memory(hook: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A hook for errors that nothing can catch, which ends the process at a MemoryError."""
    said = NO_MEMORY.encode()

    def ending(problem: Any) -> None:
        if issubclass(problem.exc_type, MemoryError):
            os.write(2, said)
            os._exit(2)
        hook(problem)

    return ending
