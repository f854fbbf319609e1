"""Entailment tests on pairs: figures against labels, files as RTE and CB have them."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from markscheme.cli import run
from markscheme.errors import DataError, UnknownNameError
from markscheme.models import Models
from markscheme.testing import ScriptedChat
from markscheme_research.studies import entail

RTE = """index\tsentence1\tsentence2\tlabel
0\tJane Austen wrote Emma.\tEmma was written by Austen.\tentailment
1\tJane Austen wrote Emma.\tDickens wrote Emma.\tnot_entailment
2\tThe Nile is in Africa.\tThe Nile is in Asia.\tnot_entailment
3\tOslo is in Norway.\tOslo is somewhere.\t-
"""


@pytest.fixture
def rte(tmp_path: Path) -> Path:
    file = tmp_path / "rte.tsv"
    file.write_text(RTE)
    return file


def reader() -> Models:
    """A model that says entailment for everything about Emma."""

    def reply(text: str) -> str:
        return "entailment" if "Emma" in text.rsplit("Premise", 1)[-1] else "neutral"

    return Models(chat=ScriptedChat(replies=reply))


def test_a_test_is_compared_with_the_labels(rte: Path) -> None:
    found = entail(rte, ["chat"], models=reader())
    row = found.frame.to_dicts()[0]
    assert row["pairs"] == row["judged"] == 3
    assert row["entailed"] == pytest.approx(2 / 3)
    assert row["accuracy"] == pytest.approx(2 / 3)
    assert row["f1"] == pytest.approx(2 / 3)
    assert found.pairs["entailed"].to_list() == [True, True, False]
    assert found.pairs["label"].to_list() == [1.0, 0.0, 0.0]


def test_a_reply_that_cannot_be_read_is_not_a_no(rte: Path) -> None:
    found = entail(rte, ["chat"], models=Models(chat=ScriptedChat(replies=lambda _: "who knows")))
    row = found.frame.to_dicts()[0]
    assert (row["pairs"], row["judged"], row["accuracy"]) == (3, 0, None)
    assert found.pairs["entailed"].null_count() == 3


def test_numbers_as_labels_and_no_labels(tmp_path: Path) -> None:
    pairs = pl.DataFrame(
        {"premise": ["It is 5 km.", "It is 5 km."], "hypothesis": ["It is 5 km.", "It is 7 km."]}
    )
    file = tmp_path / "cb.jsonl"
    pairs.with_columns(label=pl.Series([0, 1])).write_ndjson(file)
    with pytest.raises(DataError, match="--entailed"):
        entail(file)
    assert entail(file, entailed="0").pairs["label"].to_list() == [1.0, 0.0]
    pairs.write_ndjson(file)
    bare = entail(file)
    assert bare.frame["accuracy"].to_list() == [None]
    assert "accuracy" not in bare.tables[0].header


def test_labels_as_numbers_are_read_as_data_sets_write_them(tmp_path: Path) -> None:
    file = tmp_path / "snli.jsonl"
    labels = pl.Series([0, 2, -1, None])
    pairs = pl.DataFrame({"premise": ["It is 5 km."] * 4, "hypothesis": ["It is 5 km."] * 4})
    pairs.with_columns(label=labels).write_ndjson(file)
    found = entail(file, entailed="0")
    assert found.pairs["label"].to_list() == [1.0, 0.0, None]  # -1: people did not agree
    assert found.frame["accuracy"].to_list() == [0.5]
    with pytest.raises(DataError, match="no label is 'entailment'; there are 0, 2, -1"):
        entail(file, entailed="entailment")
    # Where 1 means entailment, -1 is the other class.
    pairs.with_columns(label=pl.Series([1, 1, -1, -1])).write_ndjson(file)
    assert entail(file, entailed="1").pairs["label"].to_list() == [1.0, 1.0, 0.0, 0.0]
    pairs.with_columns(label=pl.Series(["entailment", "-", "neutral", None])).write_ndjson(file)
    for named in (None, "entailment"):
        assert entail(file, entailed=named).pairs["label"].to_list() == [1.0, 0.0, None]


def test_the_command_prints_the_json_and_writes_every_pair(
    rte: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "pairs.jsonl"
    assert run(["entail", str(rte), "--out", str(out), "--format", "json"]) == 0
    assert capsys.readouterr().out == entail(rte).to_json()
    assert len(out.read_text().splitlines()) == 3
    assert "score" in json.loads(out.read_text().splitlines()[0])


def test_a_file_that_cannot_be_written_is_refused_before_the_tests(
    rte: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["entail", str(rte), "--out", str(tmp_path / "pairs.xlsx")]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "the endings are .jsonl" in " ".join(printed.err.split())


def test_what_cannot_be_tested_is_named(rte: Path, tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="guess"):
        entail(rte, ["guess"])
    bare = tmp_path / "bare.csv"
    bare.write_text("premise,label\na,entailment\n")
    with pytest.raises(DataError, match="no column for hypothesis"):
        entail(bare)
