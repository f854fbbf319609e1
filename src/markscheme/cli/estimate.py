"""`markscheme estimate`: human accuracy from many judgments and few labels."""

from __future__ import annotations

from markscheme.agreement import EstimateOptions
from markscheme.cli.options import Judgments, Shown, command
from markscheme.flags import Answers, FailUnder, Labels


@command("estimate", example="markscheme estimate runs/answers-6dae129e --labels labels.csv")
def estimate(
    judgments: Judgments,
    options: EstimateOptions,
    shown: Shown,
    labels: Labels = None,
    answers: Answers = None,
    fail_under: FailUnder = None,
) -> None:
    """Estimate the share that people would accept, from many judgments and some labels.

    The labels must be of a random sample of the answers, as plan-labels draws it; others are
    refused. Without --labels, those in the judged file are used. Prints tuned prediction-powered
    inference next to the estimate from labels alone, which is preferred where labels are few;
    intervals are clustered by question.
    """
    from markscheme import agreement

    found = agreement.estimate(judgments, labels, options, answers=answers)
    held = {} if fail_under is None else found.gates(fail_under)
    shown.show(found)
    shown.gates(held)
