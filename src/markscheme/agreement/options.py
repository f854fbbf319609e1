"""Options that several public functions of this package share."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from markscheme.flags import (
    COUNT,
    JUDGE,
    SHARE,
    By,
    Columns,
    Confidence,
    Judge,
    Judges,
    LabelColumn,
    Option,
    PositiveFrom,
    Seed,
    Slices,
    Threshold,
    retired,
)
from markscheme.tables import FileOptions

Blanks = Literal["missing", "category"]
"""An annotator's blank is no rating, or a category of its own."""
Unjudged = Literal["left_out", "errors"]
"""What becomes of answers that were not judged: left out of the figures, or counted as errors (an
acceptable answer as wrongly rejected, an unacceptable one as wrongly accepted)."""
Predictions = Literal["auto", "score", "verdict"]
"""What a judge's prediction is taken to be."""
LabelledBy = Literal["people", "model"]
"""Whose labels a judge is compared with."""
About = Literal["future", "these"]
"""What an estimate is about: answers to further questions of the kind, or these answers alone."""


def rate_or_file(text: str) -> float | str:
    """`0.05` and `5%` are the same share; all else is a file.

    >>> rate_or_file("5%"), rate_or_file("gold.csv")
    (0.05, 'gold.csv')
    """
    try:
        return float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        return text


LabelErrors = Annotated[
    float | str | Path | None,
    Option(
        "Correct for wrong labels: their assumed share, such as 0.05 or 5%, or a file with "
        "people's labels of gold items ('annotate-export --as gold'). Without it: estimated from "
        "answers that several people labelled.",
        metavar="RATE|PATH",
        parse=rate_or_file,
        rare=True,
    ),
]
"""How many labels are wrong; None for what overlap shows."""
ABOUT = (
    "What the estimate is about: answers to further questions like these (future), or these "
    "answers only (these)."
)
HalfWidth = Annotated[
    float | None,
    Option("Wanted half-width of the confidence interval: 0.03 is 3 percentage points."),
]


@dataclass(frozen=True, kw_only=True)
class LabelOptions:
    """How labels are read.

    Attributes:
        columns: columns with unusual names, ours to the file's.
        label_column: the column with labels, where it is not called `label`.
        positive_from: the grade from which an answer is acceptable; None for labels of 0 and 1.
    """

    columns: Columns = field(default_factory=dict)
    label_column: LabelColumn = None
    positive_from: PositiveFrom = None

    @property
    def named(self) -> dict[str, str]:
        """The columns, that of the labels among them."""
        label = {} if self.label_column is None else {"label": self.label_column}
        return {**self.columns, **label}


@dataclass(frozen=True, kw_only=True)
class JudgmentOptions(LabelOptions):
    """How judgments and labels are read.

    Attributes:
        threshold: an answer is accepted from this score where a judge gave no verdict.
    """

    threshold: Threshold = 0.5


@dataclass(frozen=True, kw_only=True)
class JudgesOption:
    """Which judges of a table are taken.

    Attributes:
        judges: their names; () for all. In a wide table, the columns that are judges.
    """

    judges: Judges = ()


@retired("resamples", "seed")
@dataclass(frozen=True, kw_only=True)
class AgreeOptions(JudgmentOptions, JudgesOption):
    """What `agree` computes.

    Attributes:
        by: `system`: figures for each system too.
        slices: columns of the user's own, by whose values agreement is measured as well.
        confidence: of the intervals.
        annotators: agreement between the people who labelled, too.
        people: which of them; none for all.
        blanks: an annotator's blank is no rating (`missing`), or a `category` of its own.
        per_question: correlate scores with grades within questions (LINKAGE).
        label_errors: as of `EstimateOptions`.
        labelled_by: `people`, or a `model`, of which what the judge may be used for then speaks.
    """

    by: By = None
    slices: Slices = ()
    confidence: Confidence = 0.95
    annotators: Annotated[bool, Option("Also measure the agreement between annotators.")] = False
    people: Annotated[
        tuple[str, ...],
        Option(
            "Annotators to include, comma-separated: annotator1,annotator2. [default: all]",
            split=True,
            rare=True,
        ),
    ] = ()
    blanks: Annotated[
        Blanks,
        Option(
            "Annotators' blanks count as no rating (missing) or as a category.",
            rare=True,
        ),
    ] = "missing"
    per_question: Annotated[
        bool, Option("Correlate scores with grades within each question (LINKAGE).", rare=True)
    ] = False
    label_errors: LabelErrors = None
    labelled_by: Annotated[
        LabelledBy,
        Option("Who labelled: people, or a model, with which a judge then agrees.", rare=True),
    ] = "people"


