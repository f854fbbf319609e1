"""A fixed small part of the laboratory's grid: what is printed holds there."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any

import pytest

from markscheme.results.figures import METHODS

PARTS = (
    "shares", "few_labels", "against_labels", "pairs", "scores", "rankings", "cascades",
    "finalists", "habits",
)  # fmt: skip
MEASURED = {
    "wilson": "accuracy and gate", "wilson-t": "accuracy and gate", "fieller-t": "estimate",
    "fisher-z": "agree", "tango": "test_agree_compare.py", "exchange": "test_drift.py",
    "jackknife-t": "test_agree_compare.py",
    "pairs": "rank", "t": "cascade",
    "clopper-pearson": "test_single_answers.py", "betting": "test_sequences.py",
    "ppi-t": "test_system_differences.py",
    "mcnemar": "test_agree_compare.py", "exact": "test_agree_calibration.py",
    "score": "test_agree_calibration.py", "fisher-exact": "../research/test_answer_hierarchy.py",
    "brunner-munzel": "../research/test_answer_hierarchy.py",
}  # fmt: skip
"""Where each word for an interval or test is held to its promise: a part of the grid, or tests."""


@pytest.fixture
def laboratory(monkeypatch: pytest.MonkeyPatch) -> Any:
    pytest.importorskip("markscheme_research")  # the benchmarks read its data sets
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2]))
    return importlib.import_module("benchmarks.coverage")


@pytest.mark.proof(area="statistics")
@pytest.mark.parametrize("part", PARTS)
def test_what_is_printed_holds_on_a_part_of_the_grid(laboratory: Any, part: str) -> None:
    worlds = laboratory.PARTS[part](small=True)
    cells = [cell for world in worlds for cell in world.draw(300, seed=1)]
    now = [cell for cell in cells if not cell.former]
    assert now
    assert [cell for cell in now if not cell.holds] == []
    before = [cell for cell in cells if cell.former]
    assert part == "pairs" or not before or not all(cell.holds for cell in before)


def test_the_published_grid_has_every_part(laboratory: Any) -> None:
    cells = laboratory.read_cells(laboratory.DOCS / "coverage.csv")
    assert {cell.part for cell in cells} == {
        "accuracy and gate", "estimate", "agree", "compare", "scores", "rank", "cascade",
        "tune-judge", "annotators",
    }  # fmt: skip
    assert set(laboratory.PARTS) == set(PARTS)
    page = (laboratory.DOCS / "coverage.md").read_text()
    assert laboratory.table(cells) in page
    now = [cell for cell in cells if not cell.former]
    assert [cell for cell in now if not cell.within] == []
    wide = sum(cell.rate > laboratory.MOST_COVERAGE for cell in now if not cell.alarm)
    every = sum(not cell.alarm for cell in now)
    assert f"Of the {every:,} cells of intervals {every - wide} cover" in page
    assert f"and {wide} cover more" in page


def test_no_interval_or_test_is_printed_that_nothing_measures(laboratory: Any) -> None:
    parts = {cell.part for cell in laboratory.read_cells(laboratory.DOCS / "coverage.csv")}
    assert MEASURED.keys() == set(METHODS)
    page = (laboratory.DOCS / "coverage.md").read_text()
    for word, place in MEASURED.items():
        assert f"`{word}`" in page, word
        assert place in parts or (Path(__file__).parent / place).is_file(), place


def test_every_error_that_was_found_has_its_test(laboratory: Any) -> None:
    tests = Path(__file__).parents[1]
    written = "".join(path.read_text("utf-8") for path in tests.rglob("test_*.py"))
    page = (laboratory.DOCS / "coverage.md").read_text("utf-8")
    named = re.findall(r"`(test_\w+)", page.split("## Errors that were found")[1])
    assert len(named) >= 8
    assert [name for name in named if f"def {name}(" not in written] == []
