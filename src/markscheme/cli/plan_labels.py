"""`markscheme plan-labels`: how many answers to label, and which."""

from __future__ import annotations

from typing import Annotated

from markscheme.agreement import PlanOptions
from markscheme.cli.app import console
from markscheme.cli.options import Judgments, Out, Shown, command
from markscheme.flags import Answers, Fields, Option


@command(
    "plan-labels",
    example="markscheme plan-labels runs/answers-6dae129e --count 200 --out todo.csv",
)
def plan_labels(
    judgments: Judgments,
    options: PlanOptions,
    shown: Annotated[Shown, Fields(without=("out",))],
    pilot: Annotated[
        str | None, Option("File of a few existing labels to base the plan on.")
    ] = None,
    answers: Answers = None,
    out: Out = None,
) -> None:
    """Plan how many labels a wanted precision takes, and draw the answers to label.

    The file of --out has question, references and answer, an empty column 'label' to fill in, and
    the id and sampling probability of each answer, which 'markscheme estimate' needs. It leaves out
    the judge's verdict and the system, which could bias the labeller; the ids of several systems'
    answers are opaque, so that they do not name the system either.
    """
    from markscheme import agreement

    plan = agreement.plan_labels(judgments, options, pilot=pilot, answers=answers)
    shown.show(plan, lambda: console.print("\n".join(plan.notes), soft_wrap=True))
    if out is not None:
        plan.write(out)
        filled = plan.frame["label"].count()
        do = "fill in the column 'label'"
        if filled == plan.frame.height:
            do = "all its answers have a label"
        elif filled:
            do = f"{filled:,} of its answers have a label already; {do} of the others"
        shown.note(f"written to {out}: {do}")
    elif shown.format == "table":
        shown.note("nothing is written; --out to_label.csv writes them, to be labelled")
