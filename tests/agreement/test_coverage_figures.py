"""Figures of the pages on coverage are those of the files that the benchmarks wrote."""

from __future__ import annotations

import importlib
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import binom

from markscheme.stats import wilson_interval

DOCS = Path(__file__).parents[2] / "docs"


def prose(page: str) -> str:
    """A page's text, its lines joined."""
    return " ".join((DOCS / page).read_text("utf-8").split())


def percent(shares: Any) -> str:
    """The least and the greatest of some shares, as a page writes them."""
    return f"{100 * min(shares):.0f} to {100 * max(shares):.0f}%"


@pytest.fixture
def laboratory(monkeypatch: pytest.MonkeyPatch) -> Any:
    pytest.importorskip("markscheme_research")  # the benchmarks read its data sets
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2]))
    return importlib.import_module("benchmarks.coverage")


@pytest.fixture
def cells(laboratory: Any) -> pl.DataFrame:
    return pl.DataFrame(laboratory.read_cells(DOCS / "coverage.csv"))


@pytest.mark.parametrize("name", ["sequences", "decisions"])
@pytest.mark.usefixtures("laboratory")
def test_the_page_has_the_tables_of_the_files(name: str) -> None:
    made = importlib.import_module(f"benchmarks.{name}").table(pl.read_csv(DOCS / f"{name}.csv"))
    page = (DOCS / "coverage.md").read_text("utf-8")
    assert f"<!-- {name} -->\n\n{made}\n\n<!-- end of {name} -->" in page


def test_the_widths_of_before_are_those_of_the_same_cells(laboratory: Any) -> None:
    cells = laboratory.read_cells(DOCS / "coverage.csv")
    earlier = pl.read_csv(DOCS / "coverage-earlier.csv")
    assert earlier.filter(pl.col("part") != laboratory.LATER).height == 1128
    assert laboratory.since(cells, earlier) in (DOCS / "coverage.md").read_text("utf-8")


def test_the_sequence_costs_and_saves_what_the_page_says() -> None:
    """Where answers are mostly right or the judge is good."""
    found = pl.read_csv(DOCS / "sequences.csv").drop_nulls("labels")
    saves = (found["accuracy"] >= 0.95) | (found["judge"] == "good")
    assert (found.filter(saves)["labels"] < 385).all()


def test_label_errors_cost_the_coverage_that_the_page_says(cells: pl.DataFrame) -> None:
    worlds = cells.filter(
        pl.col("part") == "label errors", pl.col("world").str.contains(r"\|0.05 wrong\|0.95\|")
    )

    def covers(method: str, people: int) -> str:
        found = worlds.filter(
            pl.col("method") == method,
            pl.col("world").str.contains("by 3")
            if people == 3
            else pl.col("world").str.contains("by 2"),
        )["rate"]
        assert len(found) == (2 if people == 3 else 4)
        return percent(found)

    plain, corrected = "before, uncorrected", "corrected"
    assert (
        f"covers the truth in {covers(plain, 2)} of samples, and the corrected one in "
        f"{covers(corrected, 2)}; where the majority of three people counts, it is "
        f"{covers(plain, 3)} and {covers(corrected, 3)}"
    ) in prose("trusting-a-judge.md")


def test_a_judge_pays_what_the_page_says() -> None:
    found = pl.read_csv(DOCS / "decisions.csv").filter(pl.col("decision").str.starts_with("+-"))
    left = [
        group["labels"][-1] / group["labels"][0]
        for _, group in found.group_by("answers", maintain_order=True)
    ]
    page = prose("trusting-a-judge.md")
    shown = " and ".join(f"{100 * share:.0f}" for share in left)
    assert f"On EVOUNA-NQ and NQ301 the examiner leaves {shown}% of the labels" in page
    assert (
        f"Of 50 labels the limit is a correlation of {1 / math.sqrt(48):.2f}, of 100 labels "
        f"{1 / math.sqrt(98):.2f}"
    ) in page


