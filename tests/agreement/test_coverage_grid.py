"""A fixed small part of the laboratory's grid: what is printed holds there."""

from __future__ import annotations

import importlib
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from markscheme.results.figures import METHODS

PARTS = (
    "shares", "few_labels", "against_labels", "pairs", "scores", "rankings", "cascades",
    "finalists", "habits", "sizes", "paired", "finite", "errors", "rare", "plans",
    "systems", "systems_apart", "unpaired", "people", "several",
)  # fmt: skip
MEASURED = {
    "wilson": "accuracy and gate", "wilson-t": "accuracy and gate",
    "fisher-z": "agree", "tango": "test_agree_compare.py", "exchange": "test_drift.py",
    "jackknife-t": "test_agree_compare.py",
    "pairs": "rank", "t": "annotators",
    "clopper-pearson": "test_single_answers.py", "betting": "test_sequences.py",
    "ppi-tango": "systems",
    "exact": "../research/test_may_replace.py",
    "score": "../research/test_may_replace.py",
    "fisher-exact": "../research/test_answer_hierarchy.py",
    "newcombe": "unpaired", "brunner-munzel": "../research/test_answer_hierarchy.py",
}  # fmt: skip
"""Where each word for an interval or test is held to its promise: a part of the grid, or tests."""

BEYOND = {
    ("sizes", "gate", "tenth of 20|0.97 / 0.8|0.6"),
    ("paired", "low end above the truth", "50 x 5|constant|0.97|0"),
    ("paired", "low end above the truth", "50 x 5|constant|0.9|0"),
    ("paired", "low end above the truth", "50 x 5|constant|0.9|0.3"),
    ("paired", "difference", "tenth of 20|constant|0.8|0"),
    ("paired", "low end above the truth", "tenth of 20|constant|0.8|0"),
    ("paired", "test", "tenth of 20|constant|0.8|0"),
    ("paired", "high end below the truth", "2000 x 1|losses|-0.002"),
}
"""Cells that are known not to hold, and listed on the page: none may be added."""


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
    now = [cell for cell in cells if cell.printed]
    assert now
    assert [cell for cell in now if not cell.holds] == []
    before = [cell for cell in cells if cell.former]
    assert part == "pairs" or not before or not all(cell.holds for cell in before)


@pytest.mark.proof(area="statistics")
@pytest.mark.parametrize(("place", "draws"), [(0, 40), (1, 40), (2, 40), (5, 30), (8, 30), (9, 30)])
def test_a_planned_decision_is_reached_about_as_often_as_assured(
    laboratory: Any, monkeypatch: pytest.MonkeyPatch, place: int, draws: int
) -> None:
    """At least .70 where .80 is assured: plans rest on one pilot, or one set of verdicts, each."""
    laboratory.use_scipy(monkeypatch.setattr)
    world = list(laboratory.coverage_plans.decisions())[place]
    cells = {cell.method: cell for cell in world.draw(draws, seed=0)}
    assert cells["no plan"].rate <= 0.25
    assert cells["not shown"].rate <= 0.30


def test_the_published_grid_has_every_part(laboratory: Any) -> None:
    cells = laboratory.read_cells(laboratory.DOCS / "coverage.csv")
    assert {cell.part for cell in cells} == {
        "accuracy and gate", "estimate", "agree", "compare", "scores", "rank", "cascade",
        "tune-judge", "annotators", "sizes", "paired", "these answers", "label errors",
        "rare labels", "perfect judge", "plan-labels", "unequal chances", "systems", "unpaired",
        "systems far apart", "between people", "several judges",
    }  # fmt: skip
    assert set(laboratory.PARTS) == set(PARTS)
    page = (laboratory.DOCS / "coverage.md").read_text()
    assert laboratory.table(cells) in page
    assert laboratory.counts(cells) in page
    beyond = [cell for cell in cells if cell.printed and not cell.within]
    assert {(cell.part, cell.method, cell.world) for cell in beyond} <= BEYOND


def test_the_laboratory_is_quicker_and_computes_the_same(
    laboratory: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    worlds = [
        next(iter(laboratory.PARTS[part](small=True))) for part in ("shares", "sizes", "paired")
    ]
    plain = [world.draw(20, seed=2) for world in worlds]
    laboratory.use_scipy(monkeypatch.setattr)
    for world, cells in zip(worlds, plain, strict=True):
        for cell, quick in zip(cells, world.draw(20, seed=2), strict=True):
            assert (cell.method, cell.rate) == (quick.method, quick.rate)
            assert quick.width == pytest.approx(cell.width, abs=1e-8)


def test_a_cell_passes_if_it_covers_and_is_hardly_wider_than_the_best(laboratory: Any) -> None:
    tally = laboratory.Tally()
    for draw in range(100):  # the intervals' ends vary, but for the peer that is too narrow
        shift = draw / 1e4
        tally.covers("interval", 0.5, 0.4 - shift, 0.6 + shift if draw < 95 else 0.4)
        tally.covers("peer, good", 0.5, 0.41, 0.6)
        tally.covers("peer, narrow", 0.5, 0.49, 0.51 if draw < 90 else 0.495)
    cells = {cell.method: cell for cell in tally.cells("part", "world")}
    now = cells["interval"]
    assert (now.printed, cells["peer, good"].printed) == (True, False)
    assert cells["peer, good"].beside is None
    assert now.beside == pytest.approx(now.width / 0.19)
    assert now.commonest == 0.01
    assert now.passes
    assert not replace(now, beside=1.2).passes
    assert not replace(now, rate=0.92).passes
    assert not replace(now, rate=0.98).passes
    assert replace(now, rate=0.98, commonest=0.2).passes
    assert (replace(now, alarm=True, rate=0.04).within, now.nominal) == (True, 0.05)
    assert not replace(now, alarm=True, rate=0.04, nominal=0.025).within


def test_the_page_has_the_grids_figure_of_a_judge_with_fifteen_labels(laboratory: Any) -> None:
    cells = laboratory.read_cells(laboratory.DOCS / "coverage.csv")
    few = {
        cell.world: cell.rate
        for cell in cells
        if (cell.part, cell.method) == ("several judges", "before: every judge")
    }
    worst = min(rate for world, rate in few.items() if world.startswith("1 sharp|15|"))
    assert worst == few["1 sharp|15|0.5"]
    page = (laboratory.DOCS / "trusting-a-judge.md").read_text()
    assert f"With 15 and the judge, intervals covered {worst:.0%}" in page


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
