"""How often do intervals cover, and how often do tests and gates raise false alarms?

    python -m benchmarks.coverage [--draws 1000] [--part shares ...] [--write]

1,000 draws of every cell take about half an hour of one core, most of it for `scores`.

A laboratory of made worlds. Questions differ in difficulty (a beta distribution with the wanted
accuracy and correlation within a question), answers are drawn, the product's own functions make the
intervals, and the truth is known. `--write` writes the figures and the picture of
`docs/coverage.md`; parts that were not run keep the figures that they had. Methods called `before`
are those that the product used until then, on the same draws: Wilson's interval with the normal
quantile, the percentile bootstrap over questions. Methods
called `peer` are others' (`benchmarks/peer_intervals.py`): the mean width of the product's interval
is shown next to that of the narrowest of them that covers.

A cell holds if it covers at least 93% (nominal 95%), or raises at most 6% false alarms (nominal
5%; 3% where 2.5% are promised), but for three standard errors of the simulation; what comes out
beyond these bounds is drawn ten times as often. Cells that cover more than 97% are counted apart:
they are too wide, and mislead nobody.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import numpy.typing as npt
import polars as pl

from benchmarks import (
    coverage_choices,
    coverage_people,
    coverage_plans,
    coverage_sizes,
    coverage_systems,
)
from benchmarks.worlds import (
    DISCRETE,
    LEAST_COVERAGE,
    MOST_BESIDE,
    MOST_COVERAGE,
    WIDE_COVERAGE,
    Cell,
    Tally,
    World,
    difficulty,
)
from markscheme.agreement.accuracy_estimates import estimates
from markscheme.agreement.accuracy_estimates import few_labels as few_for_judges
from markscheme.agreement.pairs import share_difference
from markscheme.agreement.verdicts import FROM_COUNTS, clustered_statistics
from markscheme.stats import (
    Sample,
    differences,
    evidence,
    expected_pairs,
    intervals,
    judges_weighted,
    kinds,
    powered,
    powered_core,
    quantiles,
)

Array = npt.NDArray[np.float64]
DOCS = Path(__file__).parents[1] / "docs"

DRAWS, AGAIN = 1000, 10
JUDGES = {
    "good": (0.95, 0.85), "useless": (0.8, 0.2), "lenient": (0.995, 0.4), "inverted": (0.3, 0.7),
    "sharp": (0.7, 0.99),
}  # fmt: skip
"""Sensitivity and specificity."""


EARLIER, CHANGED, LATER = "494548ed", 2.0, "paired"
"""The commit before `markscheme.stats`, whose figures docs/coverage-earlier.csv has; from how many
points a change of width is named; the part that came later."""
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
    sizes = np.full(questions, float(each))
    coverage_sizes.note_share(tally, right.astype(np.float64), sizes, accuracy)


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


def _estimate(tally: Tally, rng: np.random.Generator, *, accuracy: float, **design: Any) -> None:
    _, sample = labelled_answers(rng, accuracy=accuracy, **design)
    for found in estimates(sample):
        shown = found.figure
        if shown.value is not None:
            tally.covers(found.method, accuracy, shown.low or 0.0, shown.high or 0.0)


def labelled_answers(
    rng: np.random.Generator,
    *,
    answers: int,
    each: int,
    alike: float,
    labels: str,
    accuracy: float,
    judge: tuple[float, float],
) -> tuple[npt.NDArray[np.bool_], Sample]:
    """Which answers are right, and the sample of them that `estimate` sees.

    `labels` is how many are drawn: "100" at random, "100 by verdict" half of them each, as far as
    there are answers, or "100 by question" of whole questions.
    """
    clusters = np.repeat(np.arange(answers // each), each)
    truth = rng.random(answers) < difficulty(rng, answers // each, accuracy, alike)[clusters]
    accepted = rng.random(answers) < np.where(truth, judge[0], 1 - judge[1])
    known, weights = np.full(answers, np.nan), np.ones(answers)
    number, by = int(labels.split(maxsplit=1)[0]), labels.rpartition(" ")[2]
    if by == "verdict":
        parts = [np.flatnonzero(accepted == side) for side in (False, True)]
        fewer = min(len(part) for part in parts)
        counts = [min(len(part), max(number // 2, number - fewer)) for part in parts]
        chosen = np.concatenate(
            [rng.choice(part, count, replace=False)
             for part, count in zip(parts, counts, strict=True)]
        )  # fmt: skip
        for part, count in zip(parts, counts, strict=True):
            weights[part] = len(part) / max(count, 1)
    elif by == "question":
        drawn = rng.choice(answers // each, number // each, replace=False)
        chosen = np.flatnonzero(np.isin(clusters, drawn))
    else:
        chosen = rng.choice(answers, number, replace=False)
    known[chosen] = truth[chosen]
    return truth, Sample(
        predictions=accepted.astype(np.float64)[:, None], labels=known, weights=weights,
        clusters=clusters,
    )  # fmt: skip


SETS = {
    "1 sharp": (("sharp",), (15, 20)),
    "2 sharp": (("sharp",) * 2, (20, 30)),
    "3 sharp": (("sharp",) * 3, (20, 40)),
    "5 sharp": (("sharp",) * 5, (20, 60)),
    "5 mixed": (tuple(JUDGES), (20, 60)),
}
"""Judges that err independently of each other, in the order in which they are named; and labels:
20, of which one is weighted, and the fewest of which all are."""


def several(*, small: bool = False) -> Iterator[World]:
    """`estimate` from few labels of 1,000 answers, with one judge and with several."""
    for title in ("5 sharp",) if small else SETS:
        names, numbers = SETS[title]
        for labels in numbers:
            for accuracy in (0.5,) if small else (0.5, 0.95):
                yield World(
                    "several judges", f"{title}|{labels}|{accuracy:g}",
                    partial(_several, names=names, labels=labels, accuracy=accuracy),
                )  # fmt: skip


def _several(
    tally: Tally, rng: np.random.Generator, *, names: tuple[str, ...], labels: int, accuracy: float
) -> None:
    answers = 1000
    truth = rng.random(answers) < accuracy
    chances = np.array([JUDGES[name] for name in names])
    accepts = np.where(truth[:, None], chances[:, 0], 1 - chances[:, 1])
    sample = Sample(
        predictions=(rng.random(accepts.shape) < accepts).astype(np.float64),
        labels=np.where(np.arange(answers) < labels, truth, np.nan),
        weights=np.ones(answers),
        clusters=np.arange(answers),
    )
    for found in estimates(sample, [f"judge {place}" for place in range(len(names))]):
        low, high = found.figure.low, found.figure.high
        tally.covers(found.method, accuracy, low or 0.0, 1.0 if high is None else high)
    if few_for_judges(sample) or judges_weighted(labels, len(names)) < len(names):
        # What the least numbers of labels are for.
        with patch.object(powered_core, "QUESTIONS_A_FIGURE", 1):
            every = powered(sample)
        tally.covers("before: every judge", accuracy, every.low, every.high)


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
    seed = int(rng.integers(2**31))
    old_too = tally.seen.get("before, kappa", 0) < BEFORE
    drawn = resample_totals(rows, resamples=300, seed=seed) if old_too else None
    for name, found in clustered_statistics(rows.astype(np.float64), 0.95).items():
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
    "shares": shares, "few_labels": few_labels, "several": several,
    "against_labels": against_labels, "pairs": pairs,
    **coverage_sizes.PARTS, **coverage_choices.PARTS, **coverage_people.PARTS,
    **coverage_plans.PARTS, **coverage_systems.PARTS,
}  # fmt: skip


def checked(world: World, draws: int, seed: int) -> list[Cell]:
    """A world's cells; those that come out of bounds are drawn `AGAIN` times as often, again.

    Of a thousand cells that hold, a few come out low by chance. The second, larger draw has
    another seed, replaces the first, and has the last word.
    """
    cells = world.draw(draws, seed)
    if all(cell.within or not cell.printed for cell in cells):
        return cells
    more = {cell.method: cell for cell in world.draw(AGAIN * draws, seed + 1)}
    cells = [cell if cell.within or not cell.printed else more[cell.method] for cell in cells]
    for cell in cells:
        if not cell.holds and cell.printed:
            print("outside:", cell, file=sys.stderr, flush=True)
    return cells


def use_scipy(put: Callable[[Any, str, Any], None] = setattr) -> None:
    """Take quantiles from SciPy and Tango's score from plain numbers: equal to 1e-10, and quicker.

    Nearly all of the time would be theirs. `put` sets a name of a module; that of a test can put
    back what was there.
    """
    from scipy.special import betaincinv, stdtrit

    def quantile(freedom: float, probability: float) -> float:
        return float(stdtrit(freedom, probability))

    def exact(share: float, size: float, confidence: float) -> tuple[float, float]:
        right, tail = min(max(share, 0.0), 1.0) * size, (1 - confidence) / 2
        low = float(betaincinv(right, size - right + 1, tail)) if right > 0 else 0.0
        high = float(betaincinv(right + 1, size - right, 1 - tail)) if right < size else 1.0
        return low, high

    def score(worse: Array, better: Array, items: float, margin: float) -> float:
        lost, won = float(worse), float(better)
        half = -lost - won + (2 * items - lost + won) * margin
        root = math.sqrt(half**2 + 8 * items * won * margin * (1 - margin))
        variance = (root - half) / 2 + items * margin * (1 - margin)
        return (lost - won - items * margin) / math.sqrt(variance) if variance > 0 else 0.0

    for module in (differences, evidence, intervals, quantiles):
        put(module, "t_quantile", quantile)
    put(intervals, "exact_interval", exact)
    put(intervals, "score_statistic", score)


def read_cells(path: Path) -> list[Cell]:
    """The cells that an earlier run wrote."""
    return [
        Cell(**row) for row in pl.read_csv(path, infer_schema_length=None).iter_rows(named=True)
    ]


def table(cells: list[Cell]) -> str:
    """A Markdown table: by part and method, how many cells hold, the worst, the mean widths."""
    lines = [
        "| what | method | cells | hold | worst | where | above 97% | mean width | "
        "width relative to the best: mean, worst |",
        "|---|---|--:|--:|--:|---|--:|--:|---|",
    ]
    for part, method in dict.fromkeys((cell.part, cell.method) for cell in cells):
        own = [cell for cell in cells if (cell.part, cell.method) == (part, method)]
        alarm = own[0].alarm
        worst = (max if alarm else min)(own, key=lambda cell: cell.rate)
        widths = [cell.width for cell in own if cell.width is not None]
        kind = {0.05: " (false alarms)", 1.0: " (share of draws)"}.get(own[0].nominal, " (misses)")
        alarms = kind if alarm else ""
        hold = "-" if own[0].nominal == 1 else sum(cell.holds for cell in own)
        lines.append(
            f"| {part} | {method}{alarms} | {len(own)} | {hold} | {100 * worst.rate:.1f}% | "
            f"{_plain(worst.world)} | "
            f"{'-' if alarm else sum(cell.rate > MOST_COVERAGE for cell in own)} | "
            f"{f'{100 * sum(widths) / len(widths):.1f}' if widths else '-'} | {_beside(own)} |"
        )
    return "\n".join(lines)


def _plain(world: str) -> str:
    return world.replace("|", ", ")


def _beside(cells: list[Cell]) -> str:
    """The mean, and the worst with its world, of widths over the best peer's."""
    ratios = [(cell.beside, cell.world) for cell in cells if cell.beside is not None]
    if not ratios:
        return "-"
    worst, world = max(ratios)
    mean = sum(ratio for ratio, _ in ratios) / len(ratios)
    return f"{mean:.2f}, {worst:.2f} ({_plain(world)})"


