"""Judges by graded lists against a real model on loopback: poor ranks, a real path, exact counts.

SmolLM2-135M is too small to rank; what counts is that every call is made, counted and read, and
that what cannot be read is said to be so.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from markscheme.cli import run
from markscheme.contract.grammar import parse_judge
from markscheme.engine.execute import apply
from markscheme.tables.answers import read_answers
from real_model import check_installed, save, serving
from with_research import needs_research

pytestmark = pytest.mark.proof(area="models")

ANSWERS = [
    ("It reflects the sea.", 0), ("Air scatters blue light most.", 2), ("It is far.", 1),
    ("Small molecules scatter short waves.", 2), ("Because of light.", 1),
]  # fmt: skip
SHORT = "max_tokens=6, repair=false"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[str]]:
    """The options that name the model."""
    check_installed()
    folder = tmp_path_factory.mktemp("smollm2")
    save(folder)
    ledger = str(tmp_path_factory.mktemp("ledger") / "ledger.sqlite")
    with serving(folder) as url:
        yield ["--model", str(folder), "--base-url", url, "--ledger", ledger, "--concurrency", "1"]


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> str:
    rows = [
        {"question": question, "answer": answer, "label": label}
        for question in ("Why is the sky blue?", "Why do skies look blue?")
        for answer, label in ANSWERS
    ]
    path = tmp_path_factory.mktemp("graded") / "graded.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def study(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, str]]:
    assert run(["study", *arguments, "--format", "csv"]) == 0
    return list(csv.DictReader(io.StringIO(capsys.readouterr().out)))


def test_listwise_needs_one_call_where_pairwise_needs_one_a_reference(
    server: list[str], graded: str, capsys: pytest.CaptureFixture[str]
) -> None:
    judges = [f"listwise({SHORT})", f"pairwise({SHORT})", f"pointwise({SHORT})",
              f"pointwise({SHORT}, references=hidden)"]  # fmt: skip
    named = [word for judge in judges for word in ("--judge", judge)]
    rows = study(capsys, "cost", graded, "--questions", "1", "-c", "210", *named, *server)
    assert [row["answers"] for row in rows] == ["2"] * 4
    assert [row["calls"] for row in rows] == ["2", "6", "2", "2"]
    assert [row["calls an answer"] for row in rows] == ["1.00", "3.00", "1.00", "1.00"]
    tokens = [int(row["tokens an answer"]) for row in rows]
    assert tokens[1] > tokens[0] > tokens[3] > 0
    assert all(row["not judged"] in ("0", "1", "2") for row in rows)


def test_the_position_probe_runs_and_pays_for_what_is_new_only(
    server: list[str], graded: str, capsys: pytest.CaptureFixture[str]
) -> None:
    named = ["--judge", f"listwise({SHORT})", "--judge", f"pairwise({SHORT})"]
    rows = study(
        capsys, "order", graded, "--questions", "1", "--per-question", "1", "-c", "210", *named,
        *server,
    )  # fmt: skip
    ways = ["best_first", "worst_first", "shuffled", "undisclosed", "answer_first", "answer_last"]
    assert [row["list"] for row in rows] == ways
    for row in rows:
        assert int(row["compared"]) + int(row["not judged"]) >= 1


def test_shots_are_drawn_from_another_question(
    server: list[str], graded: str, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = study(
        capsys, "shots", graded, "--shots", "0", "--shots", "1", "--per-question", "1", "-c", "210",
        "--judge", f"listwise({SHORT})", *server,
    )  # fmt: skip
    assert [row["shots"] for row in rows] == ["0", "1"]
    assert int(rows[1]["tokens in"]) > int(rows[0]["tokens in"])


@needs_research
def test_bertscore_counts_the_references_that_the_protocol_says(server: list[str]) -> None:
    encoder = server[1]
    rows = read_answers(
        [{"question": "Why?", "answer": "the cat sat", "reference_grades": [0, 3],
          "references": ["a dog ran far away", "the cat sat down"]}]
    )  # fmt: skip
    best = rows.with_columns(references=pl.Series([["the cat sat down"]]))
    listed = parse_judge(f"reference_overlap(measure=bertscore, model={encoder!r})")
    alone = parse_judge(f"bertscore(model={encoder!r})")
    score = apply(listed, rows)["score"][0]
    assert score == apply(alone, best)["score"][0]
    assert 0 < score < 1


def test_lists_are_verified_and_used(
    server: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    questions, lists = tmp_path / "questions.jsonl", tmp_path / "lists.jsonl"
    questions.write_text('{"question": "Why is grass green?", "answer": "It is a plant."}\n')
    asked = [word for word in server if word not in ("--concurrency", "1")]
    build = ["references", "build", str(questions), "--out", str(lists), "-c", "320",
             "--max-tokens", "12", *asked]  # fmt: skip
    assert run(build) == 0
    said = capsys.readouterr()
    # So small a model does not stop by itself: its texts are cut off, asked for again, not stored.
    assert "0 of 1 lists complete" in said.out
    assert "cut off by the token limit" in said.out
    assert "6 calls" in said.err
    ready = tmp_path / "ready.jsonl"
    texts = ["Chlorophyll reflects green light.", "It has chlorophyll.", "It is a plant.", "No."]
    row = {"question": "Why is grass green?", "answer": "It is a plant.", "references": texts}
    ready.write_text(json.dumps(row | {"reference_grades": [3, 2, 1, 0]}) + "\n")
    judged = run(
        ["judge", str(ready), "--judge", f"listwise({SHORT})", "--out", str(tmp_path / "run"),
         "--quiet", *server]
    )  # fmt: skip
    assert judged == 1  # Six tokens are no verdict, and a run in which nothing was judged fails.
    assert "1 unparsed: cut off by the token limit" in capsys.readouterr().err
