"""Looking after every label: how often does one stop wrongly, and after how many labels?

    python -m benchmarks.sequences [--draws 400] [--write]

Made worlds of 5,000 answers whose labels are known; up to 500 of them are labelled in random order.
*False stops*: in how many draws the true share lay outside the interval at any look, for the
sequence (`estimate --anytime`, looked at after every label) and for the ordinary interval (tuned
PPI, looked at after every tenth label from the 30th). *Labels for +-5 points*: how many the
sequence took (mean), next to the number that has to be planned without knowing accuracy or judge,
and the number that somebody would plan who knew both beforehand. `--write` writes
docs/sequences.csv and its table in `docs/coverage.md`.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import polars as pl

from benchmarks.coverage import JUDGES, write_figures
from benchmarks.worlds import difficulty, ever_outside
from markscheme.agreement import running_estimate
from markscheme.stats import Sample, powered

Array = npt.NDArray[np.float64]
ANSWERS, LABELS, MARGIN = 5000, 500, 0.05
BLIND = math.ceil(0.25 * (1.959964 / MARGIN) ** 2)
"""Labels to be planned where neither the accuracy nor a judge is known."""
WORLDS = [
    (questions, alike, accuracy, judge)
    for questions, alike in ((5000, 0.0), (500, 0.5))
    for accuracy in (0.5, 0.8, 0.95)
    for judge in ("good", "useless", "lenient")
]


def world(
    rng: np.random.Generator, questions: int, alike: float, accuracy: float, judge: str
) -> tuple[Array, Array, npt.NDArray[np.int64]]:
    """Labels, the judge's verdicts and questions of all answers, in the order of labelling."""
    clusters = np.repeat(np.arange(questions), ANSWERS // questions)
    truth = rng.random(ANSWERS) < difficulty(rng, questions, accuracy, alike)[clusters]
    sensitivity, specificity = JUDGES[judge]
    said = rng.random(ANSWERS) < np.where(truth, sensitivity, 1 - specificity)
    order = rng.permutation(ANSWERS)
    return truth[order].astype(float), said[order].astype(float), clusters[order]


def naive_outside(truth: Array, said: Array, clusters: npt.NDArray[np.int64]) -> bool:
    """Whether an ordinary interval ever missed, looked at after every tenth label."""
    for count in range(30, LABELS + 1, 10):
        known = np.where(np.arange(ANSWERS) < count, truth, np.nan)
        found = powered(
            Sample(predictions=said[:, None], labels=known, clusters=clusters,
                   weights=np.ones(ANSWERS))
        )  # fmt: skip
        if not (found.low or 0.0) <= truth.mean() <= (found.high or 0.0):
            return True
    return False


def fewest(narrow: Callable[[Array], bool], truth: Array) -> int:
    """How many labels make an interval narrow, to four, from the first ones; by halving."""
    low, high = 0, 2000
    while high - low > 4:
        tried = (low + high) // 2
        known = np.where(np.arange(ANSWERS) < tried, truth, np.nan)
        low, high = (low, tried) if narrow(known) else (tried, high)
    return high


def labels_to_stop(truth: Array, said: Array) -> int:
    """Labels until the sequence is as narrow as wanted; it never widens."""
    return fewest(lambda known: running_estimate(known, predictions=said).enough_at(MARGIN), truth)


def labels_of_one_look(truth: Array, said: Array) -> int:
    """Labels with which the ordinary interval is as narrow as wanted, for one look at them."""

    def narrow(known: Array) -> bool:
        found = powered(
            Sample(predictions=said[:, None], labels=known, weights=np.ones(ANSWERS),
                   clusters=np.arange(ANSWERS)),
            about="these",
        )  # fmt: skip
        return (found.high or 1.0) - (found.low or 0.0) <= 2 * MARGIN

    return fewest(narrow, truth)


def figures(draws: int, seed: int) -> pl.DataFrame:
    """One row per world: shares of draws, and mean numbers of labels of independent answers."""
    rng = np.random.default_rng(seed)
    rows = []
    for questions, alike, accuracy, judge in WORLDS:
        missed = 0
        for _ in range(draws):
            truth, said, _ = world(rng, questions, alike, accuracy, judge)
            missed += ever_outside(truth, LABELS, predictions=said)
        naive = [naive_outside(*world(rng, questions, alike, accuracy, judge))
                 for _ in range(draws // 8)]  # fmt: skip
        taken, oracle = [], []
        for _ in range(max(5, draws // 40) if questions == ANSWERS else 0):
            truth, said, _ = world(rng, questions, alike, accuracy, judge)
            taken.append(labels_to_stop(truth, said))
            oracle.append(labels_of_one_look(truth, said))
        row = {"questions": questions, "alike": alike, "accuracy": accuracy, "judge": judge}
        row |= {"false_stops": missed / draws, "ordinary": float(np.mean(naive))}
        row |= {"labels": _mean(taken), "oracle": _mean(oracle)}
        rows.append(row)
        print(rows[-1], flush=True)
    return pl.DataFrame(rows, infer_schema_length=None)


def _mean(numbers: list[int]) -> float | None:
    return float(np.mean(numbers)) if numbers else None


def table(found: pl.DataFrame) -> str:
    """Markdown: one row per world, and what the table comes to."""
    lines = [
        "| questions, correlation | accuracy | judge | false stops | ordinary interval | "
        "labels for +-5 points | planned blind | planned by an oracle |",
        "|---|--:|---|--:|--:|--:|--:|--:|",
    ]
    for row in found.iter_rows(named=True):
        numbers = (row["labels"], BLIND, row["oracle"])
        shown = (f"{number:.0f}" if row["labels"] else "-" for number in numbers)
        lines.append(
            f"| {row['questions']}, {row['alike']:g} | {row['accuracy']:g} | {row['judge']} "
            f"| {row['false_stops']:.1%} | {row['ordinary']:.0%} | {' | '.join(shown)} |"
        )
    alone = found.drop_nulls("labels")
    times = (alone["labels"] / alone["oracle"]).to_list()
    fewer = alone.filter(pl.col("labels") < BLIND)
    pairs = fewer.select("accuracy", "judge").iter_rows()
    where = ", ".join(f"{accuracy:g} {judge}" for accuracy, judge in pairs)
    lines += [
        "",
        f"The sequence costs {min(times):.1f} to {max(times):.1f} times the labels of a plan "
        "made with the true accuracy and judge, which nobody knows. Compared with a plan made "
        f"without them, it saves labels in {len(fewer)} of {len(alone)} worlds, where answers are "
        f"mostly right or the judge is good ({where}).",
    ]
    return "\n".join(lines)


def main() -> None:
    """Print the table, and write it into the page on request."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true", help="docs/sequences.csv and its table")
    options = parser.parse_args()
    found = figures(options.draws, options.seed)
    if options.write:
        write_figures("sequences", found, table)
    print(table(found))


if __name__ == "__main__":
    main()
