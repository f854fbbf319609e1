"""What `bench` judges, and on which questions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from markscheme.flags import Judges, Option
from markscheme_research.options import FirstQuestions


@dataclass(frozen=True, kw_only=True)
class BenchOptions:
    """What `bench` judges, and on which questions.

    Attributes:
        judges: names of judges; () for those that ship and need nothing.
        questions: at most so many questions of each set, the first ones.
        every_question: also questions that shipped weights learned from.
        modes: a table of failure modes, as their Figure 4.
        pedants: an interpreter in which PEDANTS runs (`pedants.pedants_verdicts`).
        thresholds: how far F1 depends on each judge's threshold, by system.
    """

    judges: Judges = ()
    questions: FirstQuestions = None
    every_question: Annotated[
        bool, Option("Include questions that shipped weights were trained on.")
    ] = False
    modes: Annotated[bool, Option("Also report failure modes.", rare=True)] = True
    pedants: Annotated[
        str | None,
        Option(
            "Also judge with PEDANTS, with the qa-metrics installed in this interpreter.",
            metavar="PYTHON",
            rare=True,
        ),
    ] = None
    thresholds: Annotated[
        bool, Option("Also show how far F1 depends on the threshold, by system.", rare=True)
    ] = False
