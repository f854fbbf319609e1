"""Taking a port of this machine, for the servers that markscheme runs itself."""

from __future__ import annotations

import ipaddress
import socket

from markscheme.errors import RunError

_WAITING = 2048
"""Connections that may wait to be accepted."""

_UNREAD = 30_000
"""Milliseconds until a client that takes nothing of what it is sent loses its connection."""


def take_port(host: str, port: int) -> socket.socket:
    """Take the port, before anything is promised.

    Raises:
        RunError: it is taken, or the host is not this machine's.
    """
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        found = socket.socket(family, socket.SOCK_STREAM)
    except OSError as error:
        raise RunError(f"cannot listen on {host}: {error.strerror or error}") from None
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if hasattr(socket, "TCP_USER_TIMEOUT"):  # On Linux; connections inherit it.
        found.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _UNREAD)
    try:
        found.bind((host, port))
        found.listen(_WAITING)
    except OSError as error:
        found.close()
        raise RunError(
            f"cannot listen on {host}, port {port}: {error.strerror or error}; choose another "
            "with --port (0 takes any free one)"
        ) from None
    return found


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def url_of(host: str, port: int) -> str:
    """The address under which a host's port is reached, such as `http://127.0.0.1:8765`."""
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{port}"
