"""Labels to a decision: how accurate is a system, and which of two is better; the truth known.

    python -m benchmarks.decisions [--draws 100] [--write]

People judged every answer of EVOUNA-NQ and NQ301, so that what they say of all answers is known.
The judge is the examiner, on questions of which none trained it (EVOUNA-NQ's part `test` without
the questions of NQ301, and all of NQ301, whose labels nobody trained or tuned on). Answers are
labelled in a random order, `powered` and `powered_difference` make the 95% interval about these
answers, and the fewest labels are counted with which four in five orders decide: an interval of
+-5 points for each system; for each pair of systems at least 5 points apart, an interval that
excludes 0, on the right side. *Covers*: at that number of labels, all systems or pairs and orders
together. `--write` writes docs/decisions.csv and its table in `docs/coverage.md`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from itertools import combinations

import numpy as np
import numpy.typing as npt
import polars as pl

import markscheme
from benchmarks.coverage import use_scipy, write_figures
from markscheme.stats import (
    ASSURANCE,
    LEAST_FOR_JUDGES,
    Powered,
    Sample,
    powered,
    powered_difference,
)
from markscheme_research.datasets import load
from markscheme_research.training import parts

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
HALF_WIDTH, APART = 0.05, 0.05


def judged(name: str) -> pl.DataFrame:
    """The answers of a data set: question, system, label, and the examiner's score."""
    table = load(name).with_columns(pl.col("answer").fill_null(""))
    if name == "evouna-nq":
        known = load("nq301")["question"].unique()
        table = table.filter(
            parts(table["question"]) == "test", ~pl.col("question").is_in(known.implode())
        )
    scores = markscheme.judge(table, judges="examiner").judgments.select("answer_id", "score")
    table = table.join(scores, on="answer_id", how="left").drop_nulls(["label", "score"])
    return table.select("question", "system", "score", pl.col("label").cast(pl.Float64)).unique(
        ["question", "system"], keep="first", maintain_order=True
    )


def sample(side: pl.DataFrame, chosen: Ints, *, judge: bool) -> Sample:
    """One system's answers, some of them labelled; without a judge it says the same of all."""
    labels = side["label"].to_numpy()
    known = np.full(len(labels), np.nan)
    known[chosen] = labels[chosen]
    said = side["score"].to_numpy() if judge else np.zeros(len(labels))
    return Sample(
        predictions=said[:, None], labels=known, weights=np.ones(len(labels)),
        clusters=np.arange(len(labels)),
    )  # fmt: skip


