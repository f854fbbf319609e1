"""Power and false alarms of `diff`: regressions planted in real answers to EVOUNA-NQ.

    python -m benchmarks.diff_power --judge examiner --draws 200

A draw takes questions at random and, as two versions of one system, answers of real systems: of a
tenth of the questions each side gets one of two systems' answers by the toss of a coin, so that
much changes and nothing gets worse. Then answers that were accepted are replaced by real answers of
other systems to the same question that were rejected, until so many points are lost. An alarm is
what `diff --fail-on-regression` calls a regression: p at most .05, and a loss.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

import numpy as np
import polars as pl

import markscheme
from markscheme import datasets
from markscheme.agreement import CompareOptions, compare_systems
from markscheme.results import Table

QUESTIONS = (100, 200, 500, 1000)
LOST = (0, 2, 3, 5, 10)
CHURN = 0.1
SEED = 0


def verdicts(judge: str, limit: int) -> pl.DataFrame:
    """A row a question: the verdict on each system's answer."""
    answers = datasets.load("evouna-nq")
    rng = np.random.default_rng(SEED)
    questions = answers["question"].unique(maintain_order=True)
    chosen = questions.gather(rng.permutation(len(questions))[:limit])
    mine = answers.filter(pl.col("question").is_in(chosen.implode()))
    judged = markscheme.judge(mine, judge).judgments.select("answer_id", "verdict")
    table = mine.join(judged, on="answer_id").drop_nulls("verdict")
    wide = table.unique(["question", "system"]).pivot(
        "system", index="question", values="verdict", sort_columns=True
    )
    return wide.drop_nulls()


def draw(
    table: np.ndarray[Any, Any], size: int, lost: float, rng: np.random.Generator
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Verdicts on the base's and on the new answers, with so many points lost."""
    rows = table[rng.choice(len(table), size, replace=False)]
    one, two = rng.permutation(rows.shape[1])[:2]
    base, new = rows[:, one].copy(), rows[:, one].copy()
    for place in rng.choice(size, round(CHURN * size), replace=False):
        side = base if rng.random() < 0.5 else new
        side[place] = rows[place, two]
    could = np.flatnonzero(new & ~rows.all(axis=1))  # another system's answer was rejected
    wanted = round(lost / 100 * size)
    new[rng.choice(could, min(wanted, len(could)), replace=False)] = False
    return base, new


def is_alarm(base: np.ndarray[Any, Any], new: np.ndarray[Any, Any], resamples: int) -> bool:
    """Whether `diff` says that the new answers are worse."""
    questions = [f"q{number}" for number in range(len(base))]
    frame = pl.concat(
        pl.DataFrame({"question": questions, "system": side, "verdict": values})
        for side, values in (("new", new), ("base", base))
    )
    options = CompareOptions(systems=True, resamples=resamples, seed=SEED)
    (found,) = compare_systems(frame, systems=["new", "base"], options=options)
    p, change = found.permutation.value, found.difference.value
    return p is not None and p <= 0.05 and change is not None and change < 0


def main() -> None:
    """Print the table, in percent of the draws."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--judge", default="examiner")
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--resamples", type=int, default=2000)
    parser.add_argument("--questions", type=int, default=1200, help="to draw from")
    given = parser.parse_args()
    wide = verdicts(given.judge, given.questions)
    table = wide.drop("question").to_numpy().astype(bool)
    rng = np.random.default_rng(SEED)
    rows = []
    for size in (one for one in QUESTIONS if one <= len(table)):
        cells = []
        for lost in LOST:
            alarms = [
                is_alarm(*draw(table, size, lost, rng), given.resamples) for _ in range(given.draws)
            ]
            cells.append(f"{100 * float(np.mean(alarms)):.1f}")
        rows.append((str(size), *cells))
    names = tuple(f"{lost} points lost" if lost else "nothing lost" for lost in LOST)
    shown = Table(
        title=f"Alarms in percent of {given.draws} draws; {given.judge}, {len(table)} questions, "
        f"{table.shape[1]} systems",
        header=("questions", *names),
        rows=tuple(rows),
        numeric=frozenset(("questions", *names)),
    )
    sys.stdout.write(shown.markdown())


if __name__ == "__main__":
    main()