@retired("resamples", "seed")
@dataclass(frozen=True, kw_only=True)
class CompareOptions(JudgmentOptions, JudgesOption):
    """How pairs are compared.

    Attributes:
        systems: compare systems under one judge; with labels, also as people would say.
        only: the systems to compare; none for all.
        about: what people's differences between systems are about, as of `EstimateOptions`.
        slices: columns of the user's own by whose values systems are compared as well.
        statistic: of judges, one of `verdicts.STATISTICS`; systems are compared by the share of
            their answers that the judge accepts.
        unjudged: `left_out` compares on answers that both judged; `errors` counts an answer that
            was not judged as judged wrongly (of a system: as not accepted).
        confidence: of the intervals; a difference is shown where p is at most 1 minus this.
        label_errors: as of `EstimateOptions`, of people's differences between systems.
    """

    systems: Annotated[
        bool,
        Option("Compare systems under one judge and, with labels, by what people would accept."),
    ] = False
    only: Annotated[
        tuple[str, ...], Option("Systems to compare, comma-separated. [default: all]", split=True)
    ] = ()
    about: Annotated[About, Option(ABOUT, rare=True)] = "future"
    slices: Slices = ()
    statistic: Annotated[
        str,
        Option("Compare judges by accuracy, f1_positive, kappa or any other figure of `agree`."),
    ] = "accuracy"
    unjudged: Annotated[
        Unjudged,
        Option(
            "Answers not judged are left out of the pair (left_out) or count as errors.",
            rare=True,
        ),
    ] = "left_out"
    confidence: Confidence = 0.95
    label_errors: LabelErrors = None


@retired("resamples", "seed")
@dataclass(frozen=True, kw_only=True)
class RankOptions(JudgmentOptions, JudgesOption):
    """How systems are ranked.

    Attributes:
        baseline: the judge that differences are taken from; None for exact_match or the first.
        scores: rank by mean score, of scores from 0 to 1, rather than by the share accepted; a
            verdict without a score counts as 1 or 0.
        common: keep only the questions that all systems answered.
        confidence: of the intervals.
    """

    baseline: Annotated[
        str | None,
        Option("Judge that the others are compared with. [default: exact_match, or the first]"),
    ] = None
    scores: Annotated[
        bool,
        Option(
            "Rank by mean score instead of share accepted; a verdict without a score is 1 or 0.",
            ("--by-score",),
            aliases=("--scores",),
        ),
    ] = False
    common: Annotated[
        bool, Option("Keep only the questions that all systems answered.", rare=True)
    ] = False
    confidence: Confidence = 0.95


@dataclass(frozen=True, kw_only=True)
class EstimateOptions(JudgmentOptions):
    """How human accuracy is estimated.

    Attributes:
        judge: whose judgments, which may be left out where there is one judge; several are weighed
            together, each by what it adds to the others.
        by: `system`: an estimate for each system, and the one for all answers.
        about: `future`: what people would say of answers to further questions like these, of which
            these are a sample too; `these`: of these answers alone, which takes fewer labels. None
            is `future`, and with `anytime` `these`.
        predictions: `score`, `verdict`, or `auto`: scores where every judged answer has one, all
            of them from 0 to 1.
        confidence: of the intervals.
        trust_sample: do not refuse labels that are evidently no random sample.
        anytime: an interval that may be looked at after every label (`running_estimate`), in place
            of those that hold at one look only. Labels count in the order of their file.
        half_width: with `anytime`, when to stop: how many more labels that takes is reported.
        label_errors: the share of labels that is supposed to be wrong, or a file with people's
            labels of gold items; None for what answers that several people labelled show.

    Labels that are grades need `positive_from`.
    """

    judge: Annotated[Sequence[str], JUDGE] = ()
    by: By = None
    about: Annotated[About | None, Option(f"{ABOUT} [default: future; with --anytime these]")] = (
        None
    )
    predictions: Annotated[
        Predictions,
        Option(
            "Use the judge's score, its verdict, or (auto) scores if all answers have one from 0 "
            "to 1.",
            rare=True,
        ),
    ] = "auto"
    confidence: Confidence = 0.95
    trust_sample: Annotated[
        bool, Option("Continue even if the labels are evidently not a random sample.", rare=True)
    ] = False
    anytime: Annotated[
        bool,
        Option(
            "Give an interval that stays valid when checked after every label, to stop "
            "once it is narrow enough."
        ),
    ] = False
    half_width: HalfWidth = None
    label_errors: LabelErrors = None


