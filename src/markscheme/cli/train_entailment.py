"""`markscheme train entailment`: make the entailment test from labelled answers and pairs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from markscheme.cli.app import console, notes
from markscheme.cli.train import labelled, train_app
from markscheme.errors import RunError

if TYPE_CHECKING:
    import polars as pl

    from markscheme.training import Quality


@train_app.command("entailment")
def entailment(
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the weights; must be new.")],
    data: Annotated[
        list[str] | None,
        typer.Option(
            "--data",
            help="Labelled answers; several files may be given. [default: the training part of "
            "EVOUNA-NQ, which makes the test that ships]",
        ),
    ] = None,
    pairs: Annotated[
        list[str] | None,
        typer.Option(
            "--pairs",
            help="NLI files to learn from as well: premise, hypothesis, label; several may be "
            "given.",
        ),
    ] = None,
    entailed: Annotated[
        str | None,
        typer.Option(help="The label in --pairs that means entailment, where it is a number."),
    ] = None,
    columns: Annotated[str, typer.Option(help="Columns with unusual names: label=human.")] = "",
    data_dir: Annotated[Path | None, typer.Option(help="Where EVOUNA-NQ lies.")] = None,
    rounds: Annotated[int | None, typer.Option(help="Trees of each ensemble.", min=1)] = None,
    folds: Annotated[int, typer.Option(help="Parts for the held-out report.", min=2)] = 5,
    seed: Annotated[int, typer.Option(help="Of the made-up pairs.")] = 0,
) -> None:
    """Train the entailment test, with a held-out report before it saves.

    It learns from made-up pairs around the questions' references and from people's verdicts: an
    answer that people accepted entails the reference or follows from it. Use it with
    `markscheme judge FILE --judge "entailment(test='embedded:FOLDER')"`.
    """
    import dataclasses

    import polars as pl

    from markscheme.training import EntailmentOptions, read_pairs, train_entailment

    if out.exists() and any(out.iterdir()):
        raise RunError(f"{out} is not empty; choose a new --out")
    given = pl.concat([read_pairs(one, entailed=entailed) for one in pairs]) if pairs else None
    options = EntailmentOptions(folds=folds, seed=seed)
    if rounds is not None:
        options = dataclasses.replace(
            options, trees=dataclasses.replace(options.trees, rounds=rounds)
        )
    trained = train_entailment(
        labelled(data, columns) if data else _evouna(data_dir),
        out,
        options,
        given=given,
        say=lambda text: notes.print(text, markup=False),
        report=_print_report,
    )
    notes.print(f"written to {trained.folder}", markup=False)
    console.print(
        f"use it: markscheme judge FILE --judge \"entailment(test='embedded:{out}')\"", markup=False
    )


def _evouna(data_dir: Path | None) -> pl.DataFrame:
    from markscheme.datasets import load
    from markscheme.training import parts

    answers = load("evouna-nq", data_dir=data_dir)
    return answers.filter(parts(answers["question"]) == "train")


def _print_report(held_out: Sequence[Quality]) -> None:
    """Quality by kind of pair on questions that were held out, before anything is saved."""
    from markscheme.results import Table

    rows = tuple(
        (
            one.kind,
            f"{one.pairs:,}",
            f"{100 * one.entailed:.0f}%",
            f"{100 * one.accuracy:.1f}",
            "-" if one.auroc is None else f"{one.auroc:.3f}",
        )
        for one in held_out
    )
    table = Table(
        title="Pairs of questions that were held out in turn",
        header=("kind, direction", "pairs", "entailed", "accuracy", "AUROC"),
        rows=rows,
        numeric=frozenset({"pairs", "entailed", "accuracy", "AUROC"}),
    )
    console.print(table.rich())
