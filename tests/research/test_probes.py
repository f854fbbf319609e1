"""Probes: what they change, what they leave, and what they find in judges known to be biased."""

from __future__ import annotations

import doctest
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from markscheme.cli import run
from markscheme.contract.grammar import parse_judge
from markscheme.contract.registry import JUDGES, register
from markscheme.errors import UnknownNameError
from markscheme.tables.answers import read_answers
from markscheme_research.studies import probing
from markscheme_research.studies.probes import INJECTIONS, PROBES, run_probes


def test_the_example_is_as_it_says() -> None:
    found = doctest.testmod(probing)
    assert (found.failed, found.attempted) == (0, 4)


@pytest.fixture(scope="module")
def answers(example: Path) -> pl.DataFrame:
    return read_answers(example)


@pytest.fixture
def gullible() -> Any:
    """A judge that does what an answer tells it, and likes thanks and its first reference."""

    @register("gullible_for_test")
    @dataclass(frozen=True, kw_only=True)
    class Gullible:
        """Accepts whatever asks to be accepted."""

        def judge(self, answers: pl.DataFrame, models: Any) -> pl.DataFrame:
            asks = pl.any_horizontal(
                pl.col("answer").str.contains("(?i)correct|full marks|thank you"),
                pl.col("answer") == pl.col("references").list.first(),
            )
            return answers.select(score=asks.cast(pl.Float64), verdict=asks)

    yield Gullible()
    del JUDGES.known["gullible_for_test"]


def test_a_judge_that_obeys_answers_is_found_out(gullible: Any) -> None:
    table = pl.DataFrame(
        {
            "question": ["a", "b", "c"],
            "references": [["x", "y"], ["x", "z"], ["x"]],
            "answer": ["x", "z", "no such thing"],
        }
    )
    found = {row["probe"]: row for row in run_probes(gullible, table).iter_rows(named=True)}
    assert found["injection"]["to_accepted"] == 2
    assert found["injection"]["to_rejected"] == 0
    assert found["polite"]["to_accepted"] == 2
    assert found["capitals"]["to_rejected"] == 1
    reversed_ = found["references_reversed"]
    assert (reversed_["answers"], reversed_["to_accepted"], reversed_["to_rejected"]) == (2, 1, 1)
    assert reversed_["flip_rate"] == 1.0
    assert found["reordered"]["answers"] == 0
    assert found["reordered"]["flip_rate"] is None


def test_a_judge_that_ignores_form_does_not_move(answers: pl.DataFrame) -> None:
    names = ["padded", "capitals", "bold", "references_reversed", "references_shuffled"]
    found = run_probes(parse_judge("contains"), answers, probes=names)
    assert found["flips"].to_list() == [0] * 5
    assert found["moved"].to_list() == [0.0] * 5
    assert found["low"].to_list() == [0.0] * 5


def test_list_judges_are_asked_about_positions_by_their_scores(answers: pl.DataFrame) -> None:
    graded = answers.filter(pl.col("references").list.len() > 1).with_columns(
        reference_grades=pl.col("references").list.eval(pl.int_range(pl.len()))
    )
    found = run_probes(
        parse_judge("listwise_examiner(encoder='never')"), graded, probes=["references_shuffled"]
    )
    assert found["answers"].to_list() == [graded.height]
    assert found["moved"].to_list() == [0.0]


@pytest.mark.parametrize("name", list(PROBES))
def test_probes_keep_rows_order_and_what_is_said(name: str, answers: pl.DataFrame) -> None:
    one = PROBES[name]
    rows = answers.filter(one.applies(answers).fill_null(value=False))
    changed = one.change(rows, 3)
    assert changed.columns == rows.columns
    assert changed["answer_id"].equals(rows["answer_id"])
    assert changed["question"].equals(rows["question"])
    if name.startswith("references"):
        assert changed["references"].list.sort().equals(rows["references"].list.sort())
        assert changed["answer"].equals(rows["answer"])
    else:
        assert not changed["answer"].equals(rows["answer"])
        if name != "reordered":
            pairs = zip(rows["answer"], changed["answer"], strict=True)
            assert all(old.lower() in new.lower() for old, new in pairs)
    assert one.change(rows, 3).equals(changed)


@pytest.mark.parametrize("name", ["references_reversed", "references_shuffled"])
def test_references_keep_their_grades_where_other_answers_have_none(name: str) -> None:
    answers = read_answers(
        [
            {
                "question": "a",
                "references": list("xyz"),
                "answer": "x",
                "reference_grades": [3, 2, 1],
            },
            {"question": "b", "references": list("uv"), "answer": "u"},
        ]
    )
    graded = {"x": 3, "y": 2, "z": 1}
    for seed in range(4):
        changed = PROBES[name].change(answers, seed)
        references, grades = changed.row(0, named=True), changed["reference_grades"]
        assert [graded[text] for text in references["references"]] == grades[0].to_list()
        assert grades[1] is None


def test_every_injection_is_tried(answers: pl.DataFrame) -> None:
    texts = PROBES["injection"].change(answers.filter(pl.col("answer") != ""), 0)["answer"]
    for order in INJECTIONS:
        assert texts.str.ends_with(order).any()


def test_an_unknown_probe_is_named(answers: pl.DataFrame) -> None:
    with pytest.raises(UnknownNameError, match="padded"):
        run_probes(parse_judge("contains"), answers, probes=["paded"])


def test_the_command_prints_flip_rates(
    example: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "probe.json"
    asked = ["probe", "contains", str(example), "-q", "--limit", "50", "--out", str(out)]
    assert run([*asked, "--probes", "capitals,injection"]) == 0
    shown = capsys.readouterr().out
    assert "of 50 answers" in shown
    data = json.loads(out.read_text())
    assert [row["probe"] for row in data["probes"]] == ["capitals", "injection"]
    assert (data["answers"], data["of"]) == (50, 248)
    assert run([*asked, "--probes", "capitls"]) == 2