def test_a_judge_of_systems_far_apart_pays_what_the_page_says(cells: pl.DataFrame) -> None:
    worlds = cells.filter(pl.col("part") == "systems far apart")

    def shown(width: str, order: str, judge: str) -> tuple[str, str]:
        of_judge = worlds.filter(pl.col("world").str.ends_with(judge))
        wrong = of_judge.filter(pl.col("method") == order)["rate"]
        widths = percent(of_judge.filter(pl.col("method") == width)["width"])
        return widths.replace("%", " points"), percent(1 - wrong)

    alone = shown("labels_only", "another order, by labels alone", "")
    fair, good = (
        shown("estimate", "another order", f"correlation {each}") for each in (".7", ".85")
    )
    assert (
        f"labels alone give each system an interval of {alone[0]} and order all three rightly in "
        f"{alone[1]} of draws; with a judge whose correlation with labels is .7 they are {fair[0]} "
        f"and {fair[1]}, with .85 {good[0]} and {good[1]}."
    ) in prose("coverage.md")


def test_most_intervals_cover_too_often_as_the_page_says(cells: pl.DataFrame) -> None:
    shown = cells.filter(
        ~pl.col("alarm"),
        ~pl.col("method").str.starts_with("before"),
        ~pl.col("method").str.starts_with("peer"),
    )
    assert (shown["rate"] > 0.97).mean() > 0.5
    assert "In most [simulations](coverage.md) the intervals cover more than 97%" in prose(
        "trusting-a-judge.md"
    )


def test_what_the_page_says_of_its_own_chances(cells: pl.DataFrame) -> None:
    page = prose("coverage.md")
    scores = pl.col("part") == "scores"
    rest = cells.filter(~scores, ~pl.col("method").str.starts_with("before"))
    draws = (rest["draws"].mode()[0], cells.filter(scores)["draws"].mode()[0])
    errors = " (".join(f"{100 * math.sqrt(0.95 * 0.05 / each):.1f}" for each in draws)
    assert f"{draws[0]:,} draws (in `scores` {draws[1]})" in page
    assert f"known to about +-{errors}) points" in page
    chance = binom.cdf(0.93 * draws[0] - 1, draws[0], 0.95)
    assert f"covers 95% fails by chance in {100 * chance:.1f}% of cases" in page


def test_wilsons_own_interval_covers_so_little_near_the_ends() -> None:
    """Just below the low end with 1 to 3 answers of the rarer kind, of many."""
    answers = 1000
    covers = [
        float(binom.cdf(count - 1, answers, wilson_interval(count / answers, answers)[0]))
        for count in (1, 2, 3)
    ]
    assert f"Wilson's own covers {percent(covers)} there" in prose("coverage.md")


def test_the_gate_errs_as_often_as_the_page_says(cells: pl.DataFrame) -> None:
    worst = cells.filter(pl.col("method") == "gate")["rate"].max()
    assert f"a gate errs up to {100 * worst:.0f}% of the time" in prose("coverage.md")


def test_other_packages_are_narrower_by_what_the_page_says() -> None:
    """By the table on the page itself: with single answers, those that do not cover too little."""
    page = (DOCS / "coverage.md").read_text("utf-8")
    rows = [line[2:-2].split(" | ") for line in page.splitlines() if line.startswith("| ")]
    header = next(n for n, row in enumerate(rows) if row[:2] == ["world", "markscheme"])
    names, table = rows[header], rows[header + 1 : header + 17]

    def entry(row: list[str], name: str) -> tuple[float, float]:
        rate, width = re.findall(r"[\d.]+", row[names.index(name)])[:2]
        return float(rate), float(width)

    single = [row for row in table if " x 1, " in row[0] and "these" not in row[0]]
    for name, said in (
        ("truescore", "truescore's intervals are {} narrower in {} worlds"),
        ("glide, bootstrap", "glide's bootstrap is {} narrower in {}"),
    ):
        less = [
            1 - entry(row, name)[1] / entry(row, "markscheme")[1]
            for row in single
            if not row[names.index(name)].startswith("**") and row[0].split(", ")[2] > "0.9"
        ]
        less = [each for each in less if each > 0.1]
        words = ["none", "one", "two", "three", "four", "five"]
        assert said.format(percent(less), words[len(less)]) in prose("coverage.md")
    several = [entry(row, "markscheme")[0] for row in table if " x 1, " not in row[0]]
    assert np.mean([97 <= round(rate) <= 99 for rate in several]) > 0.5
    assert "where questions have several answers it mostly covers 97 to 99%" in prose("coverage.md")


def test_the_labels_of_the_example_say_what_the_page_says() -> None:
    rows = pl.read_ndjson(DOCS.parent / "examples" / "answers.jsonl")
    labels = rows.filter(pl.col("system") == "terse")["label"]
    assert (
        f"All {len(labels)} labels of terse's answers in the example say {labels.mean():.0%}"
        in (prose("how-to/label-and-estimate.md"))
    )
