"""`markscheme agree`: how well judges agree with people, and people with each other."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from markscheme.agreement import AgreeOptions
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
        Option(
            "Write every answer on which judge and labels differ to this file: .jsonl, .csv or "
            ".parquet.",
            output=True,
        ),
    ] = None,
) -> None:
    """Measure how far judges agree with people's labels, with intervals clustered by question.

    Prints accuracy, precision, recall, F1 (of the accepted class, and macro), Cohen's kappa, MCC,
    AUROC and average precision; if some answers were not judged, once without them and once with
    them as errors. Ends with what the judge may be used for, which is also written to
    'fitness.json' in the run's folder.
    """
    from markscheme import agreement

    found = agreement.agree(judgments, labels, options, answers=answers)
    shown.show(found)
    if errors is not None:
        shown.note(f"written to {found.write_errors(errors)}")
    run = agreement.open_run(judgments)
    if found.fitness and run.folder is not None and run.manifest:
        try:
            lines = agreement.write_fitness(found.fitness, run.folder)[1]
            shown.note("\n".join(lines))
        except DataError as error:  # a run that may only be read
            shown.note(f"note: {error}")
