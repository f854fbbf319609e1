"""Options of studies of judges, as dataclasses; the command line makes flags of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from markscheme.agreement import JudgesOption, JudgmentOptions, LabelOptions
from markscheme.flags import (
    LIMIT,
    SHARE,
    By,
    Option,
    Seed,
)
from markscheme.tables import FileOptions


@dataclass(frozen=True, kw_only=True)
class JuryOptions(JudgmentOptions, JudgesOption):
    """How judges of a jury are weighed.

    Attributes:
        share: of the questions to weigh them on; figures are of the others.
        seed: of the split.
    """

    share: Annotated[float, SHARE] = 0.5
    seed: Seed = 0


@dataclass(frozen=True, kw_only=True)
class CascadeOptions(JudgmentOptions):
    """What a cascade's thresholds are chosen by: `agreement` or `calls`; neither for the curve.

    Attributes:
        agreement: expected agreement with people on a new question, to be guaranteed
            (conformal risk control).
        calls: share of answers, at most, that may go to the second judge.
        share: of the labelled questions to choose on; figures are of the others.
        seed: of the splits.
    """

    agreement: Annotated[
        float | None,
        Option("Choose thresholds that guarantee this agreement with people, such as 0.85."),
    ] = None
    calls: Annotated[
        float | None,
        Option("Choose thresholds that send at most this share of answers to the second judge."),
    ] = None
    share: Annotated[float, SHARE] = 0.5
    seed: Seed = 0


@dataclass(frozen=True, kw_only=True)
class MayReplaceOptions(JudgmentOptions, JudgesOption):
    """Which judges are tested in the place of an annotator, and by which margin.

    Attributes:
        epsilon: by how much a judge may agree less than annotators do: 0.2 for experts,
            0.15 for skilled annotators, 0.1 for crowds.
    """

    epsilon: Annotated[
        float,
        Option("Margin of the test: 0.2 for experts, 0.15 for skilled people, 0.1 for crowds."),
    ] = 0.15


@dataclass(frozen=True, kw_only=True)
class TagOptions(JudgmentOptions, JudgesOption):
    """Which errors are tagged by hand.

    Attributes:
        judge_errors: the errors of the judges; without, the accepted answers that exact match
            rejects.
        by: `system`: the errors of judges on each system by itself.
        sample: errors drawn of each judge, and of each system where they are by themselves.
        seed: of the draw, which does not depend on the order of the rows.
    """

    judge_errors: Annotated[
        bool, Option("Classify each judge's own errors (Wang et al. 2023).")
    ] = False
    by: By = None
    sample: Annotated[
        int,
        Option(
            "Number of errors to draw for each judge; with --by system, for each system.", minimum=1
        ),
    ] = 100
    seed: Seed = 0


@dataclass(frozen=True, kw_only=True)
class TuneOptions(LabelOptions, FileOptions):
    """What is tried for a judge, on which questions, and how their answers are read.

    Attributes:
        try_models: models that each judge is tried with; () for the run's own. Entries of a model
            file with another effort are other models.
        samples: numbers of samples that each judge is tried with; () for its own.
        temperature: of several samples.
        sure: where several samples stop; see `markscheme.judges.prompted`.
        first_round: questions of the first round, at least.
        finalists: judges that are run on the questions held out.
        share: of the questions to choose on; figures are of the others.
        seed: of the split and the order of questions.
    """

    try_models: Annotated[
        tuple[str, ...],
        Option(
            "Models to try with each judge, comma-separated; entries of --models may differ in "
            "reasoning effort.",
            flags=("--try-model",), aliases=("--try-models",), split=True,
        ),
    ] = ()  # fmt: skip
    samples: Annotated[
        tuple[int, ...],
        Option(
            "Comma-separated numbers of samples to try with each judge, such as 1,5.",
            flags=("--try-samples",),
            split=True,
            rare=True,
        ),
    ] = ()
    temperature: Annotated[
        float,
        Option("Sampling temperature where a judge takes several samples.", minimum=0, rare=True),
    ] = 0.7
    sure: Annotated[
        float, Option("Stop sampling once the verdict is this certain, 0 to 1.", rare=True)
    ] = 0.95
    first_round: int = 20
    finalists: Annotated[
        int, Option("Number of judges to run on the held-out questions.", minimum=2, rare=True)
    ] = 3
    share: Annotated[float, SHARE] = 0.5
    seed: Seed = 0


@dataclass(frozen=True, kw_only=True)
class AmendOptions(LabelOptions, FileOptions):
    """How answers and labels are read."""


@dataclass(frozen=True, kw_only=True)
class HierarchyOptions(LabelOptions, JudgesOption):
    """Whose relations are tested, on whose answers.

    Attributes:
        without: systems to leave out of the tests of order; the paper leaves out DPR+FiD, whose
            answers are spans.
    """

    without: Annotated[
        tuple[str, ...],
        Option(
            "Systems to leave out of the tests between sets, comma-separated; the paper leaves "
            "out DPR+FiD, whose answers are spans.",
            split=True,
        ),
    ] = ()


@dataclass(frozen=True, kw_only=True)
class ReliabilityOptions(LabelOptions, FileOptions):
    """How runs are repeated and compared, and how answers are read.

    Attributes:
        recorded: in runs that are there, the judge to take; None where each has one.
        seeds: a run for each seed, where answers are judged; or
        samples: so many runs that differ only in that a model is called again.
        texts: compare these texts too: `raw` or `explanation`.
    """

    recorded: Annotated[
        str | None,
        Option("With existing runs: the judge to compare.", aliases=("--judges",), rare=True),
    ] = None
    seeds: Annotated[
        tuple[int, ...],
        Option(
            "Seeds of the runs, one run each, comma-separated, such as the paper's 0,1,2,3.",
            split=True,
        ),
    ] = ()
    samples: Annotated[
        int | None,
        Option(
            "Instead of --seeds: number of runs, which differ only in that models are called "
            "again.",
            minimum=2,
        ),
    ] = None
    texts: Annotated[
        str | None, Option("Compare these texts too: raw or explanation.", rare=True)
    ] = None

    @property
    def repetitions(self) -> int:
        """How many runs are made, where answers are judged."""
        return self.samples or len(self.seeds)


@dataclass(frozen=True, kw_only=True)
class ProbeOptions(FileOptions):
    """Which probes are tried, on how many answers, and how these are read.

    Attributes:
        probes: their names; () for all.
        limit: try at most this many answers, drawn at random; None for all.
        seed: of the draw, the order of references and the choice of injections.
    """

    probes: Annotated[
        tuple[str, ...],
        Option("Use only these probes, comma-separated. [default: all]", split=True),
    ] = ()
    limit: Annotated[
        int | None,
        LIMIT,
    ] = None
    seed: Seed = 0
