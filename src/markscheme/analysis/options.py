"""Options of the public functions of this package; their help texts are the command line's."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

from markscheme.options import (
    DRAWN,
    DRAWS,
    LIMIT,
    By,
    Columns,
    DataDir,
    Judges,
    LabelColumn,
    Option,
    Part,
    PositiveFrom,
    ReferenceSeparator,
    Seed,
    Threshold,
)


@dataclass(frozen=True, kw_only=True)
class ExplainOptions:
    """How one judgment is explained.

    Attributes:
        weights: folder of a trained examiner; None for the one that ships.
        features: how many features the table shows; `frame` has all.
    """

    weights: Annotated[
        str | None, Option("Folder of an examiner trained by 'markscheme train'.")
    ] = None
    features: Annotated[int, Option("How many deciding features to show.", minimum=0)] = 6


@dataclass(frozen=True, kw_only=True)
class ProbeOptions:
    """Which probes are tried, and on how many answers.

    Attributes:
        probes: their names; () for all.
        limit: try at most this many answers, drawn at random; None for all.
        seed: of the draw, the order of references and the choice of injections.
        columns: columns with unusual names, ours to the file's.
        reference_separator: as for `ReadOptions`.
    """

    probes: Annotated[
        tuple[str, ...],
        Option("Only these probes, by comma. [default: all]", split=True),
    ] = ()
    limit: Annotated[
        int | None,
        LIMIT,
    ] = None
    seed: Seed = 0
    columns: Columns = field(default_factory=dict)
    reference_separator: ReferenceSeparator = "auto"


@dataclass(frozen=True, kw_only=True)
class FailureOptions:
    """How answers that fail exact match are read, sorted and shown.

    Attributes:
        label_column: the column with labels.
        trusted: take this judge's verdicts in place of people's.
        judges: judges to take; () for all.
        columns: columns with unusual names, ours to the file's.
        threshold: an answer is accepted from this score where a judge gave no verdict.
        positive_from: the grade from which an answer is acceptable; None for labels of 0 and 1.
        judge_errors: sort each judge's errors too.
        by: `system`: the errors of judges for each system by itself.
        examples: answers to show of every mode.
    """

    label_column: LabelColumn = None
    trusted: Annotated[
        str | None,
        Option("Take this judge's verdicts in place of people's, where none labelled."),
    ] = None
    judges: Judges = ()
    columns: Columns = field(default_factory=dict)
    threshold: Threshold = 0.5
    positive_from: PositiveFrom = None
    judge_errors: Annotated[bool, Option("Sort each judge's errors too (Wang et al. 2023).")] = (
        False
    )
    by: By = None
    examples: Annotated[int, Option("Answers to show of every mode.", minimum=0)] = 1


@dataclass(frozen=True, kw_only=True)
class StudyOptions:
    """Which answers and which draws of references are studied.

    Attributes:
        draws: draws of reference lists.
        protocol: `rest`: drawn references leave the candidates; `butref`: they stay, which leaks.
        questions: only so many questions, at random; None for all.
        per_question: only so many answers of each question; None for all.
        part: of ANTIQUE.
        columns: columns with unusual names, ours to the file's.
        data_dir: folder with the datasets.
    """

    draws: Annotated[int, DRAWS] = 1
    protocol: Annotated[
        Literal["rest", "butref"],
        DRAWN,
    ] = "rest"
    questions: Annotated[
        int | None, Option("Only so many questions, at random: to try things.", minimum=1)
    ] = None
    per_question: Annotated[
        int | None,
        Option(
            "Only so many answers of each question.",
            ("--answers-per-question",),
            aliases=("--per-question",),
            minimum=1,
        ),
    ] = None
    part: Part = "auto"
    columns: Columns = field(default_factory=dict)
    data_dir: DataDir = None
