"""Serving the viewer on this machine: the public `view`."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable
from pathlib import Path

from markscheme.errors import MissingExtraError, lacks_extras
from markscheme.view.runs import runs_of
from markscheme.web import take_port, url_of

_HOST = "127.0.0.1"
"""No other machine is served; `markscheme report` writes a file to show to others."""


def view(
    folder: str | Path = "runs",
    *,
    port: int = 0,
    positive_from: float | None = None,
    on_ready: Callable[[str], None] | None = None,
) -> None:
    """Serve a page over a folder of runs on this machine, until interrupted.

    Args:
        folder: with runs below it, or a run.
        port: 0 takes any free one.
        positive_from: the grade from which an answer is acceptable, of runs whose labels are
            grades; None leaves these labels out.
        on_ready: is given the address with its token once the port is taken.

    Raises:
        RunError: there is no such folder, or the port is taken.
        MissingExtraError: the extras `web` and `report` are not installed.
    """
    if lacks_extras("report", "web"):
        raise MissingExtraError("the viewer", "report,web")
    from markscheme.view.app import draw_latest, make_app
    from markscheme.web import Server

    runs_of(folder)
    # What a run's page needs is loaded while the person looks at the index.
    threading.Thread(target=draw_latest, args=[folder, positive_from], daemon=True).start()
    token, form = secrets.token_urlsafe(24), secrets.token_urlsafe(24)
    with take_port(_HOST, port) as listening:
        if on_ready is not None:
            on_ready(f"{url_of(_HOST, listening.getsockname()[1])}/?token={token}")
        app = make_app(folder, token=token, form=form, positive_from=positive_from)
        Server(app).run(sockets=[listening])
