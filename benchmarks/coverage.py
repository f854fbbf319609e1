"""How often do intervals cover, and how often do tests and gates raise false alarms?

    python -m benchmarks.coverage [--draws 1000] [--part shares ...] [--write]

1,000 draws of every cell take about 20 minutes of one core, most of it for `scores`.

A laboratory of made worlds. Questions differ in difficulty (a beta distribution with the wanted
accuracy and correlation within a question), answers are drawn, the product's own functions make the
intervals, and the truth is known. `--write` writes the figures and the picture of
`docs/coverage.md`; parts that were not run keep the figures that they had. Methods called `before`
are those that the product used until then, on the same draws: Wilson's interval with the normal
quantile, tuned PPI +- Student's t standard errors, the percentile bootstrap over questions.

A cell holds if it covers at least 93% (nominal 95%), or raises at most 6% false alarms (nominal
5%), but for three standard errors of the simulation; what comes out beyond these bounds is drawn
ten times as often. Cells that cover more than 97% are counted apart: they are too wide, and mislead
nobody.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from benchmarks import coverage_choices
from benchmarks.worlds import MOST_COVERAGE, Cell, Tally, World, difficulty
from markscheme.agreement.estimators import Sample, estimates
from markscheme.agreement.jackknife import with_intervals
from markscheme.agreement.paired import expected_pairs, share_difference
from markscheme.agreement.verdicts import FROM_COUNTS
from markscheme.metrics import clustered
from markscheme.results import figure
from markscheme.stats import (
    intervals,
    kinds,
    share_bound,
    share_evidence,
    share_interval,
    wilson_interval,
)

Array = npt.NDArray[np.float64]
DOCS = Path(__file__).parents[1] / "docs"

AGAIN = 10
JUDGES = {
    "good": (0.95, 0.85), "useless": (0.8, 0.2), "lenient": (0.995, 0.4), "inverted": (0.3, 0.7),
    "sharp": (0.7, 0.99),
}  # fmt: skip
"""Sensitivity and specificity."""


SHAPES = ((5, 20), (10, 20), (20, 10), (30, 10), (60, 5), (200, 5), (20, 1), (100, 1), (1000, 1))
ACCURACIES = (0.02, 0.2, 0.5, 0.8, 0.9, 0.95, 0.98)
ALIKE = (0.0, 0.3, 0.6, 0.9)


def shares(*, small: bool = False) -> Iterator[World]:
    """The accuracy table, and the gate with the true accuracy as its limit."""
    shapes = ((5, 20), (20, 10), (100, 1)) if small else SHAPES
    for questions, each in shapes:
        for accuracy in (0.5, 0.95) if small else ACCURACIES:
            for alike in (0.6,) if small else ALIKE if each > 1 else (0.0,):
                yield World(
                    "accuracy and gate", f"{questions} x {each}|{accuracy:g}|{alike:g}",
                    partial(_share, questions=questions, each=each, accuracy=accuracy, alike=alike),
                )  # fmt: skip


def _share(
    tally: Tally,
    rng: np.random.Generator,
    *,
    questions: int,
    each: int,
    accuracy: float,
    alike: float,
) -> None:
    right = rng.binomial(each, difficulty(rng, questions, accuracy, alike))
    answers = questions * each
    share = float(right.sum() / answers)
    evidence = share_evidence(right, np.full(questions, each))
    tally.covers("interval", accuracy, *share_interval(share, evidence))
    if each > 1:  # with one answer a question the gate is exact
        tally.note("gate", share_bound(share, evidence) >= accuracy)
    old = float((((right - each * share) / answers) ** 2).sum())
    size = min(share * (1 - share) / old, answers) if old else questions
    tally.covers("before", accuracy, *wilson_interval(share, size))
    if each > 1:
        bound = wilson_interval(share, size, confidence=0.9)[0]
        tally.note("before, gate", bound >= accuracy)


DESIGNS = ((1000, 1, 0.0), (300, 10, 0.4), (400, 20, 0.6))
LABELS = (30, 50, 100, 200)
BEFORE = 300
"""Draws of the percentile bootstrap, which takes longer than all the rest."""


def few_labels(*, small: bool = False) -> Iterator[World]:
    """`estimate`: labels of some answers, drawn at random or by verdict, judgments of all."""
    if small:
        plans = [(design, "100", accuracy, name) for design in DESIGNS[:2]
                 for accuracy in (0.95,) for name in ("good", "useless")]  # fmt: skip
        plans += [(DESIGNS[2], "50", 0.8, "inverted")]
    else:
        plans = [
            (design, labels, accuracy, name)
            for design in DESIGNS
            for labels in [*map(str, LABELS), "100 by verdict"]
            for accuracy in (0.2, 0.8, 0.95, 0.98)
            for name in JUDGES
        ]
        plans += [((3000, 10, 0.4), "1000", accuracy, name)
                  for accuracy in (0.2, 0.8, 0.95, 0.98) for name in JUDGES]  # fmt: skip
        plans += [(design, labels, accuracy, name) for design in DESIGNS
                  for labels in ("100", "200") for accuracy in (0.02, 0.05)
                  for name in JUDGES]  # fmt: skip
    for (answers, each, alike), labels, accuracy, name in plans:
        yield World(
            "estimate", f"{answers // each} x {each}|{labels}|{accuracy:g}|{name}",
            partial(_estimate, answers=answers, each=each, alike=alike, labels=labels,
                    accuracy=accuracy, judge=JUDGES[name]),
        )  # fmt: skip


def _estimate(
    tally: Tally,
    rng: np.random.Generator,
    *,
    answers: int,
    each: int,
    alike: float,
    labels: str,
    accuracy: float,
    judge: tuple[float, float],
) -> None:
    clusters = np.repeat(np.arange(answers // each), each)
    truth = rng.random(answers) < difficulty(rng, answers // each, accuracy, alike)[clusters]
    accepted = rng.random(answers) < np.where(truth, judge[0], 1 - judge[1])
    known = np.full(answers, np.nan)
    number, by_verdict = int(labels.split(maxsplit=1)[0]), "verdict" in labels
    if by_verdict:  # half of the labels each, as far as there are answers
        parts = [np.flatnonzero(accepted == side) for side in (False, True)]
        fewer = min(len(part) for part in parts)
        counts = [min(len(part), max(number // 2, number - fewer)) for part in parts]
        chosen = np.concatenate(
            [rng.choice(part, count, replace=False)
             for part, count in zip(parts, counts, strict=True)]
        )  # fmt: skip
    else:
        chosen = rng.choice(answers, number, replace=False)
    known[chosen] = truth[chosen]
    weights = (~np.isnan(known)).astype(np.float64)
    if by_verdict:
        for part, count in zip(parts, counts, strict=True):
            weights[part] *= len(part) / max(count, 1)
    sample = Sample(
        predictions=accepted.astype(np.float64), accepted=accepted, labels=known,
        weights=weights, clusters=clusters,
        strata=accepted.astype(np.int64) if by_verdict else None,
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


def against_labels(*, small: bool = False) -> Iterator[World]:
    """`agree`: judge against labels, seven statistics."""
    for questions, each in ((10, 10),) if small else ((10, 10), (20, 10), (50, 4), (200, 1)):
        for agreement in (0.8,) if small else (0.8, 0.95):
            for alike in (0.3,) if small else (0.0, 0.3, 0.6) if each > 1 else (0.0,):
                yield World(
                    "agree", f"{questions} x {each}|{agreement:g}|{alike:g}",
                    partial(_against, questions=questions, each=each, agreement=agreement,
                            alike=alike),
                )  # fmt: skip


def resample_totals(
    counts: npt.NDArray[np.int64], *, resamples: int, seed: int
) -> npt.NDArray[np.float64]:
    """(resamples, width) totals of a table over its rows, drawn with replacement."""
    distinct, repeats = kinds(counts)
    rng = np.random.default_rng(np.random.SeedSequence(seed).spawn(1)[0])
    drawn = rng.multinomial(len(counts), repeats / repeats.sum(), size=resamples)
    return drawn.astype(np.float64) @ distinct.astype(np.float64)


def _against(
    tally: Tally,
    rng: np.random.Generator,
    *,
    questions: int,
    each: int,
    agreement: float,
    alike: float,
) -> None:
    share = 0.6
    counts = np.array([share, 1 - share, share, 1 - share])
    counts *= [agreement, 1 - agreement, 1 - agreement, agreement]
    truths = {name: float(FROM_COUNTS[name](counts)) for name in FROM_COUNTS}
    good = rng.binomial(each, difficulty(rng, questions, share, alike))
    chance = difficulty(rng, questions, agreement, alike)
    hit, spared = rng.binomial(good, chance), rng.binomial(each - good, chance)
    rows = np.stack([hit, each - good - spared, good - hit, spared], axis=1)
    totals = rows.sum(axis=0)
    points = {name: figure(float(FROM_COUNTS[name](totals)), "undefined") for name in FROM_COUNTS}
    seed = int(rng.integers(2**31))
    old_too = tally.seen.get("before, kappa", 0) < BEFORE
    drawn = resample_totals(rows, resamples=300, seed=seed) if old_too else None
    for name, found in with_intervals(points, rows.astype(np.float64), 0.95).items():
        if found.low is None or found.high is None:
            continue
        tally.covers(name, truths[name], found.low, found.high)
        if name in ("accuracy", "kappa") and drawn is not None:
            resampled = FROM_COUNTS[name](drawn)
            resampled = resampled[~np.isnan(resampled)]
            low, high = np.quantile(resampled, [0.025, 0.975]) if len(resampled) else (0.0, 0.0)
            tally.covers(f"before, {name}", truths[name], float(low), float(high))


def pairs(*, small: bool = False) -> Iterator[World]:
    """`compare`: two judges alike, and 10 points apart; test and interval side by side."""
    for questions, each in ((20, 5),) if small else ((10, 10), (20, 5), (60, 5), (200, 1)):
        for apart in (0.0,) if small else (0.0, 0.1):
            for alike in (0.3,) if small else (0.0, 0.3, 0.6) if each > 1 else (0.0,):
                yield World(
                    "compare", f"{questions} x {each}|{apart:g}|{alike:g}",
                    partial(_pair, questions=questions, each=each, share=apart, alike=alike),
                )  # fmt: skip


def _pair(
    tally: Tally,
    rng: np.random.Generator,
    *,
    questions: int,
    each: int,
    share: float,
    alike: float,
) -> None:
    base, apart = difficulty(rng, questions, 0.8, alike), 0.8 * share
    sides = [rng.binomial(each, base), rng.binomial(each, base - share * base)]
    right = np.stack(sides, axis=1)
    counts = np.stack([right, np.full_like(right, each)], axis=2)
    found = share_difference(*expected_pairs(counts))
    low, high = found["difference"].low, found["difference"].high
    tally.covers("difference", apart, low, high)
    if not apart:
        tally.note("test", found["p"].value <= 0.05)


PARTS: dict[str, Callable[..., Iterator[World]]] = {
    "shares": shares, "few_labels": few_labels, "against_labels": against_labels, "pairs": pairs,
    **coverage_choices.PARTS,
}  # fmt: skip


def checked(world: World, draws: int, seed: int) -> list[Cell]:
    """A world's cells; those that come out of bounds are drawn `AGAIN` times as often, again.

    Of a thousand cells that hold, a few come out low by chance. The second, larger draw has
    another seed, replaces the first, and has the last word.
    """
    cells = world.draw(draws, seed)
    if all(cell.within or cell.former for cell in cells):
        return cells
    more = {cell.method: cell for cell in world.draw(AGAIN * draws, seed + 1)}
    cells = [cell if cell.within or cell.former else more[cell.method] for cell in cells]
    for cell in cells:
        if not cell.holds and not cell.former:
            print("outside:", cell, file=sys.stderr, flush=True)
    return cells


def use_scipy() -> None:
    """Take Student's quantiles from SciPy: equal to 1e-10, and most of the time is theirs."""
    from scipy.special import stdtrit

    def quantile(freedom: float, probability: float) -> float:
        return float(stdtrit(freedom, probability))

    clustered.t_quantile = intervals.t_quantile = quantile


