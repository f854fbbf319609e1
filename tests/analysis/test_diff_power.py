"""The published power and false alarms of `diff` are what its code gives."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from scipy.stats import binom

import markscheme

ROOT = Path(__file__).parents[2]
CELLS = pl.read_csv(ROOT / "docs" / "diff-power.csv")


@pytest.fixture
def diff_power(monkeypatch: pytest.MonkeyPatch) -> Any:
    pytest.importorskip("markscheme_research")  # the benchmarks read its data sets
    monkeypatch.syspath_prepend(ROOT)
    return importlib.import_module("benchmarks.diff_power")


def cell(turnover: int, questions: int, lost: int) -> dict[str, int]:
    wanted = {"turnover": turnover, "questions": questions, "lost": lost}
    return CELLS.row(by_predicate=pl.all_horizontal(
        pl.col(name) == value for name, value in wanted.items()
    ), named=True)  # fmt: skip


@pytest.mark.parametrize(
    ("turnover", "questions", "lost"), [(10, 200, 0), (10, 200, 5), (30, 200, 3), (30, 100, 10)]
)
def test_draws_made_again_alarm_as_often(
    diff_power: Any, turnover: int, questions: int, lost: int
) -> None:
    draws = 40
    found = diff_power.alarms(diff_power.load_verdicts(), questions, lost, turnover, draws)
    published = cell(turnover, questions, lost)
    share = published["alarms"] / published["draws"]
    low, high = binom.interval(0.999, draws, share)
    assert low <= found <= high
    # The same draws were made then.
    assert found <= published["alarms"] <= published["draws"] - (draws - found)


def test_an_alarm_is_what_the_command_calls_a_regression(diff_power: Any) -> None:
    verdicts = diff_power.load_verdicts()
    seen = []
    for lost in (0, 5):
        for seed in range(3):
            sides = diff_power.draw(verdicts, 100, lost, 10, seed)
            tables = [
                [
                    {"question": f"q{row}", "references": ["yes"], "answer": "yes" if one else "no"}
                    for row, one in enumerate(side)
                ]
                for side in sides
            ]
            found = markscheme.diff(*tables, judge="exact_match")
            assert found.regression == diff_power.is_alarm(*sides)
            seen.append(found.regression)
    assert len(set(seen)) == 2


def test_false_alarms_are_at_most_one_in_twenty(diff_power: Any) -> None:
    nothing = CELLS.filter(lost=0)
    assert nothing.height == len(diff_power.QUESTIONS) * len(diff_power.TURNOVER)
    assert (nothing["alarms"] / nothing["draws"]).max() <= 0.05  # type: ignore[operator]


def test_the_page_has_the_figures_of_the_file(diff_power: Any) -> None:
    page = (ROOT / "docs" / "how-to" / "compare-runs.md").read_text("utf-8")
    assert diff_power.table(CELLS).markdown().strip() in page
