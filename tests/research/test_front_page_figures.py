"""README's table of agreement with people, computed from the data that it names.

The figure of `entailment` is one of `test_reproduce`, which judges the same answers.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import front_page
import markscheme
from markscheme_research.datasets import load
from markscheme_research.training import parts


@pytest.fixture(scope="module")
def answers(data_dir: Path) -> pl.DataFrame:
    """The labelled answers of EVOUNA-NQ's part `test`."""
    every = load("evouna-nq", data_dir=data_dir).drop_nulls(["answer", "label"])
    return every.filter(parts(every["question"]) == "test")


@pytest.mark.parametrize(
    "judges",
    [
        ("contains", "exact_match"),
        pytest.param(("examiner",), marks=pytest.mark.proof(area="papers")),
    ],
    ids="/".join,
)
def test_the_share_of_answers_on_which_judge_and_people_agree(
    answers: pl.DataFrame, judges: tuple[str, ...]
) -> None:
    assert (answers.height, answers["system"].n_unique()) == (front_page.answers(), 5)
    judgments = markscheme.judge(answers, judges).judgments
    for judge in judges:
        verdicts = judgments.filter(pl.col("judge") == judge)["verdict"]
        agreed = (verdicts == (answers["label"] > 0)).sum() / answers.height
        assert f"{100 * agreed:.1f}" == front_page.agreement(judge), judge
