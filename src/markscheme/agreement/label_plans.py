"""How many answers to label for a wanted half-width, and which.

The half-width is that of tuned prediction-powered inference (`estimate.ppi`): with N answers, n of
them labelled, label variance V and squared correlation r2 between judge and label, the variance is
V (1 - r2) / n + V r2 / N. A good judge (r2 near 1) needs few labels; the last term cannot be
labelled away, since N answers are themselves a sample of all possible answers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import polars as pl

from markscheme.agreement.options import Design
from markscheme.agreement.sequences import RunningEstimate, running_estimate
from markscheme.errors import AgreementError
from markscheme.stats import LEAST_FOR_JUDGES

Array = npt.NDArray[np.float64]

LEAST_A_STRATUM = 2
LEAST_SPREAD = 0.1
LEAST_TRUE = 0.02


@dataclass(frozen=True, kw_only=True)
class LabelNeed:
    """How many labels a wanted half-width takes.

    Attributes:
        labels: how many, with or without the judge's help, whichever is fewer, and never fewer
            than `estimate` takes; None where even labelling all answers does not reach it.
        reach: the half-width that labelling all answers gives.
        labels_alone: how many without the judge's help, or None likewise.
        variance: of the labels.
        correlation: between judge and labels.
        source: what variance and correlation rest on.
        known: labels that are there already.
        more: how many more than these.
        more_anytime: about how many more if one looks after every label and stops when the
            interval is narrow enough (`sequences.running_estimate`); None without a pilot.
    """

    labels: int | None
    reach: float
    labels_alone: int | None
    variance: float
    correlation: float
    source: str
    known: int = 0
    more: int | None = None
    more_anytime: int | None = None


def need_from_pilot(
    predictions: Array, labels: Array, *, answers: int, half_width: float, confidence: float = 0.95
) -> LabelNeed:
    """Labels needed, judging by pilot labels and the judge's predictions on the same answers.

    Raises:
        AgreementError: fewer than ten pilot labels, or all alike.
    """
    if len(labels) < 10:
        raise AgreementError(f"{len(labels)} pilot labels are too few to plan by; label 10 or more")
    variance = float(np.var(labels, ddof=1))
    if variance == 0:
        raise AgreementError("all pilot labels are the same; label more, or give --judge-accuracy")
    flat = np.ptp(predictions) == 0
    correlation = 0.0 if flat else float(np.corrcoef(predictions, labels)[0, 1])
    need = _need(
        variance,
        correlation,
        answers=answers,
        half_width=half_width,
        confidence=confidence,
        source=f"{len(labels)} pilot labels",
    )
    more = None if need.labels is None else max(0, need.labels - len(labels))
    running = _running(predictions, labels, answers, confidence)
    return replace(
        need,
        known=len(labels),
        more=more,
        more_anytime=None if running is None else running.more_for(half_width),
    )


def _running(
    predictions: Array, labels: Array, answers: int, confidence: float
) -> RunningEstimate | None:
    """The pilot as the beginning of a sequence; None where labels are grades.

    The judge's help is seen on the pilot alone; repeated, it represents all answers.
    """
    if labels.min() < 0 or labels.max() > 1 or predictions.min() < 0 or predictions.max() > 1:
        return None
    total = max(answers, len(labels))
    known = np.r_[labels, np.full(total - len(labels), np.nan)]
    return running_estimate(known, predictions=np.resize(predictions, total), confidence=confidence)


def need_from_accuracy(
    acceptance: float,
    accuracy: float,
    *,
    answers: int,
    half_width: float,
    confidence: float = 0.95,
) -> LabelNeed:
    """Labels needed, supposing the judge is right on a share `accuracy` of either kind of answer.

    Where the judge's acceptance rate does not fit the supposition, half of the answers are taken
    to be good, which needs the most labels.

    Args:
        acceptance: share of answers that the judge accepts.
        accuracy: supposed, above 0.5 and at most 1.
        answers: how many there are to estimate for.
        half_width: wanted, of the interval, as a share.
        confidence: of the interval.

    Raises:
        AgreementError: an accuracy of chance or less.
    """
    if not 0.5 < accuracy <= 1.0:
        raise AgreementError(
            f"a judge accuracy of {accuracy:g} tells nothing; suppose one above 0.5, at most 1"
        )
    true = (acceptance + accuracy - 1) / (2 * accuracy - 1)
    source = f"a supposed judge accuracy of {accuracy:g}"
    if not LEAST_TRUE <= true <= 1 - LEAST_TRUE:
        # No share of good answers fits both, so the one that needs most labels is taken.
        true = 0.5
        source = (
            f"the worst case: a judge with an accuracy of {accuracy:g} would hardly accept "
            f"{100 * acceptance:.0f}% (a pilot says more)"
        )
    shown = true * accuracy + (1 - true) * (1 - accuracy)
    variance = true * (1 - true)
    correlation = (true * accuracy - true * shown) / math.sqrt(variance * shown * (1 - shown))
    return _need(
        variance,
        correlation,
        answers=answers,
        half_width=half_width,
        confidence=confidence,
        source=source,
    )


def _need(
    variance: float,
    correlation: float,
    *,
    answers: int,
    half_width: float,
    confidence: float,
    source: str,
) -> LabelNeed:
    from scipy.stats import norm

    if not 0 < half_width < 1:
        raise AgreementError(f"a half-width of {half_width:g} cannot be; give one between 0 and 1")
    z = float(norm.ppf((1 + confidence) / 2))
    wanted = (half_width / z) ** 2

    def labels(r2: float, least: int) -> int | None:
        left = wanted - variance * r2 / answers
        needed = math.ceil(variance * (1 - r2) / left) if left > 0 else answers + 1
        return None if needed > answers else min(answers, max(least, needed))

    alone = labels(0.0, LEAST_FOR_JUDGES)
    helped = labels(correlation**2, LEAST_FOR_JUDGES)
    return LabelNeed(
        labels=min((each for each in (alone, helped) if each is not None), default=None),
        reach=z * math.sqrt(variance / answers),
        labels_alone=alone,
        variance=variance,
        correlation=correlation,
        source=source,
    )


def choose_labels(
    answers: pl.DataFrame,
    *,
    labels: int,
    design: Design,
    strata: int = 5,
    seed: int = 0,
    known: Sequence[int] = (),
) -> pl.DataFrame:
    """Draw the answers to label.

    `random` draws with equal chance. `stratified` cuts the answers into ranges of the judge's
    score, as even in number as ties allow, and labels more where the judge is unsure (in
    proportion to sqrt(s (1 - s)) of the range's mean score s, at least two a range).

    Args:
        answers: `score` (judge's score, or verdict as 0 and 1), and what else the labelling file
            should hold.
        labels: how many to draw.
        design: see above.
        strata: ranges of the score.
        seed: of the draw.
        known: rows that were drawn at random before, which come first and are among the `labels`;
            for `random` only.

    Returns:
        The drawn rows in random order with `inclusion_probability` and, if stratified, `stratum`;
        without the judge's score, which the labeller should not see.

    Raises:
        AgreementError: more labels than answers, no score, or fewer labels than strata need.
    """
    if not 0 < labels <= answers.height:
        systems = set(answers["system"]) if "system" in answers.columns else set[str]()
        whose = f" of {systems.pop()!r} (--count is of each)" if len(systems) == 1 else ""
        raise AgreementError(f"cannot draw {labels} of {answers.height} answers{whose}")
    rng = np.random.default_rng(seed)
    if design == "random":
        rest = np.setdiff1d(np.arange(answers.height), known)
        count = max(0, labels - len(known))
        drawn = np.r_[np.array(known, dtype=np.int64), rng.choice(rest, size=count, replace=False)]
        labels = len(drawn)
        chance = np.full(labels, labels / answers.height)
        return _as_drawn(answers, drawn, chance)
    if answers["score"].null_count() == answers.height:
        raise AgreementError("stratifying needs the judge's scores; there are none")
    scores = answers["score"].fill_null(answers["score"].mean()).to_numpy()
    ranges = _ranges(scores, strata)
    sizes = np.bincount(ranges)
    if labels < LEAST_A_STRATUM * len(sizes):
        raise AgreementError(
            f"{labels} labels are too few for {len(sizes)} ranges of the score; draw at random"
        )
    share = _allocation(scores, ranges, sizes, labels)
    parts = [
        rng.choice(np.flatnonzero(ranges == place), size=count, replace=False)
        for place, count in enumerate(share)
    ]
    drawn = np.concatenate(parts)
    order = rng.permutation(len(drawn))
    chance = np.repeat(share / sizes, share)
    picked = _as_drawn(answers, drawn[order], chance[order])
    return picked.with_columns(pl.Series("stratum", ranges[drawn[order]] + 1))


def _as_drawn(answers: pl.DataFrame, drawn: npt.NDArray[np.int64], chance: Array) -> pl.DataFrame:
    hidden = ("score", "verdict", "status", "judge")
    return (
        answers[drawn]
        .drop(name for name in hidden if name in answers.columns)
        .with_columns(pl.Series("inclusion_probability", chance))
    )


def _ranges(scores: Array, strata: int) -> npt.NDArray[np.int64]:
    """The number of each answer's range, from 0; equal scores share a range."""
    cuts = np.unique(np.quantile(scores, np.arange(1, strata) / strata, method="lower"))
    return np.unique(np.searchsorted(cuts, scores, side="left"), return_inverse=True)[1]


def _allocation(
    scores: Array, ranges: npt.NDArray[np.int64], sizes: npt.NDArray[np.int64], labels: int
) -> npt.NDArray[np.int64]:
    """Labels a range: in proportion to size and spread, no more than there are, two at least."""
    means = np.bincount(ranges, scores).clip(0, None) / sizes
    spread = np.sqrt((means * (1 - means)).clip(LEAST_SPREAD**2, None))
    share = np.minimum(LEAST_A_STRATUM, sizes)
    while (missing := labels - int(share.sum())) > 0:
        # The most under-served range gets the next labels, a few at a time.
        need = np.where(share < sizes, sizes * spread / share, -1.0)
        best = int(need.argmax())
        share[best] += min(max(1, missing // 50), int(sizes[best] - share[best]))
    return share
