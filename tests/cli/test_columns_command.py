"""`markscheme columns`: what a file is read as is shown before anything is judged."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import polars as pl
import pytest

from markscheme.analysis import describe_columns
from markscheme.cli import run
from markscheme.errors import DataError
from markscheme.tables import ReadOptions, read_answers

EXPORTS = Path(__file__).parents[1] / "tables" / "exports"


def test_the_tool_is_named_and_three_rows_are_shown(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["columns", str(EXPORTS / "inspect.eval")]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "inspect_ai log" in shown
    assert "output.completion" in shown
    assert "It was painted by Jon Asker." in shown


@pytest.mark.parametrize(
    ("name", "tool"), [("ragas.csv", ""), ("deepeval.json", ""),
                       ("promptfoo.json", "promptfoo results"), ("hf-dataset", "")],
)  # fmt: skip
def test_what_is_recognised_is_named(name: str, tool: str) -> None:
    found = describe_columns(EXPORTS / name).sources[0]
    assert found.tool == tool
    assert found.rows.height == 3


@pytest.mark.parametrize("name", ["ragas.csv", "deepeval.json", "hf-dataset"])
def test_the_command_it_names_reads_the_same(name: str) -> None:
    command = describe_columns(EXPORTS / name).data["sources"][0]["command"]
    words = shlex.split(command)
    given = dict(pair.split("=") for pair in words[words.index("--columns") + 1].split(","))
    plain = read_answers(EXPORTS / name)
    assert read_answers(EXPORTS / name, ReadOptions(columns=given)).equals(plain)


def test_no_rows_are_no_source_that_can_be_read() -> None:
    with pytest.raises(DataError, match="holds no"):
        describe_columns([])


def test_wide_tables_name_the_systems(tmp_path: Path) -> None:
    file = tmp_path / "wide.csv"
    file.write_text("question,gold,gpt-4o,claude\nWho?,Emma,Emma,Ann\n")
    found = describe_columns(file)
    assert "--answer-columns gpt-4o,claude" in found.data["sources"][0]["command"]
    assert found.sources[0].rows["system"].to_list() == ["gpt-4o", "claude"]


def test_a_file_whose_columns_are_unknown_is_shown_and_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "a.csv"
    file.write_text("frage,antwort\nWer?,Emma\n")
    assert run(["columns", str(file)]) == 2
    shown = capsys.readouterr()
    assert "antwort" in shown.out
    assert "Emma" in shown.out
    assert "--columns question=NAME" in shown.err


def test_json_is_the_python_result(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["columns", str(EXPORTS / "ragas.jsonl"), "--format", "json"]) == 0
    shown = capsys.readouterr().out
    assert shown == describe_columns([str(EXPORTS / "ragas.jsonl")]).to_json()
    assert json.loads(shown)["sources"][0]["columns"][0]["read_as"] == "question"


def test_columns_of_a_tools_own_bookkeeping_are_not_listed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "run")
    assert run(["judge", str(EXPORTS / "inspect.json"), "-j", "contains", "-o", out]) == 0
    said = capsys.readouterr().err
    assert "columns not used" not in said
    assert "references = target" in said
    wide = {"question": "q", "gold": "a", "answer": "a"} | {f"extra{n}": n for n in range(20)}
    file = tmp_path / "many.jsonl"
    file.write_text(json.dumps(wide) + "\n")
    assert run(["judge", str(file), "-j", "contains", "-o", f"{out}2"]) == 0
    said = capsys.readouterr().err
    assert "extra11 and 8 more; 'markscheme columns FILE' shows them" in said


def test_the_shown_command_names_columns_with_spaces(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "a.csv"
    file.write_text("question,gold text,answer\nWho?,Emma,Emma\n")
    assert run(["columns", str(file), "--columns", "references=gold text"]) == 0
    flat = " ".join(capsys.readouterr().out.split())
    assert "--columns 'question=question,references=gold text,answer=answer'" in flat


def refused_alike(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What `columns` and `judge` both say of files that they refuse."""
    told = []
    for command in ("columns", "judge"):
        assert run([command, *arguments]) == 2
        told.append(capsys.readouterr().err)
    assert told[0] == told[1].replace("judging: 0 judgments in 0:00:00\n", "")
    return told[0]


def test_what_judge_would_refuse_is_refused_alike(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "a.csv"
    file.write_text("question,gold,answer,label\nWho?,Emma,Emma,yes\nWhere?,Rome,Rome,maybe\n")
    assert "line 3: label 'maybe'" in refused_alike(capsys, str(file))
    assert run(["columns", str(file), "--on-bad-row", "skip"]) == 0


def test_ids_of_several_rows_are_refused_alike(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = tmp_path / "a.csv", tmp_path / "b.csv"
    first.write_text("id,question,gold,answer,system\n1,Who?,Emma,Emma,s\n")
    second.write_text("id,question,gold,answer,system\n1,Where?,Rome,Rome,s\n")
    options = [str(first), str(second), "--on-bad-row", "skip"]
    assert "the id '1' was used before" in refused_alike(capsys, *options)


def test_a_slice_that_is_shown_anyway_is_shown_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "a.csv"
    file.write_text("question,gold,answer,system\nWho?,Emma,Emma,s\n")
    assert run(["columns", str(file), "--slices", "system"]) == 0
    assert "question   references   answer   system" in capsys.readouterr().out


def test_a_slice_is_used_and_in_the_command_that_reads_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "a.csv"
    file.write_text("question,gold,answer,topic,year\nWho?,Emma,Emma,books,1815\n")
    assert run(["columns", str(file), "--slices", "topic"]) == 0
    shown = capsys.readouterr().out
    assert re.search(r"slice +topic +books", shown)
    assert re.search(r"not used +year", shown)
    assert "--slices topic" in shown.partition("to read it otherwise: markscheme judge")[2]


@pytest.mark.parametrize("name", ["Nr.", "No.", "#", "nr", "ID"])
def test_numbers_of_rows_are_ids(tmp_path: Path, name: str) -> None:
    file = tmp_path / "a.csv"
    file.write_text(f"{name},question,gold,answer\n17,Who?,Emma,Emma\n18,Where?,Rome,Rome\n")
    assert read_answers(file)["answer_id"].to_list() == ["17", "18"]


def test_the_command_has_the_options_that_were_typed_and_can_be_pasted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "bots.csv"
    rows = "Frage;Gold answer;Bot v1;Bot v2;v2 ok?\nWho?;Emma;Émma;x;no\n"
    file.write_bytes(rows.encode("cp1252"))
    typed = ["--encoding", "cp1252", "--reference-separator", " or "]
    typed += ["--answer-columns", "Bot v1,Bot v2"]
    typed += ["--columns", "question=Frage,references=Gold answer,label:Bot v2=v2 ok?"]
    assert run(["columns", str(file), *typed]) == 0
    shown = capsys.readouterr().out
    command = shown.partition("to read it otherwise: ")[2].partition("\n\n")[0]
    words = shlex.split(command)
    assert words[:3] == ["markscheme", "judge", str(file)]
    for flag, value in zip(typed[::2], typed[1::2], strict=True):
        assert words[words.index(flag) + 1] == value


def test_a_list_in_parquet_is_shown_as_the_list_that_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = {"question": ["Who?"], "references": [["Emma", "Eve"]], "answer": ["Emma"]}
    pl.DataFrame(rows).write_parquet(tmp_path / "answers.parquet")
    assert run(["columns", str(tmp_path / "answers.parquet")]) == 0
    out = capsys.readouterr().out
    assert "['Emma', 'Eve']" in out
    assert "Series" not in out
