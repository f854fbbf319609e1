"""The judge and judges commands as a user calls them."""

from __future__ import annotations

import io
import itertools
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from rich.console import Console

from markscheme.cli import run
from markscheme.contract import parse_judge
from markscheme.engine import default_folder
from markscheme.engine.execute import apply
from markscheme.results.table import Table
from markscheme.tables import read_answers


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test in a folder of its own, since runs/ is made where one is."""
    monkeypatch.chdir(tmp_path)


def test_judging_a_file_prints_the_table_and_writes_the_run(
    example: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["judge", str(example), "-j", "exact_match", "-j", "token_f1(threshold=0.6)"]
    assert run([*arguments, "--out", "runs/x"]) == 0
    out, err = capsys.readouterr()
    assert "token_f1(threshold=0.6)   terse" in out
    assert "95% interval" in out
    assert "judgments" in err
    assert "written to runs/x" in err
    assert pl.read_parquet("runs/x/judgments.parquet")["judge"].n_unique() == 2
    assert json.loads(Path("runs/x/summary.json").read_text())["figures"]
    assert run([*arguments, "--out", "runs/x"]) == 0
    assert "judgments were reused from an earlier run" in capsys.readouterr().err


def test_the_default_folder_is_the_same_for_the_same_command(example: Path) -> None:
    for _ in range(2):
        assert run(["judge", str(example), "-j", "contains"]) == 0
    assert run(["judge", str(example), "-j", "exact_match"]) == 0
    assert len(list(Path("runs").iterdir())) == 2


def test_a_folder_has_its_file_s_whole_version() -> None:
    Path("gpt-4.1.jsonl").write_text('{"question": "q", "gold": "a", "answer": "a"}\n')
    assert run(["judge", "gpt-4.1.jsonl", "-j", "exact_match", "-q"]) == 0
    (folder,) = Path("runs").iterdir()
    assert folder.name.startswith("gpt-4.1-")


def test_a_data_set_has_one_folder_by_its_name() -> None:
    judges = [parse_judge("exact_match")]
    first, again = (default_folder(["dataset:sums"], judges, "formatting", None) for _ in range(2))
    assert first == again
    assert first.name.startswith("sums-")


def test_a_folder_of_tables_has_one_folder_until_a_table_changes(example: Path) -> None:
    table = read_answers(example)
    Path("answers").mkdir()
    for rows, folders in ((50, 1), (60, 2)):
        table.head(rows).write_parquet("answers/part.parquet")
        for _ in range(2):
            assert run(["judge", "answers", "-j", "contains", "-q"]) == 0
            assert len(list(Path("runs").iterdir())) == folders


def test_a_changed_file_gets_a_folder_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    file = Path("a.jsonl")
    row = '{"question":"q","gold":"a","answer":"a"}\n'
    for content in (row, row + row):
        file.write_text(content)
        assert run(["judge", "a.jsonl", "-j", "exact_match"]) == 0
    assert len(list(Path("runs").iterdir())) == 2
    said = "rows that repeat an earlier one exactly were counted; --repeats drop leaves them out"
    assert f"note: {said} (1 row)" in capsys.readouterr().err


def test_columns_separator_and_clean(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.csv").write_text("frage,soll,ist\nWho?,Ann/Anne,Anne [1]\n")
    names = "question=frage,references=soll,answer=ist"
    arguments = ["judge", "a.csv", "-j", "exact_match", "--columns", names,
                 "--reference-separator", "/"]  # fmt: skip
    assert run([*arguments, "--out", "cleaned"]) == 0
    assert pl.read_parquet("cleaned/judgments.parquet")["verdict"].to_list() == [True]
    assert pl.read_parquet("cleaned/answers.parquet")["answer"].to_list() == ["Anne [1]"]
    assert run([*arguments, "--clean", "none", "--out", "raw"]) == 0
    assert pl.read_parquet("raw/judgments.parquet")["verdict"].to_list() == [False]
    capsys.readouterr()
    assert run([*arguments, "--clean", "formatting", "--out", "raw"]) == 2
    assert "holds a run with --clean none, not formatting" in capsys.readouterr().err
    assert run([*arguments, "--clean", "chat"]) == 2
    assert "is 'markscheme judge --clean formatting' now" in capsys.readouterr().err


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    content = b'{"question":"q","gold":"a","answer":"a"}\n'
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    assert run(["judge", "-", "-j", "exact_match", "-q", "--out", "x"]) == 0
    assert pl.read_parquet("x/judgments.parquet")["verdict"].to_list() == [True]


def test_again_is_of_the_same_answers_and_judges(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    row = '{"question":"q","gold":"a","answer":"%s","system":"s"}\n'
    Path("a.jsonl").write_text(row % "a" + row % "b")
    Path("b.jsonl").write_text(row % "b")
    Path("bad.jsonl").write_text(row % "a" + "no object\n")
    assert run(["judge", "a.jsonl", "-j", "exact_match", "-q", "--out", "x"]) == 0
    before = {file: file.read_bytes() for file in Path("x").iterdir()}
    for file, judge, why in (
        ("b.jsonl", "exact_match", "x holds a finished run on 2 answers, not 1"),
        ("a.jsonl", "contains", "x holds a run with exact_match, not contains"),
        ("bad.jsonl", "exact_match", "bad.jsonl, line 2: not valid JSON"),
    ):
        assert run(["judge", file, "-j", judge, "-q", "--out", "x", "--again"]) == 2
        assert why in capsys.readouterr().err
        assert {file: file.read_bytes() for file in Path("x").iterdir()} == before
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(Path("a.jsonl").open("rb")))
    assert run(["judge", "-", "-j", "exact_match", "--out", "x", "--again"]) == 0
    assert "reused" not in capsys.readouterr().err
    tables = ("answers.parquet", "judgments.parquet")
    assert all(Path("x", name).read_bytes() == before[Path("x", name)] for name in tables)


def test_bad_rows_stop_or_are_skipped_and_counted(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.jsonl").write_text('{"question":"q","gold":"a","answer":"a"}\n{"question":"q",\n')
    assert run(["judge", "a.jsonl", "-j", "exact_match", "-q"]) == 2
    assert "a.jsonl, line 2: not valid JSON" in capsys.readouterr().err
    skip = ["judge", "a.jsonl", "-j", "exact_match", "--on-bad-row", "skip", "--out", "x"]
    assert run(skip) == 0
    printed = capsys.readouterr().err
    assert "warning: 1 bad rows were skipped; see x/bad_rows.jsonl" in printed
    assert "  a.jsonl, line 2: not valid JSON" in printed


def test_why_answers_were_not_judged_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    patterns = ["Jane.*", "(never", "[closed", "(?z)", "*", "\\u001b[31m("]
    rows = [
        f'{{"question":"q{n}","gold":"{one}","answer":"Austen","reference_kind":"regex"}}\n'
        for n, one in enumerate([*patterns, "(never"])
    ]
    Path("patterns.jsonl").write_text("".join(rows))
    assert run(["judge", "patterns.jsonl", "-j", "regex", "-j", "exact_match"]) == 0
    told = capsys.readouterr().err
    assert "not judged by regex: 2 failed: '(never' is not a valid regular expression" in told
    assert "not judged by regex: 2 more, for other reasons" in told
    assert "not judged by exact_match: 7 skipped: " in told
    assert "\x1b" not in told


def test_answers_not_given_are_wrong_and_counted(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.jsonl").write_text(
        '{"question":"q","gold":"a","answer":"a"}\n{"question":"r","gold":"a","answer":null}\n'
    )
    assert run(["judge", "a.jsonl", "-j", "exact_match"]) == 0
    told = capsys.readouterr()
    assert "50.0" in told.out
    assert "note: rows without an answer, judged as wrong (1 row)" in told.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["judge", "a.jsonl", "-j", "exact_mtch"], "did you mean 'exact_match'"),
        (["judge", "a.jsonl", "-j", "exact_match"], "cannot read a.jsonl: No such file"),
        (
            ["judge", "a.jsonl", "-j", "exact_match", "--input-format", "xls"],
            "'jsonl', 'json'",
        ),
        (["judge", "a.jsonl", "-j", "exact_match", "--columns", "q"], "is not OURS=THEIRS"),
        (
            ["judge", "a.jsonl", "-j", "exact_match", "--on-bad-row", "hide"],
            "'error', 'skip'",
        ),
        (["judge"], "Missing argument"),
        (["jugde"], "No such command"),
        (["judges", "bluerouge"], "'markscheme judges' lists all"),
    ],
)
def test_errors_are_one_message_and_exit_code_2(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2
    err = capsys.readouterr().err
    assert message in err
    assert "Traceback" not in err


def test_debug_shows_the_traceback() -> None:
    command = [sys.executable, "-m", "markscheme", "judge", "nothing", "-j", "contains", "--debug"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "Traceback" in done.stderr


def test_judges_are_listed_and_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["judges"]) == 0
    listing = capsys.readouterr().out
    for name in ("exact_match", "contains", "token_f1", "regex", "rougeL", "bleu"):
        assert name in listing
    assert run(["judges", "token_f1"]) == 0
    shown = capsys.readouterr().out
    for text in (
        "threshold",
        "a number",
        "paper: Rajpurkar",
        "needs: nothing",
        "example",
    ):
        assert text in shown


def test_a_closed_pipe_is_no_error(example: Path) -> None:
    command = f"{sys.executable} -m markscheme judge {example} -j exact_match -q | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr


def test_a_reader_that_left_before_the_first_line_is_no_failed_check() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "markscheme", "judges"], stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    process.stdout.close()
    assert process.wait() == 0


def test_a_check_fails_also_where_the_reader_of_all_output_has_left(
    example: Path, tmp_path: Path
) -> None:
    words = ["judge", str(example), "-j", "exact_match", "--fail-under", "0.9", "-o", "run"]
    process = subprocess.Popen(
        [sys.executable, "-m", "markscheme", *words],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=tmp_path,
    )  # fmt: skip
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.wait() == 1


def test_an_interrupt_says_what_is_kept(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("markscheme.tables.answers.AnswersReader.__iter__", interrupted)
    Path("a.jsonl").write_text('{"question":"q","gold":"a","answer":"a"}\n')
    assert run(["judge", "a.jsonl", "-j", "exact_match"]) == 130
    assert capsys.readouterr().err == "no judgment was saved yet\ninterrupted\n"


def test_an_interrupt_names_the_folder_where_a_run_goes_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    Path("a.jsonl").write_text('{"question":"q","gold":"a","answer":"a"}\n')
    command = ["judge", "a.jsonl", "-j", "exact_match", "-o", "there"]
    with monkeypatch.context() as patched:
        patched.setattr("markscheme.engine.local_run._put_together", interrupted)
        assert run(command) == 130
    kept = (
        "1 judgment is saved in there; the same command with that --out resumes there\n"
        "interrupted\n"
    )
    assert capsys.readouterr().err == kept
    assert run(command) == 0
    assert "1 judgments were reused from an earlier run" in capsys.readouterr().err


def test_a_slow_judge_loses_little_to_an_interrupt(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first 1,024 answers were one piece: 25 seconds of the examiner were lost."""
    lines = [f'{{"question":"q{n}","gold":"a","answer":"a"}}\n' for n in range(1000)]
    Path("a.jsonl").write_text("".join(lines))
    command = ["judge", "a.jsonl", "-j", "exact_match", "-o", "there", "-q"]
    calls = itertools.count(1)

    def ask(*given: Any) -> pl.DataFrame:
        if next(calls) == 4:
            raise KeyboardInterrupt
        return apply(*given)

    with monkeypatch.context() as patched:
        patched.setattr("markscheme.engine.processes.apply", ask)
        patched.setattr("markscheme.engine.stream.chunk_after", lambda *_: 1)
        patched.setattr("markscheme.engine.local_run._SAVED_AFTER", 0.0)
        assert run(command) == 130
    # Two chunks at first, of which the second shows the pace.
    assert "257 judgments are saved in there; the same" in capsys.readouterr().err
    assert run(command) == 0
    assert pl.read_parquet("there/judgments.parquet").height == 1000


