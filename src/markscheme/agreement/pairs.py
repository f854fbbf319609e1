"""Pairs of judges or systems: who is better, by how much, and is it chance?

Judges are compared against labels on the same answers, systems under one judge on the questions
that both answered, or if there are none by their own shares. A pair has one interval and one test,
from one model, in which answers to one question may depend on each other. Over many pairs, p-values
are corrected by Holm's method.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import polars as pl

from markscheme.agreement.options import CompareOptions
from markscheme.agreement.sources import names_of
from markscheme.agreement.verdicts import (
    FROM_COUNTS,
    STATISTICS,
    cell_table,
    enough_of_both,
    four_cells,
    numbers_of,
    statistics,
)
from markscheme.errors import AgreementError, no_such_name
from markscheme.results import Figure, share_figure
from markscheme.stats import (
    LEAST_OF_A_LABEL,
    detectable_by_t,
    detectable_difference,
    detectable_unpaired,
    difference_evidence,
    difference_interval,
    difference_p,
    expected_pairs,
    freedom_of,
    kinds,
    kish,
    t_interval,
    t_p,
    unpaired_interval,
    unpaired_p,
    variance_without_one,
)
from markscheme.tables import Joined, as_binary, known_by, one_judge, one_row_each

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

LARGE = 0.1
"""A comparison that detects no smaller difference shows nothing small."""

MANY_LEFT = 0.1
"""A comparison that leaves out more of the questions may differ from that of all answers."""

WITHIN_CHANCE = "no more than chance explains"
"""The one wording of a difference whose p is too large."""
DIFFERENT = "on different questions"
"""The one wording of a difference of systems that have no question in common."""
KNOWN = "all answers are labelled, and the difference is known"
"""The one wording of a p that there is not, since nothing is left to chance."""
_TINY = 1e-12


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two judges or systems, and which is better.

    Attributes:
        first, second: their names.
        first_value, second_value: the statistic of each, on what both share.
        difference: first minus second, with its interval.
        p: two-sided, of no difference: at most 1 - confidence just where the interval excludes 0.
        p_holm: the same corrected for the number of pairs by Holm's method.
        detectable: the smallest difference, above 0, that 4 of 5 such comparisons would show
            (before Holm's correction); None where there is none.
        questions: clusters of answers.
        unpaired: whether they have no question in common, so that what the questions differ by
            counts too.
        whole: of systems of which more than `MANY_LEFT` of the questions are answered by one alone,
            the difference of all their answers, as if no question were the same; else None.
    """

    first: str
    second: str
    first_value: Figure
    second_value: Figure
    difference: Figure
    p: Figure
    p_holm: float | None = None
    detectable: float | None = None
    questions: int
    unpaired: bool = False
    whole: Figure | None = None


@dataclass(frozen=True, kw_only=True)
class Comparison(Pair):
    """A pair on judged answers.

    The interval is Tango's of a share (method `tango`), of shares on different questions Newcombe's
    (`newcombe`), of other statistics Student's from the jackknife over questions (`jackknife-t`).
    Of shares with one answer a question p is McNemar's (1947).

    Attributes:
        only_first, only_second: answers (of systems in `compare`: questions) that only one got
            right.
        shared: answers (or questions, likewise) compared.
        left_out: those that only one has, or that were not judged.
    """

    only_first: int
    only_second: int
    shared: int
    left_out: int


_Pair = TypeVar("_Pair", bound=Pair)
_Side = TypeVar("_Side", pl.DataFrame, Ints)


def compare_answers(
    names: tuple[str, str],
    questions: pl.Series,
    first: pl.Series,
    second: pl.Series,
    *,
    confidence: float = 0.95,
) -> Comparison:
    """Two sides answer by answer, by the share of answers that are right.

    Args:
        names: of the two sides.
        questions: (answers,) what each answer is to; answers to one question may be correlated.
        first, second: (answers,) whether each side has it right, or accepted; no nulls.
        confidence: of the interval.
    """
    better, worse = first & ~second, second & ~first
    frame = pl.DataFrame({"question": questions, "worse": worse, "better": better})
    table = frame.group_by("question", maintain_order=True).agg(
        pl.col("worse", "better").sum().cast(pl.Int64), answers=pl.len().cast(pl.Int64)
    )
    return Comparison(
        first=names[0],
        second=names[1],
        first_value=Figure(value=float(first.sum()) / len(first)),
        second_value=Figure(value=float(second.sum()) / len(second)),
        **share_difference(
            *(table[name].to_numpy() for name in ("worse", "better", "answers")),
            confidence=confidence,
        ),
        only_first=int(better.sum()),
        only_second=int(worse.sum()),
        shared=len(first),
        left_out=0,
        questions=table.height,
    )


