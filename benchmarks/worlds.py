"""Made worlds in which the truth is known: what a draw notes, and the share that held."""

from __future__ import annotations

import math
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from markscheme.agreement.sequences import _bets, _foretold, _log_wealth, _places

Array = npt.NDArray[np.float64]
LEAST_COVERAGE, MOST_COVERAGE, MOST_ALARMS = 0.93, 0.97, 0.06
WIDE_COVERAGE, MOST_BESIDE = 0.975, 1.15
"""What a cell may cover, and how wide it may be relative to the best method, to pass."""
DISCRETE = 0.1
"""Share of draws with one and the same interval from which 95% need not be within reach: two
standard errors away an outcome still has about an eighth of the chance of the commonest one."""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One method in one made world.

    Attributes:
        part: which statistic.
        world: what it was made like, in words.
        method: its name; those that start with `before` are no longer in the product, those that
            start with `peer` are others', drawn for comparison.
        rate: share of draws in which the interval covered, or the alarm was false.
        alarm: whether `rate` is of false alarms.
        draws: how many.
        width: mean width of the interval, 0 to 1.
        beside: `width` over that of the narrowest peer that covers `LEAST_COVERAGE` in this world,
            at least 1; None where no peer was drawn.
        commonest: share of draws with the interval that came out most often.
        nominal: of a false alarm, what is promised; 1 where nothing is.
    """

    part: str
    world: str
    method: str
    rate: float
    alarm: bool
    draws: int
    width: float | None = None
    beside: float | None = None
    commonest: float | None = None
    nominal: float = 0.05

    @property
    def holds(self) -> bool:
        """Within bounds, but for chance of the simulation."""
        nominal = self.nominal if self.alarm else 0.95
        chance = 3 * math.sqrt(nominal * (1 - nominal) / self.draws)
        if self.alarm:
            return self.rate <= max(self._most, nominal + chance)
        return self.rate >= min(LEAST_COVERAGE, nominal - chance)

    @property
    def within(self) -> bool:
        """Within bounds as it came out, chance or not."""
        return self.rate <= self._most if self.alarm else self.rate >= LEAST_COVERAGE

    @property
    def _most(self) -> float:
        return MOST_ALARMS / 0.05 * self.nominal

    @property
    def former(self) -> bool:
        """Whether its method is no longer in the product."""
        return self.method.startswith("before")

    @property
    def printed(self) -> bool:
        """Whether its method is the product's, and promises something."""
        return self.nominal < 1 and not self.method.startswith(("before", "peer"))

    @property
    def passes(self) -> bool:
        """Covers, not too often, and is hardly wider than the best peer that covers.

        Where outcomes are few, covering too often is no fault.
        """
        if self.beside is None or not self.within or self.beside > MOST_BESIDE:
            return False
        return self.rate <= WIDE_COVERAGE or (self.commonest or 0.0) >= DISCRETE


def difficulty(
    rng: np.random.Generator, questions: int, mean: float | Array, alike: float
) -> Array:
    """(questions,) chances with a mean (or one each) and a correlation within a question."""
    if not alike:
        return np.full(questions, mean)
    if alike == 1:
        return (rng.random(questions) < mean).astype(np.float64)
    size = (1 - alike) / alike
    return rng.beta(mean * size, (1 - mean) * size, size=questions)


class Tally:
    """Hits and widths by method."""

    def __init__(self) -> None:
        self.hits: dict[str, int] = {}
        self.seen: dict[str, int] = {}
        self.wide: dict[str, float] = {}
        self.ends: dict[str, Counter[tuple[float, float]]] = defaultdict(Counter)
        self.nominal: dict[str, float] = {}

    def covers(self, method: str, truth: float, low: float, high: float) -> None:
        """One interval."""
        self.note(method, low - 1e-9 <= truth <= high + 1e-9)
        self.wide[method] = self.wide.get(method, 0.0) + min(1, high) - max(-1, low)
        self.ends[method][round(low, 9), round(high, 9)] += 1

    def note(self, method: str, hit: bool, *, nominal: float = 0.05) -> None:
        """One draw; `nominal` is the promised share of alarms, 1 where none is promised."""
        self.nominal[method] = nominal
        self.hits[method] = self.hits.get(method, 0) + bool(hit)
        self.seen[method] = self.seen.get(method, 0) + 1

    def cells(self, part: str, world: str) -> Iterator[Cell]:
        """What came out."""
        widths = {method: total / self.seen[method] for method, total in self.wide.items()}
        peers = [method for method in widths if method.startswith("peer")]
        best = min(
            (widths[peer] for peer in peers
             if widths[peer] > 1e-9 and self.hits[peer] / self.seen[peer] >= LEAST_COVERAGE),
            default=math.inf,
        )  # fmt: skip
        for method, seen in self.seen.items():
            width = widths.get(method)
            cell = Cell(
                part=part, world=world, method=method, rate=self.hits[method] / seen, draws=seen,
                alarm=width is None, width=width, nominal=self.nominal[method],
            )  # fmt: skip
            if width is not None and peers and cell.printed:
                common = self.ends[method].most_common(1)[0][1] / seen
                cell = replace(cell, beside=max(1.0, width / best), commonest=common)
            yield cell


@dataclass(frozen=True)
class World:
    """One made world: `once` makes a draw of it and notes what came out."""

    part: str
    name: str
    once: Callable[[Tally, np.random.Generator], None]

    def draw(self, draws: int, seed: int) -> list[Cell]:
        """One cell per method; the same for a seed, whatever other worlds are drawn."""
        rng = np.random.default_rng([seed, zlib.crc32(f"{self.part} {self.name}".encode())])
        tally = Tally()
        for _ in range(draws):
            self.once(tally, rng)
        return list(tally.cells(self.part, self.name))


def ever_outside(
    truth: Array,
    looks: int,
    *,
    units: Sequence[Any] | None = None,
    predictions: Array | None = None,
    confidence: float = 0.95,
) -> bool:
    """Whether the share of `truth` was outside the interval at any of the first `looks` labels.

    For simulations, in which the truth is known: far quicker than a bound at every look. The
    arguments are those of `running_estimate`.
    """
    labels = np.where(np.arange(len(truth)) < looks, truth, np.nan)
    foretold = _foretold(predictions, len(truth))
    places = _places(units, len(truth))
    level, share = math.log(2 / (1 - confidence)), float(truth.mean())
    for flip in (False, True):
        given = np.nan_to_num(1.0 - labels if flip else labels)
        said = 1.0 - foretold if flip else foretold
        bets = _bets(given, said, places, ~np.isnan(labels))
        if _log_wealth(bets, 1.0 - share if flip else share) >= level:
            return True
    return False
