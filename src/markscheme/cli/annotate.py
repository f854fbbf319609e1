"""`markscheme annotate`: a web app in which people label answers."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from markscheme.annotate import AnnotateOptions
from markscheme.cli.app import console, notes, print_warning
from markscheme.cli.options import Host, Port, command
from markscheme.errors import MarkschemeError, MissingExtraError, lacks_extras
from markscheme.flags import Option

if TYPE_CHECKING:
    from markscheme.annotate import Ready


@command("annotate", example="markscheme annotate todo.csv")
def annotate(
    *,
    project: Annotated[
        str | None,
        Option(
            "Where labels are saved: a file, or postgresql://user@host/database. "
            "[default: FILE.annotate.sqlite]"
        ),
    ] = None,
    options: AnnotateOptions,
    host: Host = "127.0.0.1",
    port: Port = 8765,
    public_url: Annotated[
        str | None, Option("Address that people use, if behind a proxy: https://label.example.org.")
    ] = None,
    links: Annotated[
        Path | None,
        Option("Write the links to a CSV file that only you can read.", rare=True, output=True),
    ] = None,
    serve: Annotated[
        bool, Option("Start the server; with --no-serve, only make the project and its links.")
    ] = True,
    adopt: Annotated[
        bool,
        Option(
            "Continue a project that was damaged, or changed from outside, as it is now.", rare=True
        ),
    ] = False,
) -> None:
    """Label answers in the browser: blind, by keyboard, with every label saved at once.

    Makes a project from FILE, or continues an existing one; prints a personal link for each
    annotator and for the admin, once; and serves until interrupted. 'markscheme annotate-export'
    exports the labels.
    """
    require_web()
    from markscheme.annotate import Store, address_of, listen, prepare, read_plan
    from markscheme.annotate import serve as run
    from markscheme.tables import DATASET, check_named, is_address, without_secrets

    file = options.file
    if file is None and project is None:
        raise MarkschemeError("give the FILE to label, or --project with one that is there")
    if file is not None:
        check_named(file)
        if not (file.startswith(DATASET) or Path(file).exists()):
            raise MarkschemeError(f"there is no file {without_secrets(file)}")
        if Path(file).suffix == ".sqlite":
            raise MarkschemeError(
                f"{file} is no file of answers; a project is continued with --project "
                f"{shlex.quote(file)}"
            )
    listening = listen(host, port, public_url) if serve else None
    address = listening.address if listening else address_of(host, port, public_url)
    place = project or f"{(file or '').rstrip('/')}.annotate.sqlite"
    plan = None if is_address(place) or Path(place).exists() else read_plan(options, place)
    if links is not None:
        os.close(_opened(links))  # A link is made only once: not for a file that cannot be written.
    store = Store(place, adopt=adopt)
    try:
        ready = prepare(store, options, plan)
        ready = replace(ready, notes=(*store.notes, *ready.notes))
        _say(ready, store.shown, address, links)
        if listening is not None:
            if listening.warning:
                print_warning(listening.warning)
            notes.print(f"serving on {listening.address}; Ctrl+C stops it")
            run(store, ready.project, listening)
            export = f"markscheme annotate-export {shlex.quote(store.shown)} --out labels.csv"
            notes.print(f"stopped; every label is saved: {export}", soft_wrap=True)
    finally:
        store.close()


def require_web() -> None:
    """Raises MissingExtraError where the web packages are not installed."""
    if lacks_extras("web"):
        raise MissingExtraError("labelling in the browser", "web")


def _say(ready: Ready, where: str, address: str, links: Path | None) -> None:
    project = ready.project
    console.print(f"{project.title}: scale {project.scale}, saved in {where}")
    for note in ready.notes:
        console.print(note, soft_wrap=True)
    if not ready.tokens:
        console.print("everyone has a link already; --new-links makes new ones")
        return
    made = [(name, role, f"{address}/enter#{token}") for name, role, token in ready.tokens]
    if links is not None:
        _write_links(links, made)
        console.print(f"{len(made)} personal links written to {links}")
        return
    console.print("personal links, shown only now:")
    width = max(len(name) for name, _, _ in made)
    for name, role, url in made:
        console.print(f"  {name:<{width}}  {role:<11}  {url}", soft_wrap=True)
    console.print("open an annotator's link to label; the admin's shows progress and settles ties")


def _write_links(path: Path, made: Sequence[tuple[str, str, str]]) -> None:
    import csv

    from markscheme.text import csv_cell

    with os.fdopen(_opened(path, os.O_TRUNC), "w", encoding="utf-8", newline="") as stream:
        os.fchmod(stream.fileno(), 0o600)  # A file that was there keeps its mode otherwise.
        writer = csv.writer(stream)
        writer.writerow(("name", "role", "link"))
        writer.writerows([csv_cell(cell) for cell in row] for row in made)


def _opened(path: Path, how: int = 0) -> int:
    path.parent.mkdir(parents=True, exist_ok=True)
    return os.open(path, os.O_WRONLY | os.O_CREAT | how, 0o600)
