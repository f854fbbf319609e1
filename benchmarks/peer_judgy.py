"""`estimate` against judgy on the same draws of worlds in which the truth is known.

    python -m benchmarks.peer_judgy [--draws 300]

judgy (`pip install judgy`) corrects the share that a judge accepts by its rates of true positives
and true negatives on labelled answers (Rogan & Gladen 1978), with a bootstrap over answers. It
takes its default of 20,000 resamples; `--resamples` has fewer. Prints a table in Markdown.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
from functools import partial

import numpy as np

from benchmarks.coverage import use_scipy
from benchmarks.peer_estimates import DESIGNS, OURS, Interval, note_intervals
from benchmarks.worlds import World
from markscheme.stats import Sample

CHOSEN = (0, 3, 5, 7, 8, 10)
"""Of the worlds of `peer_estimates`: single answers, then several answers to a question."""


def judgy_interval(sample: Sample, *, resamples: int) -> Interval:
    """`estimate_success_rate`, with a verdict from 0.5 on; ValueError where judgy gives none."""
    judgy = importlib.import_module("judgy")
    has, verdicts = sample.labelled, (sample.predictions[:, 0] >= 0.5).astype(int)
    np.random.seed(0)
    try:
        _, low, high = judgy.estimate_success_rate(
            sample.labels[has].astype(int), verdicts[has], verdicts[~has],
            bootstrap_iterations=resamples,
        )  # fmt: skip
    except RuntimeError as error:
        raise ValueError(str(error)) from error
    return float(low), float(high)


def main() -> None:
    """Draw the worlds and print coverage and mean width in per cent."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--draws", type=int, default=300)
    parser.add_argument("--resamples", type=int, default=20_000)
    options = parser.parse_args()
    use_scipy()
    methods = {"judgy": partial(judgy_interval, resamples=options.resamples)}
    names = (OURS["ppi_tuned"], OURS["labels_only"], *methods)
    print(f"| world | {' | '.join(names)} |\n|---|{'--:|' * len(names)}")
    for design in (DESIGNS[n] for n in CHOSEN):
        world = World(
            "estimate", design.name, partial(note_intervals, design=design, methods=methods)
        )
        found = {cell.method: cell for cell in world.draw(options.draws, 0)}
        cells = []
        for name in names:
            text = "-"
            with contextlib.suppress(KeyError, TypeError):
                one = found[name]
                text = f"{100 * one.rate:.1f} / {100 * one.width:.1f}"
                if one.draws < options.draws:
                    text += f" (none {1 - one.draws / options.draws:.0%})"
            cells.append(text)
        print(f"| {design.name.replace('|', ', ')} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