def compare_means(names: tuple[str, str], counts: Ints, *, confidence: float = 0.95) -> Comparison:
    """Two sides question by question, by the mean share of each question's answers that are right.

    For sides that have several answers to a question, and not equally many: nights of which one is
    missing. A question has the same weight on both sides (`expected_pairs`), so that a side which
    has more answers to easy questions is not the better one for it.

    Args:
        names: of the two sides.
        counts: (questions, 2, 2) right answers and all answers of either side, at least one.
        confidence: of the interval.
    """
    worse, better, pairs = expected_pairs(counts)
    one, two = mean_shares(counts, pairs)
    return Comparison(
        first=names[0],
        second=names[1],
        first_value=Figure(value=one),
        second_value=Figure(value=two),
        **share_difference(worse, better, pairs, confidence=confidence),
        only_first=round(better.sum()),
        only_second=round(worse.sum()),
        shared=round(pairs.sum()),
        left_out=0,
        questions=len(counts),
    )


def share_difference(
    worse: npt.NDArray[Any],
    better: npt.NDArray[Any],
    answers: npt.NDArray[Any],
    *,
    confidence: float = 0.95,
) -> dict[str, Any]:
    """`difference`, `p` and `detectable` of a comparison of two shares.

    Args:
        worse: (questions,) pairs of answers to each question of which only the second is right.
        better: (questions,) pairs of which only the first is right.
        answers: (questions,) pairs of answers to each.
        confidence: of the interval.
    """
    evidence = difference_evidence(worse, better, answers)
    total = float(answers.sum())
    lost, won = float(worse.sum()) / total, float(better.sum()) / total
    low, high = difference_interval(lost, won, evidence, confidence=confidence)
    p = difference_p(lost, won, evidence)
    return {
        "difference": Figure(value=won - lost, low=low, high=high, method="tango"),
        "p": Figure(value=1.0 if p is None else p, method="tango"),
        "detectable": detectable_difference(lost + won, evidence, confidence=confidence),
    }


def unpaired_difference(
    first: Figure, second: Figure, *, confidence: float = 0.95
) -> dict[str, Any]:
    """`difference`, `p` and `detectable` of two shares on different questions.

    Args:
        first, second: each with its interval.
        confidence: of these intervals.
    """
    sides = [
        (one.value or 0.0, one.low or 0.0, 1.0 if one.high is None else one.high)
        for one in (first, second)
    ]
    value = sides[0][0] - sides[1][0]
    low, high = unpaired_interval(*sides)
    difference = Figure(value=value, low=low, high=high, method="newcombe")
    if low == high:
        return {"difference": difference, "p": Figure(reason=KNOWN), "detectable": None}
    p = unpaired_p(value, low, high, confidence=confidence)
    return {
        "difference": difference,
        "p": Figure(value=p, method="newcombe"),
        "detectable": detectable_unpaired(value, low, high, confidence=confidence),
    }


def statistic_difference(
    name: str, counts: npt.NDArray[Any], *, confidence: float = 0.95
) -> dict[str, Any]:
    """The values, `difference`, `p` and `detectable` of a comparison by a statistic of counts.

    Args:
        name: one of `FROM_COUNTS`.
        counts: (questions, 2, 4) of either side, as `four_cells` orders them.
        confidence: of the interval.
    """

    def apart(totals: Array) -> Array:
        sides = FROM_COUNTS[name](totals.reshape(*totals.shape[:-1], 2, 4))
        return np.asarray(sides[..., 0] - sides[..., 1])

    one, two = (statistics(side)[name] for side in counts.sum(axis=0))
    about: dict[str, Any] = {"first_value": one, "second_value": two, "detectable": None}
    if one.value is None or two.value is None:
        none = Figure(reason=one.reason or two.reason)
        return {**about, "difference": none, "p": none}
    value = one.value - two.value
    if not all(map(enough_of_both, counts.sum(axis=0))):
        few = Figure(reason=f"fewer than {LEAST_OF_A_LABEL} answers have one of the labels")
        return {**about, "difference": Figure(value=value), "p": few}
    error = math.sqrt(variance_without_one(apart, *kinds(counts.reshape(len(counts), -1))))
    freedom = freedom_of(kish(counts.sum(axis=(1, 2))))
    if not error:
        reason = "no question moves the difference"
        p = Figure(reason=reason) if value else Figure(value=1.0, method="jackknife-t")
        return {**about, "difference": Figure(value=value), "p": p}
    most = 1.0 - STATISTICS[name].lowest
    low, high = t_interval(value, error, freedom, confidence=confidence)
    low, high = max(-most, low), min(most, high)
    return {
        **about,
        "difference": Figure(value=value, low=low, high=high, method="jackknife-t"),
        "p": Figure(value=t_p(value, error, freedom), method="jackknife-t"),
        "detectable": detectable_by_t(error, freedom, most=most, confidence=confidence),
    }


