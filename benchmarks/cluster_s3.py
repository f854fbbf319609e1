"""A run on Ray over S3 that loses a node and then its driver, and the local engine's judgments.

    python -m benchmarks.cluster_s3 --rows 10000000

A cluster of two nodes on this machine, an S3 store in this process (moto). A quarter through, one
node and the workers on it are killed; half through, the driver is. The same command with a new
node then goes on, and the content is compared with that of a local run.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import polars as pl

from benchmarks.memory import write_many

sys.path.append(str(Path(__file__).parents[1] / "tests" / "support"))

PIECE = 65_536
LIMIT = 3600.0


def main() -> None:
    """Print what each part took, and whether the judgments are the local engine's."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rows", type=int, default=1_000_000)
    options.add_argument("--judges", nargs="+", default=["exact_match", "contains"])
    chosen = options.parse_args()
    from ray.cluster_utils import Cluster

    from s3_store import s3_store

    named = [word for judge in chosen.judges for word in ("-j", judge)]
    with tempfile.TemporaryDirectory() as folder, s3_store() as variables:
        import s3fs

        os.environ.update(variables)
        place = Path(folder)
        write_many(place / "answers.parquet", chosen.rows)
        pieces = -(-chosen.rows // PIECE)
        store = s3fs.S3FileSystem()
        store.mkdir("bucket")
        store.put(str(place / "answers.parquet"), "bucket/answers/answers.parquet")
        cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
        lost = cluster.add_node(num_cpus=1)
        command = [
            sys.executable, "-m", "markscheme", "judge", "s3://bucket/answers/*.parquet", *named,
            "--engine", "ray", "--ray-address", cluster.address, "--out", "s3://bucket/run",
            "--quiet",
        ]  # fmt: skip
        print(f"{chosen.rows:,} rows, {pieces} pieces, load {os.getloadavg()[0]:.1f}", flush=True)
        began = time.perf_counter()
        driver = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        at = _wait_for(store, pieces // 4, driver)
        cluster.remove_node(lost, allow_graceful=False)
        print(f"{_seconds(began)}: one of two nodes killed, {at} pieces done", flush=True)
        at = _wait_for(store, max(at + 1, pieces // 2), driver)
        driver.kill()
        driver.wait()
        print(f"{_seconds(began)}: the driver killed, {at} pieces done", flush=True)
        cluster.add_node(num_cpus=1)
        again = subprocess.run(command, check=True, capture_output=True, text=True)
        said = next((one for one in again.stderr.splitlines() if "earlier run" in one), "")
        print(f"{_seconds(began)}: done by the same command; it printed: {said}", flush=True)
        cluster.shutdown()
        began = time.perf_counter()
        command = [
            sys.executable, "-m", "markscheme", "judge", str(place / "answers.parquet"), *named,
            "--out", str(place / "local"), "--workers", "1", "--quiet",
        ]  # fmt: skip
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        print(f"{_seconds(began)} for the local engine, one process", flush=True)
        store.get("bucket/run/judgments.parquet", str(place / "spread"), recursive=True)
        local = pl.scan_parquet(place / "local" / "judgments.parquet")
        spread = pl.scan_parquet(place / "spread" / "*.parquet")
        columns = [name for name in local.collect_schema() if name != "seconds"]
        equal = all(
            local.select(name).collect().equals(spread.select(name).collect()) for name in columns
        )
        print(f"judgments equal, in order: {equal}")


def _wait_for(store: Any, pieces: int, driver: subprocess.Popen[bytes]) -> int:
    """The number of finished pieces, once it is so large."""
    until = time.monotonic() + LIMIT
    while time.monotonic() < until:
        store.invalidate_cache()
        done = len(store.glob("bucket/run/reports/*.json"))
        if done >= pieces:
            return done
        if driver.poll() is not None:
            raise SystemExit(f"the driver ended early, with {driver.returncode}")
        time.sleep(0.2)
    raise SystemExit("the run takes too long")


def _seconds(began: float) -> str:
    return f"{time.perf_counter() - began:.0f} s"


if __name__ == "__main__":
    main()
