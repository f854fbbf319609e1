"""Where the processor time of a run's folder goes: each step on one batch, on one thread.

`python -m benchmarks.shares` prints the table. Polars has one thread, so that the time of a step is
its own; each step is the fastest of several.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

ROWS = 65_536
REPEATS = 5
LEXICAL = ("exact_match", "contains", "token_f1")


class _Clock:
    """Processor time of named steps, in seconds."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def step(self, name: str, work: Callable[[], T]) -> T:
        best = float("inf")
        for _ in range(REPEATS):
            began = time.process_time()
            result = work()
            best = min(best, time.process_time() - began)
        self.seconds[name] = self.seconds.get(name, 0.0) + best
        return result


def measured(folder: Path) -> dict[str, float]:
    """Seconds of each step on one batch of `ROWS` answers and the three lexical judges."""
    import polars as pl

    from benchmarks.rows import write_rows
    from markscheme.contract import parse_judge
    from markscheme.engine.execute import Readings, apply
    from markscheme.engine.local_run import _chained
    from markscheme.engine.run_folder import RunFolder
    from markscheme.engine.stream import Sheet, prepare
    from markscheme.engine.summary import CLUSTERS, summarise
    from markscheme.metrics import Pairs
    from markscheme.tables import AnswersReader
    from markscheme.text import normalise_series

    source = folder / "rows.parquet"
    write_rows(source, ROWS)
    clock = _Clock()
    batch = clock.step(
        "reading, checking, ids seen", lambda: next(iter(AnswersReader([str(source)])))
    )
    clock.step("mark of the input", lambda: _chained(b"", batch))
    readings = clock.step("equal items found", lambda: Readings(batch, None))
    items = readings.items
    run = RunFolder(folder / "run")
    tables = {"answers": [batch], "judgments": []}
    raw = Pairs.of(items["answer"], items["references"])
    clock.step("judging: normalised text, once for all three", lambda: raw.map(normalise_series))
    for one in prepare([parse_judge(name) for name in LEXICAL], None, "none"):
        apply(one.judge, items)  # What the three share is there, and counted above.
        name = f"judging: {one.name}"
        outcomes = clock.step(name, lambda one=one: apply(one.judge, items))  # type: ignore[misc]
        sheet = Sheet(one, batch=batch, readings=readings)
        sheet.take(0, outcomes)
        tables["judgments"].append(sheet.rows)
    for name, parts in tables.items():
        with run.locked(), run.writing():
            for number, part in enumerate(parts):
                clock.step(
                    "pieces written",
                    lambda part=part, number=number, name=name: run._write_part(  # type: ignore[misc]
                        f"{name}-{number:06d}", part, ()
                    ),
                )
        clock.step(
            "pieces put together",
            lambda name=name: run.join_parts(f"{name}-*.parquet", f"{name}.parquet"),  # type: ignore[misc]
        )
    judgments = pl.scan_parquet(run.path / "judgments.parquet")
    clusters = batch.select(CLUSTERS)
    clock.step("figures and intervals", lambda: summarise(judgments, clusters))
    return clock.seconds


def shares() -> list[tuple[str, float]]:
    """Each step and its share of the processor time of all, from 0 to 1."""
    environment = {**os.environ, "POLARS_MAX_THREADS": "1"}
    command = [sys.executable, "-m", "benchmarks.shares", "--json"]
    done = subprocess.run(
        command, check=True, capture_output=True, text=True, env=environment,
        cwd=Path(__file__).parents[1],
    )  # fmt: skip
    seconds: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    whole = sum(seconds.values())
    return [(name, one / whole) for name, one in seconds.items()]


def main() -> None:
    """Print the shares, or, as the process that measures them, the seconds."""
    if "--json" in sys.argv:
        with tempfile.TemporaryDirectory() as folder:
            print(json.dumps(measured(Path(folder))))
        return
    for name, share in shares():
        print(f"| {name} | {100 * share:.0f}% |")


if __name__ == "__main__":
    main()
