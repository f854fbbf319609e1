"""Memory and time of a cluster run's closing summary, which its driver computes over all parts.

    python -m benchmarks.closing --rows 10000000

Parts as the workers write them, read as local files and as those of an address, each in a process
of its own.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import fsspec
import numpy as np
import polars as pl

from markscheme.engine.shards import PIECE_ROWS, scan_parts
from markscheme.engine.summary import CLUSTERS, summarise
from markscheme.tables.judgments import JUDGMENTS_SCHEMA

WAYS = ("local", "address")


def main() -> None:
    """Print seconds, the peak, and each row's share of what it rose by."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rows", type=int, default=10_000_000)
    options.add_argument("--way", choices=WAYS, help="for the child processes")
    options.add_argument("--folder", type=Path, help="for the child processes")
    chosen = options.parse_args()
    if chosen.way:
        _close(chosen.folder, chosen.way)
        return
    with tempfile.TemporaryDirectory() as folder:
        parts = -(-chosen.rows // PIECE_ROWS)
        _write(Path(folder), parts)
        print(f"{parts * PIECE_ROWS:,} rows in {parts} parts, five systems, few repeated questions")
        for way in WAYS:
            command = [sys.executable, "-m", "benchmarks.closing", "--way", way, "--folder", folder]
            subprocess.run(command, check=True)


def _write(folder: Path, parts: int) -> None:
    rng = np.random.default_rng(0)
    for table in ("answers", "judgments"):
        (folder / table).mkdir()
    for number in range(parts):
        drawn = rng.integers(0, 10**9, PIECE_ROWS)
        answers = pl.DataFrame(
            {
                "answer_id": [f"{number * PIECE_ROWS + row:012x}" for row in range(PIECE_ROWS)],
                "question": [f"What is the name of what has the number {one}?" for one in drawn],
                "system": [f"system {row % 5}" for row in range(PIECE_ROWS)],
            }
        )
        said = {
            "answer_id": answers["answer_id"],
            "judge": "examiner",
            "signature": "0" * 16,
            "status": "judged",
            "verdict": rng.random(PIECE_ROWS) < 0.6,
            "score": rng.random(PIECE_ROWS),
            "explanation": [f"'{one}' agrees with a reference" for one in drawn],
        }
        judgments = pl.DataFrame(said).select(
            (pl.col(name) if name in said else pl.lit(None)).cast(kind).alias(name)
            for name, kind in JUDGMENTS_SCHEMA.items()
        )
        answers.write_parquet(folder / "answers" / f"part-{number:06d}.parquet")
        judgments.write_parquet(folder / "judgments" / f"part-{number:06d}.parquet")


def _close(folder: Path, way: str) -> None:
    def table(name: str) -> pl.LazyFrame:
        names = sorted(str(path) for path in (folder / name).iterdir())
        system = fsspec.filesystem("file")
        return pl.scan_parquet(names) if way == "local" else scan_parts(system, names)

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.perf_counter()
    clusters = table("answers").select(CLUSTERS).collect(engine="streaming")
    records = summarise(table("judgments"), clusters)
    seconds = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    rows = records[-1]["rows"]
    print(
        f"{way:8} {seconds:6.1f} s, peak {peak / 1024:,.0f} MB, "
        f"{(peak - before) * 1024 / rows:.0f} bytes a row"
    )


if __name__ == "__main__":
    main()
