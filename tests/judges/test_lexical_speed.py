"""A million rows: the rate beside evaluate's squad, and the memory of a streamed run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

WRITE = "import sys; from pathlib import Path; from benchmarks.rows import write_rows as w"


def figures(root: Path, job: str, file: Path) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.jobs", job, str(file)]
    runs = [
        json.loads(subprocess.run(command, check=True, capture_output=True, cwd=root).stdout)
        for _ in range(2)
    ]
    return min(runs, key=lambda run: float(run["seconds"]))


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    root = Path(__file__).parents[2]
    folder = tmp_path_factory.mktemp("rows")
    files = {count: folder / f"{count}.parquet" for count in (100_000, 1_000_000)}
    for count, file in files.items():
        code = f"{WRITE}; w(Path(sys.argv[1]), {count})"
        subprocess.run([sys.executable, "-c", code, str(file)], check=True, cwd=root)
    return files


def test_fifteen_times_the_rate_of_squad(root: Path, rows: dict[int, Path]) -> None:
    ours = figures(root, "three in memory", rows[1_000_000])
    squad = figures(root, "evaluate squad", rows[100_000])
    assert 1_000_000 / ours["seconds"] >= 15 * 100_000 / squad["seconds"]


def test_a_million_rows_through_the_engine_in_less_than_a_gigabyte(
    root: Path, rows: dict[int, Path]
) -> None:
    assert figures(root, "three through the engine", rows[1_000_000])["peak_mb"] < 1000