def holm_figures(p_values: Sequence[float | None]) -> list[float | None]:
    """p-values corrected by Holm's (1979) method for their number, in order; None stays None."""
    order = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    corrected: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for rank, (p, place) in enumerate(order):
        largest = max(largest, (len(order) - rank) * p)
        corrected[place] = min(1.0, largest)
    return corrected


def with_holm(pairs: Sequence[_Pair]) -> list[_Pair]:
    """The pairs with their p corrected for their number."""
    corrected = holm_figures([pair.p.value for pair in pairs])
    return [replace(pair, p_holm=p) for pair, p in zip(pairs, corrected, strict=True)]


def in_order(pairs: Sequence[Pair]) -> tuple[str, ...]:
    """The names in pairs from the best to the worst, by their mean value over all pairs."""
    values: dict[str, list[float]] = {}
    for pair in pairs:
        for name, side in ((pair.first, pair.first_value), (pair.second, pair.second_value)):
            values.setdefault(name, []).append(side.value or 0.0)
    return tuple(sorted(values, key=lambda name: -sum(values[name]) / len(values[name])))


def compare_judges(joined: Joined, options: CompareOptions | None = None) -> list[Comparison]:
    """Every pair of judges, or of those in `options.only`, on the labelled answers that both saw.

    Raises:
        AgreementError: fewer than two judges, an unknown statistic, or a pair that shares no
            answer.
    """
    options = options or CompareOptions()
    if options.statistic not in FROM_COUNTS:
        raise AgreementError(no_such_name("statistic", options.statistic, FROM_COUNTS))
    rows = joined.rows.select(
        "judge",
        *joined.identity,
        "cluster",
        "verdict",
        as_binary(joined.rows["label"], positive_from=options.positive_from),
    )
    compared = partial(_judge_pair, identity=joined.identity, options=options)
    sides = {
        str(name): side.drop("judge")
        for (name,), side in rows.group_by("judge", maintain_order=True)
    }
    return _every_pair(sides, "judge", compared, names_of(options.only))


def compare_systems(
    judgments: pl.DataFrame, options: CompareOptions | None = None
) -> list[Comparison]:
    """Every pair of systems, by the share of answers that one judge accepts on shared questions.

    Of systems that share none, by the share that it accepts of each one's answers.

    Args:
        judgments: of one judge: `question`, `system`, `verdict`.
        options: which systems, confidence, and what not judged counts as; the defaults if None.

    Raises:
        AgreementError: fewer than two systems, several judges, no system or question column, a
            system of which no answer was judged, or two verdicts on an answer.
    """
    options = options or CompareOptions()
    for name in ("question", "system"):
        if name not in judgments.columns or judgments[name].null_count():
            raise AgreementError(
                f"comparing systems needs the {name} of every judgment; give a judgments file "
                "with columns 'question' and 'system'"
            )
    rows = one_judge(judgments) if "judge" in judgments.columns else judgments
    if key := known_by(rows):  # Equal verdicts count each: a system may answer twice alike.
        one_row_each(rows, key, "verdict", "judgments")
    if options.unjudged == "errors":
        rows = rows.with_columns(pl.col("verdict").fill_null(value=False))
    return _every_pair(
        system_counts(rows), "system", partial(_system_pair, confidence=options.confidence),
        names_of(options.only),
    )  # fmt: skip


def system_counts(judgments: pl.DataFrame) -> dict[str, Ints]:
    """(questions, 3) of each system, of the same questions: answers accepted, judged, and all.

    Args:
        judgments: of one judge: `question`, `system`, `verdict`.
    """
    questions = numbers_of(judgments["question"])
    of_all = int(questions.max(initial=-1)) + 1
    verdicts = judgments["verdict"]
    accepted, judged = verdicts.fill_null(value=False).to_numpy(), verdicts.is_not_null().to_numpy()
    places = judgments.select("system").with_row_index("row")
    return {
        str(name): np.stack(
            [np.bincount(questions[rows][some[rows]], minlength=of_all)
             for some in (accepted, judged, np.ones_like(judged))], axis=1,
        )
        for (name,), part in places.group_by("system", maintain_order=True)
        for rows in [part["row"].to_numpy()]
    }  # fmt: skip


def system_shares(first: Ints, second: Ints) -> tuple[float, float]:
    """The share of either system's answers that is accepted: of the questions that both answered,
    each with the same weight, or of its own where there are none.

    Args:
        first, second: (questions, 3) as `system_counts` gives them.

    >>> system_shares(np.array([[1, 1, 1], [0, 1, 1]]), np.array([[1, 2, 2], [0, 0, 0]]))
    (1.0, 0.5)
    """
    both = _of_both(first, second)
    if len(both):
        return mean_shares(both, expected_pairs(both)[2])
    one, two = (side[:, 0].sum() / side[:, 1].sum() for side in (first, second))
    return float(one), float(two)


