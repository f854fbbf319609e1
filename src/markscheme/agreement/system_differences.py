"""How much better people would find one system than another: judgments of all answers, and labels.

A judge's own difference is as biased as the judge: one that likes long answers puts the chatty
system first. As in prediction-powered inference (`accuracy_estimates`), labels correct it; here for
the difference of two systems on the questions that both answered, so that what a question does to
both cancels. Of systems that share no question it is the difference of their own estimates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from markscheme.agreement.accuracy_estimates import (
    estimates,
    labels_check,
    labels_of,
    sample_of,
)
from markscheme.agreement.options import CompareOptions, EstimateOptions
from markscheme.agreement.pairs import (
    KNOWN,
    Comparison,
    Pair,
    unpaired_difference,
    with_holm,
)
from markscheme.agreement.people_errors import undone
from markscheme.results import Figure
from markscheme.stats import (
    LEAST_QUESTIONS,
    LabelNoise,
    Sample,
    balanced,
    powered,
    powered_difference,
)
from markscheme.text import counted


@dataclass(frozen=True, kw_only=True)
class PeoplesDifference(Pair):
    """What people would say of a pair of systems, on questions that both answered (or, `unpaired`,
    on those of either).

    The values are shares that people would accept; of few labels, what these say by themselves,
    with an interval.

    Attributes:
        labelled: answers of both that people labelled.
        without_noise: the difference without the errors of those who labelled; None where nothing
            says how many labels are wrong.
    """

    labelled: int
    without_noise: Figure | None = None


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
    table: pl.DataFrame,
    pairs: Sequence[Comparison],
    options: CompareOptions,
    noise: LabelNoise | str = "",
) -> list[PeoplesDifference]:
    """Differences of systems as people would say, by tuned prediction-powered inference.

    Args:
        table: one judge's judgments with the labels, of all answers or of a random sample, as
            `Joined.every` gives them, and `system`.
        pairs: which systems.
        options: confidence, what it is about, and from which grade an answer is acceptable.
        noise: how many labels are wrong, of either system's answers alike; a text where that is
            not known.
    """
    parts = {str(name): part for (name,), part in table.group_by("system", maintain_order=True)}
    found = [_pair(parts[one.first], parts[one.second], one, options) for one in pairs]
    if isinstance(noise, LabelNoise):
        found = [
            one
            if one.difference.value is None
            else replace(one, without_noise=undone(one.difference, noise, None))
            for one in found
        ]
    return with_holm(found)


def _pair(
    one: pl.DataFrame, other: pl.DataFrame, pair: Comparison, options: CompareOptions
) -> PeoplesDifference:
    reading = EstimateOptions(positive_from=options.positive_from)
    every = [sample_of(side, reading)[0] for side in (one, other)]
    if pair.unpaired:
        return difference_by_people(pair, every, options)
    sides = (one, other), (other, one)
    of_both = (side.join(others, on="question", how="semi") for side, others in sides)
    # Their clusters have the same numbers.
    samples = balanced(*(sample_of(side, reading)[0] for side in of_both))
    found = difference_by_people(pair, samples, options)
    if pair.whole is None:
        return found
    apart = difference_by_people(replace(pair, unpaired=True), every, options).difference
    return replace(found, whole=None if apart.value is None else apart)


def difference_by_people(
    pair: Pair, samples: Sequence[Sample], options: CompareOptions
) -> PeoplesDifference:
    """What people would say of two systems.

    Args:
        pair: their names, and whether they have no question in common.
        samples: of each system; unless they have none, `clusters` number the questions alike.
        options: confidence, and what it is about.
    """
    reason = next(filter(None, map(_refusal, samples, (pair.first, pair.second))), None)
    about: dict[str, Any]
    if reason:
        none = Figure(reason=reason)
        about = {"difference": none, "p": none}
        values = [_alone(sample, options, none) for sample in samples]
    elif pair.unpaired:
        own = [
            estimates(each, about=options.about, confidence=options.confidence)[0].figure
            for each in samples
        ]
        about = unpaired_difference(*own, confidence=options.confidence)
        values = [Figure(value=each.value) for each in own]
    else:
        about = _paired(samples, options)
        values = [Figure(value=powered(each, about=options.about).value) for each in samples]
    questions = [len(np.unique(sample.clusters)) for sample in samples]
    return PeoplesDifference(
        first=pair.first,
        second=pair.second,
        first_value=values[0],
        second_value=values[1],
        **about,
        labelled=sum(int(sample.labelled.sum()) for sample in samples),
        questions=sum(questions) if pair.unpaired else questions[0],
        unpaired=pair.unpaired,
    )


def _paired(samples: Sequence[Sample], options: CompareOptions) -> dict[str, Any]:
    """`difference`, `p` and `detectable`, by question."""
    found = powered_difference(*samples, about=options.about, confidence=options.confidence)
    known = Figure(reason=KNOWN)
    return {
        "difference": Figure(
            value=found.value, low=found.low, high=found.high, method=found.method
        ),
        "p": known if found.p is None else Figure(value=found.p, method=found.method),
        "detectable": found.detectable,
    }


def _alone(sample: Sample, options: CompareOptions, none: Figure) -> Figure:
    """What the labels of a system say by themselves; `none` where there are none."""
    if not sample.labelled.any() or labels_check(sample).chosen:
        return none
    return estimates(sample, about=options.about, confidence=options.confidence)[-1].figure


def _refusal(sample: Sample, system: str) -> str | None:
    labelled, questions = labels_of(sample)
    if questions < LEAST_QUESTIONS:
        return (
            f"{system!r} has {counted(labelled, 'label')}, of {counted(questions, 'question')}; "
            f"needed are labels of {LEAST_QUESTIONS} questions of each: 'markscheme plan-labels' "
            "draws more"
        )
    if labels_check(sample).chosen:
        return f"the labels of {system!r} are evidently not a random sample"
    return None
