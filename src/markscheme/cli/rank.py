"""`markscheme rank`: do judges rank the systems as people do?"""

from __future__ import annotations

from markscheme.agreement import RankOptions
from markscheme.cli.options import Judgments, Shown, command
from markscheme.flags import Answers, Labels


@command("rank", example="markscheme rank runs/answers-6dae129e --labels labels.csv")
def rank(
    judgments: Judgments,
    options: RankOptions,
    shown: Shown,
    labels: Labels = None,
    answers: Answers = None,
) -> None:
    """Rank systems under each judge and by labels: differences, ranks, Kendall's tau-b, Spearman.

    Prints the table of Kamalloo et al. (2023). Every system must have answered the same questions,
    and every answer must have a label; answers that a judge did not judge count as wrong.
    """
    from markscheme import agreement

    shown.show(agreement.rank(judgments, labels, options, answers=answers))