def counts(cells: list[Cell]) -> str:
    """What the table's figures come to, in words for the page."""
    now, before = ([c for c in cells if c.printed], [c for c in cells if c.former])
    covers = [cell for cell in now if not cell.alarm]
    wide = sum(cell.rate > MOST_COVERAGE for cell in covers)
    beyond = [cell for cell in now if not cell.within]
    again = sum(cell.draws > DRAWS for cell in now)
    good = sum(cell.within for cell in before)
    worst = min((cell.rate for cell in before if not cell.alarm), default=0.0)
    text = (
        f"Of the {len(now):,} cells that are printed {len(now) - len(beyond):,} are within bounds; "
        f"{again:,} cells were drawn ten times as often. "
        f"Of the {len(covers):,} cells of intervals {wide:,} cover more than 97%. "
        f'Of the {len(before):,} cells of "before" {good:,} are within bounds '
        f"({good / max(len(before), 1):.0%}), the worst covers {worst:.0%}."
    )
    ratios = [cell for cell in now if cell.beside is not None]
    if ratios:
        passed = sum(cell.passes for cell in ratios)
        wider = sum(cell.within and (cell.beside or 0.0) > MOST_BESIDE for cell in ratios)
        low = sum(not cell.within for cell in ratios)
        discrete = sum(cell.passes and cell.rate > WIDE_COVERAGE for cell in ratios)
        shares = "; ".join(
            f"{part} {sum(cell.passes for cell in own)} of {len(own)}"
            for part in dict.fromkeys(cell.part for cell in ratios)
            for own in [[cell for cell in ratios if cell.part == part]]
        )
        text += (
            f"\n\n**Compared with other methods**: of {len(ratios):,} cells {passed:,} pass "
            f"({shares}), "
            f"{discrete:,} of them covering more than {WIDE_COVERAGE:.1%} where one and the same "
            f"interval came out in {DISCRETE:.0%} of the draws or more. Of the others {low:,} "
            f"cover too little, {wider:,} are more than {MOST_BESIDE:.2f} times as wide as the "
            f"best, and {len(ratios) - passed - low - wider:,} only cover too often."
        )
        text += one_method_for_all(cells)
    if beyond:
        text += "\n\nBeyond the bounds: " + "; ".join(
            f"{cell.part}, {cell.method}, {_plain(cell.world)}: {cell.rate:.1%}" for cell in beyond
        ) + "."  # fmt: skip
    return text


