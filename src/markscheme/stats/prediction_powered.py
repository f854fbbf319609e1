"""What people would say of all answers, from judgments of all and labels of some.

A judge's acceptance rate is as biased as the judge; a few labels by themselves are unbiased, but
wide. Prediction-powered inference (Angelopoulos et al. 2023; tuned, 2024), which survey sampling
knows as the regression estimator (Cochran 1977, chapter 7), adds to the labels' mean what the
judges say of all answers beyond the labelled ones, at the weight that leaves the least variance.

What the labels rest on by themselves is known (`evidence`). Judges multiply it. A question pulls
the estimate by its labels, less what judges say of its labelled answers and, about answers to
further questions, of which these are a sample too, more what they say of all its answers; the
squares of these pulls, over those of the labels by themselves, are the share of the variance that
judges leave. With n of N answers labelled, each of a question of its own, and a share e of their
variance unexplained, it is (1 - n/N) e about these answers, and n/N more about further ones. Two
rules, set before a label is seen, keep the judges honest:

- they count only where their correlation with the labels, question by question, exceeds
  1 / sqrt(n - 2): below it, tuning costs more than it gives (Mani et al. 2025, arXiv 2505.20178),
  and of several, in their order, only as many as there are labels to weight
  (`powered_core.judges_weighted`);
- a judge that was right on the few answers of the rarer kind that are labelled may err on others:
  `powered_core.UNSEEN_ERRORS` such answers, on which it errs, are added to those seen.

A difference of two such means of 0 and 1 has Tango's interval (`intervals`) at the number of
pairs that labels and judges are worth: Student's t is too narrow where nearly all that is seen is
of one kind, and says nothing where all of it is.

About these answers alone, labels leave few figures possible where few answers have none:
an interval ends at the nearest of those that the labels do not exclude (`possible_counts`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from markscheme.stats.differences import detectable_difference
from markscheme.stats.intervals import difference_interval, difference_p, share_interval
from markscheme.stats.powered_core import (
    TINY,
    at_possible,
    labels_evidence,
    labels_worth,
    left_of_both,
    pairs_evidence,
    regressed,
)
from markscheme.stats.samples import About, Pulls, Sample, pulls_of, stratified_evidence

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Powered:
    """An estimate.

    Attributes:
        value: of the mean label, or of a difference of two.
        low, high: its interval.
        method: how that is made.
        error: standard error of a mean; None of a difference.
        worth: labels without judges that would tell as much; about these answers alone, at most
            as many as there are.
        weights: (judges,) how much each judge's mean counts.
        p: of a difference, two-sided, of none.
        detectable: of a difference, the smallest, above 0, that 4 of 5 such samples would show;
            None where there is none.
    """

    value: float
    low: float
    high: float
    method: str
    error: float | None = None
    worth: float
    weights: tuple[float, ...]
    p: float | None = None
    detectable: float | None = None


def powered(
    sample: Sample, *, judges: bool = True, about: About = "future", confidence: float = 0.95
) -> Powered:
    """The share of all answers that people accept, with its interval.

    Args:
        sample: at least one label.
        judges: whether they are used; False gives what the labels say by themselves.
        about: further answers of the kind, or these N alone.
        confidence: of the interval.

    Of 200 answers 50 are labelled; the judge accepts 80% and errs on one in ten:

    >>> place = np.arange(200)
    >>> judged = (place % 5 > 0).astype(float)
    >>> sample = Sample(
    ...     predictions=judged[:, None],
    ...     labels=np.where(place < 50, np.where(place % 10 == 1, 0.0, judged), np.nan),
    ...     weights=np.ones(200),
    ...     clusters=place,
    ... )
    >>> found, alone = powered(sample), powered(sample, judges=False)
    >>> [round(each, 3) for each in (found.value, found.low, found.high)], round(found.worth)
    ([0.7, 0.595, 0.788], 83)
    >>> [round(each, 3) for each in (alone.value, alone.low, alone.high)]
    [0.7, 0.562, 0.809]
    """
    number = int(sample.labelled.sum())
    pulls = pulls_of(sample, int(sample.clusters.max()) + 1, about)
    alone = labels_evidence(sample, pulls)
    weights, share = regressed(pulls, number, about, judges=judges)
    if about == "future":  # No judge tells more than labels of all answers would.
        share = max(share, number / len(sample.labels))
    value = pulls.mean + float(weights @ pulls.shift)
    answers = len(sample.labels)
    counts = possible_counts(sample) if about == "these" else (0, answers)
    value = min(max(value, counts[0] / answers), counts[1] / answers)
    evidence = alone.times(1 / max(share, TINY))
    single = len(np.unique(sample.clusters[sample.labelled])) == number
    if share and np.ptp(sample.label_weights) and single:
        evidence = stratified_evidence(sample, value, weights, about)
    low, high = share_interval(value, evidence, confidence=confidence)
    if about == "these":
        low, high = at_possible(low, high, counts, answers)
    if not share:  # All are labelled, and it is about these.
        low = high = value
    return Powered(
        value=value,
        low=low,
        high=high,
        method=evidence.method,
        error=math.sqrt(value * (1 - value) / evidence.answers),
        worth=labels_worth(number, len(sample.labels), share, about),
        weights=tuple(map(float, weights)),
    )


def possible_counts(sample: Sample) -> tuple[float, float]:
    """How many of these answers are right if all without a label (0 or 1) are wrong, or right.

    >>> labels = np.array([1.0, 1.0, 0.0, np.nan])
    >>> possible_counts(
    ...     Sample(
    ...         predictions=np.ones((4, 1)),
    ...         labels=labels,
    ...         weights=np.ones(4),
    ...         clusters=np.arange(4),
    ...     )
    ... )
    (2.0, 3.0)
    """
    right = float(np.nansum(sample.labels * sample.counts))
    return right, right + float((~sample.labelled * sample.counts).sum())


def powered_difference(
    first: Sample, second: Sample, *, about: About = "future", confidence: float = 0.95
) -> Powered:
    """The difference of two mean labels, first less second, of answers to the same questions.

    Labels of a question on either side pull together; they may be of different questions.

    Args:
        first, second: with at least one label each, all 0 or 1; `clusters` number the questions
            alike.
        about: further answers of the kind, or these alone.
        confidence: of the interval.

    >>> place = np.arange(200)
    >>> first, second = (
    ...     Sample(
    ...         predictions=right[:, None],
    ...         labels=np.where(place < 50, right, np.nan),
    ...         weights=np.ones(200),
    ...         clusters=place,
    ...     )
    ...     for right in ((place % 5 > 0).astype(float), (place % 2 == 0).astype(float))
    ... )
    >>> found = powered_difference(first, second)
    >>> [round(each, 3) for each in (found.value, found.low, found.high)]
    [0.3, 0.202, 0.393]
    """
    questions = 1 + int(max(first.clusters.max(), second.clusters.max()))
    one, two = (pulls_of(sample, questions, about) for sample in (first, second))
    number = int(first.labelled.sum()) + int(second.labelled.sum())
    both = Pulls(
        mean=one.mean - two.mean,
        labels=one.labels - two.labels,
        judges=one.judges - two.judges,
        whole=one.whole - two.whole,
        shift=one.shift - two.shift,
        parts=(one.parts + two.parts) / 2,
        left=(one.left + two.left) / 2,
        unseen=max(one.unseen, two.unseen),
    )
    weights, share = regressed(both, number, about)
    if about == "these" and both.left > 0:
        rests = (one.labels - one.judges @ weights, two.labels - two.judges @ weights)
        share *= left_of_both(rests, (first, second)) / both.left
    value = min(max(both.mean + float(weights @ both.shift), -1.0), 1.0)
    about_it: dict[str, Any] = {"low": value, "high": value}  # Where all are known.
    if share:
        apart, alone = pairs_evidence((first, second), (one, two), both)
        evidence = alone.times(1 / max(share, TINY))
        lost = max((apart - value) / 2, 0.0, -value)
        won, step, answers = lost + value, 0.0, len(first.labels)
        low, high = difference_interval(lost, won, evidence, confidence=confidence)
        alike = not (np.ptp(first.counts) or np.ptp(second.counts))
        if about == "these" and alike and answers == len(second.labels):
            (least, most), (other_least, other_most) = map(possible_counts, (first, second))
            low, high = at_possible(low, high, (least - other_most, most - other_least), answers)
            step = 1 / answers
        # As much nearer to none as the interval's end is: both show a difference, or neither does.
        p = difference_p(lost, won, evidence, margin=step / 2)
        about_it = {
            "low": low,
            "high": high,
            "p": 1.0 if p is None else p,
            "detectable": detectable_difference(lost + won, evidence, confidence=confidence),
        }
    return Powered(
        value=value,
        method="ppi-tango" if weights.any() else "tango",
        worth=labels_worth(number, len(first.labels) + len(second.labels), share, about),
        weights=tuple(map(float, weights)),
        **about_it,
    )
