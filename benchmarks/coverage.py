"""How often do intervals cover, and how often do tests and gates raise false alarms?

    python -m benchmarks.coverage [--draws 1000] [--part shares ...] [--write]

A laboratory of made worlds. Questions differ in difficulty (a beta distribution with the wanted
accuracy and correlation within a question), answers are drawn, the product's own functions make the
intervals, and the truth is known. `--write` writes the figures and the picture of
`docs/coverage.md`; parts that were not run keep the figures that they had. Methods called `before`
are those that the product used until then, on the same draws: Wilson's interval with the normal
quantile, tuned PPI +- Student's t standard errors, the percentile bootstrap over questions.

A cell holds if it covers at least 93% (nominal 95%), or raises at most 6% false alarms (nominal
5%), but for three standard errors of the simulation. Covering more is no failure: with few
questions, or with an accuracy near 0 or 1, the data have few outcomes and no interval covers
exactly 95%.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from markscheme.agreement.bootstrap import interval, resample_totals
from markscheme.agreement.estimators import Sample, estimates
from markscheme.agreement.gate import gates
from markscheme.agreement.jackknife import with_intervals
from markscheme.agreement.options import CompareOptions
from markscheme.agreement.paired import Paired, compare_pair
from markscheme.agreement.verdicts import FROM_COUNTS
from markscheme.metrics import effective_answers, share_interval, spread_of, wilson_interval
from markscheme.results import Figure, figure

Array = npt.NDArray[np.float64]
DOCS = Path(__file__).parents[1] / "docs"

LEAST_COVERAGE, MOST_ALARMS = 0.93, 0.06
JUDGES = {
    "good": (0.95, 0.85), "useless": (0.8, 0.2), "lenient": (0.995, 0.4), "inverted": (0.3, 0.7),
    "sharp": (0.7, 0.99),
}  # fmt: skip
"""Sensitivity and specificity."""


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


SHAPES = ((5, 20), (10, 20), (20, 10), (30, 10), (60, 5), (200, 5), (20, 1), (100, 1), (1000, 1))
ACCURACIES = (0.02, 0.2, 0.5, 0.8, 0.9, 0.95, 0.98)
ALIKE = (0.0, 0.3, 0.6, 0.9)


def shares(draws: int, rng: np.random.Generator, *, small: bool = False) -> Iterator[Cell]:
    """The accuracy table, and the gate with the true accuracy as its limit."""
    shapes = ((5, 20), (20, 10), (100, 1)) if small else SHAPES
    for questions, each in shapes:
        for accuracy in (0.5, 0.95) if small else ACCURACIES:
            for alike in (0.6,) if small else ALIKE if each > 1 else (0.0,):
                tally = Tally()
                for _ in range(draws):
                    right = rng.binomial(each, difficulty(rng, questions, accuracy, alike))
                    _share(tally, right, each, accuracy)
                world = f"{questions} x {each}|{accuracy:g}|{alike:g}"
                yield from tally.cells("accuracy and gate", world)


def _share(tally: Tally, right: npt.NDArray[np.int64], each: int, accuracy: float) -> None:
    questions, answers = len(right), len(right) * each
    share = float(right.sum() / answers)
    pull = (right - each * share) / answers
    spread = spread_of(pull, questions)
    tally.covers("interval", accuracy, *share_interval(share, spread, answers=answers))
    record = {
        "judge": "", "system": "", "judged": answers, "not_judged": {}, "accuracy": share,
        "effective_answers": effective_answers(share, spread, answers),
        "freedom_one_sided": None if each == 1 else spread.freedom_one_sided,
    }  # fmt: skip
    if each > 1:  # with one answer a question outcomes are few and Wilson's bound is what it is
        tally.note("gate", gates([record], accuracy, confidence=0.95)[0].passed)
    old = float((pull**2).sum())
    size = min(share * (1 - share) / old, answers) if old else questions
    tally.covers("before", accuracy, *wilson_interval(share, size))
    if each > 1:
        bound = wilson_interval(share, size, confidence=0.9)[0]
        tally.note("before, gate", bound >= accuracy)


DESIGNS = ((1000, 1, 0.0), (300, 10, 0.4), (400, 20, 0.6))


def few_labels(draws: int, rng: np.random.Generator, *, small: bool = False) -> Iterator[Cell]:
    """`estimate`: labels of some answers, judgments of all."""
    for answers, each, alike in DESIGNS[:2] if small else DESIGNS:
        for labels in (100,) if small else (50, 100, 200):
            for accuracy in (0.95,) if small else (0.2, 0.8, 0.95, 0.98):
                for name in ("good", "useless") if small else JUDGES:
                    tally = Tally()
                    for _ in range(draws):
                        _estimate(tally, rng, answers, each, alike, labels, accuracy, JUDGES[name])
                    world = f"{answers // each} x {each}|{labels}|{accuracy:g}|{name}"
                    yield from tally.cells("estimate", world)


def _estimate(
    tally: Tally,
    rng: np.random.Generator,
    answers: int,
    each: int,
    alike: float,
    labels: int,
    accuracy: float,
    judge: tuple[float, float],
) -> None:
    clusters = np.repeat(np.arange(answers // each), each)
    truth = rng.random(answers) < difficulty(rng, answers // each, accuracy, alike)[clusters]
    accepted = rng.random(answers) < np.where(truth, judge[0], 1 - judge[1])
    known = np.full(answers, np.nan)
    chosen = rng.choice(answers, labels, replace=False)
    known[chosen] = truth[chosen]
    sample = Sample(
        predictions=accepted.astype(np.float64), accepted=accepted, labels=known,
        weights=(~np.isnan(known)).astype(np.float64), clusters=clusters,
    )  # fmt: skip
    for found in estimates(sample):
        shown = found.figure
        if shown.value is None:
            continue
        tally.covers(found.method, accuracy, shown.low or 0.0, shown.high or 0.0)
        if found.method == "ppi_tuned" and found.standard_error:
            from scipy.special import stdtrit

            asked = len(np.unique(clusters[chosen]))
            reach = float(stdtrit(asked - 1, 0.975)) * found.standard_error
            tally.covers("before, ppi_tuned", accuracy, shown.value - reach, shown.value + reach)


def against_labels(draws: int, rng: np.random.Generator, *, small: bool = False) -> Iterator[Cell]:
    """`agree`: judge against labels, seven statistics."""
    for questions, each in ((10, 10),) if small else ((10, 10), (20, 10), (50, 4), (200, 1)):
        for agreement in (0.8,) if small else (0.8, 0.95):
            for alike in (0.3,) if small else (0.0, 0.3, 0.6) if each > 1 else (0.0,):
                share = 0.6
                counts = np.array([share, 1 - share, share, 1 - share])
                counts *= [agreement, 1 - agreement, 1 - agreement, agreement]
                truths = {name: float(FROM_COUNTS[name](counts)) for name in FROM_COUNTS}
                tally = Tally()
                for _ in range(draws):
                    good = rng.binomial(each, difficulty(rng, questions, share, alike))
                    chance = difficulty(rng, questions, agreement, alike)
                    hit, spared = rng.binomial(good, chance), rng.binomial(each - good, chance)
                    rows = np.stack([hit, each - good - spared, good - hit, spared], axis=1)
                    _against(tally, rows, truths, rng)
                world = f"{questions} x {each}|{agreement:g}|{alike:g}"
                yield from tally.cells("agree", world)


def _against(
    tally: Tally, rows: npt.NDArray[np.int64], truths: dict[str, float], rng: np.random.Generator
) -> None:
    totals = rows.sum(axis=0)
    points = {name: figure(float(FROM_COUNTS[name](totals)), "undefined") for name in FROM_COUNTS}
    drawn = resample_totals(rows, resamples=300, seed=int(rng.integers(2**31)))
    for name, found in with_intervals(points, rows.astype(np.float64), 0.95).items():
        if found.low is None or found.high is None:
            continue
        tally.covers(name, truths[name], found.low, found.high)
        if name in ("accuracy", "kappa"):
            old = interval(points[name], FROM_COUNTS[name](drawn))
            tally.covers(f"before, {name}", truths[name], old.low or 0.0, old.high or 0.0)


def pairs(draws: int, rng: np.random.Generator, *, small: bool = False) -> Iterator[Cell]:
    """`compare`: two judges alike, and 10 points apart; test and interval side by side."""
    options = CompareOptions(resamples=500)
    for questions, each in ((20, 5),) if small else ((10, 10), (20, 5), (60, 5), (200, 1)):
        for apart in (0.0,) if small else (0.0, 0.1):
            for alike in (0.3,) if small else (0.0, 0.3, 0.6) if each > 1 else (0.0,):
                tally = Tally()
                for _ in range(draws):
                    base = difficulty(rng, questions, 0.8, alike)
                    sides = [rng.binomial(each, base), rng.binomial(each, base - apart * base)]
                    _pair(tally, np.stack(sides, axis=1), each, 0.8 * apart, options)
                yield from tally.cells("compare", f"{questions} x {each}|{apart:g}|{alike:g}")


def _pair(
    tally: Tally, right: npt.NDArray[np.int64], each: int, apart: float, options: CompareOptions
) -> None:
    counts = np.stack([right, np.full_like(right, each)], axis=2)
    totals = right.sum(axis=0) / (len(right) * each)
    found = compare_pair(
        Paired(
            first="a", second="b", counts=counts,
            values=(Figure(value=float(totals[0])), Figure(value=float(totals[1]))),
            statistic=lambda c: np.asarray(c[..., 0] / c[..., 1]), wins=(1, 1),
            shared=len(right), left_out=0,
        ),
        options,
    )  # fmt: skip
    low, high = found.difference.low or 0.0, found.difference.high or 0.0
    tally.covers("difference", apart, low, high)
    if not apart:
        tally.note("permutation", (found.permutation.value or 1.0) <= 0.05)
        excluded = low > 1e-9 or high < -1e-9
        tally.note("test and interval disagree", excluded != (found.permutation.value <= 0.05))


PARTS: dict[str, Callable[..., Iterator[Cell]]] = {
    "shares": shares, "few_labels": few_labels, "against_labels": against_labels, "pairs": pairs,
}  # fmt: skip


def read_cells(path: Path) -> list[Cell]:
    """The cells that an earlier run wrote."""
    return [Cell(**row) for row in pl.read_csv(path).iter_rows(named=True)]


def table(cells: list[Cell]) -> str:
    """A Markdown table: by part and method, how many cells hold, the worst, the mean width."""
    lines = [
        "| what | method | cells | hold | worst | where | mean width |",
        "|---|---|--:|--:|--:|---|--:|",
    ]
    for part, method in dict.fromkeys((cell.part, cell.method) for cell in cells):
        own = [cell for cell in cells if (cell.part, cell.method) == (part, method)]
        alarm = own[0].alarm
        worst = (max if alarm else min)(own, key=lambda cell: cell.rate)
        widths = [cell.width for cell in own if cell.width is not None]
        lines.append(
            f"| {part} | {method}{' (false alarms)' if alarm else ''} | {len(own)} | "
            f"{sum(cell.holds for cell in own)} | {100 * worst.rate:.1f}% | "
            f"{worst.world.replace('|', ', ')} | "
            f"{f'{100 * sum(widths) / len(widths):.1f}' if widths else '-'} |"
        )
    return "\n".join(lines)


def write_table(page: Path, name: str, made: str) -> None:
    """Put a table between the page's comments `<!-- NAME -->` and `<!-- end of NAME -->`."""
    start, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    before, rest = page.read_text().split(start)
    page.write_text(f"{before}{start}\n{made}\n\n{end}{rest.split(end)[1]}")


