"""`markscheme failures`: what judges reject and why; with labels, what they get wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from markscheme.analysis import FailureOptions
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
        Path | None,
        Option(
            "Write every tagged answer to this file: .jsonl, .csv or .parquet.",
            rare=True,
            output=True,
        ),
    ] = None,
) -> None:
    """List the answers that judges reject, are unsure of or do not judge, or that they get wrong.

    Without labels: the answers of a run that are rejected, unsure or not judged, with question,
    reference and reason, grouped by failure mode. With labels: why exact match rejects answers that
    people accept, and which judges reject them too; the modes are those of Kamalloo et al. (2023),
    section 5. Every tag comes with its evidence.
    """
    from markscheme.analysis import failures as find_modes

    found = find_modes(judged, labels, options, answers=answers)
    if found.labelled and options.judge_errors and found.judge_errors is None:
        shown.note("note: no judge's verdicts here, so no errors of judges")
    if details is not None:
        shown.note(f"written to {found.write_details(details)}")
    shown.show(found)
    for note in found.notes:
        shown.note(f"note: {note}")
