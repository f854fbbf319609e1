"""Training the entailment test: made-up pairs, verdicts both ways, own pairs, equal files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import markscheme
from markscheme.cli import run
from markscheme.errors import DataError
from markscheme.judges.entailment.tests import entailment_test
from markscheme_research.training.entailment import (
    EITHER_WAY,
    EntailmentOptions,
    Quality,
    train_entailment,
)
from markscheme_research.training.entailment_pairs import made_pairs
from markscheme_research.training.entailment_weak import WeakPairs
from markscheme_research.training.examiner import rarity_of, usable
from markscheme_research.training.training_data import read_pairs
from markscheme_research.training.trees import TreeOptions

SMALL = EntailmentOptions(trees=TreeOptions(rounds=15, seeds=1), folds=2, rounds=1, made=4)


@pytest.fixture(scope="module")
def answers(example: Path) -> pl.DataFrame:
    return usable(markscheme.read_answers(example))


def test_made_up_pairs_go_both_ways_and_are_repeatable(answers: pl.DataFrame) -> None:
    made = made_pairs(answers, seed=3)
    assert made.equals(made_pairs(answers, seed=3))
    assert not made.equals(made_pairs(answers, seed=4))
    assert set(made["label"]) == {0.0, 1.0}
    assert (made["premise"] != made["hypothesis"]).all()
    share = dict(made.group_by("kind", "direction").agg(pl.col("label").mean()).rows_by_key(
        ["kind", "direction"]
    ).items())  # fmt: skip
    assert share["elaboration", "forward"][0] == (1.0,)
    assert share["elaboration", "back"][0] == (0.0,)
    assert share["frame", "back"][0] == (1.0,)
    assert share["other", "forward"][0] == (0.0,)
    assert made.equals(made_pairs(answers.with_columns(label=1 - pl.col("label")), seed=3))


def test_pairs_are_made_of_a_quiz_without_names() -> None:
    def quiz(names: int) -> pl.DataFrame:
        people = ["Ada Hopper", "Alan Curie", "Marie Bell"][:names]
        references = [*people, *map(str, range(10, 40))]
        questions = [f"what is number {place}" for place in range(len(references))]
        return pl.DataFrame({"question": questions, "references": [[one] for one in references]})

    assert set(made_pairs(quiz(0))["kind"]) == {"unit"}
    assert "Ada Hopper" in " ".join(made_pairs(quiz(3))["premise"])


def test_verdicts_label_both_ways() -> None:
    table = pl.DataFrame(
        {
            "question": ["who designed it"] * 4,
            "references": [["Anna Bell"]] * 4,
            "answer": [
                "Anna Bell", "Otto Karlsen", "It was Anna Bell, a painter born in Vienna in 1850.",
                "Bell",
            ],
            "label": [1.0, 0.0, 1.0, 1.0],
        }
    )  # fmt: skip
    weak = WeakPairs.of(table, rarity_of(table))
    entails, entailed = weak.certain()
    assert entails[:3].tolist() == [1, 0, 1]
    assert entailed[:3].tolist() == [1, 0, 0]
    assert entailed[3] == 1
    guessed = weak.guessed(lambda matrix: np.full(len(matrix), -1.0))
    right = weak.accepted & weak.best
    assert ((guessed[0] == 1) | (guessed[1] == 1))[right].all()


@pytest.mark.proof(area="examiner")
def test_training_reports_before_it_saves_and_is_repeatable(
    tmp_path: Path, answers: pl.DataFrame
) -> None:
    seen: list[Quality] = []

    def report(found: Sequence[Quality]) -> None:
        assert not (tmp_path / "one" / "entailment.json").exists()
        seen.extend(found)

    trained = train_entailment(
        answers, tmp_path / "one", SMALL, say=lambda _text: None, report=report
    )
    assert list(trained.held_out) == seen
    verdicts = {one.kind: one for one in seen}[EITHER_WAY]
    assert verdicts.pairs == answers.height
    assert verdicts.auroc is not None
    assert 0.6 < verdicts.auroc < 1
    train_entailment(answers, tmp_path / "two", SMALL, say=lambda _text: None)
    for file in sorted((tmp_path / "one").iterdir()):
        assert file.read_bytes() == (tmp_path / "two" / file.name).read_bytes(), file.name
    pairs = pl.DataFrame(
        {
            "question": "who",
            "premise_answer": ["Anna Bell", "x"],
            "hypothesis_answer": ["Anna", "y"],
        }
    )
    found = entailment_test(f"embedded:{tmp_path / 'one'}").test(pairs, None)
    assert found["status"].to_list() == ["judged", "judged"]


def test_own_pairs_are_read_by_their_words(tmp_path: Path) -> None:
    file = tmp_path / "mnli.jsonl"
    rows = [
        {"sentence1": f"the cat number {i} sleeps on a mat", "sentence2": f"a cat sleeps {i}",
         "gold_label": label}
        for i, label in enumerate(["entailment", "neutral", "contradiction", "-"])
    ]  # fmt: skip
    pl.DataFrame(rows).write_ndjson(file)
    found = read_pairs(file)
    assert found["label"].to_list() == [1.0, 0.0, 0.0]
    assert found["question"].to_list() == [""] * 3
    assert found["premise"][0] == "the cat number 0 sleeps on a mat"


def test_numbers_for_labels_need_to_be_explained(tmp_path: Path) -> None:
    file = tmp_path / "rte.csv"
    pl.DataFrame(
        {"question": ["q", "q"], "premise": ["a", "b"], "hypothesis": ["c", "d"], "label": [0, 1]}
    ).write_csv(file)
    with pytest.raises(DataError, match="--entailed LABEL"):
        read_pairs(file)
    assert read_pairs(file, entailed="0")["label"].to_list() == [1.0, 0.0]
    with pytest.raises(DataError, match="no label is '2'; there are 0, 1"):
        read_pairs(file, entailed="2")
    pl.read_csv(file).with_columns(label=0).write_csv(file)
    with pytest.raises(DataError, match="both kinds are needed"):
        read_pairs(file, entailed="0")
    pl.DataFrame({"text": ["a"]}).write_csv(file)
    with pytest.raises(DataError, match="no column for premise and hypothesis and label"):
        read_pairs(file)


@pytest.mark.proof(area="examiner")
def test_the_command_trains_on_own_data(
    tmp_path: Path, example: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = tmp_path / "pairs.csv"
    pl.DataFrame(
        {
            "premise": [f"Anna {i} lives in Rome and paints" for i in range(20)],
            "hypothesis": [f"Anna {i} paints" if i % 2 else "Otto swims" for i in range(20)],
            "label": ["entailment" if i % 2 else "neutral" for i in range(20)],
        }
    ).write_csv(own)
    out = tmp_path / "weights"
    line = ["train", "entailment", "--data", str(example), "--pairs", str(own), "--out", str(out)]
    assert run([*line, "--rounds", "10", "--folds", "2"]) == 0
    said = capsys.readouterr()
    assert "given, forward" in said.out
    assert "answer entails reference" in said.out
    assert f"embedded:{out}" in said.out
    assert "20 given" in said.err
    assert run(line) == 2
    assert "is not empty" in capsys.readouterr().err
