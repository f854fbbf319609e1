"""`markscheme agree`: how well judges agree with people, and people with each other."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from markscheme.agreement import AgreeOptions
from markscheme.cli.app import notes
from markscheme.cli.options import Judgments, Shown, command
from markscheme.errors import DataError
from markscheme.flags import Answers, Labels, Option


@command("agree", example="markscheme agree runs/answers-6dae129e --labels labels.csv")
def agree(
    judgments: Judgments,
    options: AgreeOptions,
    shown: Shown,
    labels: Labels = None,
    answers: Answers = None,
    errors: Annotated[
        Path | None,
        Option("Write every answer on which judge and labels differ: .jsonl, .csv or .parquet."),
    ] = None,
) -> None:
    """Agreement of judges with people's labels, with intervals clustered on question.

    Accuracy, precision, recall, F1 (of the accepted class, and macro), Cohen's kappa, MCC, AUROC
    and average precision; with answers that were not judged left out, and counted as errors. Ends
    with what the judge may be used for, written as 'fitness.json' into a run's folder.
    """
    from markscheme import agreement

    found = agreement.agree(judgments, labels, options, answers=answers)
    shown.show(found)
    if errors is not None:
        notes.print(f"written to {found.write_errors(errors)}", markup=False)
    if found.fitness and Path(judgments, "run.json").is_file():
        try:
            lines = agreement.write_fitness(found.fitness, Path(judgments))[1]
            notes.print("\n".join(lines), markup=False, soft_wrap=True)
        except DataError as error:  # a run that may only be read
            notes.print(f"note: {error}", markup=False)
