"""Successive runs compared with one base: false alarms over a hundred nights, looks to a loss.

    python -m benchmarks.diff_nights

A series is a hundred nights of one system that answers the same questions each night, after seven
nights that are the base. From some night on a loss is planted, or never. Three kinds of answers:

- recorded: one system's to EVOUNA-NQ, of which one in twenty is another system's every night (a
  tenth of the answers varies); lost are answers that another system got wrong;
- drawn: each question is answered right with a chance of its own (beta, mean .8); the questions
  that lose are never answered right any more;
- constant: the same every night, until the system changes: then 2.5% of the answers get better and
  as many get worse, and those that are lost.

An alarm is a loss with p at most the look's level. Of eight rules all but two, the first and the
one that multiplies, hold the chance of a false alarm:

- every night as if it were the only one;
- `--looks 100`: each night a hundredth (Bonferroni);
- a shrinking level, 6 / (pi i)^2 of the whole at night i, for endlessly many nights;
- e-values: a night's is the mixture of the sign test's likelihood ratios over all chances of a loss
  above 1/2 among the answers that differ. Whatever the nights share, the sum of w_i e_i for weights
  with sum 1 has a mean of at most 1, so that it ever reaches 1/level with a chance of at most the
  level (Vovk & Wang 2021, "E-values: calibration, combination and applications", Annals of
  Statistics 49(3)). Weights of 1/100, or for endlessly many nights 6 / (pi i)^2;
- e-values multiplied, which is valid for independent nights, and these share a base;
- every week's seven nights with the seven of the base, by question, `--looks 14`;
- both: the nights with `--looks 200`, and the weeks with `--looks 28`.

Writes docs/diff-nights.csv and prints the table of docs/how-to/compare-runs.md.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks.diff_power import Verdicts, load_verdicts
from markscheme.results import Table
from markscheme.stats import difference_evidence, difference_p, single_answers

Array = np.ndarray[Any, np.dtype[np.float64]]

CELLS = Path(__file__).parents[1] / "docs" / "diff-nights.csv"
NIGHTS, WEEK, LEVEL = 100, 7, 0.05
WEEKS = NIGHTS // WEEK
AFTER = 70
"""Nights with a loss within which it is to be found."""
QUESTIONS = (500, 1000)
LOST = (1, 2, 4)
STARTS = (1, 31)
"""First nights of a loss."""
FROM = np.arange(1, NIGHTS + 1)
ENDLESS = 6 / (np.pi * FROM) ** 2
SEED = 0

Series = tuple[Verdicts, Verdicts]
"""(WEEK, questions) verdicts of the base, and (NIGHTS, questions) of the nights."""


def recorded(rng: np.random.Generator, size: int, lost: float, start: int) -> Series:
    """Of real answers, a tenth of which varies."""
    verdicts = load_verdicts()
    rows = verdicts[rng.choice(len(verdicts), size, replace=False)]
    one, two = rng.permutation(rows.shape[1])[:2]
    could = rng.permutation(np.flatnonzero(rows[:, one] & ~rows.all(axis=1)))
    gone = could[: round(lost / 100 * size)]
    other = rng.random((WEEK + NIGHTS, size)) < 0.05
    found = np.where(other, rows[:, two], rows[:, one])
    found[WEEK + start - 1 :, gone] = False
    return found[:WEEK], found[WEEK:]


def drawn(rng: np.random.Generator, size: int, lost: float, start: int) -> Series:
    """Of answers that are drawn anew every night."""
    chances = rng.beta(0.8, 0.2, size)
    gone = rng.random(size) < lost / 80
    found = rng.random((WEEK + NIGHTS, size)) < chances
    found[WEEK + start - 1 :, gone] = False
    return found[:WEEK], found[WEEK:]


def constant(rng: np.random.Generator, size: int, lost: float, start: int) -> Series:
    """Of answers that change once."""
    before, change = rng.random(size) < 0.8, rng.random(size)
    after = np.where(before, change >= (0.025 + lost / 100) / 0.8, change < 0.025 / 0.2)
    found = np.tile(before, (WEEK + NIGHTS, 1))
    found[WEEK + start - 1 :] = after
    return found[:WEEK], found[WEEK:]


WORLDS: dict[str, Callable[[np.random.Generator, int, float, int], Series]] = {
    "recorded": recorded,
    "drawn": drawn,
    "constant": constant,
}


def loss_p(base: Verdicts, new: Verdicts) -> float:
    """Two-sided p of (runs, questions) verdicts, where more was lost; else 1."""
    runs, questions = base.shape
    worse, better = (base & ~new).sum(axis=0), (new & ~base).sum(axis=0)
    lost, won = worse.sum() / base.size, better.sum() / base.size
    if lost <= won:
        return 1.0
    evidence = (
        single_answers(questions)
        if runs == 1
        else difference_evidence(worse, better, np.full(questions, runs))
    )
    return difference_p(lost, won, evidence) or 1.0


def e_values(base: Verdicts, nights: Verdicts) -> Array:
    """(nights,) how far bets on a loss multiply money, night by night; at most 1 on average."""
    from scipy.special import betainc, betaln

    worse, better = (base & ~nights).sum(axis=1), (nights & ~base).sum(axis=1)
    sizes = (worse + better + 1) * np.log(2) + betaln(worse + 1, better + 1)
    return np.asarray(np.exp(sizes) * (1 - betainc(worse + 1, better + 1, 0.5)))


def alarms(series: Series) -> dict[str, Verdicts]:
    """(nights,) by each rule, whether there is an alarm after that night."""
    base, nights = series
    by_night = np.array([loss_p(base[:1], night[None]) for night in nights])
    by_week = np.ones(NIGHTS)
    for last in range(WEEK, NIGHTS + 1, WEEK):
        by_week[last - 1] = loss_p(base, nights[last - WEEK : last])
    bets = e_values(base[0], nights)
    # A loss is one of the two sides that the level of `diff` is of.
    enough = 2 / LEVEL
    return {
        "as if once": by_night <= LEVEL,
        f"--looks {NIGHTS}": by_night <= LEVEL / NIGHTS,
        "shrinking levels": by_night <= LEVEL * ENDLESS,
        "e-values, 100 nights": np.cumsum(bets / NIGHTS) >= enough,
        "e-values, endless": np.cumsum(bets * ENDLESS) >= enough,
        "e-values multiplied": np.cumsum(np.log(bets)) >= np.log(enough),
        f"weeks, --looks {WEEKS}": by_week <= LEVEL / WEEKS,
        "nights and weeks": (by_night <= LEVEL / 2 / NIGHTS) | (by_week <= LEVEL / 2 / WEEKS),
    }


def draw(world: str, questions: int, lost: float, start: int, seed: int) -> Series:
    """A series; with `lost` points from night `start` on."""
    rng = np.random.default_rng((SEED, questions, int(lost * 10), start, seed))
    return WORLDS[world](rng, questions, lost, start)


def cells(world: str, questions: int, lost: float, start: int, series: int) -> pl.DataFrame:
    """A row for each rule: how many series have an alarm, and after how many nights of the loss.

    `false` counts series with an alarm before the loss (with nothing lost, at any night); `week`
    and `found` those with one in the first 7 and 70 nights of it; `median` is the nights until the
    first one, null where most series have none in these 70.
    """
    firsts: dict[str, list[tuple[bool, float]]] = {}
    for seed in range(series):
        for rule, alarm in alarms(draw(world, questions, lost, start, seed)).items():
            before = alarm[: start - 1] if lost else alarm
            after = np.flatnonzero(alarm[start - 1 :][:AFTER]) + 1 if lost else np.array([])
            first = float(after[0]) if len(after) else np.inf
            firsts.setdefault(rule, []).append((bool(before.any()), first))
    rows = []
    for rule, found in firsts.items():
        nights = np.array([night for _, night in found])
        median = np.sort(nights)[len(nights) // 2]
        rows.append(
            {
                "answers": world,
                "questions": questions,
                "lost": lost,
                "start": start,
                "rule": rule,
                "series": series,
                "false": sum(before for before, _ in found),
                "week": int((nights <= WEEK).sum()),
                "found": int((nights <= AFTER).sum()),
                "median": int(median) if np.isfinite(median) else None,
            }
        )
    return pl.DataFrame(rows)


SHOWN = (("recorded", 500), ("recorded", 1000), ("drawn", 1000), ("constant", 1000))


def table(found: pl.DataFrame) -> Table:
    """False alarms, and losses found, in percent of the series."""
    rows = []
    for world, questions in SHOWN:
        mine = found.filter(answers=world, questions=questions)
        for rule in mine["rule"].unique(maintain_order=True):
            own = {
                (one["lost"], one["start"]): one
                for one in mine.filter(rule=rule).iter_rows(named=True)
            }
            two = own[2, STARTS[1]]
            rows.append(
                (
                    world,
                    str(questions),
                    rule,
                    _percent(own[0, 1], "false"),
                    *(_percent(own[lost, STARTS[1]], "found") for lost in LOST),
                    "-" if two["median"] is None else str(two["median"]),
                    _percent(own[2, STARTS[0]], "found"),
                )
            )
    header = (
        "answers",
        "questions",
        "rule",
        "false alarms in 100 nights",
        "1 point",
        "2 points",
        "4 points",
        "nights to 2 points, median",
        "2 points from the first night",
    )
    return Table(
        title="Series with an alarm, in percent",
        header=header,
        rows=tuple(rows),
        numeric=frozenset(header[3:]),
    )


def _percent(row: dict[str, Any], count: str) -> str:
    return f"{100 * row[count] / row['series']:.1f}"


def main() -> None:
    """Draw, write the cells, print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--series", type=int, default=200, help="a cell with something lost")
    parser.add_argument("--series-of-nothing", type=int, default=1000, help="with nothing lost")
    given = parser.parse_args()
    found = []
    for world in WORLDS:
        for questions in QUESTIONS:
            found.append(cells(world, questions, 0, 1, given.series_of_nothing))
            for lost in LOST:
                found += [cells(world, questions, lost, start, given.series) for start in STARTS]
            sys.stderr.write(f"{world}, {questions} questions\n")
    frame = pl.concat(found, how="vertical_relaxed")
    frame.write_csv(CELLS)
    sys.stdout.write(table(frame).markdown())


if __name__ == "__main__":
    main()
