"""Training an examiner: splits, equal trees, a held-out report, and weights that then judge."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import markscheme
from markscheme.cli import run
from markscheme.errors import DataError, MissingExtraError, ModelError
from markscheme.models.local.trees import Trees
from markscheme.tables import read_dataset
from markscheme_research.training import examiner_report, labelled_answers, training_answers
from markscheme_research.training.examiner import HeldOut, TrainOptions, train_examiner
from markscheme_research.training.splits import fold_of, part_of, parts
from markscheme_research.training.trees import TreeOptions, fit_forest, save_onnx

SMALL = TrainOptions(trees=(TreeOptions(rounds=20, seeds=1),), folds=3)


def test_splits_are_by_question_and_hold_nq301_out(data_dir: Path) -> None:
    evouna = read_dataset("evouna-nq", data_dir=data_dir).unique("question")
    share = parts(evouna["question"]).cast(pl.String).value_counts(normalize=True)
    found = dict(share.iter_rows())
    assert found["train"] == pytest.approx(0.40, abs=0.02)
    assert found["development"] == pytest.approx(0.10, abs=0.02)
    assert found["test"] == pytest.approx(0.50, abs=0.02)
    nq301 = read_dataset("nq301", data_dir=data_dir)
    assert set(parts(nq301["question"])) == {"test"}


def test_a_question_keeps_its_part_however_it_is_written() -> None:
    assert part_of("Who wrote Emma?") == part_of("who wrote  the emma")
    assert fold_of("Who wrote Emma?", 5) == fold_of("who wrote emma", 5)


def test_onnx_trees_equal_lightgbm(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    features = rng.normal(size=(2000, 12)).astype(np.float32)
    features[:, 3] = np.round(features[:, 3])
    labels = (features[:, 0] + features[:, 3] > rng.normal(size=2000)).astype(float)
    names = [f"f{i}" for i in range(12)]
    forest = fit_forest(features, labels, names, TreeOptions(rounds=60, seeds=2))
    save_onnx(forest, tmp_path / "trees.onnx", features=12)
    stored = Trees(tmp_path / "trees.onnx")
    fresh = rng.normal(size=(5000, 12)).astype(np.float32)
    fresh[:, 3] = np.round(fresh[:, 3])
    for rows in (features, fresh):
        assert np.abs(stored(rows) - forest(rows)).max() < 1e-5
    shuffled = rng.permutation(len(fresh))
    assert np.array_equal(stored(fresh)[shuffled], stored(fresh[shuffled]))


@pytest.mark.parametrize("lacking", ["lightgbm", "onnx"])
def test_a_missing_extra_is_told_before_the_features_are_made(
    tmp_path: Path, example: Path, monkeypatch: pytest.MonkeyPatch, lacking: str
) -> None:
    monkeypatch.setitem(sys.modules, lacking, None)
    said: list[str] = []
    with pytest.raises(MissingExtraError, match=r"markscheme\[train\]"):
        train_examiner(markscheme.read_answers(example), tmp_path / "weights", say=said.append)
    assert not said


@pytest.mark.proof(area="examiner")
def test_training_reports_before_it_saves_and_is_repeatable(tmp_path: Path, example: Path) -> None:
    answers = markscheme.read_answers(example)
    seen: list[HeldOut] = []

    def report(held_out: HeldOut) -> None:
        assert not (tmp_path / "one" / "examiner.json").exists()
        seen.append(held_out)

    trained = train_examiner(
        answers, tmp_path / "one", SMALL, say=lambda _text: None, report=report
    )
    assert len(seen) == 1
    assert seen[0].rows == trained.held_out.shape[0] == 248
    assert 0.55 < seen[0].trained.auroc < 1
    train_examiner(answers, tmp_path / "two", SMALL, say=lambda _text: None)
    for file in sorted((tmp_path / "one").iterdir()):
        assert file.read_bytes() == (tmp_path / "two" / file.name).read_bytes(), file.name
    judged = markscheme.judge(answers, f"examiner(weights='{tmp_path / 'one'}')").judgments
    assert (judged["status"] == "judged").sum() == 248


def test_answers_that_the_encoder_has_learned_from_are_enough_to_train_on(
    tmp_path: Path, example: Path
) -> None:
    answers = markscheme.read_answers(example).with_columns(unseen=pl.lit(value=False))
    options = TrainOptions(folds=2, trees=SMALL.trees, with_shipped_rows=False)
    trained = train_examiner(answers, tmp_path / "weights", options, say=lambda _text: None)
    assert trained.held_out.shape == (248,)
    assert np.isfinite(trained.held_out).all()


def test_questions_of_one_fold_are_too_few(tmp_path: Path) -> None:
    rows = [
        {"question": "Who wrote Emma?", "references": ["Jane Austen"], "label": place % 2,
         "answer": f"Austen, {place}" if place % 2 else f"Dickens, {place}"}
        for place in range(120)
    ]  # fmt: skip
    answers = markscheme.read_answers(rows)
    options = TrainOptions(trees=SMALL.trees, with_shipped_rows=False)
    with pytest.raises(DataError, match="same one of 3 folds"):
        train_examiner(answers, tmp_path / "weights", options, say=lambda _text: None)


KILLED = """
import os, signal, sys
from pathlib import Path
from markscheme.tables import read_answers
from markscheme_research.training import examiner
from markscheme_research.training.trees import TreeOptions