def read_cells(path: Path) -> list[Cell]:
    """The cells that an earlier run wrote."""
    return [Cell(**row) for row in pl.read_csv(path).iter_rows(named=True)]


def table(cells: list[Cell]) -> str:
    """A Markdown table: by part and method, how many cells hold, the worst, the mean width."""
    lines = [
        "| what | method | cells | hold | worst | where | above 97% | mean width |",
        "|---|---|--:|--:|--:|---|--:|--:|",
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
            f"{'-' if alarm else sum(cell.rate > MOST_COVERAGE for cell in own)} | "
            f"{f'{100 * sum(widths) / len(widths):.1f}' if widths else '-'} |"
        )
    return "\n".join(lines)


def write_table(page: Path, name: str, made: str) -> None:
    """Put a table between the page's comments `<!-- NAME -->` and `<!-- end of NAME -->`."""
    start, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    before, rest = page.read_text().split(start)
    page.write_text(f"{before}{start}\n{made}\n\n{end}{rest.split(end)[1]}")


@dataclass(frozen=True, kw_only=True)
class Picture:
    """Coverage before and now, a square a world.

    Attributes:
        file: its name in `docs/`.
        part: which statistic.
        methods: the names of the method before and now.
        place: a world's column and row.
        across: what the columns are.
        down: what the rows are.
    """

    file: str
    part: str
    methods: tuple[str, str]
    place: Callable[[list[str]], tuple[str, str]]
    across: str
    down: str


