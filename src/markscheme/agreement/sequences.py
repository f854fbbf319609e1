"""Looking while labelling: an interval that holds after every label, however often one looks.

An ordinary interval is right in 95 of 100 cases if one looks once, after as many labels as were
planned. Who looks after every label and stops when it is narrow enough is wrong far more often. A
confidence sequence is a series of intervals that hold the truth *all the time* in 95 of 100 cases,
so that one may look, stop and go on at will.

For every share m that the truth might be, somebody who doubts m bets on the labels as
they come: from one unit of money, wealth is multiplied by 1 + l (x - m) for each label x. If m is
true the bets are fair, and by Ville's inequality (1939) wealth ever reaches 1 / alpha with a chance
of at most alpha. Shares at which it did are ruled out (Waudby-Smith & Ramdas 2024, "Estimating
means of bounded random variables by betting", JRSS B 86, section 4; drawn without replacement from
a known number of answers: section 5). Bets are fixed fractions of what may be lost at most, a
mixture of them in place of a tuned one (their section B.5), so that wealth falls as m rises, and a
bound is found by bisection. The bets are made on labels less what the judge foretold of them too,
with its mean over all answers added back (as in prediction-powered inference), for three weights of
the judge: a good judge wins early, a bad one only costs its part of the money.

The truth here is the share *of these answers* that people would accept; it says nothing of further
questions. What must be random is the order of the labels, in which `plan-labels` and the labelling
app put answers, and how alike the answers to a question are does not matter then. Where all answers
to a question are labelled one after the other, the questions' order is random, and each question
is one bet.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from markscheme.errors import AgreementError
from markscheme.results import Figure
from markscheme.stats import Sample, powered

Array = npt.NDArray[np.float64]

FRACTIONS = np.geomspace(0.004, 0.95, 12)
"""Of what may be lost at most: small ones win with many labels, large ones with few."""
WEIGHTS = (0.0, 0.5, 1.0)
"""Of the judge."""
METHOD = "betting"
_HALVINGS = 22
_TINY = 1e-9


@dataclass(frozen=True, kw_only=True)
class RunningEstimate:
    """What the labels so far say of all answers.

    Attributes:
        estimate: share that people would accept; None before the first label.
        lower, upper: hold the truth all the time with the wanted confidence; 0 and 1 at first.
        n: labels so far.
        answers: of how many answers.
        confidence: of the whole sequence.
        figure: the same as a figure, with the method's name.
    """

    estimate: float | None
    lower: float
    upper: float
    n: int
    answers: int
    confidence: float

    @property
    def figure(self) -> Figure:
        """The estimate with its interval, or why there is none."""
        if self.estimate is None:
            return Figure(reason="no labels yet")
        return Figure(value=self.estimate, low=self.lower, high=self.upper, method=METHOD)

    def enough_at(self, margin: float) -> bool:
        """Whether the interval is no wider than the estimate +- `margin` (a share: 0.03)."""
        if not 0 < margin < 1:
            raise AgreementError(f"a margin of {margin:g} is out of range; give one from 0 to 1")
        return self.upper - self.lower <= 2 * margin

    def more_for(self, margin: float) -> int | None:
        """About how many more labels `enough_at(margin)` takes.

        The interval is supposed to narrow as an ordinary one does, with the square root of 1/n -
        1/answers. None before the first label, and where every answer has one.
        """
        if self.enough_at(margin):
            return 0
        if self.n in (0, self.answers):
            return None
        narrower = (2 * margin / (self.upper - self.lower)) ** 2
        share = narrower * (1 / self.n - 1 / self.answers) + 1 / self.answers
        return max(1, math.ceil(1 / share) - self.n)


@dataclass(frozen=True, kw_only=True)
class _Bets:
    """One side's bets at one weight of the judge: labels less what was foretold.

    Attributes:
        values: (units,) of what was labelled so far, a missing label as 0.
        least: the least value that can be.
        scale, offset: the mean of all values is scale * (m - offset) where the truth is m.
        total: units there are.
    """

    values: Array
    least: float
    scale: float
    offset: float
    total: float

    def growth(self, truth: float) -> Array:
        """(fractions, units) log of what each bet multiplies the wealth by."""
        from_least = self.values - self.least
        before = np.concatenate([[0.0], np.cumsum(from_least)[:-1]])
        place = np.arange(len(self.values))
        supposed = self.scale * (truth - self.offset) - self.least
        mean = (self.total * supposed - before) / (self.total - place)
        safe = np.maximum(mean, _TINY)
        odds = np.where(from_least > _TINY, from_least / safe, np.where(mean > _TINY, 0.0, 1.0))
        # No label is left to bring the sum that this truth needs: it is ruled out.
        odds = np.where(mean < -1e-7, np.inf, odds)
        with np.errstate(over="ignore"):
            return np.asarray(np.log1p(FRACTIONS[:, None] * (odds - 1.0)))


def running_estimate(
    labels: Sequence[float | bool | None] | Array,
    *,
    units: Sequence[Any] | None = None,
    predictions: Sequence[float] | Array | None = None,
    confidence: float = 0.95,
) -> RunningEstimate:
    """Estimate what people would say of all answers, with an interval to look at after every label.

    Args:
        labels: 0 or 1, one an answer, in the order in which the answers were put before people,
            which must be random; None (NaN) for those without a label. Those after the last label
            are still to come. One in between (skipped, disputed, "cannot tell") counts as 0 for the
            lower bound and as 1 for the upper one until it has its label.
        units: what is in random order, such as the question of each answer, where all answers to a
            question are labelled one after the other; None where single answers are.
        predictions: the judge's scores or verdicts of the same answers, 0 to 1; makes the interval
            narrower where the judge is good.
        confidence: that the truth is within the interval at every look.

    Returns:
        Estimate, bounds, how many labels; `enough_at(margin)` says whether one may stop, and
        `more_for(margin)` about how many more labels that takes. A thousand labels take about a
        second, so compute it when it is shown, not in the transaction that saves a label.

    Raises:
        AgreementError: labels, predictions or the confidence out of range, or lengths that differ.

    >>> seen = running_estimate([1, 1, 0, 1, None, None, None, None])
    >>> seen.estimate, seen.n, seen.enough_at(0.05)
    (0.75, 4, False)
    """
    known = np.array([math.nan if one is None else float(one) for one in labels])
    foretold = _foretold(predictions, len(known))
    _check(known, confidence)
    places = _places(units, len(known))
    has = ~np.isnan(known)
    n, answers = int(has.sum()), len(known)
    if not n:
        return RunningEstimate(
            estimate=None, lower=0.0, upper=1.0, n=0, answers=answers, confidence=confidence
        )
    level = math.log(2 / (1 - confidence))
    ends = []
    for flip in (False, True):
        given = np.where(has, 1.0 - known if flip else known, 0.0)
        said = 1.0 - foretold if flip else foretold
        bound = _lower_bound(_bets(given, said, places, has), level)
        ends.append(1.0 - bound if flip else bound)
    sample = Sample(
        predictions=foretold[:, None], labels=known, weights=np.ones(answers), clusters=places
    )
    value = powered(sample, about="these").value
    low, high = (value, value) if n == answers else (min(ends), max(ends))
    return RunningEstimate(
        estimate=float(np.clip(value, low, high)),
        lower=low,
        upper=high,
        n=n,
        answers=answers,
        confidence=confidence,
    )


def _foretold(predictions: Sequence[float] | Array | None, answers: int) -> Array:
    if predictions is None:
        return np.full(answers, 0.5)
    found = np.asarray(predictions, dtype=np.float64)
    if len(found) != answers:
        raise AgreementError(
            f"{len(found)} predictions for {answers} answers; with a judge's help, give labels "
            "(None where there is none) and predictions of all"
        )
    if not ((found >= 0) & (found <= 1)).all():
        raise AgreementError(
            "the judge's predictions must lie between 0 and 1; of other scores take the verdicts "
            "(--predictions verdict)"
        )
    return found


def _check(known: Array, confidence: float) -> None:
    if not np.isin(known[~np.isnan(known)], (0.0, 1.0)).all():
        raise AgreementError(
            "labels must be 0 or 1 where one looks after every label; give --positive-from for "
            "grades"
        )
    if not 0.5 <= confidence < 1:
        raise AgreementError(f"the confidence is from 0.5 to 0.9999, not {confidence:g}")


def _places(units: Sequence[Any] | None, answers: int) -> npt.NDArray[np.int64]:
    """The number of each answer's unit, in the order of their first answers."""
    if units is None:
        return np.arange(answers)
    if len(units) != answers:
        raise AgreementError(f"{answers} labels and {len(units)} units; one each")
    seen: dict[Any, int] = {}
    return np.array([seen.setdefault(one, len(seen)) for one in units], dtype=np.int64)


