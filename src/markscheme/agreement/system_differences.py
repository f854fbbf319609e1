"""How much better people would find one system than another: judgments of all answers, and labels.

A judge's own difference is as biased as the judge: one that likes long answers puts the chatty
system first. As in prediction-powered inference (`accuracy_estimates`), labels correct it; here for
the difference of two systems on the questions that both answered, so that what a question does to
both cancels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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
from markscheme.agreement.pairs import Comparison, Pair, with_holm
from markscheme.results import Figure
from markscheme.stats import LEAST_FOR_JUDGES, LEAST_QUESTIONS, Sample, powered, powered_difference
from markscheme.text import counted


@dataclass(frozen=True, kw_only=True)
class PeoplesDifference(Pair):
    """What people would say of a pair of systems, on questions that both answered.

    The values are shares that people would accept; of few labels, what these say by themselves,
    with an interval.

    Attributes:
        labelled: answers of both that people labelled.
    """

    labelled: int


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
        options: confidence, what it is about, and from which grade an answer is acceptable.
    """
    parts = {str(name): part for (name,), part in table.group_by("system", maintain_order=True)}
    return with_holm([_pair(parts[one.first], parts[one.second], one, options) for one in pairs])


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
        values = [_alone(sample, options, p) for sample in samples]
    else:
        values = [Figure(value=powered(each, about=options.about).value) for each in samples]
        found = powered_difference(*samples, about=options.about, confidence=options.confidence)
        difference = Figure(value=found.value, low=found.low, high=found.high, method="ppi-t")
        p = Figure(reason="the labels never differ between the two")
        if found.low == found.high is not None:
            p = Figure(reason="all answers are labelled, and the difference is known")
        elif found.p is not None:
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


def _alone(sample: Sample, options: CompareOptions, none: Figure) -> Figure:
    """What the labels of a system say by themselves; `none` where there are none."""
    if not sample.labelled.any() or evidently_chosen(sample):
        return none
    return estimates(sample, about=options.about, confidence=options.confidence)[-1].figure


def _refusal(sample: Sample, system: str) -> str | None:
    if few_labels(sample):
        labelled, questions = labels_of(sample)
        return (
            f"{system!r} has {counted(labelled, 'label')}, of {counted(questions, 'question')}; "
            f"needed are "
            f"{LEAST_FOR_JUDGES} labels of each, of {LEAST_QUESTIONS} questions: 'markscheme "
            "plan-labels' draws more"
        )
    if evidently_chosen(sample):
        return f"the labels of {system!r} are evidently not a random sample"
    return None
