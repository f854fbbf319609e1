"""Commands of the research package as a user calls them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from markscheme.tables.answers import read_answers

Cli = Callable[..., str]


def test_amend_writes_better_references(cli: Cli, example: Path, tmp_path: Path) -> None:
    out = cli("amend", example, "-o", tmp_path / "amended.jsonl")
    assert "248 labels amended the references of 62 of 62 questions" in out
    before, after = read_answers(str(example)), read_answers(str(tmp_path / "amended.jsonl"))
    assert after.height == before.height
    accepted = before.filter(pl.col("label") == 1).row(0, named=True)
    amended = after.filter(pl.col("answer_id") == accepted["answer_id"]).row(0, named=True)
    assert accepted["answer"] in amended["references"]
    cli("amend", example, "-o", tmp_path / "questions.jsonl", "--dataset")
    assert pl.read_ndjson(tmp_path / "questions.jsonl").columns == ["question", "references"]
    assert pl.read_ndjson(tmp_path / "questions.jsonl").height == 62


def test_amending_without_labels_and_with_a_column_of_them(
    cli: Cli, example: Path, tmp_path: Path
) -> None:
    rows = pl.read_ndjson(example).select(
        "question", "answer", pl.lit("a").alias("gold"), human=pl.col("label")
    )
    rows.drop("human").write_csv(tmp_path / "bare.csv")
    out = tmp_path / "amended.jsonl"
    told = cli("amend", tmp_path / "bare.csv", "-o", out, code=2)
    assert "bare.csv has no labels to amend references by" in told
    rows.rename({"human": "Urteil"}).write_csv(tmp_path / "named.csv")
    cli("amend", tmp_path / "named.csv", "-o", out, "--label-column", "Urteil")
    assert pl.read_ndjson(out)["references"].list.len().max() > 1


def test_repeated_runs_are_set_side_by_side(cli: Cli, tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    label = rng.random(100) < 0.6
    for number in range(3):
        verdict = np.where(rng.random(100) < 0.9, label, ~label)
        pl.DataFrame(
            {
                "answer_id": np.arange(100).astype(str),
                "verdict": verdict,
                "relation": np.where(verdict, "equivalent", "incorrect"),
                "raw": np.where(verdict, "Yes, it is the same.", "No, it is something else."),
                "label": label.astype(float),
            }
        ).write_parquet(tmp_path / f"run{number}.parquet")
    runs = [tmp_path / f"run{number}.parquet" for number in range(3)]
    out = cli("research", "reliability", *runs, "--texts", "raw", "--format", "json")
    found = json.loads(out)
    assert len(found["verdicts"]) == len(found["relations"]) == len(found["texts"]) == 3
    assert found["verdicts"][0]["kappa"] == pytest.approx(found["relations"][0]["kappa"])
    assert {row["runs"] for row in found["spread"]} == {3}
    shown = cli("research", "reliability", *runs[:2])
    assert "Spread over runs, against labels" in shown
    told = cli("research", "reliability", *runs[:2], "--texts", "essay", code=2)
    assert "no texts 'essay'" in told


def test_several_peoples_labels_amend_by_what_they_decide(cli: Cli, tmp_path: Path) -> None:
    rows = pl.DataFrame(
        {
            "question": ["Who?", "When?"],
            "references": ["Ann", "1999"],
            "answer": ["Ann Lee", "2001"],
            "annotator1": [1, 0],
            "annotator2": [1, 0],
        }
    )
    rows.write_csv(tmp_path / "answers.csv")
    told = cli("amend", tmp_path / "answers.csv", "-o", tmp_path / "amended.jsonl")
    assert "2 labels amended the references of 1 of 2 questions" in told
    found = pl.read_ndjson(tmp_path / "amended.jsonl")["references"].to_list()
    assert found == [["Ann", "Ann Lee"], ["1999"]]


def test_labels_of_the_viewer_amend_the_answers_of_their_ids(cli: Cli, tmp_path: Path) -> None:
    answers = [
        {"answer_id": "1", "question": "Who?", "references": ["Ann"], "answer": "Ann Lee"},
        {"answer_id": "2", "question": "When?", "references": ["1999"], "answer": "1999"},
    ]
    pl.DataFrame(answers).write_ndjson(tmp_path / "answers.jsonl")
    labels = [
        {"answer_id": name, "label": label, "comment": "", "labelled_at": 1.0}
        for name, label in (("1", 0), ("1", 1), ("2", 0))
    ]
    pl.DataFrame(labels).write_ndjson(tmp_path / "run.labels.jsonl")
    out = tmp_path / "amended.jsonl"
    cli("amend", tmp_path / "answers.jsonl", "--labels", tmp_path / "run.labels.jsonl", "-o", out)
    # None are known, which does not say that the question has no answer.
    assert pl.read_ndjson(out)["references"].to_list() == [["Ann", "Ann Lee"], None]
