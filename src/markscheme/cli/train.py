"""`markscheme train`: make an examiner from labelled answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from markscheme.cli.app import app, console, notes
from markscheme.errors import DataError, RunError

if TYPE_CHECKING:
    import polars as pl

    from markscheme.training import HeldOut

train_app = typer.Typer(no_args_is_help=True, help="Train the judges that learn.")
app.add_typer(train_app, name="train")


@train_app.command("examiner")
def examiner(
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the weights; must be new.")],
    data: Annotated[
        list[str] | None,
        typer.Option(
            "--data",
            help="Labelled answers; several files may be given. [default: EVOUNA-NQ without its "
            "test part, which makes the examiner that ships]",
        ),
    ] = None,
    columns: Annotated[str, typer.Option(help="Columns with unusual names: label=human.")] = "",
    data_dir: Annotated[Path | None, typer.Option(help="Where EVOUNA-NQ lies.")] = None,
    rounds: Annotated[int, typer.Option(help="Trees of each ensemble.", min=1)] = 400,
    seeds: Annotated[int, typer.Option(help="Ensembles averaged.", min=1)] = 4,
    folds: Annotated[int, typer.Option(help="Parts for the held-out report.", min=2)] = 5,
) -> None:
    """Train an examiner on your own labelled answers, with a held-out report before it saves.

    Use it with `markscheme judge FILE --judge "examiner(weights='FOLDER')"`.
    """
    from markscheme.training import TrainOptions, TreeOptions, train_examiner

    if out.exists() and any(out.iterdir()):
        raise RunError(f"{out} is not empty; choose a new --out")
    answers = labelled(data, columns) if data else _evouna(data_dir)
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


def labelled(files: list[str], columns: str) -> pl.DataFrame:
    """The answers of files, some of them labelled at least; DataError if none is."""
    from markscheme.cli.reading import read_options
    from markscheme.tables import read_answers

    answers = read_answers(list(files), read_options(columns=columns))
    if answers["label"].null_count() == answers.height:
        raise DataError("the answers have no labels; name their column with --columns label=NAME")
    return answers


def _evouna(data_dir: Path | None) -> pl.DataFrame:
    from markscheme.datasets import load
    from markscheme.training import parts

    answers = load("evouna-nq", data_dir=data_dir)
    return answers.filter(parts(answers["question"]) != "test")


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
