"""`markscheme annotate`: a web app in which people label answers."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from markscheme.cli.app import console, notes
from markscheme.cli.options import Host, Port, command
from markscheme.flags import (
    JUDGE,
    Argument,
    Columns,
    Default,
    Option,
    ReferenceSeparator,
    Seed,
    Title,
)

if TYPE_CHECKING:
    from markscheme.annotate import Ready


class ScaleName(StrEnum):
    """What annotators may say."""

    VERDICT = "verdict"
    RELATION = "relation"
    GRADE = "grade"
    RANK = "rank"
    ERROR = "error"
    MODE = "mode"


class References(StrEnum):
    """Whether annotators see the references."""

    SHOWN = "shown"
    ON_REQUEST = "on-request"
    HIDDEN = "hidden"


class Order(StrEnum):
    """In which order items come."""

    SHUFFLED = "shuffled"
    BY_QUESTION = "by-question"
    FILE = "file"
    INFORMATIVE = "informative"


@command("annotate", example="markscheme annotate todo.csv")
def annotate(
    columns: Columns,
    file: Annotated[
        str | None,
        Argument(
            "Answers to label, such as plan-labels writes. Not needed to continue.", metavar="FILE"
        ),
    ] = None,
    project: Annotated[
        str | None,
        Option(
            "Where labels are saved: a file, or postgresql://user@host/database. "
            "[default: FILE.annotate.sqlite]"
        ),
    ] = None,
    annotator: Annotated[
        tuple[str, ...], Option("An annotator's name; repeatable.", ("--annotator", "-a"))
    ] = (),
    adjudicator: Annotated[
        tuple[str, ...],
        Option(
            "Name of a person who resolves disagreements; repeatable. "
            "[default: an annotator who has not seen the item]",
            rare=True,
        ),
    ] = (),
    scale: Annotated[
        ScaleName | None,
        Option(
            "verdict: correct or not. relation: superior, equivalent, inferior, incorrect. "
            "grade: 1 to 5. rank: the answers to a question in order. error, mode: the kind of "
            "error, of what failures --to-tag draws. [default: verdict]"
        ),
    ] = None,
    per_item: Annotated[
        int | None,
        Option(
            "Annotators per item; can change later. [default: 1; 2 where several are named]",
            minimum=1,
        ),
    ] = None,
    adjudicate: Annotated[
        bool | None,
        Option("Whether a third person resolves disagreements. [default: adjudicate]", rare=True),
    ] = None,
    references: Annotated[
        References | None,
        Option(
            "Whether annotators see the references: shown, one key away, or hidden. "
            "[default: on-request]",
            ("--show-references",),
            aliases=("--references",),
            rare=True,
        ),
    ] = None,
    order: Annotated[
        Order | None,
        Option(
            "shuffled; by-question: a question's answers together; file; or informative: drawn "
            "with higher chances where the judge of --scores is unsure. [default: shuffled]",
            rare=True,
        ),
    ] = None,
    guidelines: Annotated[
        Path | None, Option("Text of your own: '# heading', '- point', paragraphs.")
    ] = None,
    gold: Annotated[
        str | None,
        Option("Answers with known labels, mixed in to check the annotators.", rare=True),
    ] = None,
    gold_every: Annotated[
        int | None, Option("Items between two gold items. [default: 10]", minimum=1, rare=True)
    ] = None,
    suggest: Annotated[
        str | None,
        Option(
            "Show a judge's verdict, after the annotator's own and where it differs.",
            metavar="RUN",
            rare=True,
        ),
    ] = None,
    scores: Annotated[
        str | None,
        Option(
            "A judge's scores choose the informative order and narrow the running estimate; nobody "
            "is shown them.",
            metavar="RUN",
            rare=True,
        ),
    ] = None,
    judge: Annotated[str | None, JUDGE, Default("the only one of that run")] = None,
    title: Title = None,
    reference_separator: ReferenceSeparator = "auto",
    seed: Seed = 0,
    host: Host = "127.0.0.1",
    port: Port = 8765,
    public_url: Annotated[
        str | None, Option("Address people use, behind a proxy: https://label.example.org.")
    ] = None,
    new_links: Annotated[
        bool, Option("New links for everybody; old ones stop working.", rare=True)
    ] = False,
    links: Annotated[
        Path | None, Option("Write the links to a CSV file that only you can read.", rare=True)
    ] = None,
    serve: Annotated[bool, Option("Serve, or only make the project and its links.")] = True,
) -> None:
    """Label answers in the browser: blind, by keyboard, with nothing lost.

    Makes a project from FILE, or continues the existing one, prints a personal link for
    each person and for the admin, and serves until interrupted. Links are shown once. Get the
    labels with 'markscheme annotate-export'.
    """
    try:
        from markscheme.annotate import Setup, Store, listen, prepare, read_plan
        from markscheme.annotate import serve as run
        from markscheme.storage import is_url
    except ImportError:
        raise missing_web() from None
    from markscheme.errors import MarkschemeError
    from markscheme.tables import DATASET, ReadOptions, check_named

    if file is None and project is None:
        raise MarkschemeError("give the FILE to label, or --project with one that is there")
    if file is not None:
        check_named(file)
        if not (file.startswith(DATASET) or Path(file).is_file()):
            raise MarkschemeError(f"there is no file {file}")
    asked: dict[str, Any] = {
        "title": title,
        "scale": scale and scale.value,
        "references": references and references.value,
        "per_item": per_item,
        "adjudicate": adjudicate,
        "order": order and order.value,
        "gold_every": gold_every,
        "guidelines": guidelines and _text(guidelines),
        "seed": seed or None,
    }
    listening = listen(host, port, public_url) if serve else None
    setup = Setup(
        file=file,
        settings={name: value for name, value in asked.items() if value is not None},
        annotators=annotator,
        adjudicators=adjudicator,
        gold=gold,
        suggest=suggest,
        scores=scores,
        judge=judge,
        new_links=new_links,
        reading=ReadOptions(columns=columns, reference_separator=reference_separator),
    )
    place = project or f"{file}.annotate.sqlite"
    plan = None if is_url(place) or Path(place).exists() else read_plan(setup, place)
    store = Store(place)
    try:
        ready = prepare(store, setup, plan)
        address = listening.address if listening else (public_url or f"http://{host}:{port}")
        _say(ready, store.shown, address.rstrip("/"), links)
        if listening is not None:
            if listening.warning:
                notes.print(f"[bold yellow]warning:[/] {listening.warning}")
            notes.print(f"serving on {listening.address}; Ctrl+C stops it", markup=False)
            run(store, ready.project, listening)
            export = f"markscheme annotate-export {shlex.quote(store.shown)} --out labels.csv"
            notes.print(f"stopped; every label is saved: {export}", markup=False, soft_wrap=True)
    finally:
        store.close()


def missing_web() -> Exception:
    """What to say where the web packages are not installed."""
    from markscheme.errors import MissingExtraError

    return MissingExtraError("labelling in the browser", "web")


def _text(path: Path) -> str:
    from markscheme.errors import DataError

    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"the guidelines {path} cannot be read: {error}") from None


def _say(ready: Ready, where: str, address: str, links: Path | None) -> None:
    project = ready.project
    console.print(f"{project.title}: scale {project.scale}, saved in {where}", markup=False)
    for note in ready.notes:
        console.print(note, markup=False, soft_wrap=True)
    if not ready.tokens:
        console.print("everybody has a link already; --new-links makes new ones")
        return
    made = [(name, role, f"{address}/enter#{token}") for name, role, token in ready.tokens]
    if links is not None:
        _write_links(links, made)
        console.print(f"{len(made)} personal links written to {links}", markup=False)
        return
    console.print("personal links, shown only now:")
    width = max(len(name) for name, _, _ in made)
    for name, role, url in made:
        console.print(f"  {name:<{width}}  {role:<11}  {url}", markup=False, soft_wrap=True)
    console.print("open an annotator's link to label; the admin's shows progress and settles ties")


def _write_links(path: Path, made: Sequence[tuple[str, str, str]]) -> None:
    import csv
    import os

    from markscheme.text import csv_cell

    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as stream:
        os.fchmod(descriptor, 0o600)  # A file that was there keeps its mode otherwise.
        writer = csv.writer(stream)
        writer.writerow(("name", "role", "link"))
        writer.writerows([csv_cell(cell) for cell in row] for row in made)
