"""`estimate` against ppi_py, glide-py and truescore, on the same draws.

    python -m benchmarks.peer_estimates [--draws 1000] [--write]

Few labels, judgments of all answers, and 95% intervals for the share that people would call right,
in worlds of `benchmarks/coverage.py` in which the truth is known. Each package is called as its
documentation says, with its defaults: PPI++, the weight of the judge tuned. Where questions have
several answers, glide-py and truescore are also called with the question as the cluster. They need
questions that are labelled as a whole or not at all; where answers were drawn one by one, the
unlabelled answers to partly labelled questions are dropped, as truescore advises, and where that
leaves no two questions unlabelled, their clustered interval of the labels alone is taken.

A package that is not installed is left out; glide-py needs Python 3.12. 1,000 draws take about two
minutes of a core. `--write` writes docs/peer-estimates.csv and its table in `docs/coverage.md`, for
which all are needed.
"""

from __future__ import annotations

import argparse
import importlib
import math
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec

import numpy as np
import polars as pl

from benchmarks.coverage import (
    DOCS,
    JUDGES,
    labelled_answers,
    read_cells,
    use_scipy,
    write_table,
)
from benchmarks.peer_intervals import Z
from benchmarks.worlds import LEAST_COVERAGE, Cell, Tally, World
from markscheme.agreement.accuracy_estimates import estimates
from markscheme.stats import About, Sample, wilson_interval

DRAWS, SEED = 1000, 0
FILE = DOCS / "peer-estimates.csv"
PERFECT = {"perfect": (1.0, 1.0)}
Interval = tuple[float, float]
Method = Callable[[Sample], Interval]


@dataclass(frozen=True, kw_only=True)
class Design:
    """What a world is made like.

    Attributes:
        questions, each: answers are `each` to a question.
        labels: how many, and how they are drawn (`coverage.labelled_answers`).
        accuracy: of further answers.
        judge: one of `coverage.JUDGES`, or perfect.
        about: further answers, or these alone.
    """

    questions: int
    each: int
    labels: str
    accuracy: float
    judge: str
    about: About = "future"

    def suits(self, method: str) -> bool:
        """Clustered methods are for several answers to a question."""
        return self.each > 1 or not method.endswith(CLUSTERS)

    @property
    def name(self) -> str:
        """Its row in the table."""
        shown = f"{self.questions} x {self.each}|{self.labels}|{self.accuracy:g}|{self.judge}"
        return shown if self.about == "future" else f"{shown}|these"


SINGLE = (
    ("50", 0.5, "good"), ("50", 0.95, "useless"), ("50", 0.97, "lenient"), ("100", 0.8, "lenient"),
    ("100", 0.95, "perfect"), ("100", 0.97, "good"), ("200", 0.5, "perfect"),
    ("200", 0.8, "useless"),
)  # fmt: skip
"""Each accuracy and each judge twice, no pair of them twice."""
CLUSTERED = ((20, 10, 0.8, "good"), (50, 5, 0.95, "lenient"), (300, 5, 0.8, "useless"))
ALIKE = 0.4
"""Correlation of answers to one question."""
DESIGNS = (
    *(Design(questions=1000, each=1, labels=labels, accuracy=accuracy, judge=judge)
      for labels, accuracy, judge in SINGLE),
    *(Design(questions=questions, each=each, labels=labels, accuracy=accuracy, judge=judge)
      for questions, each, accuracy, judge in CLUSTERED for labels in ("100", "100 by question")),
    *(Design(questions=300, each=1, labels="200", accuracy=0.95, judge="good", about=about)
      for about in ("future", "these")),
)  # fmt: skip


# --- The packages ---------------------------------------------------------------------------------


def ppi_py_interval(sample: Sample) -> Interval:
    """`ppi_mean_ci`."""
    has, said = sample.labelled, sample.predictions[:, 0]
    ppi_py = importlib.import_module("ppi_py")
    low, high = ppi_py.ppi_mean_ci(sample.labels[has], said[has], said[~has], alpha=0.05)
    return float(np.squeeze(low)), float(np.squeeze(high))


def glide_interval(sample: Sample, *, clustered: bool = False, ptd: bool = False) -> Interval:
    """`PPIMeanEstimator`, or `ClusteredPPIMeanEstimator` with questions as clusters.

    `ptd` takes the bootstraps of both, `PTDMeanEstimator` and `ClusteredPTDMeanEstimator`.
    """
    estimators = importlib.import_module("glide.estimators")
    kind, seed = ("PTD", {"random_seed": 0}) if ptd else ("PPI", {})
    whole = whole_questions(sample) if clustered else sample
    if whole is None:
        has = sample.labelled
        found = estimators.ClusteredClassicalMeanEstimator().estimate(
            sample.labels[has], sample.clusters[has]
        )
    else:
        estimator = getattr(estimators, f"{'Clustered' * clustered}{kind}MeanEstimator")()
        clusters = (whole.clusters,) if clustered else ()
        found = estimator.estimate(whole.labels, whole.predictions[:, 0], *clusters, **seed)
    ends = found.confidence_interval
    return float(ends.lower_bound), float(ends.upper_bound)