def one_method_for_all(cells: list[Cell]) -> str:
    """Shares next to the best method that covers whatever the correlation within a question is.

    That correlation is not known where an interval is made, so that no method can be chosen by it.
    """
    widths: dict[tuple[str, ...], dict[str, list[Cell]]] = {}
    for cell in cells:
        if cell.part in ("accuracy and gate", "sizes") and not cell.alarm and not cell.former:
            design = (cell.part, *cell.world.split("|")[:-1])
            widths.setdefault(design, {}).setdefault(cell.method, []).append(cell)
    ratios, alone = [], 0
    for methods in widths.values():
        mean = {
            name: float(np.mean([cell.width or 0.0 for cell in own]))
            for name, own in methods.items()
            if all(cell.holds for cell in own)
        }
        ours = mean.pop("interval", None)
        if not mean:
            alone += 1
        elif ours is not None:
            ratios.append(ours / min(mean.values()))
    if not ratios:
        return ""
    near = sum(ratio <= MOST_BESIDE for ratio in ratios)
    return (
        "\n\n**Compared with one method for every correlation**: an interval of a share cannot "
        "know how alike the answers to a question are. With "
        f"{alone} of {len(widths)} kinds of questions and accuracies no other method covers for "
        f"each correlation. Compared with the narrowest that does, the product's interval is "
        f"{np.median(ratios):.2f} times as wide (median), and at most {MOST_BESIDE:.2f} times with "
        f"{near} of the other {len(ratios)}."
    )


