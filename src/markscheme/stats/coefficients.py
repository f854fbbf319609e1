"""Agreement between raters beyond chance: four coefficients, each with its interval.

Every coefficient is computed from sums over items, so that leaving out a question is a subtraction.
The functions return `(1 + questions,)` values: the coefficient of all items, then that without each
question; NaN where it is undefined. `coefficient` makes the figure of these, and of the same with
each item as a question of its own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from markscheme.stats.evidence import Evidence
from markscheme.stats.jackknife import jackknife_variance
from markscheme.stats.limits import LEAST_OF_A_LABEL, LEAST_QUESTIONS
from markscheme.stats.quantiles import t_quantile

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Level = Literal["nominal", "ordinal", "interval"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Coefficient:
    """A coefficient with its interval; `reason` says why there is no value, or no interval."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    reason: str | None = None


def coefficient(
    by_question: Array,
    by_item: Array,
    items: int,
    evidence: Evidence,
    undefined: str,
    *,
    rarer: int | None = None,
    confidence: float = 0.95,
) -> Coefficient:
    """The coefficient, with an interval on Fisher's z scale.

    Its variance is that of `Evidence.variance`, by the jackknife (Efron & Stein 1981; Fisher 1915
    for the scale, on which bounds stay between -1 and 1).

    Args:
        by_question: (1 + questions,) of all items, then without each question; NaN where undefined.
        by_item: likewise without each item.
        items: with two ratings or more.
        evidence: what the share of these on which all raters agree rests on.
        undefined: why there is no coefficient, where the first value is NaN.
        rarer: items to which two raters or more gave the same category, not the commonest one; None
            where the coefficient does not hang on these.
        confidence: of both sides together.

    >>> from markscheme.stats import single_answers
    >>> first = np.array([1, 1, 0, 0, 1, 0, 1, 1, 0, 0, 1, 0])
    >>> second = np.array([1, 1, 0, 0, 1, 0, 1, 0, 0, 0, 1, 0])
    >>> kappas, evidence = cohen_kappas(first, second, 2, np.arange(12)), single_answers(12)
    >>> found = coefficient(kappas, kappas, 12, evidence, "every rating is the same")
    >>> [round(each, 3) for each in (found.value, found.low, found.high)]
    [0.833, 0.12, 0.979]
    >>> coefficient(kappas, kappas, 8, evidence, "every rating is the same").reason
    'fewer than 10 items'
    """
    value = float(by_question[0])
    if math.isnan(value):
        return Coefficient(reason=undefined)
    if items < LEAST_QUESTIONS:
        return Coefficient(value=value, reason=f"fewer than {LEAST_QUESTIONS} items")
    if len(by_question) < 3:
        return Coefficient(value=value, reason="all items are of one question")
    if abs(value) >= 1 - 1e-12:
        return Coefficient(value=value, reason=f"a coefficient of {value:.0f} has none")
    if rarer is not None and rarer < LEAST_OF_A_LABEL:
        reason = f"fewer than {LEAST_OF_A_LABEL} items have a rarer label from two people"
        return Coefficient(value=value, reason=reason)
    variance = evidence.variance(
        jackknife_variance(by_question[1:]), jackknife_variance(by_item[1:]), items
    )
    if not variance:
        return Coefficient(value=value, reason="leaving out a question never moves it")
    low, high = fisher_interval(value, variance, evidence.freedom, confidence)
    return Coefficient(value=value, low=low, high=high)


def fisher_interval(
    value: float, variance: float, freedom: float, confidence: float
) -> tuple[float, float]:
    """Student's t interval on Fisher's z scale, of a figure between -1 and 1.

    Args:
        value: the figure.
        variance: its sampling variance, above 0.
        freedom: degrees of freedom, may be infinite.
        confidence: of both sides together.

    >>> [round(end, 3) for end in fisher_interval(0.8, 0.01, math.inf, 0.95)]
    [0.504, 0.928]
    """
    reach = t_quantile(freedom, (1 + confidence) / 2) * math.sqrt(variance)
    centre, half = math.atanh(value), reach / (1 - value**2)
    return math.tanh(centre - half), math.tanh(centre + half)


