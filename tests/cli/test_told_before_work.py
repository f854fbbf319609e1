"""Errors that agree with themselves and come before any work; explanations in words.

Each was a defect that a stranger met: a label column that was empty and was called missing, a
report's name refused after all calls were made, effects shown under names of columns.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from markscheme.cli import run
from markscheme.judges.examiner import COLUMNS
from markscheme.testing import FaultServer, ServerReply
from with_research import needs_research

Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of two answers whose label column is empty, in the folder where commands run."""
    monkeypatch.chdir(tmp_path)
    rows = [{"question": f"{n}?", "references": ["r"], "answer": "r", "label": None} for n in "ab"]
    file = tmp_path / "answers.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def test_an_empty_label_column_is_called_empty_and_not_missing(
    answers: Path, capsys: Captured
) -> None:
    assert run(["judge", str(answers), "-j", "exact_match", "-o", "run", "-q"]) == 0
    assert run(["plan-labels", "run", "--count", "2", "--out", "plan.csv"]) == 0
    capsys.readouterr()
    empty = "no label is filled in: the column 'label' is empty throughout"
    for labels, wanted in (
        ([], "none of the 2 answers of the run has a label"),
        (["--labels", str(answers)], empty),
        (["--labels", "plan.csv"], empty),
    ):
        assert run(["agree", "run", *labels]) == 2
        said = " ".join(capsys.readouterr().err.split())
        assert wanted in said
        assert "no column" not in said


@needs_research
def test_a_name_without_an_ending_is_refused_before_a_model_is_asked(
    answers: Path, capsys: Captured
) -> None:
    with FaultServer(lambda body, before: ServerReply(content="Yes")) as server:
        asked = ["-j", "llm_kamalloo", "-m", "m", "--base-url", server.url, "--samples", "2"]
        assert run(["reliability", str(answers), *asked, "--out", "runs/rel", "-q"]) == 2
        assert not server.requests
    said = " ".join(capsys.readouterr().err.split())
    assert "'runs/rel': the endings are .json, .csv, .md, .tex, .txt" in said


@pytest.mark.parametrize(
    ("command", "named"),
    [
        (["judge", "answers.jsonl", "-m", "m"], "examiner"),
        (["judge", "answers.jsonl", "-m", "m", "-j", "contains,exact_match"], "contains, exact_"),
        (["judge", "answers.jsonl", "-m", "m", "--dry-run"], "examiner"),
        (
            ["llm", "batch", "write", "answers.jsonl", "-m", "m", "-j", "contains", "-o", "b"],
            "cont",
        ),
        (["llm", "drift", "answers.jsonl", "-m", "m", "-j", "contains"], "contains"),
        (["serve", "-m", "m"], "the judges of this command"),
        pytest.param(
            ["research", "probe", "contains", "answers.jsonl", "-m", "m"],
            "contains",
            marks=needs_research,
        ),
    ],
)
def test_a_model_that_no_judge_calls_is_an_error(
    command: list[str], named: str, capsys: Captured
) -> None:
    assert run(command) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert f"error: --model m has no effect: no language model is called by {named}" in said
    assert "such as " in said
    assert "llm_grader" in said
    assert not Path("runs").exists()


def test_a_model_of_the_settings_is_for_whichever_judge_calls_one(answers: Path) -> None:
    Path("markscheme.toml").write_text('[models]\nmodel = "m"\n')
    assert run(["judge", str(answers), "-j", "exact_match", "-q"]) == 0


def test_one_option_means_by_system_and_old_spellings_of_it_still_work(
    answers: Path, capsys: Captured
) -> None:
    shown: list[str] = []
    assert run(["judge", "-j", "exact_match", "-o", "run", "-q", str(answers)]) == 0
    for words in (["--by", "system"], ["--by-system"]):
        capsys.readouterr()
        assert run(["plan-labels", "run", "--labels", "2", *words]) == 0
        shown.append(capsys.readouterr().out)
    assert shown[0] == shown[1]


def test_explain_names_features_in_words_and_says_that_effects_do_not_add_up(
    capsys: Captured,
) -> None:
    assert run(["explain", "-q", "Who wrote Emma?", "-r", "Jane Austen", "-a", "Jane Austen."]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert sum(meaning in said for meaning in COLUMNS.values()) >= 2
    assert "the effects do not add up to the probability" in said
    assert "key_recall" not in said
    assert "sentence_words" not in said


@needs_research
def test_claims_call_another_year_contradicted(capsys: Captured) -> None:
    words = ["claims", "-q", "When was the film released?", "-r", "It was released in 1975."]
    assert run([*words, "-a", "It was released in 1985.", "--format", "json"]) == 0
    claims = json.loads(capsys.readouterr().out)["claims"]
    assert [claim["outcome"] for claim in claims] == ["contradicted"]


def test_a_batch_file_has_no_figures_and_so_no_slices(capsys: Captured) -> None:
    command = ["llm", "batch", "write", "answers.jsonl", "-m", "m", "-j", "llm_grader", "-o", "b"]
    assert run([*command, "--slices", "label"]) == 2
    assert "--slices" in capsys.readouterr().err


def test_the_address_of_a_cluster_is_no_use_to_the_local_engine(
    answers: Path, capsys: Captured
) -> None:
    command = ["judge", str(answers), "-j", "exact_match", "--ray-address", "auto", "-q"]
    assert run(command) == 2
    assert "--ray-address requires --engine ray" in capsys.readouterr().err
    assert not Path("runs").exists()
