"""`markscheme research may-replace`: whether a judge is as good as an annotator."""

from __future__ import annotations

from markscheme.cli import Judgments, Shown, command
from markscheme.flags import Answers, Labels
from markscheme_research.studies import MayReplaceOptions


@command(
    "research may-replace",
    example="markscheme research may-replace runs/answers-6dae129e --labels labels.csv",
)
def may_replace(
    judgments: Judgments,
    options: MayReplaceOptions,
    shown: Shown,
    labels: Labels = None,
    answers: Answers = None,
) -> None:
    """Test whether a judge may replace a human annotator (Calderon et al. 2025).

    Needs the labels of three annotators or more. Each is left out in turn, and judge and annotator
    are compared by how well they agree with the others; the judge may replace an annotator if it
    wins against half of them.
    """
    from markscheme_research import studies

    shown.show(studies.may_replace(judgments, labels, options, answers=answers))
