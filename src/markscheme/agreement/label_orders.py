"""Which answer to label next, and what the labels so far say, whatever the order's weights.

Labels teach most where a judge is unsure. Answers are put in an order by drawing one after the
other without replacement, each with a chance in proportion to a weight: the square root of the
expected squared error of the judge's score, and a floor so that a confident judge is looked at too.
The chances are known, so that nothing is biased by the choice. All weights equal give a plain
shuffle; everything here holds for that as well.

**Estimate.** With N answers of shares p (of the whole, 1 / N each) and labels y, the k-th draw with
chance q gives an unbiased guess t(k) = sum of p y of those drawn before + p y / q of this one
(Des Raj 1956, "Some estimators in sampling with varying probabilities without replacement", JASA
51). These guesses are uncorrelated, with variances about in proportion to R(k) R(k+1), where R is
the weight of what was not drawn before; so they are averaged with the inverse of that. For equal
weights this is exactly the mean of the labels with the finite population correction. The same
guesses of what is known of all answers, how many there are and what the judge says, miss the known
truth by chance; regressing on these misses takes that chance out (a generalised regression
estimate: Cassel, Sarndal & Wretman 1976), which is prediction-powered inference for this design.

**Stopping.** `enough_at(margin)` is the rule of Chow & Robbins (1965, "On the asymptotic theory of
fixed-width sequential confidence intervals", Annals of Mathematical Statistics 36): stop as soon as
the interval is narrow enough. `python -m benchmarks.label_orders` measures its coverage at that
moment on labels of EVOUNA. Who stops for another reason, for instance because the figure looks
good, needs an interval that holds at all times: `running_estimate`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from markscheme.errors import AgreementError
from markscheme.results import Figure

Array = npt.NDArray[np.float64]

FLOOR = 0.2
"""Least weight of an answer, the most unsure one having 0.5: a judge may be wrong and sure."""
LEAST_LABELS = 100
"""Fewest labels from which one may stop."""
LEAST_RARER = 10
"""Fewest labels of the rarer kind from which there is an interval."""
UNMET_ERRORS = 2
"""The least errors of size 1 that the variance allows for, met among the labels or not."""
METHOD = "regression"


@dataclass(frozen=True, kw_only=True)
class LabelOrder:
    """An order in which to label, with what it was drawn by.

    Attributes:
        order: (answers,) places of the answers, first to last.
        weights: (answers,) of each answer, in the answers' own order.
        keys: (answers,) likewise: the answers are ordered by key. A key is exponential with rate
            weight, so an answer lies below a threshold with the chance 1 - exp(-weight threshold),
            whatever the others do.
    """

    order: npt.NDArray[np.int64]
    weights: Array
    keys: Array


def draw_label_order(
    scores: Sequence[float | None] | Array,
    shares: Sequence[float] | Array | None = None,
    *,
    floor: float = FLOOR,
    seed: int | Sequence[int] = 0,
) -> LabelOrder:
    """Draw the order in which labels teach most.

    Args:
        scores: the judge's, 0 to 1, taken as chances to be right; None (NaN) where it has none,
            which counts as unsure.
        shares: how many answers each represents (equal answers are labelled once); 1 each if None.
        floor: least weight per share, up to 0.5, which is a plain shuffle.
        seed: of the draw.

    Raises:
        AgreementError: scores or shares out of range.
    """
    said = np.array([0.5 if one is None else float(one) for one in scores])
    said = np.where(np.isnan(said), 0.5, said)
    if ((said < 0) | (said > 1)).any():
        raise AgreementError("scores that choose the next answer must lie between 0 and 1")
    sizes = _shares(shares, len(said))
    weights = sizes * np.maximum(np.sqrt(said * (1 - said)), floor)
    keys = np.random.default_rng(seed).exponential(size=len(said)) / weights
    return LabelOrder(order=np.argsort(keys, kind="stable"), weights=weights, keys=keys)


def chances_of_label(weights: Sequence[float] | Array, threshold: float) -> Array:
    """The chance that an answer's key lies below a threshold: its inclusion probability.

    With the key of the first answer that was not labelled as the threshold, weighing by the inverse
    is unbiased (Duffield, Lund & Thorup 2007, "Priority sampling", section 3).
    """
    return np.asarray(1.0 - np.exp(-np.asarray(weights, dtype=np.float64) * threshold))


@dataclass(frozen=True, kw_only=True)
class EstimateSoFar:
    """What the labels so far say of all answers.

    Attributes:
        figure: share that people would accept, with an interval, or the reason why there is none.
        n: labels so far.
        pending: answers before the last label that have none yet.
        answers: labelled or not.
        confidence: of the interval.
        helped: whether the judge's scores narrowed it.
    """

    figure: Figure
    n: int
    pending: int
    answers: int
    confidence: float
    helped: bool = False

    def enough_at(self, margin: float) -> bool:
        """Whether the interval reaches no further than `margin` (a share: 0.03) either way."""
        return self._width is not None and self._width <= 2 * margin and self._many

    def more_for(self, margin: float) -> int | None:
        """About how many more labels `enough_at(margin)` takes; None where that is not known yet.

        An interval narrows with the square root of the labels, and to nothing with the last.
        """
        if self.enough_at(margin):
            return 0
        if self._width is None:
            return None
        ratio = (self._width / (2 * margin)) ** 2
        if self.n >= self.answers:
            return None
        odds = ratio * self.n / (self.answers - self.n)
        wanted = self.answers * odds / (1 + odds)
        return max(1, math.ceil(max(wanted, min(LEAST_LABELS, self.answers)) - self.n))

    @property
    def _width(self) -> float | None:
        low, high = self.figure.low, self.figure.high
        return None if low is None or high is None else high - low

    @property
    def _many(self) -> bool:
        return self.n >= min(LEAST_LABELS, self.answers)


def estimate_so_far(
    labels: Sequence[float | bool | None] | Array,
    *,
    weights: Sequence[float] | Array | None = None,
    shares: Sequence[float] | Array | None = None,
    scores: Sequence[float | None] | Array | None = None,
    confidence: float = 0.95,
) -> EstimateSoFar:
    """Estimate what people would say of all answers, from those labelled first.

    Args:
        labels: (answers,) 0 to 1 in the order of labelling; None (NaN) without a label. Answers
            after the last label are still to come; for those before it that lack theirs, the
            interval allows for either label.
        weights: with which the order was drawn, in that order; equal ones if None.
        shares: how many answers each represents; 1 each if None.
        scores: the judge's of all answers, 0 to 1, None where it has none; they narrow the interval
            where the judge is good.
        confidence: of the interval, at one look or where `enough_at` says to stop.

    Raises:
        AgreementError: values out of range, lengths that differ.
    """
    known = np.array([math.nan if one is None else float(one) for one in labels])
    if ((known < 0) | (known > 1)).any():
        raise AgreementError("labels must lie between 0 and 1 to estimate a share")
    if not 0.5 <= confidence < 1:
        raise AgreementError(f"the confidence is from 0.5 to 0.9999, not {confidence:g}")
    size = _shares(shares, len(known))
    drawn = _positive(weights, len(known), "weights")
    has = ~np.isnan(known)
    n, answers = int(has.sum()), len(known)
    last = int(np.flatnonzero(has)[-1]) + 1 if n else 0
    pending = last - n
    reason = _too_few(known[has], answers)
    if reason:
        return EstimateSoFar(figure=Figure(reason=reason), n=n, pending=pending, answers=answers,
                             confidence=confidence)  # fmt: skip
    said = None
    if scores is not None:
        found = np.array([math.nan if one is None else float(one) for one in scores])
        if len(found) != len(known):
            raise AgreementError(f"{len(known)} labels and {len(found)} scores; one each")
        said = np.where(np.isnan(found), np.nanmean(found) if (~np.isnan(found)).any() else 0.5,
                        found)  # fmt: skip
    ends: list[tuple[float, float]] = []
    fills = (None,) if not pending else (0.0, 1.0)
    for fill in fills:
        filled = np.where(has, known, 0.0 if fill is None else fill)[:last]
        ends.append(_regression(filled, drawn, size / size.sum(), said))
    quantile = _quantile(last, confidence, helped=said is not None)
    low = min(value - quantile * error for value, error in ends)
    high = max(value + quantile * error for value, error in ends)
    value = float(np.clip(sum(value for value, _ in ends) / len(ends), 0, 1))
    figure = Figure(value=value, low=max(0.0, low), high=min(1.0, high), method=METHOD)
    return EstimateSoFar(figure=figure, n=n, pending=pending, answers=answers,
                         confidence=confidence, helped=said is not None)  # fmt: skip


def _too_few(labels: Array, answers: int) -> str:
    """Why there is no interval yet; empty where there can be one."""
    if not len(labels):
        return "no labels yet"
    if len(labels) == answers:
        return ""
    rarer = min(float(labels.sum()), float(len(labels) - labels.sum()))
    if rarer < LEAST_RARER:
        return f"{len(labels)} labels, {rarer:.0f} of the rarer kind; {LEAST_RARER} are needed"
    return ""


def _regression(
    labels: Array, weights: Array, shares: Array, scores: Array | None
) -> tuple[float, float]:
    """The estimate and its standard error, from the first labels of an order."""
    n = len(labels)
    before = np.concatenate([[0.0], np.cumsum(weights)[:-1]])
    left = weights.sum() - before  # of the weight, before each draw
    after = left - weights
    chance = weights / left
    whole = n == len(weights)
    # The last answer of all is certain, which ends all doubt.
    if whole:
        return float(labels @ shares), 0.0

    def guesses(values: Array) -> Array:
        part = values * shares[:n]
        return np.asarray(np.concatenate([[0.0], np.cumsum(part)[:-1]]) + part / chance[:n])

    columns = [np.ones(n)]
    known: list[tuple[Array, float]] = [(np.ones(n), 1.0)]
    if scores is not None:
        known.append((scores[:n], float(scores @ shares)))
    for values, truth in known:
        missed = guesses(values) - truth
        if np.ptp(missed) > 1e-12:  # With equal weights nothing is missed of how many there are.
            columns.append(missed)
    guessed = guesses(labels)
    precision = 1.0 / (left[:n] * after[:n])
    root = np.sqrt(precision / precision.mean())
    design = np.stack(columns, axis=1) * root[:, None]
    found, *_ = np.linalg.lstsq(design, guessed * root, rcond=None)
    apart = guessed * root - design @ found
    inverse = np.linalg.pinv(design.T @ design)
    leverage = np.clip(((design @ inverse) * design).sum(axis=1), 0, 0.9)
    meat = design * (apart / (1 - leverage))[:, None]
    robust = inverse @ (meat.T @ meat) @ inverse
    # A judge that was right on all labels so far is not right on all answers: the variance is at
    # least what two errors make of it where the order looks least (as the rule of three has it).
    rate = weights / shares
    unmet = UNMET_ERRORS * (rate.mean() / rate.min() / n) ** 2 * (1 - n / len(weights))
    return float(found[0]), float(np.sqrt(max(robust[0, 0], unmet)))


def _quantile(n: int, confidence: float, *, helped: bool) -> float:
    from scipy import stats

    return float(stats.t.ppf((1 + confidence) / 2, max(1, n - 2 - helped)))


def _shares(shares: Sequence[float] | Array | None, count: int) -> Array:
    return _positive(shares, count, "shares")


def _positive(values: Sequence[float] | Array | None, count: int, what: str) -> Array:
    if values is None:
        return np.ones(count)
    found = np.asarray(values, dtype=np.float64)
    if len(found) != count:
        raise AgreementError(f"{len(found)} {what} for {count} answers; one each")
    if not (found > 0).all():
        raise AgreementError(f"{what} must be above 0")
    return found