def cohen_kappas(first: Ints, second: Ints, categories: int, questions: Ints) -> Array:
    """Cohen's (1960) kappa of two raters, from -1 to 1; undefined where all ratings are the same.

    Args:
        first, second: (items,) categories that each gave, from 0.
        categories: how many there are.
        questions: (items,) a number for the question of each.

    >>> first = np.array([1, 1, 0, 0, 1, 0, 1, 1, 0, 0])
    >>> second = np.array([1, 1, 0, 0, 1, 0, 1, 0, 0, 0])
    >>> round(float(cohen_kappas(first, second, 2, np.arange(10))[0]), 3)
    0.8
    """
    kind = np.eye(categories)
    totals = _left_out(
        np.hstack([(first == second)[:, None], kind[first], kind[second]]), questions
    )
    agreeing, shares, others = np.split(totals, [1, 1 + categories], axis=1)
    items = shares.sum(axis=1)
    chance = (shares * others).sum(axis=1)
    return _ratio(items * agreeing[:, 0] - chance, items**2 - chance, chance < items**2)


def fleiss_kappas(counts: Ints, questions: Ints) -> Array:
    """Fleiss' kappa, from -1 to 1; undefined where all ratings are the same.

    Items with fewer than two ratings are left out. Where not all have equally many, agreement and
    the shares of the categories are means over the items, each of its own ratings (Fleiss 1971,
    equations 2 to 4, with an item's n for the common n, which is ours).

    Args:
        counts: (items, categories) ratings of each item.
        questions: (items,) a number for the question of each.

    >>> counts = np.array([[2, 0], [2, 0], [1, 1], [0, 2]])
    >>> fleiss_kappas(counts, np.arange(4)).round(3).tolist()
    [0.467, 0.333, 0.333, 1.0, -0.2]
    """
    several = counts.sum(axis=1) > 1
    agreeing, shares = _agreement(counts[several], questions[several])
    varied = (_left_out(counts[several], questions[several]) > 0).sum(axis=1) > 1
    chance = (shares**2).sum(axis=1)
    return _ratio(agreeing - chance, 1 - chance, varied)


def gwet_ac1s(counts: Ints, questions: Ints) -> Array:
    """Gwet's (2008) AC1, from -1 to 1; undefined with a single category.

    The form for any number of ratings an item (Gwet's handbook of 2014; irrCAC): agreement is of
    items with two or more, the shares of the categories are of all items that anybody rated. It
    does not fall where nearly all ratings are of one category, as kappa does.

    Args:
        counts: (items, categories) ratings of each item; a category that nobody used counts too.
        questions: (items,) a number for the question of each.

    >>> counts = np.array([[2, 0], [2, 0], [1, 1], [0, 2]])
    >>> gwet_ac1s(counts, np.arange(4)).round(3).tolist()
    [0.529, 0.333, 0.333, 1.0, 0.538]
    """
    rated = counts.sum(axis=1) > 0
    agreeing, shares = _agreement(counts[rated], questions[rated])
    categories = counts.shape[1]
    chance = (shares * (1 - shares)).sum(axis=1) / max(categories - 1, 1)
    return _ratio(agreeing - chance, 1 - chance, np.full(len(chance), categories > 1))


