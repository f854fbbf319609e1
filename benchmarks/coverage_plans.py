"""Worlds of how labels are drawn: a perfect judge, as many as were planned, unequal chances.

- most answers are labelled, and the judge never errs;
- `plan-labels` for a half-width: whether the estimate from so many labels reaches it;
- for the better of two systems, and above a limit: whether `compare` and the gate show it;
- answers that a calibrated judge doubts have the higher chance of a label.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from benchmarks.coverage_people import verdicts
from benchmarks.peer_intervals import Z
from benchmarks.worlds import Tally, World, difficulty
from markscheme.agreement import compare, estimate, plan_labels
from markscheme.agreement.accuracy_estimates import estimates
from markscheme.agreement.labelling import label_need
from markscheme.agreement.options import PlanOptions
from markscheme.stats import ASSURANCE, Sample, powered, wilson_interval

Array = npt.NDArray[np.float64]


def plans(*, small: bool = False) -> Iterator[World]:
    """All of them."""
    for accuracy in (0.97,) if small else (0.8, 0.95, 0.97):
        yield World(
            "perfect judge", f"300 x 1|200|{accuracy:g}", partial(_perfect, accuracy=accuracy)
        )
    shapes = ((400, 1), (150, 5), (100, 20))
    for questions, each in shapes[:1] if small else shapes:
        for pilot in (60,) if small else (0, 60):
            yield World(
                "plan-labels",
                f"{questions} x {each}|{pilot} known|0.8|+-8",
                partial(
                    _planned,
                    questions=questions,
                    each=each,
                    pilot=pilot,
                    most=20 if small else PLANNED,
                ),
            )
    for design in ("doubt",) if small else CHANCES:
        yield World(
            "unequal chances",
            f"2000 x 1|{LABELS} by {design}|0.95|calibrated",
            partial(_unequal, design=design),
        )


def _sample(truth: Array, said: Array, known: npt.NDArray[np.int64], each: int = 1) -> Sample:
    labels = np.full(len(truth), np.nan)
    labels[known] = truth[known]
    return Sample(
        predictions=said[:, None],
        labels=labels,
        weights=np.ones(len(truth)),
        clusters=np.arange(len(truth)) // each,
    )


def _perfect(tally: Tally, rng: np.random.Generator, *, accuracy: float) -> None:
    truth = (rng.random(300) < accuracy).astype(np.float64)
    for found in estimates(_sample(truth, truth, rng.choice(300, 200, replace=False))):
        low, high = found.figure.low, found.figure.high
        if low is not None and high is not None:
            tally.covers(found.method, accuracy, low, high)


# --- As many labels as were planned ---------------------------------------------------------------

ACCURACY, HALF_WIDTH, ALIKE = 0.8, 0.08, 0.4
PLANNED = 100
"""At most so many draws of a plan, which simulates a hundred draws itself."""


def _planned(
    tally: Tally, rng: np.random.Generator, *, questions: int, each: int, pilot: int, most: int
) -> None:
    """A plan that is refused, since no number of labels would do, is not counted."""
    if tally.seen.get("wider than planned", 0) >= most:
        return
    chances = np.repeat(difficulty(rng, questions, ACCURACY, ALIKE if each > 1 else 0.0), each)
    truth = (rng.random(len(chances)) < chances).astype(np.float64)
    said, order = verdicts(rng, truth, "good"), rng.permutation(len(truth))
    known = _sample(truth, said, order[:pilot], each)
    table = pl.DataFrame(
        {"score": said, "verdict": said > 0, "cluster": known.clusters, "label": known.labels}
    ).with_columns(pl.col("label").fill_nan(None), judge=pl.lit("good"))
    seed = int(rng.integers(2**31))
    need = label_need(table, PlanOptions(half_width=HALF_WIDTH, seed=seed))
    if need.labels is None:
        return
    found = powered(_sample(truth, said, order[: need.labels], each))
    if found.low is None or found.high is None:
        tally.note("wider than planned", hit=True, nominal=1 - ASSURANCE)
        return
    tally.covers("interval", ACCURACY, found.low, found.high)
    wide = found.high - found.low > 2 * HALF_WIDTH
    tally.note("wider than planned", wide, nominal=1 - ASSURANCE)


# --- A decision that was planned ------------------------------------------------------------------

DECISIONS = (
    (300, 1, 0, (0.8,), 0.72),
    (400, 1, 60, (0.8,), 0.72),
    (150, 5, 60, (0.8,), 0.7),
    (60, 20, 100, (0.8,), 0.65),
    (800, 1, 60, (0.95,), 0.89),
    (200, 1, 0, (0.8, 0.6), None),
    (300, 1, 60, (0.8, 0.65), None),
    (400, 1, 100, (0.95, 0.85), None),
    (80, 5, 100, (0.8, 0.6), None),
    (60, 10, 0, (0.8, 0.6), None),
)
"""Questions, answers to each, labels known, accuracies of one or two systems, limit."""


def decisions() -> Iterator[World]:
    """Whether so many labels as are planned show a share above a limit, or which of two is better.

    Without known labels the judge is as good as the planner supposes: right on 85 of 100 of either
    verdict.
    """
    for questions, each, pilot, shares, limit in DECISIONS:
        wanted = f"above {limit:g}" if limit else "which of two"
        yield World(
            "plans for decisions",
            f"{questions} x {each}|{pilot} known|{' / '.join(map(str, shares))}|{wanted}",
            partial(
                _decided,
                questions=questions,
                each=each,
                pilot=pilot,
                shares=shares,
                limit=limit,
            ),
        )


def _decided(
    tally: Tally,
    rng: np.random.Generator,
    *,
    questions: int,
    each: int,
    pilot: int,
    shares: tuple[float, ...],
    limit: float | None,
) -> None:
    """All by the public functions, as someone does who labels what is drawn."""
    table = _judged(rng, questions, each, shares, supposed=not pilot)
    seed = int(rng.integers(2**31))
    rows = table.drop("label")
    known = None
    if pilot:  # Whole questions, where these are what is drawn.
        whole = questions * min(1.0, pilot / table.height)
        drawn = pl.col("place") < whole if limit is None else pl.int_range(pl.len()) < pilot
        known = table.sample(fraction=1.0, shuffle=True, seed=seed).filter(drawn)
        known = known.select("answer_id", "label")
    wish: dict[str, Any] = {"for_difference": ("a", "b")} if limit is None else {"above": limit}
    plan = plan_labels(rows, pilot=known, seed=seed, with_system=True, **wish)
    tally.note("no plan", plan.needs[None].labels is None, nominal=1)
    if plan.needs[None].labels is None:
        return
    labels = plan.frame.drop("label").join(table.select("answer_id", "label"), on="answer_id")
    if limit is not None:
        # One-sided, as the plan's note says.
        shown = all(estimate(rows, labels, confidence=0.9).gates(limit).values())
    else:
        [found] = compare(rows, labels, systems=True).people
        shown = (found.difference.low or -1.0) > 0
    tally.note("not shown", not shown, nominal=1 - ASSURANCE)


def _judged(
    rng: np.random.Generator,
    questions: int,
    each: int,
    shares: tuple[float, ...],
    *,
    supposed: bool,
) -> pl.DataFrame:
    """Answers of one or two systems, with a verdict and the label that people would give."""
    places = np.repeat(np.arange(questions), each)
    parts = []
    for system, share in zip("ab", shares, strict=False):
        rate = (share - 0.15) / 0.7 if supposed else share
        chances = difficulty(rng, questions, rate, ALIKE if each > 1 else 0.0)
        first = rng.random(len(places)) < chances[places]
        second = (
            first ^ (rng.random(len(places)) < 0.15)
            if supposed
            else verdicts(rng, first.astype(np.float64), "good") > 0
        )
        said, truth = (first, second) if supposed else (second, first)
        parts.append(
            pl.DataFrame({"place": places, "verdict": said, "label": truth.astype(np.int64)})
            .with_columns(
                pl.lit(system).alias("system"),
                question=pl.format("question {}", "place"),
                answer=pl.format("{} {}", pl.lit(system), pl.int_range(pl.len())),
                judge=pl.lit("good"),
            )
            .with_columns(answer_id="answer")
        )
    return pl.concat(parts)


# --- Labels where the judge doubts ----------------------------------------------------------------

LABELS = 200


def _by_strata(score: Array) -> Array:
    """(answers,) chances: equally many of the five fifths of the scale, as far as there are."""
    strata = np.minimum((5 * score).astype(np.int64), 4)
    sizes = np.bincount(strata, minlength=5).astype(np.float64)
    each = np.zeros(5)
    while (rest := LABELS - each.sum()) > 1e-9:
        room = each < sizes
        each[room] += np.minimum(sizes[room] - each[room], rest / room.sum())
    return np.asarray((each / np.maximum(sizes, 1))[strata])


def _by_doubt(score: Array) -> Array:
    """(answers,) chances: half of each the same for all, half as the label's standard deviation."""
    doubt = np.sqrt(score * (1 - score))
    return LABELS / 2 * (1 / len(score) + doubt / doubt.sum())


