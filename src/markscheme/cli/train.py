"""`markscheme train`: make an examiner from labelled answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from markscheme.cli.app import app, console, notes
from markscheme.cli.options import OutFile, command
from markscheme.options import FOLDS, ROUNDS, Columns, DataDir, Default, Option, TrainingData

if TYPE_CHECKING:
    from markscheme.training import HeldOut

train_app = typer.Typer(no_args_is_help=True, help="Train the judges that learn.")
app.add_typer(train_app, name="train")


@command("examiner", to=train_app)
def examiner(
    out: OutFile,
    columns: Columns,
    data: Annotated[
        TrainingData,
        Default("EVOUNA-NQ without its test part, which makes the examiner that ships"),
    ] = (),
    data_dir: DataDir = None,
    rounds: Annotated[int, ROUNDS] = 400,
    seeds: Annotated[
        int, Option("Ensembles averaged.", ("--ensembles",), aliases=("--seeds",), minimum=1)
    ] = 4,
    folds: Annotated[int, FOLDS] = 5,
) -> None:
    """Train an examiner on your own labelled answers, with a held-out report before it saves.

    Use it with `markscheme judge FILE --judge "examiner(weights='FOLDER')"`.
    """
    from markscheme.training import (
        TrainOptions,
        TreeOptions,
        check_new_folder,
        labelled_answers,
        shipped_data,
        train_examiner,
    )

    check_new_folder(out)
    answers = (
        labelled_answers(data, columns) if data else shipped_data(part="!test", data_dir=data_dir)
    )
    options = TrainOptions(trees=TreeOptions(rounds=rounds, seeds=seeds), folds=folds)
    trained = train_examiner(
        answers,
        out,
        options,
        say=lambda text: notes.print(text, markup=False),
        report=_print_report,
    )
    notes.print(f"written to {trained.folder}", markup=False)
    console.print(
        f"use it: markscheme judge FILE --judge \"examiner(weights='{out}')\"", markup=False
    )


def _print_report(held_out: HeldOut) -> None:
    """Agreement with the labels on questions that were held out, before anything is saved."""
    from markscheme.results import Table

    compared = {"this one, held out": held_out.trained, "as shipped": held_out.shipped}
    rows = [
        (
            name,
            f"{100 * found.accuracy:.1f}",
            f"{100 * found.f1:.1f}",
            f"{found.kappa:.3f}",
            f"{found.auroc:.3f}",
        )
        for name, found in compared.items()
    ]
    table = Table(
        title=f"Agreement with {held_out.rows:,} labels, questions held out in turn",
        header=("examiner", "accuracy", "F1 (accepted)", "kappa", "AUROC"),
        rows=tuple(rows),
        numeric=frozenset({"accuracy", "F1 (accepted)", "kappa", "AUROC"}),
    )
    console.print(table.rich())
