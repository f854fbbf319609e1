"""How much better people would find one system than another: judgments of all answers, and labels.

A judge's own difference is as biased as the judge: one that likes long answers puts the chatty
system first. As in prediction-powered inference (`estimators`), labels correct it; here for the
difference of two systems on the questions that both answered, so that what a question does to both
cancels.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from markscheme.agreement.accuracy_estimates import REFUSE_BELOW, sample_of
from markscheme.agreement.closed_forms import holm_figures
from markscheme.agreement.estimators import drawn_unlike_rest, estimates
from markscheme.agreement.options import CompareOptions, EstimateOptions
from markscheme.agreement.paired import Comparison
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
    labelled: int
    questions: int


def peoples_differences(
    answers: pl.DataFrame, pairs: list[Comparison], options: CompareOptions
) -> list[PeoplesDifference]:
    """Differences of systems as people would say, by tuned prediction-powered inference.

    Args:
        answers: that one judge judged, with `question` and `system`, and labels of all of them, of
            a random sample or of none, as `with_labels` gives them.
        pairs: which systems.
        options: confidence, and from which grade an answer is acceptable.
    """
    parts = {str(name): part for (name,), part in answers.group_by("system", maintain_order=True)}
    found = [_pair(parts[one.first], parts[one.second], one, options) for one in pairs]
    corrected = holm_figures([one.p.value for one in found])
    return [replace(one, holm=p) for one, p in zip(found, corrected, strict=True)]


def _pair(
    one: pl.DataFrame, other: pl.DataFrame, pair: Comparison, options: CompareOptions
) -> PeoplesDifference:
    reading = EstimateOptions(positive_from=options.positive_from)
    sides = [
        part.join(rest.select("question").unique(), on="question", how="semi")
        for part, rest in ((one, other), (other, one))
    ]
    numbers = sides[0]["question"].unique().sort()
    samples = [sample_of(side, reading)[0] for side in sides]
    labelled = sum(int(sample.labelled.sum()) for sample in samples)
    about: dict[str, Any] = {
        "first": pair.first, "second": pair.second, "labelled": labelled,
        "questions": len(numbers),
    }  # fmt: skip
    refusals = list(map(_refusal, samples, (pair.first, pair.second)))
    reason = next((said for said in refusals if said), None)
    if reason:
        none = Figure(reason=reason)
        first, second = (_alone(sample, options.confidence, none) for sample in samples)
        return PeoplesDifference(
            first_value=first, second_value=second, difference=none, p=none, **about
        )
    placed = [
        replace(
            sample, clusters=numbers.search_sorted(side["question"]).to_numpy().astype(np.int64)
        )
        for side, sample in zip(sides, samples, strict=True)
    ]
    values = [Figure(value=powered(sample).value) for sample in placed]
    found = powered_difference(placed[0], placed[1], confidence=options.confidence)
    none = Figure(reason="the labels never differ between the two")
    return PeoplesDifference(
        first_value=values[0],
        second_value=values[1],
        difference=Figure(value=found.value, low=found.low, high=found.high, method="ppi-t"),
        p=none if found.p is None else Figure(value=found.p, method="ppi-t"),
        **about,
    )


def _alone(sample: Sample, confidence: float, none: Figure) -> Figure:
    """What the labels of a system say by themselves; `none` where there are none."""
    if not sample.labelled.any() or _not_random(sample):
        return none
    return estimates(sample, confidence=confidence)[-1].figure


def _not_random(sample: Sample) -> bool:
    return not sample.labelled.all() and drawn_unlike_rest(sample)[2] < REFUSE_BELOW


def _refusal(sample: Sample, system: str) -> str | None:
    labelled = int(sample.labelled.sum())
    questions = len(np.unique(sample.clusters[sample.labelled]))
    if labelled < LEAST_FOR_JUDGES or questions < LEAST_QUESTIONS:
        return (
            f"{system!r} has {labelled} labels, of {questions} questions; needed are "
            f"{LEAST_FOR_JUDGES}, of {LEAST_QUESTIONS}: 'markscheme plan-labels' draws more"
        )
    if _not_random(sample):
        return f"the labels of {system!r} are evidently not a random sample"
    return None
