"""`markscheme estimate`: human accuracy from many judgments and few labels."""

from __future__ import annotations

from markscheme.agreement import EstimateOptions
from markscheme.cli.options import Judgments, Shown, command
from markscheme.flags import Answers, Labels


@command("estimate", example="markscheme estimate runs/answers-6dae129e --labels labels.csv")
def estimate(
    judgments: Judgments,
    options: EstimateOptions,
    shown: Shown,
    labels: Labels = None,
    answers: Answers = None,
) -> None:
    """Estimate what people would say of all answers, from judgments of all and labels of some.

    The labels are of a random part of the answers, as plan-labels draws it; without --labels,
    those that came with the judged answers. Tuned prediction-powered inference, next to the labels
    alone; intervals are clustered on question. Few labels speak by themselves; labels that are no
    random part are refused.
    """
    from markscheme import agreement

    shown.show(agreement.estimate(judgments, labels, options, answers=answers))
