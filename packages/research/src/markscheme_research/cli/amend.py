"""`markscheme research amend`: references made better by people's labels."""

from __future__ import annotations

from typing import Annotated

from markscheme.cli import OutFile, Shown, command, notes
from markscheme.flags import Argument, Fields, Labels, Option
from markscheme_research.studies import AmendOptions


@command(
    "research amend",
    example="markscheme research amend answers.jsonl --labels labels.csv --out amended.jsonl",
    reads_answers=True,
)
def amend(
    answers: Annotated[str, Argument("Questions, references and answers.", metavar="ANSWERS")],
    out: OutFile,
    options: AmendOptions,
    shown: Annotated[Shown, Fields(without=("out",))],
    labels: Labels = None,
    dataset: Annotated[
        bool, Option("Write questions and references only, one row per question.")
    ] = False,
) -> None:
    """Amend references by labels: add answers that people accept, remove those that they reject.

    The protocol of Kamalloo et al. (2023, section 4.3). Writes the answers with amended references
    and prints each system's exact match before and after.
    """
    from markscheme_research import studies

    amended = studies.amend(answers, labels, options)
    amended.write(out, dataset=dataset)
    shown.show(amended)
    notes.print(f"written to {out}", markup=False)
