"""`markscheme view`: a local page over a folder of runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from markscheme.cli.app import console, notes
from markscheme.cli.options import Port, command
from markscheme.flags import Argument, Option


@command("view", example="markscheme view")
def view(
    folder: Annotated[Path, Argument("Folder with runs, or a run.", metavar="FOLDER")] = Path(
        "runs"
    ),
    port: Port = 0,
    browser: Annotated[bool, Option("Open it in the browser.")] = True,
) -> None:
    """Look at runs: figures, every answer, two runs side by side, a run in progress.

    Serves a page on this machine only, under an address with a token. A verdict given there is
    saved as a label next to the run, and agreement and estimate are updated.
    """
    from markscheme.view import view as serve

    def ready(address: str) -> None:
        console.print(address, markup=False, soft_wrap=True)
        notes.print("serving on this machine only; Ctrl+C stops it")
        if browser:
            import webbrowser

            webbrowser.open(address)

    serve(folder, port=port, on_ready=ready)