def glide_bootstrap(sample: Sample) -> Interval:
    """Clustered where questions have several answers."""
    several = len(np.unique(sample.clusters)) < len(sample.clusters)
    return glide_interval(sample, clustered=several, ptd=True)


def truescore_interval(sample: Sample, *, clustered: bool = False) -> Interval:
    """`ppi_estimate`, the corrected score of its reports; `clusters` are questions if wanted."""
    truescore = importlib.import_module("truescore")
    whole = whole_questions(sample) if clustered else sample
    if whole is None:
        has = sample.labelled
        found = truescore.gold_only_estimate(sample.labels[has], clusters=sample.clusters[has])
    else:
        has = whole.labelled
        found = truescore.ppi_estimate(
            whole.predictions[:, 0], whole.labels[has], np.flatnonzero(has),
            clusters=whole.clusters if clustered else None,
        )  # fmt: skip
    return found.low, found.high


def whole_questions(sample: Sample) -> Sample | None:
    """Without the unlabelled answers to questions of which others are labelled.

    None if fewer than two questions without a label remain, which both packages need.
    """
    has = sample.labelled
    use = has | ~np.isin(sample.clusters, sample.clusters[has])
    if len(np.unique(sample.clusters[use & ~has])) < LEAST_UNLABELLED:
        return None
    return replace(
        sample, predictions=sample.predictions[use], labels=sample.labels[use],
        weights=sample.weights[use], clusters=sample.clusters[use],
    )  # fmt: skip


def wald(sample: Sample) -> Interval:
    """Of the labels by themselves, each an independent answer."""
    labels = sample.labels[sample.labelled]
    half = Z * float(labels.std(ddof=1)) / math.sqrt(len(labels))
    return float(labels.mean()) - half, float(labels.mean()) + half


def wilson(sample: Sample) -> Interval:
    """The same."""
    labels = sample.labels[sample.labelled]
    return wilson_interval(float(labels.mean()), len(labels))


OURS = {"ppi_tuned": "markscheme", "labels_only": "markscheme, labels alone"}
SIMPLE: dict[str, Method] = {"Wald": wald, "Wilson": wilson}
CLUSTERS = ", clustered"
LEAST_UNLABELLED = 2


@dataclass(frozen=True, kw_only=True)
class Package:
    """Another package.

    Attributes:
        module: what is imported.
        package: what is installed.
        methods: by column of the table; those that end in `CLUSTERS` are for several answers to a
            question.
    """

    module: str
    package: str
    methods: dict[str, Method]

    @property
    def installed(self) -> bool:
        """Whether it can be imported."""
        return find_spec(self.module) is not None


PACKAGES = (
    Package(module="ppi_py", package="ppi-python", methods={"ppi_py": ppi_py_interval}),
    Package(
        module="glide", package="glide-py",
        methods={"glide": glide_interval,
                 f"glide{CLUSTERS}": partial(glide_interval, clustered=True),
                 "glide, bootstrap": glide_bootstrap},
    ),
    Package(
        module="truescore", package="truescore",
        methods={"truescore": truescore_interval,
                 f"truescore{CLUSTERS}": partial(truescore_interval, clustered=True)},
    ),
)  # fmt: skip
COLUMNS = (*OURS.values(), *SIMPLE, *(name for peer in PACKAGES for name in peer.methods))


# --- The draws ------------------------------------------------------------------------------------


def worlds(packages: tuple[Package, ...]) -> Iterator[World]:
    """One a row."""
    methods = SIMPLE | {name: call for peer in packages for name, call in peer.methods.items()}
    for design in DESIGNS:
        fit = {name: call for name, call in methods.items() if design.suits(name)}
        yield World(
            "estimate", design.name, partial(note_intervals, design=design, methods=fit)
        )  # fmt: skip


def note_intervals(
    tally: Tally, rng: np.random.Generator, *, design: Design, methods: dict[str, Method]
) -> None:
    """One draw. An interval that a package refuses to give is not counted."""
    truth, sample = labelled_answers(
        rng, answers=design.questions * design.each, each=design.each,
        alike=ALIKE if design.each > 1 else 0.0, labels=design.labels, accuracy=design.accuracy,
        judge=(JUDGES | PERFECT)[design.judge],
    )  # fmt: skip
    value = design.accuracy if design.about == "future" else float(truth.mean())
    for found in estimates(sample, about=design.about):
        if found.figure.low is not None and found.figure.high is not None:
            tally.covers(OURS[found.method], value, found.figure.low, found.figure.high)
    for name, call in methods.items():
        try:
            low, high = call(sample)
        except (ValueError, OverflowError):  # glide's where a bootstrap never moves
            continue
        if math.isfinite(low) and math.isfinite(high):
            tally.covers(name, value, max(low, 0.0), min(high, 1.0))


