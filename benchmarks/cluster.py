"""Ray and the local engine, with one process and with as many as Ray has workers, in one run.

    python -m benchmarks.cluster --rows 1000000

Each engine in a process of its own, from the command line, cluster start and stop included.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import polars as pl

from benchmarks.rows import write_rows

JUDGE = "examiner(depth=fast)"


def main() -> None:
    """Print seconds, rates and the ratio."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rows", type=int, default=1_000_000)
    options.add_argument("--workers", type=int, default=2)
    options.add_argument("--judge", default=JUDGE)
    chosen = options.parse_args()
    load = os.getloadavg()[0]
    print(f"{os.cpu_count()} cores, load {load:.1f}; {chosen.judge} on {chosen.rows:,} answers")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        write_rows(place / "one.parquet", chosen.rows)
        # Row groups of the local engine's batch, as a data set written for a cluster has them.
        pl.scan_parquet(place / "one.parquet").sink_parquet(
            place / "answers.parquet", row_group_size=65_536
        )
        (place / "one.parquet").unlink()
        seconds = {}
        for name, engine, workers in (
            ("local", "local", 1),
            ("workers", "local", chosen.workers),
            ("ray", "ray", chosen.workers),
        ):
            command = [
                sys.executable, "-m", "markscheme", "judge", "answers.parquet", "--judge",
                chosen.judge, "--engine", engine, "--out", name, "--workers", str(workers),
                "--quiet",
            ]  # fmt: skip
            began = time.perf_counter()
            subprocess.run(command, check=True, cwd=place, stdout=subprocess.DEVNULL)
            seconds[name] = time.perf_counter() - began
            rate = chosen.rows / seconds[name]
            print(f"{name:8} {seconds[name]:8.1f} s {rate:10,.0f} answers/s", flush=True)
        local = pl.read_parquet(place / "local" / "judgments.parquet")
        several = pl.read_parquet(place / "workers" / "judgments.parquet")
        spread = pl.read_parquet(place / "ray" / "judgments.parquet" / "*.parquet")
    print(f"judgments equal: {local.equals(several) and local.equals(spread)}")
    for name, what in (("local", "one process"), ("workers", f"{chosen.workers} processes")):
        change = 100 * (seconds["ray"] / seconds[name] - 1)
        print(f"Ray takes {change:+.1f}% of the time of the local engine with {what}")


if __name__ == "__main__":
    main()
