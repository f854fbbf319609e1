from __future__ import annotations

import json
import sys
from pathlib import Path

import polars as pl
import pytest

import markscheme
from markscheme.cli import run
from markscheme.errors import MarkschemeError


def test_a_run_becomes_the_same_report_by_command_and_by_call(
    small_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "report.html"
    papers = ["--figures", str(tmp_path / "figures"), "--tables", str(tmp_path / "tables")]
    titled = ["-o", str(out), "--title", "Ours & theirs"]
    assert run(["report", str(small_run), *titled, *papers]) == 0
    said = capsys.readouterr().out
    assert "24 answers" in said
    assert "figures in" in said
    assert "<h1>Ours &amp; theirs</h1>" in out.read_text()
    assert (tmp_path / "figures" / "accuracy.svg").is_file()
    assert (tmp_path / "tables" / "modes.tex").is_file()

    by_call = tmp_path / "call.html"
    found = markscheme.report(small_run, by_call, title="Ours & theirs", tables=tmp_path / "other")
    assert by_call.read_bytes() == out.read_bytes()
    assert found.path == by_call
    assert found.answers == 24
    assert {"judge", "system", "accuracy"} <= set(found.frame.columns)
    assert all(path.is_file() for path in found.tables_written)


def test_a_report_stands_beside_its_run_by_default(
    hostile_run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["report", str(hostile_run)]) == 0
    assert (hostile_run / "report.html").is_file()
    assert "open it in a browser" in capsys.readouterr().out


def test_what_is_no_run_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["report", str(tmp_path)]) == 2
    assert "without judgments.parquet" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["agree", "verify", "report", "estimate"])
def test_a_folder_of_runs_names_them(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`verify runs` could not read runs/run.json, and `agree runs` proposed to judge into it."""
    answers = [{"question": "q", "references": ["a"], "answer": "a", "label": 1}]
    markscheme.judge(answers, "exact_match", out=tmp_path / "runs" / "first")
    assert run([command, str(tmp_path / "runs")]) == 2
    assert f"is a folder of runs; name one: {tmp_path}/runs/first" in capsys.readouterr().err
    assert run([command, str(tmp_path / "runs" / "frist")]) == 2
    assert "did you mean" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["report.pdf", "report.md", "report"])
def test_no_page_is_written_under_another_ending(
    name: str, small_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["report", str(small_run), "-o", str(tmp_path / name)]) == 2
    assert "the endings are .html, .htm" in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / name).exists()
    with pytest.raises(MarkschemeError, match=r"endings are \.html, \.htm"):
        markscheme.report(small_run, tmp_path / name)


def test_a_column_needs_its_file(run_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["report", str(run_folder), "--label-column", "human"]) == 2
    assert "--labels FILE" in capsys.readouterr().err


def test_a_missing_extra_is_named(
    hostile_run: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    assert run(["report", str(hostile_run)]) == 2
    assert "pip install 'markscheme[report]'" in capsys.readouterr().err


def test_a_result_in_memory_is_reported_where_a_file_is_named(
    example: Path, tmp_path: Path
) -> None:
    result = markscheme.judge(example, "contains")
    found = markscheme.report(result, tmp_path / "report.html")
    assert found.labelled == found.answers
    assert found.path.is_file()
    with pytest.raises(MarkschemeError, match="--out FILE"):
        markscheme.report(result)


def test_a_report_reads_judgments_of_another_tool_by_its_names(tmp_path: Path) -> None:
    judged, answers, labels = (tmp_path / f"{name}.csv" for name in ("j", "a", "l"))
    judged.write_text("nr,who,ok\n1,tool,yes\n2,tool,no\n")
    answers.write_text("nr,frage,antwort,gold\n1,Who?,Austen,Jane Austen\n2,Where?,Quito,Lima\n")
    labels.write_text("nr,human\n1,1\n2,1\n")
    columns = "answer_id=nr,judge=who,verdict=ok,question=frage,answer=antwort,references=gold"
    words = ["report", str(judged), "--answers", str(answers), "-o", str(tmp_path / "r.html")]
    assert run([*words, "--columns", columns]) == 0
    assert run([*words, "--labels", str(labels), "--columns", f"{columns},label=human"]) == 0


def test_a_report_reads_judgments_that_were_saved_as_csv(tmp_path: Path) -> None:
    answers, judged = tmp_path / "a.jsonl", tmp_path / "j.csv"
    said = ("Jane Austen", "Emily Brontë", "")
    rows = [
        {"question": "Who wrote Emma?", "references": ["Jane Austen"], "answer": one}
        for one in said
    ]
    answers.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = markscheme.judge(answers, ["exact_match", "examiner(depth=fast)"]).judgments
    for marks in (pl.col("marks"), pl.lit("A")):
        found.with_columns(marks.alias("marks")).write_csv(judged)
        words = ["report", str(judged), "--answers", str(answers), "-o", str(tmp_path / "r.html")]
        assert run(words) == 0
