"""Intervals of statistics of counts, by leaving out one question at a time.

The jackknife over questions gives each question's influence on a statistic (Efron & Stein 1981),
and from these the variance and Student's degrees of freedom (`metrics.Spread`). Shares and F1 get
Wilson's interval at the number of answers that the variance is worth, kappa and MCC a t interval
on Fisher's z scale, so that bounds stay within the statistic's range. The percentile bootstrap,
which this replaced, is too narrow for few questions: 85% in place of 95% with ten.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from markscheme.agreement.bootstrap import kinds
from markscheme.agreement.verdicts import FROM_COUNTS
from markscheme.metrics import Spread, share_interval, spread_of
from markscheme.results import Figure

Array = npt.NDArray[np.float64]

DENOMINATORS = {"accuracy": (1, 1, 1, 1), "precision": (1, 1, 0, 0), "recall": (1, 0, 1, 0)}
"""The cells (tp, fp, fn, tn) that a share is over."""
ON_Z_SCALE = ("kappa", "mcc")


def with_intervals(
    figures: Mapping[str, Figure], counts: Array, confidence: float
) -> dict[str, Figure]:
    """The figures of a confusion table with intervals clustered on question.

    Args:
        figures: of the whole table, by the names of `verdicts.FROM_COUNTS`.
        counts: (questions, 4) the counts of each question: tp, fp, fn, tn.
        confidence: of the intervals.

    A figure stays without an interval where leaving out questions never moves it, unless it is a
    share, which then counts each question once.
    """
    distinct, repeats = kinds(counts.astype(np.int64))
    totals = (distinct * repeats[:, None]).sum(axis=0).astype(np.float64)
    found = {}
    for name, point in figures.items():
        if point.value is None:
            found[name] = point
            continue
        cells = np.array(DENOMINATORS.get(name, (1, 1, 1, 1)), dtype=np.float64)
        there = (distinct @ cells) > 0
        questions = int(repeats[there].sum())
        without = FROM_COUNTS[name](totals - distinct[there])
        answers = int(totals @ cells) if name in DENOMINATORS else None
        each = distinct[there] @ cells if name in DENOMINATORS else None
        spread = _left_out(without, repeats[there], questions, each)
        found[name] = _bounded(name, point.value, spread, answers, confidence)
    return found


def auroc_influences(labels: npt.NDArray[np.bool_], scores: Array) -> Array:
    """(answers,) each answer's influence on AUROC (DeLong et al. 1988; clustered: Obuchowski 1997).

    An accepted answer pulls by the share of rejected ones that it beats, less AUROC; a rejected one
    likewise.
    """
    from scipy.stats import rankdata

    yes, no = int(labels.sum()), int((~labels).sum())
    everywhere = rankdata(scores)
    pull = np.empty(len(scores))
    pull[labels] = (everywhere[labels] - rankdata(scores[labels])) / no
    pull[~labels] = 1 - (everywhere[~labels] - rankdata(scores[~labels])) / yes
    area = float(pull[labels].mean())
    return np.asarray((pull - area) / np.where(labels, yes, no))


def _left_out(
    without: Array, repeats: npt.NDArray[np.int64], questions: int, each: Array | None
) -> Spread:
    """The spread of a statistic from its values without one question of each kind.

    `each` is how many answers a question of each kind has; None for what is no share.
    """
    known = ~np.isnan(without)
    answers = None if each is None else np.repeat(each, repeats)
    if questions < 2 or not known.any():
        return spread_of(np.zeros(0), questions, answers)
    mean = float(np.average(without[known], weights=repeats[known]))
    away = np.where(known, without - mean, 0.0) * (questions - 1) / questions
    away[np.abs(away) < 1e-12] = 0.0
    return spread_of(np.repeat(away, repeats), questions, answers)


def _bounded(
    name: str, value: float, spread: Spread, answers: int | None, confidence: float
) -> Figure:
    if name in ON_Z_SCALE:
        if not spread.variance or abs(value) >= 1:
            return Figure(value=value)
        half = spread.reach(confidence) * math.sqrt(spread.variance) / (1 - value**2)
        low, high = (math.tanh(math.atanh(value) + side * half) for side in (-1, 1))
        return Figure(value=value, low=low, high=high, method="fisher-z")
    if not spread.variance and (answers is None or 0 < value < 1):
        return Figure(value=value)
    low, high = share_interval(value, spread, answers=answers, confidence=confidence)
    plain = answers is not None and spread.questions >= answers
    return Figure(value=value, low=low, high=high, method="wilson" if plain else "wilson-t")
