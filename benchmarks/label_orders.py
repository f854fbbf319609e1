"""How many labels does it take to know a share to within 3 points, and does the interval hold?

    python -m benchmarks.label_orders RUN [--draws 1000] [--margin 0.03] [--write FILE.svg]

RUN is a run of one judge on answers with labels, such as of EVOUNA-NQ; answers to questions that
trained the judge are left out. For each system, and for all
together, labels are taken in an order drawn again in each draw, the estimate is made again and
again, and labelling stops where `enough_at` says so. The truth is the share of all labels. Printed
are how many labels that took and how often the interval at that moment holds the truth.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from markscheme.agreement import draw_label_order, estimate_so_far
from markscheme.agreement.label_orders import FLOOR, LEAST_LABELS

Array = npt.NDArray[np.float64]
METHODS = {
    "random order, labels alone": (False, False),
    "random order, judge's help": (False, True),
    "chosen order, judge's help": (True, True),
}
STEP = 10


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One method on one set of answers."""

    system: str
    answers: int
    method: str
    labels: float
    most: float
    coverage: float
    draws: int


def simulate(
    labels: Array, scores: Array, *, chosen: bool, helped: bool, margin: float, draws: int
) -> tuple[Array, Array]:
    """Labels that each draw took, and whether its interval held the truth."""
    truth = float(labels.mean())
    took, held = np.zeros(draws), np.zeros(draws)
    for draw in range(draws):
        drawn = draw_label_order(scores, floor=FLOOR if chosen else 0.5, seed=[draw, 20])
        ordered, weights = labels[drawn.order], drawn.weights[drawn.order]
        said = scores[drawn.order] if helped else None
        n = LEAST_LABELS
        while True:
            seen = np.where(np.arange(len(ordered)) < n, ordered, np.nan)
            found = estimate_so_far(seen, weights=weights, scores=said)
            if found.enough_at(margin) or n >= len(ordered):
                break
            more = found.more_for(margin)
            # Not all of the way at once, so that it stops where somebody who looks would.
            n = min(len(ordered), n + max(STEP, int((more or 0) * 0.5) // STEP * STEP))
        assert found.figure.low is not None
        assert found.figure.high is not None
        took[draw], held[draw] = n, found.figure.low <= truth <= found.figure.high
    return took, held


def measure(run: Path, margin: float, draws: int) -> list[Cell]:
    """Every method on each system's answers and on all."""
    judged = pl.read_parquet(run / "judgments.parquet").select("answer_id", "score", "scope")
    table = (
        pl.read_parquet(run / "answers.parquet")
        .join(judged, on="answer_id")
        .filter(
            pl.col("label").is_not_null()
            & pl.col("score").is_not_null()
            & (pl.col("scope").cast(pl.String) != "learned from").fill_null(value=True)
        )
    )
    cells = []
    sets = [(name, rows) for (name,), rows in table.group_by("system", maintain_order=True)]
    for name, rows in [*sets, ("all", table)]:
        labels, scores = rows["label"].to_numpy(), rows["score"].to_numpy()
        for method, (chosen, helped) in METHODS.items():
            took, held = simulate(
                labels, scores, chosen=chosen, helped=helped, margin=margin, draws=draws
            )
            cells.append(
                Cell(system=str(name), answers=len(labels), method=method,
                     labels=float(np.median(took)), most=float(np.quantile(took, 0.95)),
                     coverage=float(held.mean()), draws=draws)
            )  # fmt: skip
            one = cells[-1]
            print(f"{one.system:12} {one.answers:>7,} {method:28} {one.labels:>6,.0f} "
                  f"{one.most:>6,.0f} {100 * one.coverage:>6.1f}%", flush=True)  # fmt: skip
    return cells


def picture(cells: list[Cell], margin: float, path: Path) -> None:
    """Labels needed, a group of bars a system."""
    import altair as alt

    table = pl.DataFrame(
        {"answers of": [f"{one.system} ({one.answers:,})" for one in cells],
         "labels": [one.labels for one in cells], "order": [one.method for one in cells]}
    )  # fmt: skip
    names = list(METHODS)
    (
        alt.Chart(table, title=f"Labels until the estimate is known to ±{100 * margin:g} points")
        .mark_bar()
        .encode(
            x=alt.X("labels:Q", title="labels (median)"),
            y=alt.Y("answers of:N", sort=None, title=None),
            yOffset=alt.YOffset("order:N", sort=names),
            color=alt.Color("order:N", sort=names, title=None,
                            scale=alt.Scale(range=["#b8b3a5", "#7fa6c4", "#0a6cb0"])),
        )
        .properties(width=460, height=alt.Step(11))
        .configure_legend(orient="bottom")
        .save(path)
    )  # fmt: skip


def main() -> None:
    """Print the table; write the picture where asked."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--margin", type=float, default=0.03)
    parser.add_argument("--write", type=Path, help="picture (.svg)")
    asked = parser.parse_args()
    cells = measure(asked.run, asked.margin, asked.draws)
    if asked.write:
        picture(cells, asked.margin, asked.write)


if __name__ == "__main__":
    main()