def test_answers_with_unreadable_labels_are_judged_and_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    said = ["yes", "?", *["maybe"] * 9, "dunno"]
    rows = [f"question {n}?,a,a,{label}" for n, label in enumerate(said)]
    Path("a.csv").write_text("question,gold,answer,label\n" + "\n".join(rows))
    command = ["judge", "a.csv", "-j", "exact_match", "-o", "there"]
    assert run(command) == 2
    told = capsys.readouterr().err
    assert "10 labels cannot be read" in told
    assert "judges an answer without a label that cannot be read" in told
    assert "leaves out" not in told.splitlines()[-1]
    assert "a.csv, line 4: label 'maybe' is none of yes/no" in told
    assert "and 9 like it: lines 5, 6, 7, 8, 9, ..., with 'dunno'" in told
    assert run([*command, "--on-bad-row", "skip"]) == 0
    out, told = capsys.readouterr()
    assert "12" in out
    assert "label '?' is read as no label (1 row)" in told
    assert "10 labels could not be read; their answers are judged, without a label:" in told
    assert "and 9 like it: lines 5, 6, 7, 8, 9, ..., with 'dunno'" in told
    assert "skipped" not in told
    assert pl.read_parquet("there/judgments.parquet").height == 12
    assert pl.read_parquet("there/answers.parquet")["label"].null_count() == 11
    summary = json.loads(Path("there/summary.json").read_text())
    assert summary["answers"]["unread_labels"] == 10


