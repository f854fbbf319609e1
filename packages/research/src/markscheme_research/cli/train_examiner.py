"""`markscheme train`: make an examiner of one's own."""

from __future__ import annotations

from typing import Annotated

from markscheme.cli import OutFile, command, say, show_tables, show_weights
from markscheme.flags import Default, Option
from markscheme.tables import FileOptions, check_new_folder
from markscheme_research.options import FOLDS, ROUNDS, DataDir, TrainingData


@command("train examiner", example="markscheme train examiner --data labelled.jsonl --out weights")
def examiner(
    out: OutFile,
    read: FileOptions,
    data: Annotated[
        TrainingData,
        Default("EVOUNA-NQ without its test part, and not what trained the shipped examiner"),
    ] = (),
    data_dir: DataDir = None,
    rounds: Annotated[int | None, ROUNDS] = None,
    seeds: Annotated[
        int,
        Option(
            "Number of ensembles to average.", ("--ensembles",), aliases=("--seeds",), minimum=1
        ),
    ] = 1,
    folds: Annotated[int, FOLDS] = 3,
    alone: Annotated[
        bool,
        Option("Train on --data only, without the data of the shipped examiner."),
    ] = False,
) -> None:
    """Train an examiner on your own labelled answers, with a held-out report before it saves.

    Your answers are added to the data that the shipped examiner was trained on, which the package
    holds as feature values. The encoder is not trained, only its weight is fitted. Use the result
    with `markscheme judge FILE --judge "examiner(weights='FOLDER')"`.
    """
    from markscheme_research.training import (
        TrainOptions,
        examiner_report,
        train_examiner,
        training_answers,
    )

    check_new_folder(out)
    trained = train_examiner(
        training_answers(data, read, part="!test", data_dir=data_dir),
        out,
        TrainOptions(folds=folds, with_shipped_rows=bool(data) and not alone).with_rounds(
            rounds, seeds
        ),
        say=say,
        report=lambda held_out: show_tables(examiner_report(held_out)),
    )
    show_weights(trained.folder, f"examiner(weights='{out}')")
