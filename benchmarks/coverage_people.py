"""Worlds of who labels, and what: answers that all exist, wrong labels, rare ones, people alike.

- `finite`: `estimate --about these`, where most answers are labelled, or a fifth;
- `errors`: people err, and some answers have two labels, or three;
- `rare`: `agree` where three answers in a hundred are of the rarer label;
- `people`: coefficients of agreement between two or three people.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import numpy.typing as npt

from benchmarks.worlds import Tally, World, difficulty
from markscheme.agreement.accuracy_estimates import estimates
from markscheme.agreement.annotators import _Ratings
from markscheme.agreement.verdicts import FROM_COUNTS, clustered_statistics
from markscheme.stats import (
    Sample,
    fisher_interval,
    jackknife_variance,
    noise_from_pairs,
    of_majorities,
    without_noise,
)
from markscheme.stats.quantiles import t_quantile

Array = npt.NDArray[np.float64]
JUDGES = {"good": (0.95, 0.85), "perfect": (1.0, 1.0), "useless": (0.8, 0.2)}
"""Sensitivity and specificity."""


def verdicts(rng: np.random.Generator, truth: Array, judge: str) -> Array:
    """(answers,) 1 where the judge accepts."""
    sensitivity, specificity = JUDGES[judge]
    chance = np.where(truth > 0, sensitivity, 1 - specificity)
    return (rng.random(len(truth)) < chance).astype(np.float64)


# --- These answers alone --------------------------------------------------------------------------


def finite(*, small: bool = False) -> Iterator[World]:
    """What people would say of these answers, of which some are labelled."""
    sizes = ((41, 1, 40), (82, 1, 60), (300, 1, 290), (300, 1, 60), (1000, 1, 200), (60, 5, 100),
             (60, 5, 290))  # fmt: skip
    for questions, each, labels in sizes[:3] if small else sizes:
        for accuracy in (0.8,) if small else (0.5, 0.8, 0.95):
            for judge in ("good",) if small else JUDGES:
                yield World(
                    "these answers", f"{questions} x {each}|{labels}|{accuracy:g}|{judge}",
                    partial(_finite, questions=questions, each=each, labels=labels,
                            accuracy=accuracy, judge=judge),
                )  # fmt: skip


def _finite(
    tally: Tally,
    rng: np.random.Generator,
    *,
    questions: int,
    each: int,
    labels: int,
    accuracy: float,
    judge: str,
) -> None:
    chances = np.repeat(difficulty(rng, questions, accuracy, 0.4 if each > 1 else 0.0), each)
    truth = (rng.random(len(chances)) < chances).astype(np.float64)
    said, known = verdicts(rng, truth, judge), np.full(len(truth), np.nan)
    drawn = rng.choice(len(truth), labels, replace=False)
    known[drawn] = truth[drawn]
    found = estimates(
        Sample(
            predictions=said[:, None],
            labels=known,
            weights=np.ones(len(truth)),
            clusters=np.repeat(np.arange(questions), each),
        ),
        about="these",
    )[0].figure
    share = float(truth.mean())
    if found.low is not None and found.high is not None:
        tally.covers("interval", share, found.low, found.high)
    tally.covers("peer, regression", share, *_regression(truth[drawn], said[drawn], said))
    tally.covers("peer, labels", share, *_regression(truth[drawn], None, said))


def _regression(labels: Array, said: Array | None, every: Array) -> tuple[float, float]:
    """The regression estimator of a finite population with Student's t (Cochran 1977, 7.1-7.7);
    without what a judge says, the mean (2.6)."""
    number, value, rest = len(labels), float(labels.mean()), labels - labels.mean()
    freedom = number - 1
    if said is not None and np.ptp(said):
        apart = said - said.mean()
        slope = float(apart @ labels) / float(apart @ apart)
        value += slope * float(every.mean() - said.mean())
        rest, freedom = rest - slope * apart, number - 2
    variance = float(rest @ rest) / freedom / number * (1 - number / len(every))
    reach = t_quantile(float(freedom), 0.975) * math.sqrt(variance)
    return value - reach, value + reach


# --- Labels that are wrong ------------------------------------------------------------------------


def errors(*, small: bool = False) -> Iterator[World]:
    """The true accuracy, from labels of which some are wrong, of any annotator."""
    plans = [(wrong, twice, people) for wrong in (0.02, 0.05, 0.1)
             for twice, people in ((50, 2), (200, 2), (200, 3))]  # fmt: skip
    for wrong, twice, people in [(0.05, 200, 2)] if small else plans:
        for accuracy in (0.95,) if small else (0.6, 0.8, 0.95):
            for judge in ("good",) if small else ("good", "useless"):
                yield World(
                    "label errors",
                    f"{twice} of 200 by {people}|{wrong:g} wrong|{accuracy:g}|{judge}",
                    partial(_errors, wrong=wrong, twice=twice, people=people, accuracy=accuracy,
                            judge=judge),
                )  # fmt: skip


def _errors(
    tally: Tally,
    rng: np.random.Generator,
    *,
    wrong: float,
    twice: int,
    people: int,
    accuracy: float,
    judge: str,
    answers: int = 1000,
    labels: int = 200,
) -> None:
    """One person's label counts, of three people's the majority."""
    truth = (rng.random(answers) < accuracy).astype(np.float64)
    given = np.where(rng.random((people, labels)) < wrong, 1 - truth[:labels], truth[:labels])
    known = np.full(answers, np.nan)
    known[:labels] = given[0] if people < 3 else (given.sum(axis=0) > people / 2)
    found = estimates(
        Sample(
            predictions=verdicts(rng, truth, judge)[:, None],
            labels=known,
            weights=np.ones(answers),
            clusters=np.arange(answers),
        )
    )[0].figure
    if found.value is None or found.low is None or found.high is None:
        return
    yes = given[:, :twice].sum(axis=0)
    noise = noise_from_pairs(yes * (people - yes), np.full(twice, people * (people - 1) / 2))
    if people == 3:
        noise = of_majorities(noise, np.abs(2 * yes - people))
    tally.covers(
        "corrected", accuracy, *without_noise(found.value, found.low, found.high, noise)[1:]
    )
    tally.covers("before, uncorrected", accuracy, found.low, found.high)


# --- Rare labels ----------------------------------------------------------------------------------


def rare(*, small: bool = False) -> Iterator[World]:
    """`agree` where few answers are of one label.

    A draw without an interval counts as one of everything: those with enough rare labels to show
    one are unlike the others, so that the share of them alone that covers says nothing.
    """
    for questions in (200,) if small else (50, 100, 200, 1000):
        for share in (0.03,) if small else (0.03, 0.97):
            for right in (0.9,) if small else (0.7, 0.9):
                yield World(
                    "rare labels", f"{questions} x 1|{share:g} accepted|{right:g} found",
                    partial(_rare, questions=questions, share=share, right=right),
                )  # fmt: skip


def _rare(
    tally: Tally, rng: np.random.Generator, *, questions: int, share: float, right: float
) -> None:
    """The judge recognises a share of the rarer label, and 98% of the other."""
    found = (right, 0.98) if share < 0.5 else (0.98, right)
    cells = np.array(
        [share * found[0], (1 - share) * (1 - found[1]), share * (1 - found[0]),
         (1 - share) * found[1]]
    )  # fmt: skip
    truths = {name: float(FROM_COUNTS[name](cells)) for name in FROM_COUNTS}
    rows = np.eye(4)[rng.choice(4, size=questions, p=cells / cells.sum())]
    for name, figure in clustered_statistics(rows, 0.95).items():
        least = -1.0 if name in ("kappa", "mcc") else 0.0
        low = least if figure.low is None else figure.low
        high = 1.0 if figure.high is None else figure.high
        tally.covers(name, truths[name], low, high)


# --- Agreement between people -------------------------------------------------------------------


def people(*, small: bool = False) -> Iterator[World]:
    """Coefficients of people who each err with the same chance, independently of each other.

    A draw without an interval counts as one of everything, as of rare labels.
    """
    sizes = ((20, 1, 0.0), (50, 1, 0.0), (200, 1, 0.0), (10, 10, 0.0), (10, 10, 0.3),
             (50, 4, 0.0), (50, 4, 0.3))  # fmt: skip
    for questions, each, alike in sizes[1:2] if small else sizes:
        for share in (0.97,) if small else (0.6, 0.9, 0.97):
            for wrong in (0.12,) if small else (0.03, 0.12):
                for raters in (2,) if small else (2, 3):
                    yield World(
                        "between people",
                        f"{questions} x {each}|{alike:g}|{share:g} accepted|{wrong:g} wrong"
                        f"|{raters} people",
                        partial(_people, questions=questions, each=each, alike=alike, share=share,
                                wrong=wrong, raters=raters),
                    )  # fmt: skip


def _people(
    tally: Tally,
    rng: np.random.Generator,
    *,
    questions: int,
    each: int,
    alike: float,
    share: float,
    wrong: float,
    raters: int,
) -> None:
    """Answers to a question are alike in how many are acceptable, and in how hard they are."""
    accepted = share * (1 - wrong) + (1 - share) * wrong
    agree = 1 - 2 * wrong * (1 - wrong) * (1 - alike)
    chance = accepted**2 + (1 - accepted) ** 2
    kappa = (agree - chance) / (1 - chance)
    truths = {"fleiss": kappa, "alpha": kappa, "ac1": (agree - (1 - chance)) / chance}
    if raters == 2:
        truths["cohen"] = kappa
    shape = (questions, each, raters)
    truth = rng.random(shape[:2]) < difficulty(rng, questions, share, alike)[:, None]
    errs = rng.random(shape) < difficulty(rng, questions, wrong, alike)[:, None, None]
    table = _Ratings(
        codes=(truth[:, :, None] ^ errs).reshape(-1, raters).astype(np.int64),
        values=np.arange(2.0),
        questions=np.repeat(np.arange(questions), each),
    )
    for name, true in truths.items():
        found = table.coefficient(name)
        low = -1.0 if found.low is None else found.low
        tally.covers(name, true, low, 1.0 if found.high is None else found.high)
        values = table._without(name, "nominal", table.questions)
        error = math.sqrt(jackknife_variance(values[1:]))
        if error and abs(values[0]) < 1 - 1e-12:
            ends = fisher_interval(float(values[0]), error**2, questions - 1.0, 0.95)
            tally.covers(f"before, {name}", true, *ends)


PARTS: dict[str, Callable[..., Iterator[World]]] = {
    "finite": finite, "errors": errors, "rare": rare, "people": people,
}  # fmt: skip
