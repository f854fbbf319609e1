"""What people get wrong at first: messages name the columns, the option and the next command."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import polars as pl
import pytest

from markscheme.cli import run
from markscheme.cli.settings import read_settings

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> Path:
    """A folder with a run of 40 answers, and labels whose ids are called `sample_id`."""
    monkeypatch.chdir(tmp_path)
    rows = pl.DataFrame({
        "id": [f"a{number}" for number in range(40)],
        "question": [f"question {number}?" for number in range(40)],
        "references": [["yes"]] * 40,
        "answer": ["yes", "no"] * 20,
    })  # fmt: skip
    rows.write_ndjson("answers.jsonl")
    labels = rows.select(pl.col("id").alias("sample_id"), label=pl.col("answer") == "yes")
    labels.cast({"label": pl.Int8}).write_csv("labels.csv")
    assert run(["judge", "answers.jsonl", "-j", "exact_match", "-o", "run", "-q"]) == 0
    capsys.readouterr()
    return tmp_path


@pytest.mark.parametrize("command", ["agree", "estimate"])
def test_labels_with_another_id_column_are_matched_by_the_option_that_the_error_names(
    command: str, judged: Path, capsys: Captured
) -> None:
    assert run([command, "run", "--labels", "labels.csv"]) == 2
    said = capsys.readouterr().err
    assert "'answer_id'" in said
    assert "'sample_id', 'label'" in said
    option = "--columns answer_id=sample_id"
    assert option in said
    assert run([command, "run", "--labels", "labels.csv", *option.split()]) == 0
    assert "40" in capsys.readouterr().out


def test_a_column_that_neither_table_has_is_named_with_those_of_both(
    judged: Path, capsys: Captured
) -> None:
    given = ["agree", "run", "--labels", "labels.csv", "--columns", "answer_id=sampleid"]
    assert run(given) == 2
    said = capsys.readouterr().err
    assert "neither the judgments nor the labels have a column 'sampleid'" in said
    assert "'verdict'" in said
    assert "'sample_id'" in said


@pytest.mark.parametrize("model", ["gpt-4o", "o3-mini", "mistralai/Mistral-7B", "llama3.1:8b"])
def test_a_model_given_as_a_judge_leads_to_the_judge_that_asks_it(
    model: str, judged: Path, capsys: Captured
) -> None:
    assert run(["judge", "answers.jsonl", "-j", model]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert f"-j llm_grader -m {model}" in said
    assert run(["judge", "answers.jsonl", "-j", "claude"]) == 2
    assert "-j llm_grader -m MODEL" in " ".join(capsys.readouterr().err.split())


def test_columns_the_wrong_way_round_are_turned(judged: Path, capsys: Captured) -> None:
    pl.read_ndjson("answers.jsonl").rename({"answer": "said"}).write_ndjson("other.jsonl")
    assert run(["judge", "other.jsonl", "-j", "exact_match", "--columns", "said=answer"]) == 2
    said = " ".join(capsys.readouterr().err.split())
    right = re.search(r"OURS=THEIRS, so (\S+)", said)
    assert right is not None
    assert run(["judge", "other.jsonl", "-j", "exact_match", "-q", "--columns", right[1]]) == 0


def test_init_takes_the_columns_that_its_error_asks_for(judged: Path, capsys: Captured) -> None:
    pl.read_ndjson("answers.jsonl").rename({"answer": "said"}).write_ndjson("other.jsonl")
    assert run(["init", "other.jsonl"]) == 2
    assert "--columns answer=NAME" in " ".join(capsys.readouterr().err.split())
    assert run(["init", "other.jsonl", "--columns", "answer=said"]) == 0
    assert 'answer = "said"' in Path("markscheme.toml").read_text()
    assert run(["judge", "other.jsonl", "-j", "exact_match", "-q"]) == 0


def test_init_takes_the_columns_that_hold_a_systems_answers_each(
    judged: Path, capsys: Captured
) -> None:
    rows = pl.read_ndjson("answers.jsonl").drop("id").rename({"answer": "left"})
    rows.with_columns(right=pl.lit("yes")).write_ndjson("wide.jsonl")
    assert run(["init", "wide.jsonl"]) == 2
    option = "--answer-columns left,right"
    assert option in " ".join(capsys.readouterr().err.split())
    assert run(["init", "wide.jsonl", *option.split(), "--on-bad-row", "skip"]) == 0
    found = read_settings(Path("markscheme.toml"))
    assert found.values == {"answer_columns": ["left", "right"], "on_bad_row": "skip"}
    capsys.readouterr()
    assert run(["judge", "wide.jsonl", "-j", "exact_match", "-q"]) == 0
    out = capsys.readouterr().out
    assert re.findall(r"exact_match +(left|right) +\S+", out) == ["left", "right"]


@pytest.mark.parametrize("says", ["ok", "richtig"])
def test_a_wide_file_with_labels_is_read_as_its_error_says(
    says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [
        {"Question": f"Q{n}?", "Gold": f"x{n}", "ShortBot": f"x{n}", f"ShortBot {says}": "1",
         "TalkBot": f"y{n}; z", f"TalkBot {says}": "no" if n else "?"}
        for n in range(4)
    ]  # fmt: skip
    pl.DataFrame(rows).write_csv("wide.csv")
    assert run(["judge", "wide.csv", "-j", "contains"]) == 2
    assert [one.name for one in tmp_path.iterdir()] == ["wide.csv"]  # no folder of a failed run
    said = " ".join(capsys.readouterr().err.split())
    advice = re.search(r"(--answer-columns .+?) \(Python", said)
    assert advice is not None
    options = shlex.split(advice[1])
    assert options == ["--answer-columns", "ShortBot,TalkBot", "--columns",
                       f"label:ShortBot=ShortBot {says},label:TalkBot=TalkBot {says}"]  # fmt: skip
    assert run(["judge", "wide.csv", "-j", "contains", "-o", "run", "-q", *options]) == 0
    answers = pl.read_parquet("run/answers.parquet")
    assert answers.group_by("system").agg(pl.col("label").count()).sort("system").rows() == [
        ("ShortBot", 4), ("TalkBot", 3)
    ]  # fmt: skip
    capsys.readouterr()
    assert run(["columns", "wide.csv", *options]) == 0
    command = " ".join(capsys.readouterr().out.split())
    assert f"label:TalkBot=TalkBot {says}" in command.partition("to read it otherwise")[2]


def test_other_slices_in_the_same_folder_are_called_slices(judged: Path, capsys: Captured) -> None:
    rows = pl.read_ndjson("answers.jsonl").with_columns(topic=pl.lit("x"))
    rows.write_ndjson("answers.jsonl")
    again = ["judge", "answers.jsonl", "-j", "exact_match", "-o", "sliced", "-q"]
    assert run(again) == 0
    capsys.readouterr()
    assert run([*again, "--slices", "topic"]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "a finished run with slices none, not topic; choose another --out" in said


def test_an_empty_reply_is_wrong_and_said_to_be(judged: Path, capsys: Captured) -> None:
    Path("empty.csv").write_text("question,gold,answer\nq1,a,\nq2,b,b\nq3,c,  \n")
    assert run(["judge", "empty.csv", "-j", "exact_match"]) == 0
    shown = capsys.readouterr()
    assert "rows without an answer, judged as wrong (2 rows)" in shown.err
    assert " 33.3 " in shown.out


def test_ids_that_match_nothing_lead_to_the_option(judged: Path, capsys: Captured) -> None:
    Path("other.csv").write_text("id,case,label\n1,a1,1\n2,a2,0\n")
    assert run(["agree", "run", "--labels", "other.csv"]) == 2
    said = capsys.readouterr().err
    assert "judgments have ('a0',), labels have ('1',)" in said
    assert "--columns answer_id=NAME" in said


def test_the_columns_of_labels_are_named_as_in_their_file(judged: Path, capsys: Captured) -> None:
    Path("other.csv").write_text("q,answer,opinion\nquestion 0?,yes,1\n")
    assert run(["agree", "run", "--labels", "other.csv"]) == 2
    assert "The columns are 'q', 'answer', 'opinion'" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["plan-labels --count 30", "rank"])
def test_answers_that_nobody_judged_lead_to_judge(
    command: str, judged: Path, capsys: Captured
) -> None:
    name, *options = command.split()
    assert run([name, "answers.jsonl", *options]) == 2
    said = capsys.readouterr().err
    assert "not judged yet" in said
    assert "markscheme judge FILE --out RUN" in said


def test_a_plan_of_few_labels_says_that_they_will_be_alone(judged: Path, capsys: Captured) -> None:
    assert run(["plan-labels", "run", "--count", "19"]) == 0
    assert "from fewer than 20 labels" in capsys.readouterr().out
    assert run(["plan-labels", "run", "--count", "20"]) == 0
    assert "from fewer than" not in capsys.readouterr().out


def test_a_file_without_references_shows_what_was_recognised_of_it(
    judged: Path, capsys: Captured
) -> None:
    pl.read_ndjson("answers.jsonl").drop("references").write_ndjson("bare.jsonl")
    assert run(["columns", "bare.jsonl"]) == 2
    shown = capsys.readouterr()
    roles = {line.split()[0] for line in shown.out.splitlines()[3:] if line.strip()}
    assert {"question", "answer", "answer_id"} <= roles
    assert "not" not in roles
    assert "no column for references" in shown.err


@pytest.mark.parametrize(
    "words",
    ["agree rum", "failures ru --rejected", "diff run answer.jsonl", "columns answer.jsonl"],
)
def test_a_path_that_is_nearly_right_is_named(words: str, judged: Path, capsys: Captured) -> None:
    assert run(words.split()) == 2
    said = capsys.readouterr().err
    assert f"did you mean {'answers.jsonl' if 'answer.' in words else 'run'!r}?" in said


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (("estimate", "--confidence", "95"), "it is 95, and must be 0.9999 or less: write 0.95."),
        (("diff", "--margin", "5"), "it is 5, and must be 1 or less: write 0.05."),
        (("diff", "--looks", "0"), "it is 0, and must be 1 or more."),
        (("diff", "--looks", "9" * 400), "it is inf, and must be 1000000 or less."),
        (("judge", "--timeout", "0"), "it is 0, and must be 0.001 or more."),
        (("judge", "--timeout", "nan"), "it is nan, and must be a number."),
        (("estimate", "--by", "sytem"), "'sytem' is not one of 'system'; did you mean 'system'?"),
    ],
)
def test_a_value_that_cannot_be_is_refused_in_plain_words(
    line: tuple[str, str, str], message: str, capsys: Captured
) -> None:
    command, option, value = line
    assert run([command, "a", *(["b"] if command == "diff" else []), option, value]) == 2
    said = " ".join(capsys.readouterr().err.replace("│", " ").split())
    assert f"Invalid value for '{option}': {message}" in said


@pytest.mark.parametrize("words", ["judge answers.jsonl -o other", "report run", "agree run"])
def test_a_judge_whose_variable_is_not_set_is_not_the_default_one(
    words: str, judged: Path, capsys: Captured
) -> None:
    assert run([*words.split(), "--judge", ""]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "--judge is empty (a variable that is not set?)" in said
    assert not Path("other").exists()
