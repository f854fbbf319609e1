"""How much better people would find one system than another: judgments of all answers, and labels.

A judge's own difference is as biased as the judge: one that likes long answers puts the chatty
system first. As in prediction-powered inference (`accuracy_estimates`), labels correct it; here for
the difference of two systems on the questions that both answered, so that what a question does to
both cancels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from markscheme.agreement.accuracy_estimates import (
    estimates,
    evidently_chosen,
    few_labels,
    labels_of,
    sample_of,
)
from markscheme.agreement.options import CompareOptions, EstimateOptions
from markscheme.agreement.pairs import Comparison, holm_figures
from markscheme.results import Figure
from markscheme.stats import LEAST_FOR_JUDGES, LEAST_QUESTIONS, Sample, powered, powered_difference


@dataclass(frozen=True, kw_only=True)
class PeoplesDifference:
    """What people would say of a pair of systems.

    Attributes:
        first, second: the systems.
        first_value, second_value: share that people would accept, on shared questions; of few
            labels, what they say by themselves, with their interval.
        difference: first minus second, with its interval.
        p: two-sided, of no difference; `holm` corrected for all pairs.
        detectable: the smallest difference, above 0, that 4 of 5 such comparisons would show
            (before Holm's correction); None where there is none.
        labelled: answers of both that people labelled.
        questions: that both answered.
    """

    first: str
    second: str
    first_value: Figure
    second_value: Figure
    difference: Figure
    p: Figure
    holm: float | None = None
    detectable: float | None = None
    labelled: int
    questions: int


@dataclass(frozen=True, kw_only=True)
class SlicedDifference:
    """A pair of systems on the answers with one value of a column.

    Attributes:
        column, value: which answers.
        pair: by the judge alone.
        people: what people would say; None where there are no labels.
    """

    column: str
    value: str
    pair: Comparison
    people: PeoplesDifference | None


def peoples_differences(
    table: pl.DataFrame, pairs: Sequence[Comparison], options: CompareOptions
) -> list[PeoplesDifference]:
    """Differences of systems as people would say, by tuned prediction-powered inference.

    Args:
        table: one judge's judgments with the labels, of all answers or of a random sample, as
            `with_labels` gives them, and `system`.
        pairs: which systems.
        options: confidence, and from which grade an answer is acceptable.
    """
    parts = {str(name): part for (name,), part in table.group_by("system", maintain_order=True)}
    found = [_pair(parts[one.first], parts[one.second], one, options) for one in pairs]
    corrected = holm_figures([one.p.value for one in found])
    return [replace(one, holm=p) for one, p in zip(found, corrected, strict=True)]


def _pair(
    one: pl.DataFrame, other: pl.DataFrame, pair: Comparison, options: CompareOptions
) -> PeoplesDifference:
    reading = EstimateOptions(positive_from=options.positive_from)
    # Of the questions that both answered, so that their clusters have the same numbers.
    samples = [
        sample_of(part.join(rest, on="question", how="semi"), reading)[0]
        for part, rest in ((one, other), (other, one))
    ]
    reason = next(filter(None, map(_refusal, samples, (pair.first, pair.second))), None)
    detectable = None
    if reason:
        difference = p = Figure(reason=reason)
        values = [_alone(sample, options.confidence, p) for sample in samples]
    else:
        values = [Figure(value=powered(sample).value) for sample in samples]
        found = powered_difference(*samples, confidence=options.confidence)
        difference = Figure(value=found.value, low=found.low, high=found.high, method="ppi-t")
        p = Figure(reason="the labels never differ between the two")
        if found.p is not None:
            p = Figure(value=found.p, method="ppi-t")
            detectable = found.detectable
    return PeoplesDifference(
        first=pair.first,
        second=pair.second,
        first_value=values[0],
        second_value=values[1],
        difference=difference,
        p=p,
        detectable=detectable,
        labelled=sum(int(sample.labelled.sum()) for sample in samples),
        questions=len(np.unique(samples[0].clusters)),
    )


def _alone(sample: Sample, confidence: float, none: Figure) -> Figure:
    """What the labels of a system say by themselves; `none` where there are none."""
    if not sample.labelled.any() or evidently_chosen(sample):
        return none
    return estimates(sample, confidence=confidence)[-1].figure


def _refusal(sample: Sample, system: str) -> str | None:
    if few_labels(sample):
        labelled, questions = labels_of(sample)
        return (
            f"{system!r} has {labelled} labels, of {questions} questions; needed are "
            f"{LEAST_FOR_JUDGES} labels of each, of {LEAST_QUESTIONS} questions: 'markscheme "
            "plan-labels' draws more"
        )
    if evidently_chosen(sample):
        return f"the labels of {system!r} are evidently not a random sample"
    return None
