"""How much memory a whole run takes: `markscheme judge` on made-up rows, by number of rows.

`python -m benchmarks.memory --rows 1000000 10000000` makes a Parquet file of each size, runs the
command in a process of its own and prints its peak (resident memory of it, or of a process that it
started, whichever is larger) and its processor time.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import polars as pl

from benchmarks.rows import write_rows

PIECE = 1_000_000


def write_many(path: Path, count: int) -> None:
    """`count` distinct rows, those of `benchmarks.rows` repeated with questions of their own."""
    piece = path.with_name("piece.parquet")
    write_rows(piece, min(count, PIECE))
    parts = [
        pl.scan_parquet(piece).with_columns(
            pl.col("id") + f"-{number}", pl.col("question") + f" [{number}]"
        )
        for number in range(-(-count // PIECE))
    ]
    pl.concat(parts).head(count).sink_parquet(path, row_group_size=65_536)
    piece.unlink()


def peak(file: Path, out: Path, judges: list[str]) -> tuple[float, float]:
    """Peak memory in MB and processor time in seconds of judging a file into a folder."""
    named = [word for judge in judges for word in ("-j", judge)]
    command = [sys.executable, "-m", "markscheme", "judge", str(file), *named]
    process = subprocess.Popen([*command, "-o", str(out), "-q"], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{' '.join(command)} failed")
    return used.ru_maxrss / 1e3, used.ru_utime + used.ru_stime


def main() -> None:
    """Measure each number of rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000])
    parser.add_argument("--judges", nargs="+", default=["exact_match"])
    options = parser.parse_args()
    for rows in options.rows:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "rows.parquet"
            write_many(file, rows)
            megabytes, seconds = peak(file, Path(folder) / "run", options.judges)
        print(f"{rows:,} rows: peak {megabytes:,.0f} MB, {seconds:.1f} s of processor time")


if __name__ == "__main__":
    main()
