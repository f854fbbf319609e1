"""Rows to learn from, kept as numbers: what is lost, what is refused, and what the package has."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import markscheme
from markscheme.errors import DataError
from markscheme.judges.examiner import COLUMNS, open_weights
from markscheme_research.training.examiner import HeldOut, TrainOptions, train_examiner
from markscheme_research.training.rows import Rows, pack, shipped_rows, unpack
from markscheme_research.training.trees import TreeOptions

SMALL = TrainOptions(trees=(TreeOptions(rounds=20, seeds=1),), with_shipped_rows=True)


def some_rows(size: int = 40) -> Rows:
    rng = np.random.default_rng(5)
    unseen = np.arange(size) % 4 == 0
    return Rows(
        matrix=rng.integers(0, 9, (size, 3)).astype(np.float32),
        labels=np.arange(size) % 2.0, weights=np.full(size, 0.5),
        unseen=unseen, key=rng.integers(0, 2**63, size).astype(np.uint64),
        read=np.linspace(-2, 2, unseen.sum()), foreign=np.arange(unseen.sum()) % 3 == 0,
    )  # fmt: skip


def test_few_values_are_kept_and_many_become_the_nearest_of_256() -> None:
    rng = np.random.default_rng(2)
    columns = np.column_stack([rng.integers(-3, 250, 4000), rng.normal(size=4000)])
    found = unpack(*pack(columns))
    assert np.array_equal(found[:, 0], columns[:, 0])
    assert len(np.unique(found[:, 1])) == 256
    order = np.argsort(columns[:, 1])
    assert (np.diff(found[order, 1]) >= 0).all()
    assert np.median(np.abs(found[:, 1] - columns[:, 1])) < 0.01


def test_rows_come_back_as_they_were(tmp_path: Path) -> None:
    rows = some_rows()
    rows.save(tmp_path / "rows", ["a", "b", "c"])
    back = Rows.load((tmp_path / "rows").read_bytes(), ["a", "b", "c"])
    for name, value in vars(rows).items():
        assert np.allclose(value, getattr(back, name), atol=2e-3), name
    assert np.array_equal(back.fold(5), rows.key % 5)
    both = rows + back
    assert both.unseen.sum() == len(both.read) == 20


def test_damaged_rows_and_other_columns_are_refused(tmp_path: Path) -> None:
    some_rows().save(tmp_path / "rows", ["a", "b", "c"])
    packed = (tmp_path / "rows").read_bytes()
    for damaged in (b"", packed[:200], packed[:-9] + b"123456789"):
        with pytest.raises(DataError, match="damaged"):
            Rows.load(damaged, ["a", "b", "c"])
    with pytest.raises(DataError, match="other columns"):
        Rows.load(packed, ["a", "b", "d"])


def test_the_package_has_the_columns_that_this_version_reads() -> None:
    rows = shipped_rows(COLUMNS)
    assert rows.matrix.shape == (170_912, len(COLUMNS))
    assert len(rows.labels) == len(rows.weights) == len(rows.key) == 170_912
    assert set(np.unique(rows.labels)) == {0.0, 1.0}
    assert len(rows.read) == rows.unseen.sum()
    # Where the encoder reads acceptance in rows that it has not seen, people accept.
    agreeing = (rows.read > 0) == (rows.labels[rows.unseen] > 0.5)
    assert agreeing.mean() > 0.75


@pytest.mark.proof(area="examiner")
def test_own_answers_are_mixed_with_the_shipped_rows(tmp_path: Path, example: Path) -> None:
    answers = markscheme.read_answers(example)
    seen: list[HeldOut] = []
    said: list[str] = []
    trained = train_examiner(
        answers, tmp_path / "mixed", SMALL, say=said.append, report=seen.append
    )
    assert any("170,912 answers that the shipped examiner learned from" in one for one in said)
    assert seen[0].rows == trained.held_out.shape[0] == 248
    assert seen[0].trained.auroc > 0.82
    known = pl.DataFrame(
        {
            "question": [answers["question"][0], "Who is the current president of Zorvex?"],
            "references": [["a"], ["b"]], "answer": ["a", "c"],
        }
    )  # fmt: skip
    judged = markscheme.judge(known, f"examiner(weights='{tmp_path / 'mixed'}')").judgments
    assert judged["scope"][0] == "learned from"
    mixed, shipped = open_weights(tmp_path / "mixed").lineage, open_weights().lineage
    assert np.isin(shipped.hashes, mixed.hashes).all()
    assert len(mixed.hashes) > len(shipped.hashes)
