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
from markscheme.judges.listwise.question_kind import WEIGHTS, factoid_chance
from markscheme.tables.answers import read_answers
from markscheme_research.datasets import passages
from markscheme_research.training.question_kind import fit, save_question_kind


@pytest.mark.parametrize(
    ("question", "factoid"),
    [
        ("who wrote the song photograph by ringo starr", True),
        ("when did the titanic sink", True),
        ("Why do cats purr?", False),
        ("How do I remove rust from a bicycle chain?", False),
        ("What is the difference between a virus and a bacterium?", False),
        ("Do you think that people should pay more tax?", False),
    ],
)
def test_questions_are_told_apart(question: str, factoid: bool) -> None:
    assert (factoid_chance(question) >= 0.5) is factoid


def test_auto_sends_rows_to_their_judges() -> None:
    rows = [
        {"question": "who wrote emma", "references": ["Jane Austen"], "answer": "Jane Austen"},
        {"question": "Why do cats purr?", "answer": "They purr when they are content.",
         "references": ["Cats purr when they are content and also to calm themselves down."]},
    ]  # fmt: skip
    found = apply(parse_judge("auto"), read_answers(rows))
    assert [text.split(":")[0] for text in found["explanation"]] == ["factoid", "non-factoid"]
    assert found["verdict"][0] is True
    found = apply(parse_judge("auto(factoid=exact_match)"), read_answers(rows))
    assert found["explanation"][0] == "factoid"


def test_questions_of_the_real_sets(antique_dev: Path) -> None:
    antique = passages("antique", data_dir=antique_dev, part="dev")["question"].unique()
    assert sum(factoid_chance(one) < 0.5 for one in antique) / len(antique) > 0.85


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