def since(cells: list[Cell], earlier: pl.DataFrame) -> str:
    """How wide intervals are now and were at an earlier commit, over the cells of then.

    Differences of `LATER` were drawn with the interval of then, too: what it was given up for.
    """
    widths = {(cell.part, cell.method, cell.world): cell.width for cell in cells}
    old = earlier.filter(pl.col("part") != LATER)
    now = [widths[row] for row in old.select("part", "method", "world").iter_rows()]
    means = pl.col("width", "now").mean() * 100
    old = old.with_columns(now=pl.Series(now, dtype=pl.Float64))
    then, after = old.select(means).row(0)
    by_part = old.group_by("part", "method", maintain_order=True).agg(means)
    parts = "; ".join(
        f"{part}, {method} {was:.1f}, {is_now:.1f}"
        for part, method, was, is_now in by_part.iter_rows()
        if abs(is_now - was) >= CHANGED
    )
    later = earlier.filter(pl.col("part") == LATER)["rate"].to_list()
    holds = sum(rate >= LEAST_COVERAGE for rate in later)
    held = [cell for cell in cells if (cell.part, cell.method) == (LATER, "difference")]
    return (
        f"**Mean width before and now**: {then:.1f} and {after:.1f} points over the {old.height:,} "
        f"cells that were there before one engine made all intervals (commit {EARLIER}, "
        f"[coverage-earlier.csv](coverage-earlier.csv)). By {CHANGED:g} points or more it changed "
        f"of: {parts}. The differences of then covered at least 93% in {holds} "
        f"of the {len(later)} cells of `{LATER}`, the worst {min(later):.0%}; those of now do in "
        f"{sum(cell.within for cell in held)}, the worst {min(cell.rate for cell in held):.0%}."
    )