def test_tables_in_a_pipe_are_as_wide_as_columns_says() -> None:
    Path("a.csv").write_text("question,gold,answer\n" + f"{'long ' * 30}?,a,a\n")
    command = [sys.executable, "-m", "markscheme", "columns", "a.csv"]
    for wide in (80, 120):
        env = {**os.environ, "COLUMNS": str(wide)}
        shown = subprocess.run(command, capture_output=True, text=True, check=True, env=env).stdout
        table = [line for line in shown.splitlines() if "long" in line]
        assert wide - 20 < max(len(line.rstrip()) for line in table) <= wide


def test_a_narrow_terminal_cuts_no_name_and_no_figure() -> None:
    table = Table(title="F1", header=("judge",), rows=(("exact_match",), ("1,000,000",)))
    narrow = Console(width=8, file=io.StringIO())
    narrow.print(table.rich())
    assert isinstance(narrow.file, io.StringIO)
    together = "".join(narrow.file.getvalue().split())
    assert "exact_match" in together
    assert "1,000,000" in together


def test_another_column_mapping_gets_a_folder_of_its_own() -> None:
    Path("a.csv").write_text("q,gold,one,two\nWho?,Ann,Ann,Bob\n")
    for answer in ("one", "two"):
        columns = f"question=q,answer={answer}"
        assert run(["judge", "a.csv", "-j", "exact_match", "--columns", columns]) == 0
    assert len(list(Path("runs").iterdir())) == 2
