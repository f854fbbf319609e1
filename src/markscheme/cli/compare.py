"""`markscheme compare`: judges against labels, or systems under a judge, pair by pair."""

from __future__ import annotations

from typing import Annotated

from markscheme.agreement import CompareOptions
from markscheme.cli.options import Judgments, Shown, command
from markscheme.errors import AgreementError, BadRowsError, DataError
from markscheme.flags import Answers, Argument, Labels


@command("compare", example="markscheme compare runs/answers-6dae129e --systems")
def compare(
    judgments: Judgments,
    options: CompareOptions,
    shown: Shown,
    other: Annotated[
        str | None,
        Argument("Another run or file of judgments of the same answers.", metavar="OTHER"),
    ] = None,
    labels: Labels = None,
    answers: Answers = None,
) -> None:
    """Compare judges on the same labelled answers, or systems under one judge, pair by pair.

    Prints each difference with its interval and one test, both by question, with Holm's correction
    over all pairs. Judges of OTHER, another run on the same answers, are compared too. To see what
    changed between two runs, use 'diff'.
    """
    from markscheme import agreement

    try:
        found = agreement.compare(judgments, labels, options, other=other, answers=answers)
    except (AgreementError, DataError) as error:
        if other is None or isinstance(error, BadRowsError):
            raise
        raise type(error)(
            f"{error}. To see what changed from one run to the next, without labels: "
            f"markscheme diff {judgments} {other}"
        ) from None
    shown.show(found)
