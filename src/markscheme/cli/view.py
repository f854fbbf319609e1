"""`markscheme view`: a local page over a folder of runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from markscheme.cli.app import console, notes
from markscheme.cli.options import Port, command
from markscheme.flags import Argument, Option, PositiveFrom


@command("view", example="markscheme view")
def view(
    folder: Annotated[Path, Argument("Folder of runs, or one run.", metavar="FOLDER")] = Path(
        "runs"
    ),
    port: Port = 0,
    positive_from: PositiveFrom = None,
    browser: Annotated[bool, Option("Open the page in the browser.")] = True,
) -> None:
    """Browse runs on a local page: figures, every answer, two runs side by side, a run in progress.

    The page is served on this machine only, at an address with a token. A verdict that you give
    there is saved as a label next to the run, and agreement and estimate are updated. Labels that
    are grades are shown where --positive-from says from which grade an answer is acceptable.
    """
    from markscheme.view import view as serve

    def ready(address: str) -> None:
        console.print(address, soft_wrap=True)
        notes.print("serving on this machine only; Ctrl+C stops it")
        if browser:
            import webbrowser

            webbrowser.open(address)

    serve(folder, port=port, positive_from=positive_from, on_ready=ready)
