"""Telling questions after facts from the others, and sending rows to the judge for their kind."""

from __future__ import annotations

import json
from pathlib import Path

import orjson
import polars as pl
import pytest

from markscheme.cli import run
from markscheme.contract.grammar import parse_judge
from markscheme.engine.execute import apply
from markscheme.judges.listwise.question_kind import WEIGHTS, category, classify
from markscheme.tables.answers import read_answers
from markscheme_research.datasets import load, passages
from markscheme_research.training.question_kind import by_reader, fit, save_question_kind


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("who wrote the song photograph by ringo starr", "factoid"),
        ("when did the titanic sink", "factoid"),
        ("Why do cats purr?", "reason"),
        ("How do I remove rust from a bicycle chain?", "instruction"),
        ("What is the difference between a virus and a bacterium?", "comparison"),
        ("Do you think that people should pay more tax?", "debate"),
    ],
)
def test_questions_are_told_apart(question: str, kind: str) -> None:
    assert category(question) == kind


def test_auto_sends_rows_to_their_judges() -> None:
    rows = [
        {"question": "who wrote emma", "references": ["Jane Austen"], "answer": "Jane Austen"},
        {"question": "Why do cats purr?", "answer": "They purr when they are content.",
         "references": ["Cats purr when they are content and also to calm themselves down."]},
    ]  # fmt: skip
    found = apply(parse_judge("auto"), read_answers(rows))
    assert [text.split(":")[0] for text in found["explanation"]] == ["factoid", "non-factoid"]
    assert found["verdict"][0] is True


def test_questions_of_the_real_sets(antique_dev: Path) -> None:
    antique = passages("antique", data_dir=antique_dev, part="dev")["question"].unique()
    assert (classify(antique)["factoid_chance"] < 0.5).mean() > 0.85


def test_auto_routes_a_mixed_file_from_the_command_line(tmp_path: Path) -> None:
    rows = [
        {"answer_id": "fact", "question": "who wrote emma", "references": ["Jane Austen"],
         "answer": "It was Jane Austen."},
        {"answer_id": "graded", "question": "Why do cats purr?", "answer": "They are content.",
         "references": ["Cats purr to show content and to calm themselves.", "No idea."],
         "reference_grades": [3, 0]},
        {"answer_id": "advice", "question": "How do I remove rust from a chain?",
         "references": ["Soak the chain in vinegar over night, brush it well, then oil it."],
         "answer": "Leave it in vinegar for a night and brush the rust off."},
    ]  # fmt: skip
    path, out = tmp_path / "mixed.jsonl", tmp_path / "run"
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    assert run(["judge", str(path), "--judge", "auto", "--out", str(out)]) == 0
    judgments = pl.read_parquet(out / "judgments.parquet")
    found = {row["answer_id"]: row for row in judgments.iter_rows(named=True)}
    routes = {name: row["explanation"].split(":")[0] for name, row in found.items()}
    assert routes == {"fact": "factoid", "graded": "non-factoid", "advice": "non-factoid"}
    assert {row["status"] for row in found.values()} == {"judged"}


def test_the_classifier_is_fitted_and_written(tmp_path: Path) -> None:
    words = ("war", "film", "song", "show", "road", "wall", "sky", "dog", "car", "sink")
    facts = [f"when did the {word} begin" for word in words]
    other = {
        "advice": [f"how do i clean my {word}" for word in words],
        "reasons": [f"why is the {word} wet" for word in words],
    }
    fitted = fit({"facts": facts}, other, folds=2)
    assert fitted.sources["questions"].to_list() == [10, 10, 10]
    assert fitted.sources["right"].mean() > 0.7
    save_question_kind(fitted, tmp_path / "kind.json")
    assert orjson.loads((tmp_path / "kind.json").read_bytes()) == fitted.weights


def test_the_shipped_classifier_is_what_the_command_makes(
    antique_dev: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "kind.json"
    assert run(["train", "question-kind", "--out", str(out), "--data-dir", str(antique_dev)]) == 0
    made, shipped = (orjson.loads(path.read_bytes()) for path in (out, WEIGHTS))
    assert made == pytest.approx(shipped, abs=0.01)
    assert "curatedtrec" in capsys.readouterr().out


def test_rules_for_categories_beside_a_reader(antique_dev: Path) -> None:
    every = pl.concat(
        [passages("antique", data_dir=antique_dev, part="dev")["question"],
         passages("trec-dl-nf", data_dir=antique_dev)["question"],
         load("webglm", data_dir=antique_dev)["question"]]
    ).unique()  # fmt: skip
    found = by_reader(every)
    assert found["questions"].sum() == 83
    assert (found["questions"] * found["right"]).sum() / 83 > 0.8
