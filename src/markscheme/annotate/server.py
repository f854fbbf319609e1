"""Running the app: the address it has, the warning it owes, and the server."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from types import FrameType
from urllib.parse import urlsplit

from markscheme.annotate.app import make_app
from markscheme.annotate.context import Site
from markscheme.annotate.database import Store
from markscheme.annotate.project import Project
from markscheme.errors import MarkschemeError
from markscheme.web import LOCAL, Server, is_loopback, take_port, url_of

_EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104 - requested, and warned of.


@dataclass(frozen=True, kw_only=True)
class Listening:
    """Where the server listens, and the address people use.

    Attributes:
        address: for links, such as `http://127.0.0.1:8765`.
        hosts: names under which requests are answered.
        addresses: whether they are under every IP address, too, as a server on all of the
            machine's cannot know by which of them it is reached.
        secure: whether people reach it by https.
        warning: what the person who starts it must know; empty on loopback.
    """

    socket: socket.socket
    address: str
    hosts: frozenset[str]
    addresses: bool
    secure: bool
    warning: str


def listen(host: str, port: int, public_url: str | None) -> Listening:
    """Take the port, before anything is promised.

    Raises:
        RunError: the port is taken or the host is not this machine's.
        MarkschemeError: `public_url` is no address.
    """
    address_of(host, port, public_url)  # An address of no use takes no port.
    found = take_port(host, port)
    address = address_of(host, found.getsockname()[1], public_url)
    secure = address.startswith("https://")
    return Listening(
        socket=found,
        address=address,
        hosts=LOCAL | {_name(host).lower(), urlsplit(address).hostname or ""},
        addresses=host in _EVERYWHERE,
        secure=secure,
        warning=_warning(host, secure=secure),
    )


def address_of(host: str, port: int, public_url: str | None) -> str:
    """The address for links: `public_url`, or that of the port on this machine.

    Raises:
        MarkschemeError: `public_url` is no address.
    """
    if public_url is None:
        return url_of(_name(host), port)
    parts = urlsplit(public_url)
    web = parts.scheme in ("http", "https") and parts.path in ("", "/")
    if not web or not parts.hostname:
        raise MarkschemeError(
            f"--public-url {public_url!r} is not an address such as https://label.example.org"
        )
    return f"{parts.scheme}://{parts.netloc}"


def _name(host: str) -> str:
    """By which name people reach a host: the machine's where it is all of its addresses."""
    return socket.gethostname() if host in _EVERYWHERE else host


def _warning(host: str, *, secure: bool) -> str:
    if is_loopback(host):
        return ""
    said = f"listening on {host}: everybody who can reach this machine can reach the sign-in page."
    if secure:
        return said
    return (
        f"{said} Links and labels travel unencrypted. Put a proxy with TLS before it, listen on "
        "127.0.0.1, and give --public-url https://..."
    )


class StoppingServer(Server):
    """A server whose process goes on after a signal has stopped it, so that the store is closed.

    Uvicorn's own raises the signal once more in the end. A second signal waits for no request.
    """

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002
        """Begin to stop; at once on the second signal."""
        self.force_exit: bool = self.should_exit
        self.should_exit = True


def serve(store: Store, project: Project, listening: Listening) -> None:
    """Serve until SIGINT (Ctrl+C) or SIGTERM; what is saved stays saved."""
    site = Site(
        store=store,
        project=project,
        address=listening.address,
        secure=listening.secure,
    )
    app = make_app(site, hosts=listening.hosts, addresses=listening.addresses)
    with listening.socket:
        StoppingServer(app, proxy_headers=listening.secure, timeout_keep_alive=60).run(
            sockets=[listening.socket]
        )
