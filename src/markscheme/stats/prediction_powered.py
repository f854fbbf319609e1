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
  1 / sqrt(n - 2): below it, tuning costs more than it gives (Mani et al. 2025, arXiv 2505.20178);
- a judge that was right on the few answers of the rarer kind that are labelled may err on others:
  `UNSEEN_ERRORS` such answers, on which it errs, are added to those seen.

About these answers alone, labels of 0 and 1 leave few figures possible where few answers have none:
an interval ends at the nearest of those that the labels do not exclude (`possible_counts`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from markscheme.stats.differences import detectable_by_t
from markscheme.stats.evidence import (
    MOST_LEVERAGE,
    Evidence,
    freedom_of,
    kish,
    mean_evidence,
    share_evidence,
    variance_of_sum,
)
from markscheme.stats.intervals import share_interval
from markscheme.stats.quantiles import t_interval, t_p
from markscheme.stats.samples import About, Pulls, Sample, pulls_of

Array = npt.NDArray[np.float64]

UNSEEN_ERRORS = 2.0
_TINY = 1e-9


@dataclass(frozen=True, kw_only=True)
class Powered:
    """An estimate.

    Attributes:
        value: of the mean label, or of a difference of two.
        low, high: its interval; None where the labels never differ, and tell no variance.
        method: how that is made.
        error: standard error of the estimate.
        worth: labels without judges that would tell as much; about these answers alone, at most
            as many as there are.
        weights: (judges,) how much each judge's mean counts.
        p: of a difference, two-sided, of none.
        detectable: of a difference, the smallest, above 0, that 4 of 5 such samples would show;
            None where there is none.
    """

    value: float
    low: float | None
    high: float | None
    method: str
    error: float
    worth: float
    weights: tuple[float, ...]
    p: float | None = None
    detectable: float | None = None


def powered(
    sample: Sample, *, judges: bool = True, about: About = "future", confidence: float = 0.95
) -> Powered:
    """The mean label of all answers, with its interval.

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
    alone = _alone(sample, pulls)
    weights, share = _regressed(pulls, number, about, judges=judges)
    if about == "future":  # No judge tells more than labels of all answers would.
        share = max(share, number / len(sample.labels))
    value = pulls.mean + float(weights @ pulls.shift)
    low: float | None
    high: float | None
    if not sample.binary:
        error, method = _error(pulls, share), "t"
        low = high = None
        if error:
            freedom = freedom_of(kish(pulls.parts))
            low, high = t_interval(value, error, freedom, confidence=confidence)
    else:
        answers = len(sample.labels)
        counts = possible_counts(sample) if about == "these" else (0, answers)
        value = min(max(value, counts[0] / answers), counts[1] / answers)
        evidence = alone.times(1 / max(share, _TINY))
        low, high = share_interval(value, evidence, confidence=confidence)
        if about == "these":
            low, high = _at_possible(low, high, counts, answers)
        method, error = alone.method, math.sqrt(value * (1 - value) / evidence.answers)
    if not share:  # All are labelled, and it is about these.
        low = high = value
    return Powered(
        value=value,
        low=low,
        high=high,
        method=method,
        error=error,
        worth=_worth(number, len(sample.labels), share, about),
        weights=tuple(map(float, weights)),
    )


def possible_counts(sample: Sample) -> tuple[int, int]:
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
    (2, 3)
    """
    right = int(np.nansum(sample.labels))
    return right, right + int((~sample.labelled).sum())


def _at_possible(
    low: float, high: float, counts: tuple[int, int], answers: int
) -> tuple[float, float]:
    """The ends of an interval at the nearest shares that counts up to a last one give; two of them
    where there are two."""
    least, most = counts
    first = min(max(math.floor(low * answers + 0.5), least), most)
    last = min(max(math.ceil(high * answers - 0.5), least), most)
    if first >= last and least < most:  # Near to one: what is on its other side is possible, too.
        first = min(max(math.floor((low + high) / 2 * answers), least), most - 1)
        last = first + 1
    return first / answers, last / answers


def _error(pulls: Pulls, share: float) -> float:
    """The standard error of a mean; 0 where labels never move it by more than rounding does."""
    here = pulls.parts > 0
    error = math.sqrt(variance_of_sum(pulls.labels[here], pulls.parts[here]) * share)
    return error if error > _TINY * pulls.unseen else 0.0


def _worth(labels: int, answers: int, share: float, about: About) -> float:
    """As many labels, without judges, leave the same share of the labels' variance.

    About these answers a label tells of one fewer that is unknown, with judges or without: all
    labels are worth all answers, and no more.
    """
    return 1 / (share / labels + (1 / answers if about == "these" else 0.0))


def powered_difference(
    first: Sample, second: Sample, *, about: About = "future", confidence: float = 0.95
) -> Powered:
    """The difference of two mean labels, first less second, of answers to the same questions.

    Labels of a question on either side pull together; they may be of different questions.

    Args:
        first, second: with at least one label each; `clusters` number the questions alike.
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
    [0.3, 0.201, 0.399]
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
    weights, share = _regressed(both, number, about)
    value = both.mean + float(weights @ both.shift)
    error = _error(both, share)
    worth = _worth(number, len(first.labels) + len(second.labels), share, about)
    about_it = {"value": value, "error": error, "worth": worth}
    weighed = tuple(map(float, weights))
    if not error:  # The labels never differ, or all are known.
        end = None if share else value
        return Powered(low=end, high=end, method="ppi-t", weights=weighed, **about_it)
    freedom = freedom_of(kish(both.parts))
    low, high = t_interval(value, error, freedom, confidence=confidence)
    step, answers = 0.0, len(first.labels)
    if about == "these" and first.binary and second.binary and answers == len(second.labels):
        (least, most), (other_least, other_most) = map(possible_counts, (first, second))
        low, high = _at_possible(low, high, (least - other_most, most - other_least), answers)
        step = 1 / answers
    return Powered(
        low=max(-1.0, low),
        high=min(1.0, high),
        method="ppi-t",
        weights=weighed,
        # As much nearer to none as the interval's end is: both show a difference, or neither does.
        p=t_p(max(0.0, abs(value) - step / 2), error, freedom),
        detectable=detectable_by_t(error, freedom, confidence=confidence),
        **about_it,
    )


def _alone(sample: Sample, pulls: Pulls) -> Evidence:
    """What the mean of labels of 0 and 1 rests on without judges.

    Of unequal weights it is more than Kish's number of answers only as far as one unseen label of
    the rarer kind leaves it: those seen may all weigh little.
    """
    has = sample.labelled
    weights, mean, here = sample.weights[has], pulls.mean, pulls.parts > 0
    if np.ptp(weights) == 0:
        places = sample.clusters[has]
        right = np.bincount(places[sample.labels[has] == 1], minlength=len(here))
        answers = np.bincount(places, minlength=len(here))
        return share_evidence(right[answers > 0], answers[answers > 0])
    moved = variance_of_sum(pulls.labels[here], pulls.parts[here])
    unseen = moved + pulls.unseen**2
    found, least = (mean_evidence(mean, each, pulls.parts[here]) for each in (moved, unseen))
    return replace(found, answers=min(found.answers, max(kish(weights), least.answers)))


def _regressed(
    pulls: Pulls, labels: int, about: About, *, judges: bool = True
) -> tuple[Array, float]:
    """The judges' weights, and the share of the labels' variance that remains.

    Questions that tuned the weights fit them too well; leverages undo that (HC3; MacKinnon & White
    1985).
    """
    number = pulls.judges.shape[1]
    none = np.zeros(number), 1.0 if about == "future" else pulls.left
    here = pulls.parts > 0  # Few of many questions; the sums over all of them are no products.
    seen, labelled = pulls.judges[here], pulls.labels[here]
    power = float(labelled @ labelled)
    if not judges or not power or pulls.left <= 0:
        return none
    inverse = np.linalg.pinv(seen.T @ seen)
    weights = inverse @ seen.T @ labelled
    explained = float(seen @ weights @ labelled) / power
    if explained * (labels - 1 - number) <= number:
        return none
    own = np.minimum(pulls.parts[here], MOST_LEVERAGE)
    fitted = ((seen @ inverse) * seen).sum(axis=1)
    rest = (pulls.whole * weights).sum(axis=1)
    rest[here] /= 1 - own
    rest[here] += (labelled - seen @ weights) / (1 - np.minimum(own + fitted, MOST_LEVERAGE))
    whole = (labelled / (1 - own)) ** 2
    unseen = UNSEEN_ERRORS * pulls.unseen**2
    share = (float((rest**2).sum()) + unseen) / (float(whole.sum()) + unseen)
    if share >= 1:
        return none
    return weights, share if about == "future" else share * pulls.left
