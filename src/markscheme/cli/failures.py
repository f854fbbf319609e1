"""`markscheme failures`: what judges reject and why; with labels, what they get wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from markscheme.analysis import FailureOptions
from markscheme.cli.app import notes
from markscheme.cli.options import Shown, command
from markscheme.flags import Answers, Argument, Default, Labels, Option, Seed


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
    tags: Annotated[
        str | None,
        Option(
            "Kinds given by hand, by answer_id and tag: counted next to those of the rules.",
            metavar="FILE",
            rare=True,
        ),
    ] = None,
    to_tag: Annotated[
        Path | None,
        Option(
            "Draw errors to tag by hand and write them: for 'annotate --scale error'.", rare=True
        ),
    ] = None,
    sample: Annotated[
        int,
        Option(
            "Errors to draw of each judge, with --by system of each system.", minimum=1, rare=True
        ),
    ] = 100,
    seed: Seed = 0,
) -> None:
    """List what judges reject, doubt or do not judge, with the reasons; or what they get wrong.

    Without labels: every such answer of a run, with question, reference and reason, mode by mode.
    With labels: why answers that people accept fail exact match, and which judges fail too; the
    modes are those of Kamalloo et al. (2023), section 5. Every tag comes with its evidence.
    """
    from markscheme.analysis import failures as find_modes
    from markscheme.tables import write_table

    found = find_modes(judged, labels, options, answers=answers, tags=tags)
    if found.labelled and options.judge_errors and found.judge_errors is None:
        notes.print("note: no judge's verdicts here, so no errors of judges", markup=False)
    if details is not None:
        notes.print(f"written to {found.write_details(details)}", markup=False)
    if to_tag is not None:
        drawn = found.to_tag(sample, seed=seed)
        write_table(drawn, to_tag)
        scale = "error" if found.judge_errors is not None else "mode"
        notes.print(
            f"{drawn.height:,} errors to tag written to {to_tag}: 'markscheme annotate {to_tag} "
            f"--scale {scale}', or fill in the column 'tag'",
            markup=False, soft_wrap=True,
        )  # fmt: skip
    shown.show(found)
