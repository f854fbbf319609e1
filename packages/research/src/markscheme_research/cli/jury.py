"""`markscheme research jury`: what each judge's vote is worth, measured on labels."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from markscheme.cli import Judgments, Shown, command
from markscheme.flags import Answers, Labels, Option
from markscheme_research.studies import JuryOptions


@command(
    "research jury",
    example="markscheme research jury runs/answers-6dae129e --labels labels.csv",
)
def jury(
    judgments: Judgments,
    options: JuryOptions,
    shown: Shown,
    labels: Labels = None,
    answers: Answers = None,
    save_weights: Annotated[
        Path | None,
        Option(
            'Write the weights to this file, for jury(judges=[...], weights="FILE").', output=True
        ),
    ] = None,
) -> None:
    """Weight judges by their agreement with people on some questions; report on the others.

    Judges that make the same errors share a weight, and one that is no better than chance has none.
    No judge is run: all must have judged the labelled answers already.
    """
    from markscheme_research import studies

    found = studies.jury(judgments, labels, options, answers=answers)
    if save_weights is not None:
        found.save_weights(save_weights)
        shown.note(f"weights written to {save_weights}")
    shown.show(found)
