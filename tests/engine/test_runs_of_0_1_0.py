"""Runs of version 0.1.0 are refused in words; its ledgers and label databases are read.

`recorded/0.1.0/run.tar.gz` holds what the code of 04ebccb wrote: `answers.jsonl`; `finished`, a run
of `JUDGES` on it; `interrupted`, the same in batches of three, stopped as the second one began;
`examined`, a finished run of the examiner (whose weights are others now) and two of these judges;
`ledger.sqlite` with the scripted replies of all; `labels.sqlite`, a label database of the same
file in which Ann and Ben each labelled three of four items.
"""

from __future__ import annotations

import json
import tarfile
from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest

import markscheme
from markscheme import __version__
from markscheme.annotate.database import Store
from markscheme.annotate.exports import export
from markscheme.annotate.options import AnnotateOptions
from markscheme.annotate.project import Project, load_project
from markscheme.annotate.setup import prepare
from markscheme.contract.grammar import parse_judge
from markscheme.engine.local_run import RunReport, run_in_folder
from markscheme.models.chat.scripted import ScriptedChat
from markscheme.models.options import ModelOptions
from markscheme.models.sources import Models
from markscheme.tables import AnswersReader, ReadOptions, read_answers

RECORDED = Path(__file__).parent / "recorded" / "0.1.0" / "run.tar.gz"
JUDGES = ["rougeL", "char_similarity", "llm_kamalloo"]


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which 0.1.0 worked."""
    with tarfile.open(RECORDED) as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", None)  # since Python 3.11.4
        archive.extractall(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def silent_models() -> Models:
    """A language model that must not be asked, behind the ledger of 0.1.0."""

    def asked(prompt: str) -> str:
        raise AssertionError(f"this was paid for before: {prompt}")

    return Models(chat=ScriptedChat(replies=asked), options=ModelOptions(ledger="ledger.sqlite"))


def resume(folder: str, names: Sequence[str] = JUDGES) -> RunReport:
    reader = AnswersReader(["answers.jsonl"], ReadOptions())
    judges = [parse_judge(name) for name in names]
    return run_in_folder(reader, judges, folder, models=silent_models(), clean="none")


def judgments(folder: str) -> pl.DataFrame:
    """Of answers that were given: those of null answers were skipped in 0.1.0."""
    answers = pl.read_parquet(f"{folder}/answers.parquet").filter(pl.col("answer").is_not_null())
    table = pl.read_parquet(f"{folder}/judgments.parquet")
    return table.join(answers, on="answer_id", how="semi").sort("judge", "answer_id")


@pytest.mark.parametrize("folder", ["finished", "interrupted"])
def test_runs_are_refused_with_both_versions_named(recorded: Path, folder: str) -> None:
    """A signature has the version, so that no run mixes judgments of two."""
    before = {path: path.read_bytes() for path in (recorded / folder).glob("**/*.parquet")}
    assert before
    refused = rf"rougeL set up differently \(markscheme=0\.1\.0; now markscheme={__version__}\)"
    with pytest.raises(markscheme.MarkschemeError, match=refused):
        resume(folder)
    assert all(path.read_bytes() == content for path, content in before.items())


def test_a_run_of_an_examiner_that_is_another_now_is_refused_in_words(recorded: Path) -> None:
    before = (recorded / "examined" / "judgments.parquet").read_bytes()
    refused = r"examiner set up differently \(encoder='auto', .* now depth=default, "
    with pytest.raises(markscheme.MarkschemeError, match=refused):
        resume("examined", ["examiner", *JUDGES[1:]])
    assert (recorded / "examined" / "judgments.parquet").read_bytes() == before


def test_judging_again_asks_nothing_and_finds_the_same(recorded: Path) -> None:
    resume("again")
    again, before = (judgments(one).drop("seconds", "signature") for one in ("again", "finished"))
    assert again.select(before.columns).equals(before)


def test_replies_of_the_ledger_are_found(recorded: Path) -> None:
    models = silent_models()
    judged = markscheme.judge("answers.jsonl", "llm_kamalloo", models=models, clean="none")
    verdicts = judged.judgments["verdict"].to_list()
    assert verdicts == [True, True, True, False, False, True]
    assert len(models.used_entries()) == 4


def test_ids_are_those_that_were_stored(recorded: Path) -> None:
    before = pl.read_parquet(recorded / "finished" / "answers.parquet")
    assert read_answers(recorded / "answers.jsonl")["answer_id"].equals(before["answer_id"])


def test_labels_are_all_there(recorded: Path) -> None:
    store = Store(recorded / "labels.sqlite", adopt=True)
    ready = prepare(store, AnnotateOptions(file="answers.jsonl"))
    project = store.read(load_project)
    assert isinstance(project, Project)
    assert ready.project.items == project.items == 4
    labels = store.read(lambda found: export(found, project, "labels").table)
    rows = [json.loads(line) for line in Path("answers.jsonl").read_text().splitlines()]
    ids = read_answers(rows)["answer_id"].to_list()
    labelled = dict(labels.select("answer_id", "annotator_labels").rows())
    yes, no = [1.0, 1.0], [0.0, 0.0]
    expected = [yes, yes, yes, no, yes]
    assert labelled == dict(zip(ids[:5], expected, strict=True))
