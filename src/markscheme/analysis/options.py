"""Options of the public functions of this package; their help texts are the command line's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from markscheme.agreement import JudgesOption, JudgmentOptions
from markscheme.flags import (
    By,
    Confidence,
    Judge,
    Option,
    Slices,
    Threshold,
    retired,
)
from markscheme.tables import FileOptions


@retired("features")
@dataclass(frozen=True, kw_only=True)
class ExplainOptions:
    """How one judgment is explained.

    Attributes:
        weights: folder of a trained examiner; None for the one that ships.
        depth: which parts of the examiner read the answer; see `markscheme judges examiner`.
    """

    weights: Annotated[
        str | None, Option("Folder of an examiner trained by 'markscheme train'.", rare=True)
    ] = None
    depth: Annotated[
        Literal["fast", "default", "full"],
        Option(
            "fast: trees only. default: also the encoder, where the trees are unsure. full: "
            "both for every answer."
        ),
    ] = "default"


@dataclass(frozen=True, kw_only=True)
class FailureOptions(JudgmentOptions, JudgesOption, FileOptions):
    """How rejected or accepted answers, or those that judges get wrong, are read and shown.

    Files that are no run's are read as the fields of `FileOptions` say.

    Attributes:
        trusted: take this judge's verdicts in place of people's.
        judge_errors: sort each judge's errors too.
        by: `system`: rejected answers, or the errors of judges, for each system by itself.
        examples: answers to show of every mode; None for 1 with labels and 3 without.
        rejected: list what judges reject, even where there are labels.
        accepted: list what judges accept, with their reasons.
        slices: columns of the user's own by whose values rejections are counted.
    """

    trusted: Annotated[
        str | None,
        Option("Without labels: treat this judge's verdicts as people's."),
    ] = None
    judge_errors: Annotated[
        bool, Option("Classify each judge's own errors (Wang et al. 2023).", rare=True)
    ] = False
    by: By = None
    examples: Annotated[
        int | None,
        Option(
            "Number of answers to show for each failure mode. [default: 1; 3 without labels]",
            minimum=0,
        ),
    ] = None
    rejected: Annotated[
        bool,
        Option("List the answers that the judges reject, even if there are labels.", rare=True),
    ] = False
    accepted: Annotated[
        bool, Option("List the answers that the judges accept, with the reasons.")
    ] = False
    slices: Slices = ()


@retired("resamples", "seed")
@dataclass(frozen=True, kw_only=True)
class DiffOptions(FileOptions):
    """How two sets of answers to the same questions are compared.

    Files that are no run's are read as the fields of `FileOptions` say.

    Attributes:
        judge: whose verdicts; None for the one that both sides have, or that judged one of them
            where the other is answers only. Answers on both sides are judged by the examiner.
        base_system, new_system: the system of each side; None for the only one, or all that both
            have.
        slices: columns of the new answers by whose values changes are counted.
        subset: compare only questions that the new side has too; otherwise those that it lacks
            count as unanswered, and so as wrong.
        margin: the loss that is tolerated, as a share of the answers: 0.02 is two points.
        confidence: of the interval; a change is shown where p is at most 1 minus this.
        looks: successive runs to be compared with this base, every night, say: each has its part
            of 1 - `confidence`, so that all of them together raise no more false alarms.
        flips: answers to show that got worse, and that got better.
        threshold: an answer is accepted from this score where a judge gave no verdict.
    """

    judge: Judge = None
    base_system: Annotated[str | None, Option("System to compare in BASE, if it has several.")] = (
        None
    )
    new_system: Annotated[str | None, Option("System to compare in NEW, if it has several.")] = None
    slices: Slices = ()
    subset: Annotated[
        bool,
        Option(
            "Compare only questions that NEW has too; otherwise, those that it lacks count as "
            "wrong."
        ),
    ] = False
    margin: Annotated[
        float,
        Option(
            "Tolerated loss: 0.02 is 2 percentage points.",
            minimum=0,
            maximum=1,
        ),
    ] = 0.0
    confidence: Confidence = 0.95
    looks: Annotated[
        int,
        Option(
            "Number of successive runs to be compared with this base; the significance level is "
            "divided among them (Bonferroni).",
            minimum=1,
            maximum=1_000_000,
            rare=True,
        ),
    ] = 1
    flips: Annotated[
        int,
        Option(
            "Number of answers to show that got worse, and that got better.", minimum=0, rare=True
        ),
    ] = 5
    threshold: Threshold = 0.5

    @property
    def level(self) -> float:
        """The confidence of this look alone (Bonferroni)."""
        return 1 - (1 - self.confidence) / self.looks
