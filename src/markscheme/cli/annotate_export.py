"""`markscheme annotate-export`: labels from a labelling project, as other commands read them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from markscheme.annotate import ExportOptions, Kind
from markscheme.cli.app import console, notes
from markscheme.cli.options import OutFile, command
from markscheme.flags import Argument, Option


@command("annotate-export", example="markscheme annotate-export labels.db --out labels.csv")
def annotate_export(
    project: Annotated[
        str,
        Argument(
            "The project: FILE.annotate.sqlite, or postgresql://user@host/database.",
            metavar="PROJECT",
        ),
    ],
    out: OutFile,
    options: ExportOptions,
    kind: Annotated[
        Kind,
        Option(
            "labels: for agree, estimate, rank. ratings: each person's. training: for train "
            "examiner. gold: labels of gold items, for --label-errors. audit: every change.",
            ("--as",),
        ),
    ] = "labels",
    check: Annotated[
        bool, Option("Write nothing; check that OUT is what this project exported.", rare=True)
    ] = False,
) -> None:
    """Export labels: for agree and estimate, or to train an examiner.

    Works while the app is running. 'training' has only answers with a final label; 'labels' also
    those that nobody could decide or on which people differ, with an empty label. All are counted.
    OUT.seal.json records which state of the project was exported, signed if MARKSCHEME_SEAL_KEY is
    set.
    """
    from markscheme.cli.annotate import require_web

    require_web()
    from markscheme.annotate import Store, check_export, export, load_project
    from markscheme.errors import RunError
    from markscheme.tables import (
        file_digest,
        is_address,
        read_sealed,
        replace_file,
        sealed,
        write_table,
    )

    if not is_address(project) and not Path(project).is_file():
        raise RunError(f"there is no project {project}; 'markscheme annotate FILE' makes one")
    if (beside := Path(f"{project}.annotate.sqlite")).is_file():
        raise RunError(f"{project} is the file that was labelled; its project is {beside}")
    seal = out.with_name(f"{out.name}.seal.json")
    if out.is_file() and not check:
        own = seal.is_file() and read_sealed(seal).get("file") == file_digest(out)
        if not own:
            raise RunError(
                f"{out} is no export, or was changed since, and would be lost; choose another --out"
            )
    store = Store(project)
    try:
        if check:
            console.print(store.read(lambda c: check_export(c, out, seal)))
            return
        known = store.read(load_project)
        if known is None:
            raise RunError(f"there is no project in {store.shown}")
        found = store.read(lambda c: export(c, known, kind, options))
    finally:
        store.close()
    write_table(found.table, out)
    replace_file(seal, sealed({**found.trail, "file": file_digest(out)}))
    for note in (*store.notes, *found.notes):
        console.print(note, soft_wrap=True)
    notes.print(f"{found.table.height:,} rows written to {out}")