def _bets(
    given: Array,
    said: Array,
    units: npt.NDArray[np.int64],
    has: npt.NDArray[np.bool_],
) -> tuple[_Bets, ...]:
    mean = float(said.mean())
    sizes = np.bincount(units)
    largest = float(sizes.max())
    seen = int(units[np.flatnonzero(has)].max()) + 1
    weights = WEIGHTS if np.ptp(said) > _TINY else WEIGHTS[:1]
    brought = np.bincount(units, given) / largest
    made = []
    for weight in weights:
        foretold = np.bincount(units, mean + weight * (said - mean)) / largest
        made.append(
            _Bets(
                values=(brought - foretold)[:seen],
                least=-float(foretold.max()),
                scale=len(given) / len(sizes) / largest,
                offset=mean,
                total=float(len(sizes)),
            )
        )
    return tuple(made)


def _log_wealth(bets: Sequence[_Bets], truth: float) -> float:
    """The most that wealth ever was, as a logarithm."""
    from scipy.special import logsumexp

    paths = np.concatenate([np.cumsum(one.growth(truth), axis=1) for one in bets])
    return float(logsumexp(paths, axis=0).max()) - math.log(len(paths))


def _lower_bound(bets: Sequence[_Bets], level: float) -> float:
    """The largest truth at which wealth reached the level; wealth falls as the truth rises."""
    inside, outside = 1.0, 0.0
    if _log_wealth(bets, 0.0) < level:
        return 0.0
    for _ in range(_HALVINGS):
        middle = (inside + outside) / 2
        if _log_wealth(bets, middle) >= level:
            outside = middle
        else:
            inside = middle
    return outside
