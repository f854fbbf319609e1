"""The published false alarms and delays of nightly comparisons are what their code gives."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import markscheme
from markscheme.stats import detectable_difference, single_answers

ROOT = Path(__file__).parents[2]
CELLS = pl.read_csv(ROOT / "docs" / "diff-nights.csv")
NIGHTS, WEEKS = "--looks 100", "weeks, --looks 14"
INVALID = ["as if once", "e-values multiplied"]
"""Rules that take every night for the first, or for independent of the others."""


@pytest.fixture
def nights(monkeypatch: pytest.MonkeyPatch) -> Any:
    pytest.importorskip("markscheme_research")  # the benchmarks read its data sets
    monkeypatch.syspath_prepend(ROOT)
    return importlib.import_module("benchmarks.diff_nights")


@pytest.mark.parametrize(
    ("world", "lost", "start"), [("recorded", 2, 31), ("drawn", 4, 1), ("constant", 2, 31)]
)
def test_series_drawn_again_alarm_as_published(
    nights: Any, world: str, lost: int, start: int
) -> None:
    series = 8
    again = nights.cells(world, 500, lost, start, series)
    same = {"answers": world, "questions": 500, "lost": lost, "start": start}
    for rule in again["rule"]:
        (few,), (all_,) = (
            table.filter(rule=rule, **same).iter_rows(named=True) for table in (again, CELLS)
        )
        for count in ("false", "week", "found"):
            # The same series were drawn first then.
            assert few[count] <= all_[count] <= all_["series"] - (series - few[count]), rule


def test_an_alarm_is_what_the_command_calls_a_regression(nights: Any) -> None:
    def answers(runs: Any) -> list[dict[str, Any]]:
        return [
            {"question": f"q{place}", "references": ["yes"], "answer": "yes" if right else "no"}
            for run in runs
            for place, right in enumerate(run)
        ]

    seen = []
    for lost, start in ((0, 1), (4, 1)):
        base, new = nights.draw("recorded", 500, lost, start, 3)
        rules = nights.alarms((base, new))
        for rule, looks, first, last in ((NIGHTS, 100, 0, 1), (WEEKS, 14, 0, 7)):
            found = markscheme.diff(
                answers(base[first:last]),
                answers(new[first:last]),
                judge="exact_match",
                looks=looks,
            )
            assert found.regression == rules[rule][last - 1]
            seen.append(found.regression)
    assert set(seen) == {True, False}


def test_false_alarms_of_a_hundred_nights_are_at_most_one_in_twenty() -> None:
    nothing = CELLS.filter(lost=0)
    rates = dict(
        nothing.group_by("rule").agg((pl.col("false") / pl.col("series")).max()).iter_rows()
    )
    assert nothing["series"].min() == 1000
    assert {rule for rule, rate in rates.items() if rate > 0.05} == set(INVALID)


def test_weeks_find_more_than_nights_and_e_values_do() -> None:
    held = CELLS.filter(pl.col("lost") >= 2, ~pl.col("rule").is_in(INVALID), start=31)
    for _, rules in held.group_by("answers", "questions", "lost"):
        found = dict(rules.select("rule", "found").iter_rows())
        assert found[WEEKS] == max(found.values())
    two = CELLS.filter(answers="recorded", lost=2, start=31)
    for questions in (500, 1000):
        found = dict(two.filter(questions=questions).select("rule", "found").iter_rows())
        assert found["e-values, 100 nights"] < found[NIGHTS]
        assert found["e-values, endless"] < found[NIGHTS]


def test_ten_times_as_many_looks_find_losses_from_an_eighth_larger() -> None:
    for questions in (500, 1000):
        few, many = (
            detectable_difference(0.1, single_answers(questions), confidence=1 - 0.05 / looks) or 0
            for looks in (100, 1000)
        )
        assert many / few == pytest.approx(9 / 8, abs=0.02)


def test_e_values_are_at_most_1_on_average(nights: Any) -> None:
    from scipy.stats import binom

    for flips in (1, 5, 40):
        worse = np.arange(flips + 1)
        base = worse[:, None] > np.arange(flips)
        found = [nights.e_values(side, ~side[None])[0] for side in base]
        assert np.dot(binom.pmf(worse, flips, 0.5), found) == pytest.approx(1.0)


def test_the_page_has_the_figures_of_the_file(nights: Any) -> None:
    page = (ROOT / "docs" / "how-to" / "compare-runs.md").read_text("utf-8")
    assert nights.table(CELLS).markdown().strip() in page
