"""`markscheme estimate`: human accuracy from many judgments and few labels."""

from __future__ import annotations

from typing import Annotated

from markscheme.agreement import EstimateOptions
from markscheme.cli.options import Judgments, Shown, command
from markscheme.options import LABELS, Answers


@command("estimate")
def estimate(
    judgments: Judgments,
    labels: Annotated[str, LABELS],
    options: EstimateOptions,
    shown: Shown,
    answers: Answers = None,
) -> None:
    """Estimate what people would say of all answers, from judgments of all and labels of some.

    The labels are of a random part of the answers, as plan-labels draws it. Prediction-powered
    inference, plain and power-tuned, with Rogan-Gladen and the labels alone for comparison;
    intervals clustered on question. Refuses, with the reason, where the labels cannot support a
    figure.
    """
    from markscheme import agreement

    shown.show(agreement.estimate(judgments, labels, options, answers=answers))