def krippendorff_alphas(counts: Ints, questions: Ints, level: Level, values: Array) -> Array:
    """Krippendorff's alpha, at most 1; undefined where all ratings are the same.

    Equal to that of the `krippendorff` package, which cannot leave out questions. The ordinal
    distance of two grades is that of their middle ranks, so that it is the interval distance of
    these.

    Args:
        counts: (items, categories) ratings of each item, the categories in their order.
        questions: (items,) a number for the question of each.
        level: what a distance between two categories means.
        values: (categories,) their values, for `interval`.

    >>> counts = np.array([[2, 0], [2, 0], [1, 1], [0, 2]])
    >>> values = np.array([0.0, 1.0])
    >>> krippendorff_alphas(counts, np.arange(4), "nominal", values).round(3).tolist()
    [0.533, 0.444, 0.444, 1.0, 0.0]
    """
    several = counts.sum(axis=1) > 1
    counts, questions = counts[several].astype(np.float64), _numbered(questions[several])
    pairs = counts.sum(axis=1) - 1
    totals = _left_out(counts, questions)
    ratings = totals.sum(axis=1)
    if level == "nominal":
        alike = _left_out(
            (counts * (counts - 1)).sum(axis=1, keepdims=True) / pairs[:, None], questions
        )
        apart = ratings - alike[:, 0]
        expected = ratings**2 - (totals**2).sum(axis=1)
    else:
        ranks = np.cumsum(totals, axis=1) - totals / 2
        places = ranks if level == "ordinal" else np.broadcast_to(values, totals.shape)
        places = places - _ratio((totals * places).sum(axis=1), ratings, ratings > 0)[:, None]
        squares = (totals * places**2).sum(axis=1)
        # Sums over pairs of ratings of an item, of the product of their places.
        together = (counts / pairs[:, None]).T @ counts - np.diag(
            (counts / pairs[:, None]).sum(axis=0)
        )
        products = ((places @ together) * places).sum(axis=1)
        own = places[1 + questions]
        sums = (counts * own).sum(axis=1) ** 2 - (counts * own**2).sum(axis=1)
        products[1:] -= np.bincount(questions, sums / pairs, minlength=len(totals) - 1)
        apart, expected = squares - products, ratings * squares
    varied = (totals > 0).sum(axis=1) > 1
    return 1 - _ratio((ratings - 1) * apart, expected, varied)


def pair_agreement(counts: Ints) -> float | None:
    """The share of pairs of an item's ratings that agree, averaged over items with two or more.

    Args:
        counts: (items, categories) ratings of each item.

    >>> pair_agreement(np.array([[2, 0], [2, 0], [1, 1], [0, 2]]))
    0.75
    """
    several = counts.sum(axis=1) > 1
    if not several.any():
        return None
    return float(_agreement(counts[several], np.zeros(int(several.sum()), dtype=np.int64))[0][0])


def _agreement(counts: Ints, questions: Ints) -> tuple[Array, Array]:
    """Of all, then without each question: the share of agreeing pairs, and of each category.

    Every item has a rating; pairs are of those with two or more.
    """
    ratings = counts.sum(axis=1)
    several = ratings > 1
    pairs = np.where(several, ratings * (ratings - 1), 1)
    agreeing = (counts * (counts - 1)).sum(axis=1) / pairs
    columns = [np.ones(len(counts)), several, agreeing, *(counts / ratings[:, None]).T]
    items, paired, agree, *shares = _left_out(np.stack(columns, axis=1), questions).T
    return (
        _ratio(agree, paired, paired > 0),
        np.stack([_ratio(share, items, items > 0) for share in shares], axis=1),
    )


def _left_out(rows: npt.NDArray[Any], questions: Ints) -> Array:
    """(1 + questions, columns) sums of all rows, then without those of each question."""
    numbers = _numbered(questions)
    each = np.zeros((int(numbers.max(initial=-1)) + 1, rows.shape[1]))
    np.add.at(each, numbers, rows)
    total = each.sum(axis=0)
    return np.vstack([total, total - each])


def _numbered(questions: Ints) -> Ints:
    return np.unique(questions, return_inverse=True)[1]


def _ratio(above: Array, below: Array, defined: npt.NDArray[np.bool_]) -> Array:
    ratios = np.full(len(above), np.nan)
    np.divide(above, below, out=ratios, where=defined)
    return ratios