def write_table(page: Path, name: str, made: str) -> None:
    """Put a table between the page's comments `<!-- NAME -->` and `<!-- end of NAME -->`."""
    start, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    before, rest = page.read_text().split(start)
    page.write_text(f"{before}{start}\n{made}\n\n{end}{rest.split(end)[1]}")


def write_figures(name: str, found: pl.DataFrame, table: Callable[[pl.DataFrame], str]) -> None:
    """Keep a benchmark's figures in docs/NAME.csv, and their table on the page."""
    path = DOCS / f"{name}.csv"
    found.write_csv(path, float_precision=4)
    write_table(DOCS / "coverage.md", name, table(pl.read_csv(path)))


@dataclass(frozen=True, kw_only=True)
class Picture:
    """Coverage of two methods side by side, one square per world.

    Attributes:
        file: its name in `docs/`.
        part: which statistic.
        methods: their names in the figures.
        titles: the same in words.
        place: a world's column and row.
        across: what the columns are.
        down: what the rows are.
    """

    file: str
    part: str
    methods: tuple[str, str]
    titles: tuple[str, str]
    place: Callable[[list[str]], tuple[str, str]]
    across: str
    down: str


PICTURES = (
    Picture(
        file="coverage.svg", part="accuracy and gate", methods=("before", "interval"),
        titles=("before", "now"),
        place=lambda world: (world[1], f"{world[0]}, {world[2]}"),
        across="true accuracy", down="questions x answers, correlation",
    ),
    Picture(
        file="coverage-estimate.svg", part="estimate", methods=("labels_only", "ppi_tuned"),
        titles=("labels alone", "PPI, tuned"),
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
        title = picture.titles[picture.methods.index(cell.method)]
        data.append({"row": row, "column": column, "method": title,
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
    ).facet(column=alt.Column("method:N", sort=picture.titles, title=None))
    chart.save(DOCS / picture.file)


def main() -> None:
    """Run the parts, print the table, and write the page's figures on request."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=DRAWS)
    parser.add_argument("--part", nargs="*", default=list(PARTS), choices=list(PARTS))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true", help="docs/coverage.md and its picture")
    options = parser.parse_args()
    use_scipy()
    worlds = [world for name in options.part for world in PARTS[name]()]
    cells, start = [], time.process_time()
    for world in worlds:
        cells += checked(world, options.draws, options.seed)
    print(f"{len(worlds)} worlds in {time.process_time() - start:.0f} s of a core")
    kept = DOCS / "coverage.csv"
    if options.write and kept.exists():
        ran, old = {cell.part for cell in cells}, read_cells(kept)
        order = list(dict.fromkeys(cell.part for cell in [*old, *cells]))
        cells += [cell for cell in old if cell.part not in ran]
        cells.sort(key=lambda cell: order.index(cell.part))
    if options.write:
        pl.DataFrame([asdict(cell) for cell in cells]).write_csv(kept, float_precision=4)
        cells = read_cells(kept)  # So that the page is what the file says.
    made = f"{table(cells)}\n\n{counts(cells)}"
    print(made)
    if options.write:
        made += f"\n\n{since(cells, pl.read_csv(DOCS / 'coverage-earlier.csv'))}"
        write_table(DOCS / "coverage.md", "figures", made)
        for picture in PICTURES:
            draw_heat_map(cells, picture)
    bad = [cell for cell in cells if not cell.holds and cell.printed]
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
