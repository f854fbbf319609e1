"""Power and false alarms of `diff`: regressions planted in real answers to EVOUNA-NQ.

    python -m benchmarks.diff_power

A draw takes questions at random and, as two versions of one system, answers of real systems: of a
share of the questions (the turnover) each side gets another system's answer by the toss of a coin,
so that much changes and nothing gets worse. Then answers that were accepted are replaced by answers
of other systems to the same question that were rejected, until so many points are lost. An alarm
is what `diff --fail-on-regression` calls a regression: p at most .05, and a loss.

Writes docs/diff-power.csv and prints the table of docs/how-to/compare-runs.md. The examiner's
verdicts are stored with the tests, so that draws can be repeated without the data; `--judge` judges
again.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import markscheme
from markscheme.agreement import compare_answers
from markscheme.results import Table
from markscheme_research import datasets

ROOT = Path(__file__).parents[1]
VERDICTS = ROOT / "tests" / "analysis" / "diff_power_verdicts.npz"
DRAWS = ROOT / "docs" / "diff-power.csv"
QUESTIONS = (100, 200, 500, 1000)
LOST = (0, 2, 3, 5, 10)
TURNOVER = (10, 30)
SEED = 0

Verdicts = np.ndarray[Any, np.dtype[np.bool_]]


def judged(judge: str, limit: int) -> Verdicts:
    """A row for each question, a column for each system: whether its answer is accepted."""
    answers = datasets.load("evouna-nq")
    rng = np.random.default_rng(SEED)
    questions = answers["question"].unique(maintain_order=True)
    chosen = questions.gather(rng.permutation(len(questions))[:limit])
    mine = answers.filter(pl.col("question").is_in(chosen.implode()))
    found = markscheme.judge(mine, judge).judgments.select("answer_id", "verdict")
    table = mine.join(found, on="answer_id").drop_nulls("verdict")
    wide = table.unique(["question", "system"], maintain_order=True).pivot(
        "system", index="question", values="verdict", sort_columns=True
    )
    return wide.drop_nulls().sort("question").drop("question").to_numpy().astype(bool)


def save_verdicts(verdicts: Verdicts) -> None:
    """Write them, a bit for each."""
    np.savez_compressed(VERDICTS, bits=np.packbits(verdicts), shape=verdicts.shape)


def load_verdicts() -> Verdicts:
    """Those that the published figures were drawn from."""
    with np.load(VERDICTS) as kept:
        shape = tuple(kept["shape"])
        return np.unpackbits(kept["bits"], count=int(np.prod(shape))).reshape(shape).astype(bool)


def draw(
    verdicts: Verdicts, size: int, lost: float, turnover: float, seed: int
) -> tuple[Verdicts, Verdicts]:
    """Verdicts on the base's and on the new answers; `lost` and `turnover` in percent."""
    rng = np.random.default_rng((SEED, size, int(lost * 10), int(turnover), seed))
    rows = verdicts[rng.choice(len(verdicts), size, replace=False)]
    one, two = rng.permutation(rows.shape[1])[:2]
    base, new = rows[:, one].copy(), rows[:, one].copy()
    for place in rng.choice(size, round(turnover / 100 * size), replace=False):
        side = base if rng.random() < 0.5 else new
        side[place] = rows[place, two]
    could = np.flatnonzero(new & ~rows.all(axis=1))  # another system's answer was rejected
    wanted = round(lost / 100 * size)
    new[rng.choice(could, min(wanted, len(could)), replace=False)] = False
    return base, new


def is_alarm(base: Verdicts, new: Verdicts) -> bool:
    """Whether `diff` says that the new answers are worse."""
    found = compare_answers(
        ("new", "base"), pl.Series(range(len(base))), pl.Series(new), pl.Series(base)
    )
    p, change = found.p.value, found.difference.value
    return p is not None and p <= 0.05 and change is not None and change < 0


def alarms(verdicts: Verdicts, size: int, lost: float, turnover: float, draws: int) -> int:
    """In how many of so many draws there is an alarm."""
    return sum(is_alarm(*draw(verdicts, size, lost, turnover, seed)) for seed in range(draws))


def table(cells: pl.DataFrame) -> Table:
    """Alarms in percent of the draws."""
    rows = []
    for (turnover, size), found in cells.group_by(["turnover", "questions"], maintain_order=True):
        shares = found.sort("lost")["alarms"] / found.sort("lost")["draws"]
        rows.append((f"{turnover}%", str(size), *(f"{100 * share:.1f}" for share in shares)))
    header = ("turnover", "questions", "nothing lost", *(f"{lost} points" for lost in LOST[1:]))
    return Table(
        title="Alarms, in percent of the draws",
        header=header,
        rows=tuple(rows),
        numeric=frozenset(header[1:]),
    )


def main() -> None:
    """Draw, write the cells, print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--judge", help="judge again with this judge, and keep its verdicts")
    parser.add_argument("--questions", type=int, default=1200, help="to judge")
    parser.add_argument("--draws", type=int, default=200, help="a cell with something lost")
    parser.add_argument("--draws-of-nothing", type=int, default=1000, help="and with nothing lost")
    given = parser.parse_args()
    if given.judge:
        save_verdicts(judged(given.judge, given.questions))
    verdicts = load_verdicts()
    cells = []
    for turnover in TURNOVER:
        for size in QUESTIONS:
            for lost in LOST:
                draws = given.draws if lost else given.draws_of_nothing
                found = alarms(verdicts, size, lost, turnover, draws)
                cells.append((turnover, size, lost, draws, found))
                sys.stderr.write(f"{cells[-1]}\n")
    names = ["turnover", "questions", "lost", "draws", "alarms"]
    frame = pl.DataFrame(cells, schema=names, orient="row")
    frame.write_csv(DRAWS)
    sys.stdout.write(table(frame).markdown())


if __name__ == "__main__":
    main()