class Way:
    """One way to label and estimate, over all that is to be decided.

    Attributes:
        labels: the fewest for each decision; all there are where these do not decide it.
        covers: of each decision and order, at that number.
    """

    def __init__(self) -> None:
        self.labels: list[int] = []
        self.covers: list[bool] = []

    def decide(
        self,
        estimates: Callable[[int], Iterator[Powered]],
        decided: Callable[[Powered], bool],
        truth: float,
        most: int,
    ) -> None:
        """Find the fewest labels by halving, from `LEAST_FOR_JUDGES` to `most`."""
        low, high = LEAST_FOR_JUDGES, most
        while high - low > max(1, low // 50):
            middle = (low + high) // 2
            enough = np.mean([decided(found) for found in estimates(middle)]) >= ASSURANCE
            low, high = (low, middle) if enough else (middle, high)
        self.labels.append(high)
        for found in estimates(high):
            ends = (-1.0 if found.low is None else found.low, found.high or 1.0)
            self.covers.append(ends[0] - 1e-9 <= truth <= ends[1] + 1e-9)


def widths(table: pl.DataFrame, draws: int, seed: int) -> dict[str, Way]:
    """Each system's accuracy to `HALF_WIDTH`."""
    ways = {"labels alone": Way(), "with the examiner": Way()}
    for (_,), side in table.group_by("system", maintain_order=True):
        for judge, way in zip((False, True), ways.values(), strict=True):

            def estimates(
                count: int, *, judge: bool = judge, side: pl.DataFrame = side
            ) -> Iterator[Powered]:
                for n in range(draws):
                    order = np.random.default_rng([seed, n]).permutation(side.height)
                    made = sample(side, order[:count], judge=judge)
                    yield powered(made, judges=judge, about="these")

            truth = float(side["label"].mean())  # type: ignore[arg-type]
            way.decide(estimates, _narrow, truth, side.height)
    return ways


def _narrow(found: Powered) -> bool:
    return found.low is not None and found.high is not None and (
        found.high - found.low <= 2 * HALF_WIDTH
    )  # fmt: skip


def winners(table: pl.DataFrame, draws: int, seed: int) -> dict[str, Way]:
    """The better of each two systems that are `APART`."""
    ways = {
        f"{how}, {who}": Way()
        for how in ("answers at random", "both answers to questions")
        for who in ("labels alone", "with the examiner")
    }
    for pair in combinations(table["system"].unique(maintain_order=True), 2):
        parts_of = [table.filter(pl.col("system") == name) for name in pair]
        both = parts_of[0].select("question").join(parts_of[1], on="question", how="semi")
        sides = [part.join(both, on="question", how="semi").sort("question") for part in parts_of]
        truth = float(sides[0]["label"].mean()) - float(sides[1]["label"].mean())  # type: ignore[arg-type]
        if abs(truth) < APART:
            continue
        questions = both.height
        for name, way in ways.items():
            whole, judge = name.startswith("both"), name.endswith("examiner")

            def estimates(count: int, *, whole: bool = whole, judge: bool = judge,
                          sides: list[pl.DataFrame] = sides, questions: int = questions,
                          ) -> Iterator[Powered]:  # fmt: skip
                for n in range(draws):
                    rng = np.random.default_rng([seed, n])
                    if whole:
                        chosen = [rng.permutation(questions)[: count // 2]] * 2
                    else:
                        drawn = rng.permutation(2 * questions)[:count]
                        chosen = [drawn[drawn < questions], drawn[drawn >= questions] - questions]
                    made = [sample(side, rows, judge=judge)
                            for side, rows in zip(sides, chosen, strict=True)]  # fmt: skip
                    yield powered_difference(*made, about="these")

            def right(found: Powered, truth: float = truth) -> bool:
                return found.low is not None and found.high is not None and (
                    found.low > 0 if truth > 0 else found.high < 0
                )  # fmt: skip

            way.decide(estimates, right, truth, 2 * questions)
    return ways


def figures(draws: int, seed: int) -> pl.DataFrame:
    """A way to decide a row: the fewest labels, and what they cover."""
    rows = []
    for name in ("evouna-nq", "nq301"):
        table = judged(name)
        for what, found in (
            (f"+-{100 * HALF_WIDTH:g} points", widths(table, draws, seed)),
            ("which of two", winners(table, draws, seed)),
        ):
            for way, each in found.items():
                row: dict[str, object] = {
                    "answers": name,
                    "decision": what,
                    "of": len(each.labels),
                    "way": way,
                }
                row |= {"median": float(np.median(each.labels)), "labels": sum(each.labels)}
                rows.append(row | {"covers": float(np.mean(each.covers))})
                print(rows[-1], flush=True)
    return pl.DataFrame(rows)


def table(found: pl.DataFrame) -> str:
    """Markdown: one row per way, its labels also as a share of those of the decision's first way;
    and what the table comes to."""
    lines = [
        "| answers | decision | way | labels, median | labels, all together | of the first way "
        "| covers |",
        "|---|---|---|--:|--:|--:|--:|",
    ]
    first = pl.col("labels").first().over("answers", "decision")
    lines += [
        f"| {row['answers']} | {row['decision']} ({row['of']}) | {row['way']} "
        f"| {row['median']:.0f} | {row['labels']:,} | {100 * row['share']:.0f}% "
        f"| {100 * row['covers']:.1f}% |"
        for row in found.with_columns(share=pl.col("labels") / first).iter_rows(named=True)
    ]
    saved = [
        f"{1 - group['labels'][-1] / group['labels'][0]:.0%}"
        for _, group in found.group_by("answers", "decision", maintain_order=True)
    ]
    lines += [
        "",
        f"On EVOUNA-NQ the examiner saves {saved[0]} of the labels for a width and, together with "
        f"labelling both answers to a question, {saved[1]} of those that it takes to show the "
        "better system; on NQ301, whose questions were chosen because judges differ on them, "
        f"{saved[2]} and {saved[3]}.",
    ]
    return "\n".join(lines)


def main() -> None:
    """Print the table, and write it into the page on request."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true", help="docs/decisions.csv and its table")
    options = parser.parse_args()
    use_scipy()
    found = figures(options.draws, options.seed)
    if options.write:
        write_figures("decisions", found, table)
    print(table(found))


if __name__ == "__main__":
    main()
