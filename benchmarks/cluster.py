"""Ray beside the local engine: the same judge, the same answers, one run.

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

JUDGE = "examiner(encoder='never')"


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
        for engine in ("local", "ray"):
            command = [
                sys.executable, "-m", "markscheme", "judge", "answers.parquet", "--judge",
                chosen.judge, "--engine", engine, "--out", engine, "--quiet",
            ]  # fmt: skip
            command += ["--workers", str(chosen.workers)] if engine == "ray" else []
            began = time.perf_counter()
            subprocess.run(command, check=True, cwd=place, stdout=subprocess.DEVNULL)
            seconds[engine] = time.perf_counter() - began
            rate = chosen.rows / seconds[engine]
            print(f"{engine:6} {seconds[engine]:8.1f} s {rate:10,.0f} answers/s", flush=True)
        local = pl.read_parquet(place / "local" / "judgments.parquet")
        spread = pl.read_parquet(place / "ray" / "judgments.parquet" / "*.parquet")
    print(f"judgments equal: {local.equals(spread)}")
    print(f"Ray takes {100 * (seconds['ray'] / seconds['local'] - 1):+.1f}% of the local time")


if __name__ == "__main__":
    main()
