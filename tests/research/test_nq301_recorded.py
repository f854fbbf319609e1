"""NQ301's published figures from recorded verdicts alone: no question, answer or reference.

`tests/recorded/nq301.json` has, for the 1,490 labelled answers in the release's order, the number
of the question, the verdicts of people and judges (`-` for a blank) and BEM's probability; and for
each of the twelve systems what exact match, F1 and the amended references make of its 301 answers.
The verdicts are those of the OpenQA-eval release (Kamalloo et al. 2023, MIT).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from markscheme.agreement.against_labels import agreement
from markscheme.agreement.annotators import (
    disagreements,
    fleiss_kappa,
    pairwise_kappas,
)
from markscheme.agreement.options import AgreeOptions
from markscheme.agreement.ranking import rank_systems
from markscheme.agreement.thresholds import choose_threshold
from markscheme.tables.joins import join_labels
from markscheme.tables.judgment_files import load_judgments
from markscheme.tables.labels import load_labels, majority
from markscheme_research.papers.kamalloo_2023 import TABLE_1, printed
from markscheme_research.studies import CascadeOptions
from markscheme_research.studies.cascades import choose_setting

RECORDED = Path(__file__).parents[1] / "recorded" / "nq301.json"


def marks(text: str) -> list[float | None]:
    return [None if mark == "-" else float(mark) for mark in text]


@pytest.fixture(scope="module")
def facts() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(RECORDED.read_text("utf-8"))
    return found


@pytest.fixture(scope="module")
def labels(facts: dict[str, Any]) -> pl.DataFrame:
    names = ("label", "annotator1", "annotator2", "annotator3", "bem", "davinci")
    return pl.DataFrame(
        {
            "question": [str(number) for number in facts["questions"]],
            "answer": [f"answer {row}" for row in range(1490)],
            **{name: marks(facts[name]) for name in names},
            "bem_score": facts["bem_score"],
        }
    )


@pytest.fixture(scope="module")
def scores(facts: dict[str, Any]) -> pl.DataFrame:
    return pl.concat(
        pl.DataFrame(
            {
                "question": [str(number) for number in range(1, 302)],
                "system": [system] * 301,
                "f1": one["f1"],
                **{name: marks(one[name]) for name in ("em", "bem", "davinci", "human")},
            }
        )
        for system, one in facts["systems"].items()
    )


def test_the_annotators(labels: pl.DataFrame) -> None:
    two = labels.select("annotator1", "annotator2")
    assert round(100 * (fleiss_kappa(two, blanks="category").value or 0), 2) == 72.76
    assert disagreements(two, blanks="category").sum() == 202
    assert disagreements(two).sum() == 195
    pair = pairwise_kappas(two, blanks="category").row(0, named=True)
    assert (pair["items"], round(100 * pair["accuracy"], 1)) == (1490, 86.4)
    assert round(pair["kappa"], 4) == 0.7277
    assert round(pairwise_kappas(two)["kappa"][0], 4) == 0.7347
    assert two["annotator2"].null_count() == 7
    settled = majority(labels.select("annotator1", "annotator2", "annotator3"))
    assert (settled == labels["label"]).sum() == 1490


@pytest.mark.parametrize(
    ("judge", "accuracy", "kappa"), [("bem", 80.6, 0.616), ("davinci", 83.8, 0.675)]
)
def test_row_by_row(labels: pl.DataFrame, judge: str, accuracy: float, kappa: float) -> None:
    rows = labels.with_row_index("id")
    joined = join_labels(
        load_judgments(rows.drop("label"), judges=[judge]), load_labels(rows.drop("bem", "davinci"))
    )
    (found,) = agreement(joined, AgreeOptions())
    assert (found.answers, found.questions) == (1490, 301)
    assert round(100 * (found.left_out["accuracy"].value or 0), 1) == accuracy
    assert round(found.left_out["kappa"].value or 0, 3) == kappa
    low, high = found.left_out["accuracy"].low, found.left_out["accuracy"].high
    assert low is not None
    assert high is not None
    assert low < accuracy / 100 < high


def test_bem_accepts_above_one_half_and_another_threshold_helps_little(
    labels: pl.DataFrame,
) -> None:
    assert ((labels["bem_score"] > 0.5).cast(pl.Float64) == labels["bem"]).all()
    chosen = choose_threshold(
        labels.select(
            score="bem_score",
            accepted=pl.col("label") == 1,
            verdict=pl.col("bem_score") > 0.5,
            cluster=pl.col("question").rank("dense").cast(pl.Int64),
        )
    )
    held_out = chosen.held_out["accuracy"].value
    assert held_out is not None
    assert 0.76 < held_out < 0.85


def test_table_1(scores: pl.DataFrame) -> None:
    means = scores.group_by("system", maintain_order=True).agg(
        pl.col("em", "davinci", "bem", "human").mean(), pl.len()
    )
    assert means["len"].to_list() == [301] * 12
    ours = {row["system"]: row for row in means.iter_rows(named=True)}
    assert set(ours) == set(TABLE_1)
    for system, figures in TABLE_1.items():
        measures = ("em", "bem", "davinci", "human")
        found = [printed(100 * ours[system][name]) for name in measures]
        assert found == [figures[place] for place in (2, 4, 6, 8)], system


def test_rankings(scores: pl.DataFrame) -> None:
    ranking = rank_systems(
        scores, measures=["em", "f1", "bem", "davinci"], human="human", baseline="em"
    )
    taus = {name: round(figure.value or 0, 4) for name, figure in ranking.tau_b.items()}
    assert (round(taus["davinci"], 2), taus["bem"], taus["em"]) == (0.75, 0.6977, 0.2326)
    assert round(taus["f1"], 3) == 0.339
    gains = dict(ranking.measures.select("measure", "gain").iter_rows())
    assert [round(100 * gains[name]) for name in ("bem", "davinci", "human")] == [16, 21, 24]


def test_a_cascade_of_the_recorded_judges_keeps_the_agreement(labels: pl.DataFrame) -> None:
    data = labels.select(
        scores="bem_score",
        first=(pl.col("bem_score") >= 0.5).cast(pl.Float64),
        then=pl.col("davinci").fill_null(np.nan),
        labels=pl.col("label") == 1,
        clusters=pl.col("question").rank("dense").cast(pl.Int64) - 1,
    )
    found = [choose_setting(data, CascadeOptions(calls=0.4, seed=seed)) for seed in range(30)]
    calls = [one.calls for one in found if one.calls is not None]
    gaps = [one.gap.value for one in found if one.gap is not None]
    assert len(calls) == len(gaps) == 30
    assert np.mean(calls) <= 0.40
    assert np.mean(gaps) >= -0.01
