"""How much better people would find one system than another: judgments of all answers, and labels.

A judge's own difference is as biased as the judge: one that likes long answers puts the chatty
system first. As in prediction-powered inference (`estimators`), labels correct it; here for the
difference of two systems on the questions that both answered, so that what a question does to both
cancels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from markscheme.agreement.accuracy_estimates import sample_of, with_labels
from markscheme.agreement.closed_forms import holm_figures
from markscheme.agreement.estimators import (
    RARE_LABELS,
    Sample,
    drawn_unlike_rest,
    labels_only,
    pull_of,
)
from markscheme.agreement.options import (
    LEAST_LABELS,
    LEAST_QUESTIONS,
    CompareOptions,
    EstimateOptions,
)
from markscheme.agreement.paired import Comparison
from markscheme.metrics import Spread, spread_of
from markscheme.results import Figure

Array = npt.NDArray[np.float64]

REFUSE_BELOW = 0.001


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
    judgments: pl.DataFrame,
    labels: pl.DataFrame,
    pairs: list[Comparison],
    options: CompareOptions,
) -> list[PeoplesDifference]:
    """Differences of systems as people would say, by tuned prediction-powered inference.

    Args:
        judgments: of one judge, with `question` and `system`.
        labels: of all answers or of a random sample, as `load_labels` gives them.
        pairs: which systems.
        options: confidence, and from which grade an answer is acceptable.

    Raises:
        AgreementError: labels and judgments do not match.
    """
    table = with_labels(judgments, labels)
    parts = {str(name): part for (name,), part in table.group_by("system", maintain_order=True)}
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
    values, difference, p = paired_difference(placed[0], placed[1], confidence=options.confidence)
    return PeoplesDifference(
        first_value=Figure(value=values[0]),
        second_value=Figure(value=values[1]),
        difference=difference,
        p=p,
        **about,
    )


def _alone(sample: Sample, confidence: float, none: Figure) -> Figure:
    """What the labels of a system say by themselves; `none` where there are none, or grades."""
    if not sample.labelled.any() or not sample.binary or _not_random(sample):
        return none
    return labels_only(sample, confidence=confidence).figure


def _not_random(sample: Sample) -> bool:
    return not sample.labelled.all() and drawn_unlike_rest(sample)[2] < REFUSE_BELOW


def paired_difference(
    one: Sample, other: Sample, *, confidence: float = 0.95
) -> tuple[tuple[float, float], Figure, Figure]:
    """Two samples on the same questions, whose `clusters` number the questions alike.

    Returns:
        What people would say of either, the difference with its interval, and the p of none.
    """
    questions = 1 + int(max(one.clusters.max(), other.clusters.max()))
    values, pulls, alone = [], [], []
    for sample in (one, other):
        value, pull, label_pull = pull_of(sample)
        values.append(value)
        pulls.append(np.bincount(sample.clusters, pull, minlength=questions).astype(np.float64))
        alone.append(
            np.bincount(sample.clusters, label_pull, minlength=questions).astype(np.float64)
        )
    known = [sample.clusters[sample.labelled] for sample in (one, other)]
    both = len(np.unique(np.concatenate(known)))
    spread = spread_of(pulls[0] - pulls[1], both)
    spread = _believed(spread, spread_of(alone[0] - alone[1], both), one, other)
    difference, p = _tested(values[0] - values[1], spread, confidence)
    return (values[0], values[1]), difference, p


def _refusal(sample: Sample, system: str) -> str | None:
    labelled = int(sample.labelled.sum())
    questions = len(np.unique(sample.clusters[sample.labelled]))
    if labelled < LEAST_LABELS or questions < LEAST_QUESTIONS:
        return (
            f"{system!r} has {labelled} labels, of {questions} questions; needed are "
            f"{LEAST_LABELS}, of {LEAST_QUESTIONS}: 'markscheme plan-labels' draws more"
        )
    if _not_random(sample):
        return f"the labels of {system!r} are evidently not a random sample"
    return None


def _believed(spread: Spread, alone: Spread, one: Sample, other: Sample) -> Spread:
    """The judge's help, used as far as labels that distinguish the systems show it.

    These are questions on which labels of both differ, and where only one system's answer has a
    label, the labels of that system's rarer kind (as in `estimators`).
    """
    if spread.variance >= alone.variance:
        return spread
    questions = 1 + int(max(one.clusters.max(), other.clusters.max()))
    means = []
    for sample in (one, other):
        has = sample.labelled
        sums = np.bincount(sample.clusters[has], sample.labels[has], minlength=questions)
        counts = np.bincount(sample.clusters[has], minlength=questions)
        means.append(np.where(counts > 0, sums / np.maximum(counts, 1), np.nan))
    apart = means[0] - means[1]
    telling = int((np.abs(apart) > 0).sum())  # NaN, one of both has no label, is no difference
    for mean in means:
        single = mean[np.isnan(apart) & ~np.isnan(mean)]
        telling += min(int((single >= 0.5).sum()), int((single < 0.5).sum()))
    weight = telling / (telling + RARE_LABELS)
    variance = alone.variance ** (1 - weight) * max(spread.variance, 1e-300) ** weight
    return replace(spread, variance=variance)


def _tested(difference: float, spread: Spread, confidence: float) -> tuple[Figure, Figure]:
    """The difference with its interval, and the p of no difference."""
    from scipy.special import stdtr

    error = math.sqrt(spread.variance)
    if not error:
        none = Figure(reason="the labels never differ between the two")
        return Figure(value=difference), none
    reach = spread.reach(confidence) * error
    low, high = max(-1.0, difference - reach), min(1.0, difference + reach)
    p = float(2 * stdtr(spread.freedom, -abs(difference) / error))
    return (
        Figure(value=difference, low=low, high=high, method="ppi-t"),
        Figure(value=p, method="ppi-t"),
    )
