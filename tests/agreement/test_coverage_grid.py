"""A fixed small part of the laboratory's grid: what is printed holds there."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.coverage import PARTS, read_cells

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("part", list(PARTS))
def test_what_is_printed_holds_on_a_part_of_the_grid(part: str) -> None:
    cells = list(PARTS[part](600, np.random.default_rng(1), small=True))
    now = [cell for cell in cells if not cell.method.startswith("before")]
    assert now
    assert [cell for cell in now if not cell.holds] == []
    before = [cell for cell in cells if cell.method.startswith("before")]
    assert part == "pairs" or not all(cell.holds for cell in before)  # the grid can tell


def test_the_published_grid_has_every_part() -> None:
    from benchmarks.coverage import DOCS

    parts = {cell.part for cell in read_cells(DOCS / "coverage.csv")}
    assert parts == {"accuracy and gate", "estimate", "agree", "compare"}
