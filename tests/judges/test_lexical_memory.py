"""A million rows stay within the memory of a small machine; `make bench` measures their speed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.proof(area="attacks")

WRITE = "import sys; from pathlib import Path; from benchmarks.rows import write_rows as w"


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("rows") / "1m.parquet"
    code = f"{WRITE}; w(Path(sys.argv[1]), 1_000_000)"
    root = Path(__file__).parents[2]
    subprocess.run([sys.executable, "-c", code, str(file)], check=True, cwd=root)
    return file


def test_a_million_rows_through_the_engine_in_less_than_a_gigabyte(root: Path, rows: Path) -> None:
    command = [sys.executable, "-m", "benchmarks.jobs", "three through the engine", str(rows)]
    done = subprocess.run(command, check=True, capture_output=True, cwd=root)
    assert json.loads(done.stdout)["peak_mb"] < 1000
