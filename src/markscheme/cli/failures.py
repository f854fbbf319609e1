"""`markscheme failures`: what judges reject and why; with labels, what they get wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from markscheme.analysis import FailureOptions
from markscheme.cli.app import notes
from markscheme.cli.options import Shown, command
from markscheme.flags import Answers, Argument, Default, Labels, Option


@command("failures", example="markscheme failures runs/answers-6dae129e", reads_answers=True)
def failures(
    judged: Annotated[
        str,
        Argument(
            "Labelled answers, or judgments: a file, ours or another tool's, or a run's folder.",
            metavar="FILE",
        ),
    ],
    options: FailureOptions,
    shown: Shown,
    labels: Annotated[Labels, Default("those in FILE")] = None,
    answers: Answers = None,
    details: Annotated[
        Path | None, Option("Write every tagged answer: .jsonl, .csv or .parquet.", rare=True)
    ] = None,
) -> None:
    """List what judges reject, doubt or do not judge, with the reasons; or what they get wrong.

    Without labels: every such answer of a run, with question, reference and reason, mode by mode.
    With labels: why answers that people accept fail exact match, and which judges fail too; the
    modes are those of Kamalloo et al. (2023), section 5. Every tag comes with its evidence.
    """
    from markscheme.analysis import failures as find_modes

    found = find_modes(judged, labels, options, answers=answers)
    if found.labelled and options.judge_errors and found.judge_errors is None:
        notes.print("note: no judge's verdicts here, so no errors of judges", markup=False)
    if details is not None:
        notes.print(f"written to {found.write_details(details)}", markup=False)
    shown.show(found)