path, out, where, when = sys.argv[1:5]
inner = getattr(examiner, where)

def outer(*given, **named):
    if when == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    inner(*given, **named)
    os.kill(os.getpid(), signal.SIGKILL)

setattr(examiner, where, outer)
small = examiner.TrainOptions(trees=(TreeOptions(rounds=20, seeds=1),), folds=3)
examiner.train_examiner(read_answers(path), Path(out), small, say=lambda _text: None)
"""
PLACES = (
    ("grow", "before"), ("save_onnx", "after"), ("save_rarity", "after"),
    ("write_manifest", "before"), ("write_manifest", "after"),
)  # fmt: skip


@pytest.mark.proof(area="examiner")
@pytest.mark.timeout(900)
def test_a_killed_training_leaves_nothing_that_is_read(tmp_path: Path, example: Path) -> None:
    """SIGKILL before, while and after the weights are written; then the same once more."""
    out = tmp_path / "mine"
    for where, when in PLACES:
        command = [sys.executable, "-c", KILLED, str(example), str(out), where, when]
        assert subprocess.run(command, check=False).returncode == -signal.SIGKILL, where
        assert not out.exists(), where
        with pytest.raises(ModelError):
            markscheme.judge(example, f"examiner(weights='{out}')")
    answers = markscheme.read_answers(example)
    train_examiner(answers, tmp_path / "whole", SMALL, say=lambda _text: None)
    train_examiner(answers, out, SMALL, say=lambda _text: None)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["mine", "whole"]
    for file in sorted((tmp_path / "whole").iterdir()):
        assert file.read_bytes() == (out / file.name).read_bytes(), file.name


@pytest.mark.proof(area="examiner")
def test_agreement_is_told_by_set(tmp_path: Path, example: Path) -> None:
    """Of two files, each by its own questions; weights carry what trained them."""
    answers = markscheme.read_answers(example)
    first = answers["question"].unique(maintain_order=True)[:30].implode()
    for name, where in (
        ("a", pl.col("question").is_in(first)),
        ("b", ~pl.col("question").is_in(first)),
    ):
        answers.filter(where).write_parquet(tmp_path / f"{name}.parquet")
    given = training_answers([str(tmp_path / "a.parquet"), str(tmp_path / "b.parquet")])
    seen: list[HeldOut] = []
    train_examiner(given, tmp_path / "out", SMALL, say=lambda _text: None, report=seen.append)
    one, other = seen[0].sets
    assert (one.name, one.questions, other.name) == ("a.parquet", 30, "b.parquet")
    assert one.rows + other.rows == seen[0].rows == answers.height
    whole = one.accuracy * one.rows + other.accuracy * other.rows
    assert whole / answers.height == pytest.approx(seen[0].trained.accuracy)
    assert 0 <= one.calibration_error < 0.6
    report = examiner_report(seen[0])
    assert [row[0] for row in report.tables[1].rows] == ["a.parquet", "b.parquet"]
    assert [row["name"] for row in report.data["sets"]] == ["a.parquet", "b.parquet"]
    asked = [answers["question"][0], "Who built the bridge of Zorvex?"]
    rows = answers.head(2).with_columns(question=pl.Series(asked))
    judged = markscheme.judge(rows, f"examiner(weights='{tmp_path / 'out'}')").judgments
    assert judged["scope"][0] == "learned from"
    assert judged["scope"][1] != "learned from"


def test_labels_of_several_people_are_learned_from_by_their_majority(tmp_path: Path) -> None:
    rows = {"question": ["q"] * 5, "gold": ["g"] * 5, "answer": ["a"] * 5,
            "annotator1": ["yes", "no", "1", "?", "no"],
            "annotator2": ["1", "no", "0", "1", ""]}  # fmt: skip
    pl.DataFrame(rows).write_csv(tmp_path / "answers.csv")
    learned = labelled_answers([str(tmp_path / "answers.csv")])
    assert learned["label"].to_list() == [1, 0, None, 1, 0]


def test_too_little_to_learn_from_is_refused(tmp_path: Path, example: Path) -> None:
    answers = markscheme.read_answers(example)
    with pytest.raises(DataError, match="40 labelled answers"):
        train_examiner(answers[:40], tmp_path / "out")
    with pytest.raises(DataError, match="are not enough to learn from"):
        train_examiner(answers.filter(pl.col("label") == 1), tmp_path / "out")


@pytest.mark.proof(area="examiner")
def test_the_command_trains_and_the_result_judges(
    tmp_path: Path, example: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "mine"
    arguments: list[Any] = ["train", "examiner", "--data", str(example), "--out", str(out),
                            "--rounds", "10", "--folds", "2", "--alone"]  # fmt: skip
    assert run(arguments) == 0
    assert "this one, held out" in capsys.readouterr().out
    assert run(arguments) == 2
    assert "is not empty; choose a new --out" in capsys.readouterr().err
