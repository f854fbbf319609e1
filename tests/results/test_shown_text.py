"""What strangers wrote cannot steer a terminal, a page or a spreadsheet."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import polars as pl
import pytest

import markscheme
from markscheme.cli import run
from markscheme.results.table import Table
from markscheme.tables.answers import read_answers, write_answers
from markscheme.text.shown import csv_cell, csv_value

HOSTILE = "\x1b[2J\x1b]0;title\x07<img src=http://evil/x>![a](http://evil/y.png)\x9b31m\u202etxt|"
FORMULAS = ["=cmd|' /C calc'!A0", "@SUM(A1)", "+cmd", "-cmd", "\t=1", "'=1"]


def test_a_hostile_name_of_a_system_reaches_neither_terminal_nor_markdown(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "answers.jsonl"
    row = {"question": "q", "references": ["r"], "answer": "r", "system": HOSTILE}
    path.write_text("".join(json.dumps({**row, "question": f"q{n}"}) + "\n" for n in range(3)))
    assert run(["judge", str(path), "-j", "exact_match", "-q", "-o", str(tmp_path / "run")]) == 0
    assert run(["verify", str(tmp_path / "run")]) == 0
    said = capfd.readouterr()
    markdown = (tmp_path / "run" / "summary.md").read_text()
    for text in (said.out, said.err, markdown):
        assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(text)
    assert "\\x1b" in said.out
    assert "<img" not in markdown
    assert "![" not in markdown
    assert markscheme.judge(path, "exact_match").judgments.height == 3


def test_an_error_that_quotes_a_file_cannot_steer_the_terminal(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a\x1b[2Jb.jsonl"
    path.write_text('{"question": "q", "nothing": 1}\n')
    assert run(["judge", str(path), "-j", "exact_match", "-q"]) == 2
    assert "\x1b" not in capfd.readouterr().err


def test_every_format_of_a_table_is_safe() -> None:
    table = Table(title=HOSTILE, header=("x", HOSTILE), rows=(("a", HOSTILE),), notes=(HOSTILE,))
    for text in (table.markdown(), table.latex(), table.html(), table.csv()):
        assert not {"\x1b", "\x07", "\x9b"} & set(text)
    assert "<img" not in table.markdown() + table.html()
    assert "![" not in table.markdown()


def test_no_cell_of_a_csv_file_is_a_formula_and_reading_gives_it_back(tmp_path: Path) -> None:
    rows = [{"question": f"q{n}", "references": ["r"], "answer": text}
            for n, text in enumerate([*FORMULAS, "-1.5", "- item", "plain", "'tis"])]  # fmt: skip
    answers = read_answers(rows)
    path = tmp_path / "answers.csv"
    write_answers(answers, path)
    with path.open(newline="") as stream:
        cells = [row["answer"] for row in csv.DictReader(stream)]
    assert all(cell[0] == "'" for cell in cells[: len(FORMULAS)])
    assert cells[len(FORMULAS) :] == ["-1.5", "- item", "plain", "'tis"]
    assert read_answers(path)["answer"].to_list() == answers["answer"].to_list()


def test_a_plan_of_labels_opens_in_a_spreadsheet_without_formulas(tmp_path: Path) -> None:
    rows = [
        {"question": f"q{n}", "references": ["r"], "answer": FORMULAS[n % 4], "system": "=s()"}
        for n in range(60)
    ]
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    markscheme.judge(path, "exact_match", out=tmp_path / "run")
    out = tmp_path / "plan.csv"
    plan = ["plan-labels", str(tmp_path / "run"), "--count", "20", "--out", str(out)]
    assert run(plan) == 0
    table = list(csv.reader(io.StringIO(out.read_text())))
    assert not [cell for row in table for cell in row if cell[:1] in ("=", "@", "\t")]


@pytest.mark.parametrize("text", [*FORMULAS, "", "a", "''=x", "-", "+4.5", "-1.5 [-2, 1]"])
def test_cells_read_back_as_they_were(text: str) -> None:
    assert csv_value(csv_cell(text)) == text


def test_numbers_of_a_table_stay_numbers() -> None:
    table = Table(title="t", header=("x",), rows=(("-0.5",), ("+4.5",), ("-",), ("=1",)))
    assert pl.read_csv(io.StringIO(table.csv()))["x"].to_list() == ["-0.5", "+4.5", "-", "'=1"]