def mean_shares(counts: Ints, pairs: Array) -> tuple[float, float]:
    """Mean shares of right answers over questions, of two sides.

    Args:
        counts: (questions, 2, 2) right answers and all answers of either side, at least one.
        pairs: (questions,) the weight of each, as `expected_pairs` gives it.
    """
    one, two = (pairs @ (counts[:, :, 0] / counts[:, :, 1]) / pairs.sum()).tolist()
    return one, two


def _of_both(first: Ints, second: Ints) -> Ints:
    """(questions, 2, 2) answers accepted and judged, of the questions of which both were judged."""
    both = (first[:, 1] > 0) & (second[:, 1] > 0)
    return np.stack([side[both, :2] for side in (first, second)], axis=1)


def _every_pair(
    sides: Mapping[str, _Side],
    column: str,
    compared: Callable[[tuple[str, str], _Side, _Side], Comparison],
    wanted: Sequence[str] = (),
) -> list[Comparison]:
    """Every pair of the values of a column, or of those that are wanted, with Holm's correction."""
    if unknown := [name for name in wanted if name not in sides]:
        raise AgreementError(no_such_name(column, unknown[0], sides))
    names = list(dict.fromkeys(wanted or sides))
    if len(names) < 2:
        other = ". To compare systems: --systems" if column == "judge" else ""
        raise AgreementError(
            f"comparing {column}s needs two of them; there is "
            f"{', '.join(map(repr, names)) or 'none'}{other}"
        )
    return with_holm(
        [compared(pair, *map(sides.__getitem__, pair)) for pair in combinations(names, 2)]
    )


def _judge_pair(
    names: tuple[str, str],
    left: pl.DataFrame,
    right: pl.DataFrame,
    *,
    identity: Sequence[str],
    options: CompareOptions,
) -> Comparison:
    both = left.join(
        right.select(*identity, pl.col("verdict").alias("other")), on=identity, nulls_equal=True
    )
    union = left.height + right.height - both.height
    if options.unjudged == "left_out":
        both = both.drop_nulls(["verdict", "other"])
    if both.is_empty():
        raise AgreementError(f"{names[0]!r} and {names[1]!r} judged no labelled answer in common")
    # Not judged counts as judged wrongly: the opposite of the label.
    both = both.with_columns(
        pl.col(name).fill_null(~pl.col("accepted")) for name in ("verdict", "other")
    )
    labels = both["accepted"]
    right_ones = (both[name] == labels for name in ("verdict", "other"))
    pair = compare_answers(names, both["cluster"], *right_ones, confidence=options.confidence)
    pair = replace(pair, left_out=union - both.height)
    if options.statistic == "accuracy":
        return pair
    sides = [four_cells(cell_table(both, name), "left_out") for name in ("verdict", "other")]
    counts = np.stack(sides, axis=1)
    return replace(
        pair, **statistic_difference(options.statistic, counts, confidence=options.confidence)
    )


def _system_pair(
    names: tuple[str, str], left: Ints, right: Ints, *, confidence: float
) -> Comparison:
    """Two systems, by the counts of `system_counts`."""
    answered = int(((left[:, 2] > 0) | (right[:, 2] > 0)).sum())
    for name, side in zip(names, (left, right), strict=True):
        if not side[:, 1].any():
            raise AgreementError(f"no answer of {name!r} was judged")
    both = _of_both(left, right)
    apart: dict[str, Any] = {}
    if answered - len(both) > MANY_LEFT * answered:
        judged = (side[side[:, 1] > 0, :2].T for side in (left, right))
        apart = unpaired_difference(
            *(share_figure(*counts, confidence=confidence) for counts in judged),
            confidence=confidence,
        )
    if not len(both):
        one, two = system_shares(left, right)
        questions = int((left[:, 1] > 0).sum() + (right[:, 1] > 0).sum())
        return Comparison(
            first=names[0],
            second=names[1],
            first_value=Figure(value=one),
            second_value=Figure(value=two),
            **apart,
            only_first=0,
            only_second=0,
            shared=0,
            left_out=answered - questions,
            questions=questions,
            unpaired=True,
        )
    # a/b > c/d without division: more of the first's answers accepted than of the second's.
    lead = both[:, 0, 0] * both[:, 1, 1] - both[:, 1, 0] * both[:, 0, 1]
    return replace(
        compare_means(names, both, confidence=confidence),
        only_first=int((lead > 0).sum()),
        only_second=int((lead < 0).sum()),
        shared=len(both),
        left_out=answered - len(both),
        whole=apart.get("difference"),
    )