def draw_heat_map(cells: list[Cell], path: Path) -> None:
    """Coverage of the accuracy table before and after, as a picture."""
    import altair as alt

    data = []
    for cell in cells:
        if cell.part != "accuracy and gate" or cell.method not in ("before", "interval"):
            continue
        shape, accuracy, alike = cell.world.split("|")
        when = "before" if cell.method == "before" else "now"
        data.append({"world": f"{shape}, {alike}", "accuracy": accuracy, "when": when,
                     "coverage": round(100 * cell.rate, 1)})  # fmt: skip
    order = list(dict.fromkeys(row["world"] for row in data))
    base = alt.Chart(alt.Data(values=data)).encode(
        x=alt.X("accuracy:N", sort=[f"{one:g}" for one in ACCURACIES], title="true accuracy"),
        y=alt.Y("world:N", sort=order, title="questions x answers, correlation"),
    )
    colour = alt.Color(
        "coverage:Q", title="coverage, %",
        scale=alt.Scale(
            domain=[80, 93, 95, 100], range=["#a50026", "#fdae61", "#1a9850", "#74add1"]
        ),
    )  # fmt: skip
    chart = alt.layer(
        base.mark_rect().encode(color=colour),
        base.mark_text(fontSize=8).encode(text="coverage:Q"),
    ).facet(column=alt.Column("when:N", title=None))
    chart.save(path)


def main() -> None:
    """Run the parts, print the table, and write the page's figures if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--part", nargs="*", default=list(PARTS), choices=list(PARTS))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true", help="docs/coverage.md and its picture")
    options = parser.parse_args()
    cells = []
    for name in options.part:
        for cell in PARTS[name](options.draws, np.random.default_rng(options.seed)):
            cells.append(cell)
            if not cell.holds and not cell.method.startswith("before"):
                print("outside:", cell, file=sys.stderr, flush=True)
    kept = DOCS / "coverage.csv"
    if options.write and kept.exists():
        ran = {cell.part for cell in cells}
        cells = [cell for cell in read_cells(kept) if cell.part not in ran] + cells
    print(table(cells))
    if options.write:
        write_table(DOCS / "coverage.md", "figures", table(cells))
        pl.DataFrame([asdict(cell) for cell in cells]).write_csv(kept, float_precision=4)
        draw_heat_map(cells, DOCS / "coverage.svg")
    bad = [cell for cell in cells if not cell.holds and not cell.method.startswith("before")]
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