PICTURES = (
    Picture(
        file="coverage.svg", part="accuracy and gate", methods=("before", "interval"),
        place=lambda world: (world[1], f"{world[0]}, {world[2]}"),
        across="true accuracy", down="questions x answers, correlation",
    ),
    Picture(
        file="coverage-estimate.svg", part="estimate", methods=("before, ppi_tuned", "ppi_tuned"),
        place=lambda world: (f"{world[3]} {world[2]}", f"{world[0]}, {world[1]}"),
        across="judge, true accuracy", down="questions x answers, labels",
    ),
)  # fmt: skip


def draw_heat_map(cells: list[Cell], picture: Picture) -> None:
    """One picture of `docs/coverage.md`."""
    import altair as alt

    data = []
    for cell in cells:
        if cell.part != picture.part or cell.method not in picture.methods:
            continue
        column, row = picture.place(cell.world.split("|"))
        when = ("before", "now")[picture.methods.index(cell.method)]
        data.append({"row": row, "column": column, "when": when,
                     "coverage": round(100 * cell.rate, 1)})  # fmt: skip
    columns = list(dict.fromkeys(row["column"] for row in data))
    if picture.part == "estimate":
        columns.sort(key=lambda name: list(JUDGES).index(name.split()[0]))
    order = list(dict.fromkeys(row["row"] for row in data))
    base = alt.Chart(alt.Data(values=data)).encode(
        x=alt.X("column:N", sort=columns, title=picture.across),
        y=alt.Y("row:N", sort=order, title=picture.down),
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
    chart.save(DOCS / picture.file)


def main() -> None:
    """Run the parts, print the table, and write the page's figures if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--part", nargs="*", default=list(PARTS), choices=list(PARTS))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true", help="docs/coverage.md and its picture")
    options = parser.parse_args()
    use_scipy()
    worlds = [world for name in options.part for world in PARTS[name]()]
    cells = []
    for world in worlds:
        cells += checked(world, options.draws, options.seed)
    kept = DOCS / "coverage.csv"
    if options.write and kept.exists():
        ran = {cell.part for cell in cells}
        cells = [cell for cell in read_cells(kept) if cell.part not in ran] + cells
    print(table(cells))
    if options.write:
        write_table(DOCS / "coverage.md", "figures", table(cells))
        pl.DataFrame([asdict(cell) for cell in cells]).write_csv(kept, float_precision=4)
        for picture in PICTURES:
            draw_heat_map(cells, picture)
    bad = [cell for cell in cells if not cell.holds and not cell.former]
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
