"""`markscheme diff`: what changed between two sets of answers to the same questions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from markscheme.analysis import DiffOptions
from markscheme.cli.options import Shown, command
from markscheme.flags import Argument, Option


@command(
    "diff",
    example="markscheme diff yesterday.jsonl today.jsonl --fail-on-regression",
    reads_answers=True,
)
def diff(
    base: Annotated[
        str, Argument("Earlier state: a run's folder, judgments, or answers.", metavar="BASE")
    ],
    new: Annotated[str, Argument("New state, likewise.", metavar="NEW")],
    options: DiffOptions,
    shown: Shown,
    fail_on_regression: Annotated[
        bool,
        Option("Exit with code 1 if the new answers are worse by more than chance and --margin."),
    ] = False,
    comment: Annotated[
        Path | None,
        Option("Write a Markdown comment for a pull request to this file.", output=True),
    ] = None,
    junit: Annotated[
        Path | None,
        Option(
            "Write JUnit XML to this file: a test case for the gate, and one for each pair.",
            output=True,
        ),
    ] = None,
    sarif: Annotated[
        Path | None,
        Option(
            "Write SARIF to this file: a result for each answer that got worse.",
            rare=True,
            output=True,
        ),
    ] = None,
) -> None:
    """Show what got better or worse between two sets of answers, where, and whether by chance.

    Answers are paired by question. Prints how many got better, worse or stayed the same, with a
    paired test and an interval; the groups that lost most; and the changed answers with the
    reasons. Answers without judgments are judged first, by the judge of the other side or else the
    examiner.
    """
    from markscheme.analysis import diff as find_changes
    from markscheme.tables import replace_file

    found = find_changes(base, new, options)
    for path, write in (
        (comment, found.comment),
        (junit, found.junit),
        (sarif, found.sarif),
    ):
        if path is not None:
            replace_file(path, write().encode())
            shown.note(f"written to {path}")
    shown.show(found)
    for note in found.notes:
        shown.note(f"note: {note}")
    if fail_on_regression:
        word = "FAILED" if found.regression else "passed"
        shown.gates({f"gate {word}: {found.headline}": not found.regression})
