"""Solved examples for a prompt, chosen by k-means over the questions of other data."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import markscheme
from markscheme.cli import run
from markscheme.errors import DataError
from markscheme.models import Models
from markscheme.models.local import token_encoder
from markscheme.tables import read_answers, write_answers
from markscheme.testing import ScriptedChat
from markscheme_research.studies import choose_examples


def labelled() -> pl.DataFrame:
    topics = {
        "football": "Who won the football cup in {}?", "opera": "Who composed the opera of {}?",
        "river": "Which river floods the plain since {}?",
        "physics": "Which particle was found in {}?",
    }  # fmt: skip
    return read_answers(
        [
            {"question": question.format(year), "references": [topic], "label": label,
             "answer": topic if label else "nobody", "system": "s"}
            for topic, question in topics.items() for year in (1950, 1960, 1970) for label in (0, 1)
        ]
    )  # fmt: skip


def test_examples_are_one_a_cluster_with_both_labels() -> None:
    chosen = choose_examples(labelled(), token_encoder(), count=4, seed=1)
    assert chosen["references"].list.first().n_unique() == 4
    assert sorted(chosen["label"]) == [0, 0, 1, 1]
    assert chosen.equals(choose_examples(labelled(), token_encoder(), count=4, seed=1))
    with pytest.raises(DataError, match="labels of both kinds"):
        choose_examples(labelled().filter(pl.col("label") == 1), token_encoder())
    with pytest.raises(DataError, match="there are 12 questions"):
        choose_examples(labelled(), token_encoder(), count=13)


def test_the_command_writes_examples_that_the_judge_reads(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, out = tmp_path / "labelled.jsonl", tmp_path / "shots.jsonl"
    write_answers(labelled(), source)
    assert run(["research", "examples", str(source), "--out", str(out), "--system", "s"]) == 0
    said = capsys.readouterr().out
    assert "4 examples in" in said
    judge = f"llm_evouna_icl(examples={str(out)!r})"
    assert judge in "".join(said.split("\n"))
    chat = ScriptedChat(replies=lambda _: "Yes")
    rows = [{"question": "Who wrote Emma?", "references": ["Jane Austen"], "answer": "Austen"}]
    assert markscheme.judge(rows, judge, models=Models(chat=chat)).judgments["verdict"][0]
    assert chat.seen[0].last_user.count("A: Yes") == 2
    assert run(["llm-examples", str(source), "--out", str(out), "--system", "t"]) == 2


def test_examples_are_written_to_the_named_file_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """They were written to `labelled.jsonl` for `--out labelled.csv`, over the labels."""
    source = tmp_path / "labelled.jsonl"
    write_answers(labelled(), source)
    before = source.read_bytes()
    assert run(["research", "examples", str(source), "--out", str(source.with_suffix(".csv"))]) == 2
    assert "the endings are .jsonl, not '.csv'" in " ".join(capsys.readouterr().err.split())
    assert source.read_bytes() == before