# --- The page -------------------------------------------------------------------------------------


def table(cells: list[Cell], draws: int) -> str:
    """Markdown: one row per world, one column per method; coverage and mean width in per cent."""
    found = {(cell.world, cell.method): cell for cell in cells}
    lines = [f"| world | {' | '.join(COLUMNS)} |", f"|---|{'--:|' * len(COLUMNS)}"]
    for design in DESIGNS:
        shown = [_entry(found.get((design.name, name)), draws) for name in COLUMNS]
        lines.append(f"| {_plain(design.name)} | {' | '.join(shown)} |")
    return "\n".join(lines)


def _plain(world: str) -> str:
    return world.replace("|", ", ")


def _entry(cell: Cell | None, draws: int) -> str:
    if cell is None or cell.width is None:
        return "-"
    rate = f"{100 * cell.rate:.1f}"
    rate = f"**{rate}**" if covers_too_little(cell) else rate
    none = f" (none {1 - cell.draws / draws:.1%})" if cell.draws < draws else ""
    return f"{rate} / {100 * cell.width:.1f}{none}"


def covers_too_little(cell: Cell) -> bool:
    """Whether coverage is below `LEAST_COVERAGE` by more than two standard errors of the draws."""
    error = math.sqrt(cell.rate * (1 - cell.rate) / cell.draws)
    return cell.rate + 2 * error < LEAST_COVERAGE


def failures(cells: list[Cell]) -> str:
    """A list: in how many worlds each method covers too little, and the worst of them."""
    answers = {
        design.name: "several answers" if design.each > 1 else "one answer" for design in DESIGNS
    }
    lines = []
    for name in COLUMNS:
        own = [cell for cell in cells if cell.method == name]
        if not own:
            continue
        seen = Counter(answers[cell.world] for cell in own)
        low = Counter(answers[cell.world] for cell in own if covers_too_little(cell))
        counts = " and ".join(f"{low[many]} of {seen[many]} worlds with {many}" for many in seen)
        worst = min(own, key=lambda cell: cell.rate)
        lines.append(
            f"- {name}: too low in {counts} to a question; "
            f"lowest {worst.rate:.1%} ({_plain(worst.world)})"
        )
    return "\n".join(lines)


def page_part(cells: list[Cell], draws: int) -> str:
    """The table, the list, and how wide the product's intervals are next to the best of others."""
    return f"{table(cells, draws)}\n\n{failures(cells)}\n\n{relative_widths(cells)}"


def relative_widths(cells: list[Cell]) -> str:
    """The product's mean width over that of the narrowest method of others that covers."""
    own, best, alone = OURS["ppi_tuned"], {}, 0
    for design in DESIGNS:
        here = {cell.method: cell for cell in cells if cell.world == design.name}
        others = [
            cell.width
            for name, cell in here.items()
            if name not in OURS.values() and cell.width and not covers_too_little(cell)
        ]
        if others:
            best[design.name] = (here[own].width or 0.0) / min(others)
        else:
            alone += 1
    worst = max(best, key=lambda name: best[name])
    return (
        f"The intervals of {own} are {np.median(list(best.values())):.2f} times as wide (median) "
        f"as the narrowest of another method that covers, at most {best[worst]:.2f} times "
        f"({_plain(worst)}); in {alone} of {len(DESIGNS)} worlds no other method covers."
    )


def described(draws: int, seed: int) -> str:
    """The line that says how the table was made."""
    versions = ", ".join(f"{peer.package} {version(peer.package)}" for peer in PACKAGES)
    return (
        f"{versions}; {draws:,} draws, seed {seed}: "
        f"`python -m benchmarks.peer_estimates --draws {draws} --seed {seed} --write`."
    )


def main() -> None:
    """Draw the worlds, print the table, and write it into the page on request."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=DRAWS)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument(
        "--write", action="store_true", help="docs/peer-estimates.csv and its table"
    )
    options = parser.parse_args()
    missing = [peer for peer in PACKAGES if not peer.installed]
    for peer in missing:
        print(f"{peer.package} was not run: pip install {peer.package}", file=sys.stderr)
    if options.write and missing:
        sys.exit("--write needs all packages")
    use_scipy()
    found: list[Cell] = []
    start = time.process_time()
    for world in worlds(tuple(peer for peer in PACKAGES if peer.installed)):
        found += world.draw(options.draws, options.seed)
    print(f"{len(DESIGNS)} worlds in {time.process_time() - start:.0f} s of a core")
    if options.write:
        pl.DataFrame([asdict(cell) for cell in found]).write_csv(FILE, float_precision=4)
        found = read_cells(FILE)  # So that the page is what the file says.
    made = page_part(found, options.draws)
    print(made)
    if options.write:
        made = f"{described(options.draws, options.seed)}\n\n{made}"
        write_table(DOCS / "coverage.md", "peer estimates", made)


if __name__ == "__main__":
    main()
