"""`markscheme train entailment`: make the entailment test from labelled answers and pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from markscheme.cli.app import console, notes
from markscheme.cli.options import OutFile, command
from markscheme.cli.train import train_app
from markscheme.options import FOLDS, ROUNDS, Columns, DataDir, Default, Option, Seed, TrainingData

if TYPE_CHECKING:
    from markscheme.training import Quality


@command("entailment", to=train_app)
def entailment(
    out: OutFile,
    columns: Columns,
    data: Annotated[
        TrainingData, Default("the training part of EVOUNA-NQ, which makes the test that ships")
    ] = (),
    pairs: Annotated[
        tuple[str, ...],
        Option(
            "NLI files to learn from as well: premise, hypothesis, label; several may be given."
        ),
    ] = (),
    entailed: Annotated[
        str | None,
        Option("The label in --pairs that means entailment, where it is a number."),
    ] = None,
    data_dir: DataDir = None,
    rounds: Annotated[int | None, ROUNDS] = None,
    folds: Annotated[int, FOLDS] = 5,
    seed: Seed = 0,
) -> None:
    """Train the entailment test, with a held-out report before it saves.

    It learns from made-up pairs around the questions' references and from people's verdicts: an
    answer that people accepted entails the reference or follows from it. Use it with
    `markscheme judge FILE --judge "entailment(test='embedded:FOLDER')"`.
    """
    import dataclasses

    from markscheme.training import (
        EntailmentOptions,
        check_new_folder,
        labelled_answers,
        read_all_pairs,
        shipped_data,
        train_entailment,
    )

    check_new_folder(out)
    given = read_all_pairs(pairs, entailed=entailed)
    options = EntailmentOptions(folds=folds, seed=seed)
    if rounds is not None:
        options = dataclasses.replace(
            options, trees=dataclasses.replace(options.trees, rounds=rounds)
        )
    trained = train_entailment(
        labelled_answers(data, columns) if data else shipped_data(part="train", data_dir=data_dir),
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