@retired("design", "strata")
@dataclass(frozen=True, kw_only=True)
class PlanOptions(JudgmentOptions):
    """How many answers are to be labelled.

    Attributes:
        half_width: wanted of the interval, as a share: 0.03 is 3 percentage points.
        above: labels to show that people accept more than this share, as a gate would.
        for_difference: two systems, both answers to a question are labelled: labels to show which
            is better, for `compare --systems`, or, with `half_width`, by how much.
        count: draw this many answers that have no label yet, of each system with `by`, whatever
            that takes.
        judge_accuracy: without known labels, how often either verdict is supposed to be right.
        judge: whose judgments; may be None where there is one judge.
        by: `system`: the plan is of each system's own estimate.
        about: as of `EstimateOptions`.
        with_system: whether the labelling file says which system gave each answer, and has the
            answers' own ids.
        seed: of the draw.
        confidence: of the interval that is planned.
    """

    half_width: HalfWidth = None
    above: Annotated[
        float | None,
        Option("Plan for showing that people accept more than this share, such as 0.8."),
    ] = None
    for_difference: Annotated[
        tuple[str, ...],
        Option(
            "Plan for showing which of two systems is better, with compare --systems.",
            split=True,
            metavar="A,B",
        ),
    ] = ()
    count: Annotated[
        int | None,
        Option(
            COUNT,
            aliases=("--label-count", "--labels"),
            minimum=1,
        ),
    ] = None
    judge_accuracy: Annotated[
        float,
        Option("Without labels: assumed share of verdicts that are right, 0 to 1.", rare=True),
    ] = 0.85
    judge: Judge = None
    by: By = None
    about: Annotated[About, Option(ABOUT)] = "future"
    with_system: Annotated[
        bool,
        Option(
            "Include the system and own id of each answer, which may bias the labeller.",
            rare=True,
        ),
    ] = False
    seed: Seed = 0
    confidence: Confidence = 0.95


@dataclass(frozen=True, kw_only=True)
class CalibrateOptions(LabelOptions):
    """How a threshold is chosen and a map fitted.

    Attributes:
        judge: whose scores; may be None where there is one judge.
        criterion: choose by `accuracy`, `f1_positive`, `f1_macro`, `kappa` or `mcc`.
        method: `platt` for few labels, `isotonic` for any rising shape.
        share: of the questions to choose and fit on; figures are of the others.
        bins: of the reliability diagram.
        seed: of the split.
    """

    judge: Judge = None
    criterion: Annotated[
        str,
        Option(
            "Choose the threshold by accuracy, f1_positive, f1_macro, kappa or mcc.",
            aliases=("--by",),
        ),
    ] = "accuracy"
    method: Annotated[
        Literal["platt", "isotonic"],
        Option(
            "Calibration map. platt: a logistic curve, for few labels. isotonic: any "
            "increasing curve, for many."
        ),
    ] = "platt"
    share: Annotated[float, SHARE] = 0.5
    bins: Annotated[
        int, Option("Number of bins of the reliability diagram.", minimum=2, rare=True)
    ] = 10
    seed: Seed = 0


@dataclass(frozen=True, kw_only=True)
class DriftOptions(LabelOptions, FileOptions):
    """How anchors are read, when they are judged again, and when there is an alarm.

    Attributes:
        every: days between checks; None asks now.
        since: a date, or date and time (UTC), of the first check to compare with.
        alpha: probability of an alarm at a check where nothing has changed.
        seed: of the test.
    """

    every: Annotated[
        float | None,
        Option("Days between checks; if the last one is more recent, none is made.", minimum=0),
    ] = None
    since: Annotated[
        str | None,
        Option("The first check to compare with, such as 2026-11-23, after a change you accept."),
    ] = None
    alpha: Annotated[
        float,
        Option("Probability of a false alarm at each check.", minimum=0.0004, maximum=1, rare=True),
    ] = 0.01
    seed: Seed = 0


def AgreementOptions(*, by_system: bool = False, **fields: Any) -> AgreeOptions:
    """The name of 0.1.0 for `AgreeOptions`, understood until 0.3."""
    warnings.warn(
        "AgreementOptions(by_system=True) is AgreeOptions(by='system') now; the old name will be "
        "removed in 0.3",
        DeprecationWarning,
        stacklevel=2,
    )
    return AgreeOptions(by="system" if by_system else None, **fields)
