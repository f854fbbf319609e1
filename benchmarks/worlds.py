"""Made worlds in which the truth is known: what a draw notes, and the share that held."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from markscheme.agreement.sequences import Unit, _bets, _foretold, _log_wealth, _units

Array = npt.NDArray[np.float64]
LEAST_COVERAGE, MOST_COVERAGE, MOST_ALARMS = 0.93, 0.97, 0.06


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One method in one made world.

    Attributes:
        part: which statistic.
        world: what it was made like, in words.
        method: its name; those that start with `before` are no longer in the product.
        rate: share of draws in which the interval covered, or the alarm was false.
        alarm: whether `rate` is of false alarms.
        draws: how many.
        width: mean width of the interval, 0 to 1.
    """

    part: str
    world: str
    method: str
    rate: float
    alarm: bool
    draws: int
    width: float | None = None

    @property
    def holds(self) -> bool:
        """Within bounds, but for chance of the simulation."""
        nominal = 0.05 if self.alarm else 0.95
        chance = 3 * math.sqrt(nominal * (1 - nominal) / self.draws)
        if self.alarm:
            return self.rate <= max(MOST_ALARMS, nominal + chance)
        return self.rate >= min(LEAST_COVERAGE, nominal - chance)

    @property
    def within(self) -> bool:
        """Within bounds as it came out, chance or not."""
        return self.rate <= MOST_ALARMS if self.alarm else self.rate >= LEAST_COVERAGE

    @property
    def former(self) -> bool:
        """Whether its method is no longer in the product."""
        return self.method.startswith("before")


def difficulty(rng: np.random.Generator, questions: int, mean: float, alike: float) -> Array:
    """(questions,) chances with a mean and a correlation within a question."""
    if not alike:
        return np.full(questions, mean)
    size = (1 - alike) / alike
    return rng.beta(mean * size, (1 - mean) * size, size=questions)


class Tally:
    """Hits and widths by method."""

    def __init__(self) -> None:
        self.hits: dict[str, int] = {}
        self.seen: dict[str, int] = {}
        self.wide: dict[str, float] = {}

    def covers(self, method: str, truth: float, low: float, high: float) -> None:
        """One interval."""
        self.note(method, low - 1e-9 <= truth <= high + 1e-9)
        self.wide[method] = self.wide.get(method, 0.0) + min(1, high) - max(-1, low)

    def note(self, method: str, hit: bool) -> None:
        """One draw."""
        self.hits[method] = self.hits.get(method, 0) + bool(hit)
        self.seen[method] = self.seen.get(method, 0) + 1

    def cells(self, part: str, world: str) -> Iterator[Cell]:
        """What came out."""
        for method, seen in self.seen.items():
            width = self.wide.get(method)
            yield Cell(
                part=part, world=world, method=method, rate=self.hits[method] / seen, draws=seen,
                alarm=width is None, width=None if width is None else width / seen,
            )  # fmt: skip


@dataclass(frozen=True)
class World:
    """One made world: `once` makes a draw of it and notes what came out."""

    part: str
    name: str
    once: Callable[[Tally, np.random.Generator], None]

    def draw(self, draws: int, seed: int) -> list[Cell]:
        """A cell a method; the same for a seed, whatever other worlds are drawn."""
        rng = np.random.default_rng([seed, zlib.crc32(f"{self.part} {self.name}".encode())])
        tally = Tally()
        for _ in range(draws):
            self.once(tally, rng)
        return list(tally.cells(self.part, self.name))


def ever_outside(
    truth: Array,
    looks: int,
    *,
    questions: Sequence[Any] | None = None,
    predictions: Array | None = None,
    unit: Unit = "answer",
    confidence: float = 0.95,
) -> bool:
    """Whether the share of `truth` was outside the interval at any of the first `looks` labels.

    For simulations, in which the truth is known: far quicker than a bound at every look. The
    arguments are those of `running_estimate`.
    """
    labels = np.where(np.arange(len(truth)) < looks, truth, np.nan)
    foretold = _foretold(predictions, len(truth), None)
    units = _units(questions, len(truth)) if unit == "question" else np.arange(len(truth))
    level, share = math.log(2 / (1 - confidence)), float(truth.mean())
    for flip in (False, True):
        given = np.nan_to_num(1.0 - labels if flip else labels)
        said = 1.0 - foretold if flip else foretold
        bets = _bets(given, said, units, ~np.isnan(labels), None)
        if _log_wealth(bets, np.array([1.0 - share if flip else share]))[0] >= level:
            return True
    return False
