"""Trees grown side by side: the process lives, and each is as if grown alone."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from markscheme_research.training.trees import Growth, grow_side_by_side

MANY_LISTS = """
import numpy as np
import pytest
import polars as pl
from markscheme_research.training.listwise_models import ListwiseOptions, grow

rng = np.random.default_rng(0)
matrix = rng.normal(size=(1000, 60))
matrix[rng.random(matrix.shape) < 0.9] = 0  # sparse columns are binned through threads' buffers
rows = pl.DataFrame({"set": ["antique"] * 1000, "grade": rng.integers(0, 4, 1000)})
group = np.repeat(np.arange(100), 10)
names = [f"f{number}" for number in range(60)]
options = ListwiseOptions(ranking=1, regression=400, rounds=1, threads=8)
print(len(grow(matrix, rows, group, names, options).boosters))
"""


@pytest.mark.proof(area="examiner")
def test_growing_many_trees_does_not_kill_the_process() -> None:
    # In a process of its own: what this guards against is a SIGSEGV.
    done = subprocess.run(
        [sys.executable, "-c", MANY_LISTS], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[-1] == "401"


def test_trees_side_by_side_are_those_grown_alone() -> None:
    rng = np.random.default_rng(1)
    features = rng.normal(size=(500, 5))
    names = [f"f{number}" for number in range(5)]
    growths = [
        Growth(parameters={"objective": "binary", "seed": seed}, labels=rng.integers(0, 2, 500))
        for seed in range(4)
    ]
    beside = grow_side_by_side(features, names, growths, rounds=5, threads=3)
    for booster, growth in zip(beside, growths, strict=True):
        (alone,) = grow_side_by_side(features, names, [growth], rounds=5, threads=1)
        assert booster.model_to_string() == alone.model_to_string()