CHANCES: dict[str, Callable[[Array], Array]] = {
    "equal chances": lambda score: np.full(len(score), LABELS / len(score)),
    "strata": _by_strata,
    "doubt": _by_doubt,
}


def _draw(rng: np.random.Generator, design: str) -> Sample:
    """2,000 answers whose judge's score is the chance that they are right, .95 on average."""
    score = rng.beta(1.9, 0.1, 2000)
    truth, chances = (rng.random(2000) < score).astype(np.float64), CHANCES[design](score)
    drawn = np.flatnonzero(_systematic(rng, chances))
    return replace(_sample(truth, score, drawn), weights=1 / chances)


def _systematic(rng: np.random.Generator, chances: Array) -> npt.NDArray[np.bool_]:
    """(answers,) drawn with these chances, their sum in all (Madow 1949): in a random order."""
    order = rng.permutation(len(chances))
    steps = np.floor(np.cumsum(chances[order]) + rng.random())
    drawn = np.empty(len(chances), dtype=bool)
    drawn[order] = np.diff(steps, prepend=0.0) > 0
    return drawn


@cache
def _error(design: str) -> float:
    """The root mean square error of the estimate, from draws of its own."""
    rng = np.random.default_rng(11)
    return math.sqrt(
        np.mean([(powered(_draw(rng, design)).value - 0.95) ** 2 for _ in range(1000)])
    )


def _unequal(tally: Tally, rng: np.random.Generator, *, design: str) -> None:
    """Peers: the same estimate by somebody who knows how large its error is, than which no
    interval around it can be narrower; as many labels drawn at random, without the judge."""
    sample = _draw(rng, design)
    found = estimates(sample)[0].figure
    if found.low is None or found.high is None or found.value is None:
        return
    tally.covers("ppi_tuned", 0.95, found.low, found.high)
    reach = Z * _error(design)
    tally.covers("peer, known error", 0.95, found.value - reach, found.value + reach)
    share = float(rng.binomial(LABELS, 0.95)) / LABELS
    tally.covers("peer, labels at random", 0.95, *wilson_interval(share, LABELS))


PARTS: dict[str, Callable[..., Iterator[World]]] = {"plans": plans}
