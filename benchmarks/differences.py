"""Which of two systems would people prefer? All pairs of EVOUNA-NQ, few labels, the truth known.

    python -m benchmarks.differences [--draws 1000] [--labels 100] [--write]

Five systems answered 3,019 questions, and people judged every answer. The judge is containment of a
reference. In every draw some answers are labelled and the difference that people would find is
estimated by `powered_difference`, the function behind `compare --systems`: from judgments and
labels, from the labels alone, and from labels drawn as `plan-labels --for-difference` draws them
(half as many questions, both answers). *Covers*: the 95% interval holds the difference between all
labels. *Wrong winner*: the worse system was put first; *declared*: with p below .05. A pair of
which some way covers less than 93% or more than 97% is drawn ten times as often, with another seed,
and that stands. `--write` writes the table of `docs/coverage.md`.
"""

from __future__ import annotations

import argparse
from itertools import combinations

import numpy as np
import numpy.typing as npt
import polars as pl

from benchmarks.coverage import AGAIN, DOCS, write_table
from benchmarks.worlds import LEAST_COVERAGE, MOST_COVERAGE
from markscheme.metrics import contains
from markscheme.stats import Powered, Sample, powered_difference
from markscheme_research.datasets import load

Array = npt.NDArray[np.float64]
WAYS = ("judge and labels", "labels alone", "both answers to questions")


class Tally:
    """What came out for one way of estimating."""

    def __init__(self) -> None:
        self.covers: list[bool] = []
        self.half: list[float] = []
        self.wrong: list[bool] = []
        self.declared: list[bool] = []
        self.found: list[bool] = []

    def note(self, truth: float, found: Powered) -> None:
        """One draw."""
        low = -1.0 if found.low is None else found.low
        high = 1.0 if found.high is None else found.high
        wrong = found.value * truth <= 0
        sure = found.p is not None and found.p < 0.05
        self.covers.append(low <= truth <= high)
        self.half.append((high - low) / 2)
        self.wrong.append(wrong)
        self.declared.append(wrong and sure)
        self.found.append(sure and not wrong)

    @property
    def within(self) -> bool:
        """Whether the interval covers about as often as promised."""
        return bool(LEAST_COVERAGE <= np.mean(self.covers) <= MOST_COVERAGE)

    def cells(self) -> str:
        """For the table."""
        shares = [np.mean(one) for one in (self.covers, self.wrong, self.declared, self.found)]
        half = f"{100 * np.mean(self.half):.1f}"
        return " | ".join(
            [f"{100 * shares[0]:.1f}%", half, *(f"{100 * s:.1f}%" for s in shares[1:])]
        )


def sample(judge: Array, labels: Array, chosen: npt.NDArray[np.int64], chance: Array) -> Sample:
    """One system's answers, some of them labelled."""
    known, weights = np.full(len(labels), np.nan), np.ones(len(labels))
    known[chosen], weights[chosen] = labels[chosen], 1.0 / chance[chosen]
    return Sample(
        predictions=judge[:, None], labels=known, weights=weights, clusters=np.arange(len(labels)),
    )  # fmt: skip


def one_pair(
    sides: list[pl.DataFrame], draws: int, labels: int, rng: np.random.Generator
) -> dict[str, Tally]:
    """All draws of one pair of systems, on the questions that both answered."""
    people = [side["label"].to_numpy() for side in sides]
    judge = [side["score"].to_numpy() for side in sides]
    truth = float(people[0].mean() - people[1].mean())
    count = len(people[0])
    even = np.ones(count)
    nothing = np.zeros(count)
    found = {way: Tally() for way in WAYS}
    for _ in range(draws):
        drawn = rng.choice(2 * count, labels, replace=False)
        chosen = [drawn[drawn < count], drawn[drawn >= count] - count]
        for way, said in (("judge and labels", judge), ("labels alone", [nothing, nothing])):
            made = [sample(said[n], people[n], chosen[n], even) for n in (0, 1)]
            found[way].note(truth, powered_difference(*made))
        questions = rng.choice(count, labels // 2, replace=False)
        made = [sample(judge[n], people[n], questions, even) for n in (0, 1)]
        found["both answers to questions"].note(truth, powered_difference(*made))
    return found


def answers() -> pl.DataFrame:
    """EVOUNA-NQ with the judge's verdicts as scores."""
    table = load("evouna-nq").with_columns(pl.col("answer").fill_null(""))
    said = contains(table["answer"], table["references"])
    return table.select("question", "answer", "system", "label").with_columns(
        score=pl.Series(said.to_numpy().astype(np.float64))
    )


def figures(draws: int, labels: int, seed: int) -> str:
    """The table, in Markdown."""
    table = answers().unique(["question", "system"], keep="first", maintain_order=True)
    rng = np.random.default_rng(seed)
    again = np.random.default_rng(seed + 1)
    lines = [
        "| pair | people | the judge alone | way | covers | half-width | wrong winner | declared "
        "| right winner declared |",
        "|---|--:|--:|---|--:|--:|--:|--:|--:|",
    ]
    whole = {way: Tally() for way in WAYS}
    fooled = 0
    names = table["system"].unique(maintain_order=True).to_list()
    pairs = list(combinations(names, 2))
    for pair in pairs:
        parts = [table.filter(pl.col("system") == name) for name in pair]
        shared = parts[0].select("question").join(parts[1], on="question", how="semi")
        sides = [part.join(shared, on="question", how="semi").sort("question") for part in parts]
        truth, alone = (
            float(sides[0][name].mean()) - float(sides[1][name].mean())  # type: ignore[arg-type]
            for name in ("label", "score")
        )
        fooled += truth * alone <= 0
        name = f"{pair[0]} - {pair[1]}"
        tallies = one_pair(sides, draws, labels, rng)
        if not all(tally.within for tally in tallies.values()):
            tallies = one_pair(sides, AGAIN * draws, labels, again)
            name += " *"
        for way, tally in tallies.items():
            lines.append(
                f"| {name} | {100 * truth:+.1f} | {100 * alone:+.1f} | {way} | {tally.cells()} |"
            )
            print(lines[-1], flush=True)
            for part in vars(tally):
                getattr(whole[way], part).extend(getattr(tally, part)[:draws])
    lines += [f"| all | | | {way} | {tally.cells()} |" for way, tally in whole.items()]
    lines.append(
        f"\nThe judge alone puts the worse system first in {fooled} of {len(pairs)} pairs, however "
        f"many answers it judges. {labels} labels a pair, {draws:,} draws, seed {seed}; \\*: "
        f"{AGAIN * draws:,} draws, since with {draws:,} some way came out below 93% or above 97%."
    )
    print("\n".join(lines[-5:]))
    return "\n".join(lines)


def main() -> None:
    """Print the table, and write it into the page if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--labels", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true", help="the table of docs/coverage.md")
    options = parser.parse_args()
    made = figures(options.draws, options.labels, options.seed)
    if options.write:
        write_table(DOCS / "coverage.md", "differences", made)


if __name__ == "__main__":
    main()
