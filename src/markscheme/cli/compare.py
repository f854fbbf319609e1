"""`markscheme compare`: judges against labels, or systems under a judge, pair by pair."""

from __future__ import annotations

from markscheme.agreement import CompareOptions
from markscheme.cli.options import Judgments, Shown, command
from markscheme.options import Answers, Labels


@command("compare")
def compare(
    judgments: Judgments,
    options: CompareOptions,
    shown: Shown,
    labels: Labels = None,
    answers: Answers = None,
) -> None:
    """Compare judges on the same labelled answers, or systems under one judge, pair by pair.

    Exact McNemar test, permutation test that exchanges whole questions, Holm's correction over all
    pairs, and the difference with an interval clustered on question.
    """
    from markscheme import agreement

    shown.show(agreement.compare(judgments, labels, options, answers=answers))
