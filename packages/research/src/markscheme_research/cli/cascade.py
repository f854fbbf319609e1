"""`markscheme research cascade`: agreement against calls of a strong judge, as recorded."""

from __future__ import annotations

from typing import Annotated

from markscheme.cli import Judgments, Shown, command
from markscheme.flags import Answers, Labels, Option
from markscheme_research.studies import CascadeOptions


@command(
    "research cascade",
    example="markscheme research cascade runs/answers-6dae129e --first contains --then gpt-4o",
)
def cascade(
    judgments: Judgments,
    first: Annotated[str, Option("First (cheap) judge, by its name in the judgments.")],
    then: Annotated[str, Option("Second (strong) judge, by its name in the judgments.")],
    options: CascadeOptions,
    shown: Shown,
    labels: Labels = None,
    answers: Answers = None,
) -> None:
    """Measure a cascade's agreement against its calls, and choose its thresholds by labels.

    The first judge decides where it is sure; the second judges the rest. No judge is run: both must
    have judged the labelled answers already.
    """
    from markscheme_research import studies

    found = studies.choose_cascade(
        judgments, labels, options, first=first, then=then, answers=answers
    )
    shown.show(found)
