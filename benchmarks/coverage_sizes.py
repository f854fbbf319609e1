"""The laboratory's worlds of unequal questions: shares, and differences of two systems.

See `benchmarks/coverage.py`, which draws them. Questions have one answer, equally many, or very
different numbers; answers to one may all be alike; hard questions may have more. Other methods
(`benchmarks/peer_intervals.py`) are computed from the same draws.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from benchmarks.peer_intervals import (
    SHARES,
    agresti_min,
    clustered_wald,
    newcombe,
    paired_cells,
)
from benchmarks.worlds import Array, Tally, World, difficulty
from markscheme.stats import (
    difference_evidence,
    difference_interval,
    difference_p,
    share_bound,
    share_evidence,
    share_interval,
    wilson_interval,
)

Sizes = Callable[[np.random.Generator], Array]
MANY, HARD = 20, 10
"""Answers to each of `HARD` questions of 100 in the worlds called `tenth of 20`."""


def tenth(_rng: np.random.Generator) -> Array:
    """100 questions, of which a tenth has `MANY` answers and the others one."""
    return np.where(np.arange(100) < HARD, float(MANY), 1.0)


def pareto(rng: np.random.Generator) -> Array:
    """300 questions with Pareto-distributed numbers of answers, 1 to 200."""
    return np.clip(np.ceil(rng.pareto(1.2, 300)), 1.0, 200.0)


def mixed(rng: np.random.Generator) -> Array:
    """60 questions of 1, 2, 5 or 20 answers."""
    return rng.choice([1.0, 2.0, 5.0, 20.0], 60)


def equal(questions: int, each: int) -> Sizes:
    """Questions of equally many answers."""
    return lambda _rng: np.full(questions, float(each))


UNEQUAL = {"tenth of 20": tenth, "Pareto": pareto, "1, 2, 5, 20": mixed}


# --- Shares ---------------------------------------------------------------------------------------


def sizes(*, small: bool = False) -> Iterator[World]:
    """The accuracy table and the gate where questions have different numbers of answers."""
    worlds = [
        (name, draw, accuracy, alike)
        for name, draw in UNEQUAL.items()
        for accuracy in (0.5, 0.8, 0.95, 0.97, 0.99)
        for alike in (0.0, 0.3, 0.6, 1.0)
    ]
    worlds += [("300 x 5", equal(300, 5), 0.99, alike) for alike in (0.3, 1.0)]
    worlds += [("50 x 2", equal(50, 2), 0.97, alike) for alike in (0.0, 0.3, 1.0)]
    if small:
        worlds = [world for world in worlds if world[2:] in ((0.8, 0.3), (0.97, 1.0))]
    for name, draw, accuracy, alike in worlds:
        yield World(
            "sizes", f"{name}|{accuracy:g}|{alike:g}",
            partial(_draw_share, sizes=draw, accuracy=accuracy, alike=alike),
        )  # fmt: skip
    for single, many in ((0.97, 0.8), (0.8, 0.97)):
        for alike in (0.3,) if small else (0.0, 0.3, 0.6):
            yield World(
                "sizes", f"tenth of 20|{single:g} / {many:g}|{alike:g}",
                partial(_draw_share, sizes=tenth, accuracy=(single, many), alike=alike),
            )  # fmt: skip


def _draw_share(
    tally: Tally,
    rng: np.random.Generator,
    *,
    sizes: Sizes,
    accuracy: float | tuple[float, float],
    alike: float,
) -> None:
    """`accuracy` may be two: of questions with one answer, and of those with many."""
    m = sizes(rng)
    mean = np.where(m > 1, accuracy[1], accuracy[0]) if isinstance(accuracy, tuple) else accuracy
    truth = float(mean @ m / m.sum()) if isinstance(mean, np.ndarray) else mean
    right = rng.binomial(m.astype(np.int64), difficulty(rng, len(m), mean, alike))
    note_share(tally, right.astype(np.float64), m, truth)


def note_share(tally: Tally, right: Array, answers: Array, truth: float) -> None:
    """Intervals and gates of one drawn share: the product's, others', and those before.

    Before: Wilson's with the normal quantile, at the answers that would have the sampling variance
    by question (Cochran 1977).
    """
    total = float(answers.sum())
    share = float(right.sum()) / total
    evidence = share_evidence(right, answers)
    tally.covers("interval", truth, *share_interval(share, evidence))
    tally.note("gate", share_bound(share, evidence, confidence=0.95) >= truth)
    for name, method in SHARES.items():
        tally.covers(name, truth, *method(right, answers))
    variance = float(((right - answers * share) ** 2).sum()) / total**2
    size = min(share * (1 - share) / variance, total) if variance else float(len(right))
    tally.covers("before", truth, *wilson_interval(share, size))
    tally.note("before, gate", wilson_interval(share, size, confidence=0.9)[0] >= truth)


# --- Differences ----------------------------------------------------------------------------------


def paired(*, small: bool = False) -> Iterator[World]:
    """The difference of two systems on the same questions, and whether there is one."""
    yield from _alike_worlds(small=small)
    yield from _constant_worlds(small=small)
    yield from _single_worlds(small=small)
    for questions, each in ((20, 5),) if small else ((10, 10), (20, 5), (60, 5), (300, 5)):
        for alike in (0.3,) if small else (0.0, 0.3, 0.6):
            for apart in (0.0, 0.1):
                yield World(
                    "paired", f"{questions} x {each}|repeats|{apart:g}|{alike:g}",
                    partial(_draw_systems, sizes=equal(questions, each), apart=apart,
                            accuracy=0.8 - apart, alike=alike),
                )  # fmt: skip


def _alike_worlds(*, small: bool) -> Iterator[World]:
    """Two systems equally good: on each question (shared), or only on average."""
    for name, draw in (("Pareto", pareto), ("tenth of 20", tenth))[small:]:
        for accuracy in (0.8,) if small else (0.8, 0.95):
            for alike in (0.6,) if small else (0.0, 0.3, 0.6, 1.0):
                for shared in (False, True) if 0 < alike < 1 else (False,):
                    yield World(
                        "paired", f"{name}|{'shared' if shared else 'own'}|{accuracy:g}|{alike:g}",
                        partial(_draw_systems, sizes=draw, accuracy=accuracy, alike=alike,
                                shared=shared),
                    )  # fmt: skip


def _constant_worlds(*, small: bool) -> Iterator[World]:
    """One system gives the same answer again and again, the other one samples."""
    plans = [("50 x 5", equal(50, 5), accuracy) for accuracy in (0.97, 0.9, 0.8)]
    plans += [(name, draw, accuracy) for name, draw in (("tenth of 20", tenth), ("Pareto", pareto))
              for accuracy in (0.95, 0.8)]  # fmt: skip
    for name, draw, accuracy in plans[2::4] if small else plans:
        for alike in (0.3,) if small else (0.0, 0.3):
            yield World(
                "paired", f"{name}|constant|{accuracy:g}|{alike:g}",
                partial(_draw_systems, sizes=draw, accuracy=accuracy, alike=alike, constant=True),
            )  # fmt: skip


def _single_worlds(*, small: bool) -> Iterator[World]:
    """Single answers of which few change: losses alone, or also as many flips either way."""
    for questions in (500,) if small else (50, 100, 500, 2000):
        for lost in (0.02,) if small else (0.02, 0.01, 0.005, 0.002):
            for flips in (0.0, lost):
                yield World(
                    "paired",
                    f"{questions} x 1|{'losses and flips' if flips else 'losses'}|{-lost:g}",
                    partial(_draw_flips, questions=questions, lost=lost, flips=flips),
                )
        for flips in (0.05,) if small else (0.01, 0.05, 0.1):
            yield World(
                "paired", f"{questions} x 1|flips {flips:g}|0",
                partial(_draw_flips, questions=questions, lost=0.0, flips=flips),
            )  # fmt: skip


def _draw_systems(
    tally: Tally,
    rng: np.random.Generator,
    *,
    sizes: Sizes,
    accuracy: float,
    alike: float,
    apart: float = 0.0,
    shared: bool = False,
    constant: bool = False,
) -> None:
    """`apart`: by how much the second is better; `constant`: the first never varies."""
    m = sizes(rng)
    number = m.astype(np.int64)
    chance = difficulty(rng, len(m), accuracy, alike)
    other = chance if shared else difficulty(rng, len(m), accuracy + apart, alike)
    first = m * (rng.random(len(m)) < chance) if constant else rng.binomial(number, chance)
    second = rng.binomial(number, other)
    note_difference(tally, first.astype(np.float64), second.astype(np.float64), m, -apart)


def _draw_flips(
    tally: Tally, rng: np.random.Generator, *, questions: int, lost: float, flips: float
) -> None:
    """The first is the second after changes; 80% of the others are right in both."""
    alike = 1 - lost - 2 * flips
    chances = (flips, lost + flips, 0.8 * alike, 0.2 * alike)
    only, other, both, _ = rng.multinomial(questions, chances)
    first, second = np.zeros(questions), np.zeros(questions)
    first[:only] = second[only : only + other] = 1.0
    first[only + other : only + other + both] = second[only + other : only + other + both] = 1.0
    note_difference(tally, first, second, np.ones(questions), -lost)


def note_difference(
    tally: Tally, first: Array, second: Array, answers: Array, truth: float
) -> None:
    """Interval and test of one drawn difference, first - second; misses on either side.

    Where questions have several answers, each of one system is paired with each of the other: the
    pairs that differ are those expected if answers are paired at random.
    """
    total = float(answers.sum())
    better = first * (1 - second / answers)
    worse = second * (1 - first / answers)
    evidence = difference_evidence(worse, better, answers)
    shares = float(worse.sum()) / total, float(better.sum()) / total
    low, high = difference_interval(*shares, evidence)
    tally.covers("difference", truth, low, high)
    tally.note("low end above the truth", low > truth + 1e-9, nominal=0.025)
    tally.note("high end below the truth", high < truth - 1e-9, nominal=0.025)
    if not truth:
        p = difference_p(*shares, evidence)
        tally.note("test", p is not None and p <= 0.05)
    tally.covers("peer, Wald-t", truth, *clustered_wald(first - second, answers))
    if evidence.single:
        cells = paired_cells(first, second)
        tally.covers("peer, Newcombe", truth, *newcombe(*cells))
        tally.covers("peer, Agresti & Min", truth, *agresti_min(cells[1], cells[2], total))


PARTS: dict[str, Callable[..., Iterator[World]]] = {"sizes": sizes, "paired": paired}
