"""`markscheme.toml`: found, read by every command, checked, and weaker than what is typed."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import polars as pl
import pytest

from markscheme.annotate.options import read_guidelines
from markscheme.cli import run
from markscheme.cli.settings import SECTIONS, TEMPLATE, read_settings, settings_file
from markscheme.errors import MarkschemeError
from markscheme.models.chat.profiles import read_models
from markscheme.service.settings import read_keys
from markscheme.tables import ReadOptions, read_answers

SETTINGS = """\
judges = ["contains"]
slices = ["topic"]

[columns]
question = "frage"
answer = "antwort"

[gate]
fail_under = 0.3

[models]
ledger = "from-the-file.sqlite"
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MARKSCHEME_CONFIG", raising=False)
    monkeypatch.delenv("MARKSCHEME_LEDGER", raising=False)
    Path("markscheme.toml").write_text(SETTINGS)
    Path("a.csv").write_text("frage,antwort,gold,topic\nWho?,Emma,Emma,x\nWhat?,no,yes,y\n")
    return tmp_path


def test_the_file_gives_columns_judges_slices_and_the_gate(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["judge", "a.csv", "-q", "-o", "run"]) == 0
    assert "gate passed: contains, a: accepted 50.0; wanted 30" in capsys.readouterr().err
    assert run(["judge", "a.csv", "-q", "-o", "run", "--gate-slices"]) == 1
    shown = capsys.readouterr()
    assert "contains" in shown.out
    assert "by judge and topic" in shown.out
    assert "topic=y: accepted 0.0; wanted 30" in shown.err
    said = [line for line in shown.err.splitlines() if "from markscheme.toml" in line]
    assert len(said) == 1
    assert "judges = contains" in said[0]
    assert "fail_under = 0.3" in said[0]


def test_what_is_typed_comes_first(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    typed = ["judge", "a.csv", "-q", "-o", "run", "-j", "exact_match", "--fail-under", "0"]
    assert run(typed) == 0
    shown = capsys.readouterr()
    assert "exact_match" in shown.out
    assert "contains" not in shown.out + shown.err
    assert "fail_under" not in shown.err


def test_columns_that_are_typed_add_to_those_of_the_file(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("a.csv").write_text("nr,frage,out,antwort,gold,topic\n1,A?,Emma,x,Emma,x\n1,B?,y,x,no,y\n")
    typed = ["--columns", "answer_id=none"]
    assert run(["judge", "a.csv", "-q", "-o", "run", "--fail-under", "0", *typed]) == 0
    assert "accepted 0.0" in capsys.readouterr().err
    typed += ["--columns", "answer=out"]
    assert run(["judge", "a.csv", "-q", "-o", "two", "--fail-under", "0", *typed]) == 0
    told = capsys.readouterr().err
    assert "accepted 50.0" in told
    assert "note: from markscheme.toml: columns = question=frage; " in told
    # A column that is typed for something else is not what the file says as well.
    assert (
        run(["columns", "a.csv", "--columns", "question=antwort,answer=frage,answer_id=none"]) == 0
    )
    assert "columns = " not in capsys.readouterr().err


def test_answer_columns_that_are_typed_replace_the_answer_of_the_file_and_the_other_way_round(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = {"frage": ["Who?"], "antwort": ["no"], "gold": ["Emma"], "u": ["Emma"], "v": ["x"]}
    pl.DataFrame(table | {"topic": ["t"]}).write_csv("a.csv")
    judge = ["judge", "a.csv", "-q", "--fail-under", "0", "-o"]
    assert run([*judge, "one", "--answer-columns", "u,v"]) == 0
    assert "columns = question=frage; " in capsys.readouterr().err
    assert pl.read_parquet("one/answers.parquet")["answer"].to_list() == ["Emma", "x"]
    reading = '[columns]\nquestion = "frage"\n[reading]\nanswer_columns = ["u", "v"]\n'
    Path("markscheme.toml").write_text(f'judges = ["contains"]\n{reading}')
    assert run([*judge, "two", "--columns", "answer=antwort"]) == 0
    told = capsys.readouterr().err
    assert "columns = question=frage" in told
    assert "answer_columns" not in told
    assert pl.read_parquet("two/answers.parquet")["answer"].to_list() == ["no"]
    both = ["--answer-columns", "u,v", "--columns", "answer=antwort"]
    assert run([*judge, "three", *both]) == 2
    assert "are both given; give one of them" in " ".join(capsys.readouterr().err.split())


def test_a_project_that_init_made_compares_weeks(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """docs/how-to/compare-runs.md, "Many comparisons with one base", with columns of one's own."""
    for name, answer in (("yesterday", "Emma"), ("today", "no idea")):
        rows = [
            {"id": n, "prompt": f"q{n}", "gold": "Emma", "output": answer if n % 2 else "Emma"}
            for n in range(30)
        ]
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        Path(f"{name}.jsonl").write_text(lines)
        Path(f"{name}-week.jsonl").write_text(7 * lines)
    names = "question=prompt,references=gold,answer=output"
    assert run(["init", "yesterday.jsonl", "--replace", "--columns", names]) == 0
    weeks = ["diff", "yesterday-week.jsonl", "today-week.jsonl", "-j", "contains", "--looks", "14"]
    assert run([*weeks, "--columns", "answer_id=none", "--fail-on-regression"]) == 1
    assert "The new answers are worse: -50.0 points" in capsys.readouterr().out


def test_the_environment_comes_before_the_file(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(["judge", "a.csv", "-q", "-o", "one"])
    assert "ledger = from-the-file.sqlite" in capsys.readouterr().err
    monkeypatch.setenv("MARKSCHEME_LEDGER", str(project / "other.sqlite"))
    run(["judge", "a.csv", "-q", "-o", "two"])
    assert "ledger" not in capsys.readouterr().err


def test_a_run_has_our_columns_already(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(["judge", "a.csv", "-q", "-o", "run"])
    capsys.readouterr()
    assert run(["failures", "run"]) == 0
    assert run(["diff", "run", "run"]) == 0
    assert "columns" not in capsys.readouterr().err
    assert run(["judge", "a.csv", "-q", "-o", "run"]) == 0  # the file is no run, though --out is
    assert run(["diff", "run", "a.csv"]) == 0
    assert capsys.readouterr().err.count("columns = question=frage") == 2


def test_how_files_are_read_counts_for_every_command_that_reads_answers(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("markscheme.toml").write_text(
        '[columns]\nquestion = "frage"\nreferences = "key"\nanswer = "antwort"\n'
        '[reading]\nreference_separator = ";"\non_bad_row = "skip"\nrepeats = "drop"\n'
    )
    rows = ["Who?,Emma,Jane;Emma,1", "Who?,Emma,Jane;Emma,1", "What?,no,,0"]
    Path("a.csv").write_text("\n".join(["frage,antwort,key,label", *rows, ""]))
    Path("b.csv").write_text("\n".join(["frage,antwort,key,label", rows[0], ""]))
    assert run(["judge", "b.csv", "-j", "exact_match", "--format", "json", "-q", "-o", "run"]) == 0
    assert json.loads(capsys.readouterr().out)["figures"][0]["accuracy"] == 1.0
    for command in (["diff", "a.csv", "b.csv"], ["diff", "run", "a.csv"]):
        assert run([*command, "-j", "exact_match", "--format", "json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert (found["counts"]["same"], found["pairs"][0]["base_verdict"]) == (1, True)
    assert run(["failures", "a.csv", "--format", "json"]) == 0
    shown = capsys.readouterr()
    assert json.loads(shown.out)["modes"] == []
    assert "warning: 1 row left out: a.csv, line 4: no references" in shown.err
    assert "note: a.csv: rows that repeat an earlier one exactly are left out (1 row)" in shown.err


def test_a_folder_below_reads_it_up_to_the_repository_only(project: Path) -> None:
    (below := project / "repository" / "inner").mkdir(parents=True)
    assert settings_file(below) is None
    (project / ".git").mkdir()
    assert settings_file(below) == project / "markscheme.toml"
    (project / "repository" / ".git").mkdir()
    assert settings_file(below) is None


def test_the_variable_names_another_file_or_none(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (other := project / "other.toml").write_text('judges = ["contains"]\n')
    monkeypatch.setenv("MARKSCHEME_CONFIG", str(other))
    assert settings_file() == other
    monkeypatch.setenv("MARKSCHEME_CONFIG", "none")
    assert settings_file() is None
    monkeypatch.setenv("MARKSCHEME_CONFIG", "missing.toml")
    with pytest.raises(MarkschemeError, match=r"missing\.toml"):
        settings_file()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("judges =", "jugdes =", "line 1: no key 'jugdes'; did you mean 'judges'?"),
        ("ledger =", "ledgr =", "line 12: no key 'ledgr' in [models]; did you mean 'ledger'?"),
        ("[gate]", "[gates]", "line 8: no section 'gates'; did you mean 'gate'?"),
        ("answer =", "anwser =", "line 6: no key 'anwser' in [columns]; did you mean 'answer'?"),
        ("fail_under = 0.3", "ledger = 3", "line 9: no key 'ledger' in [gate]; it belongs in [mod"),
        ("0.3", '"much"', "line 9: fail_under = 'much' is not a valid value"),
        ('["contains"]', "[1, [2]]", "line 1: judges = [1, [2]] is not a valid value (a list of"),
        ("0.3", "", "not valid TOML"),
        ('"frage"', "7", "line 5: the column for question is the name of one"),
    ],
)
def test_a_mistake_is_named_with_file_line_key_and_the_nearest(
    project: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, said: str
) -> None:
    Path("markscheme.toml").write_text(SETTINGS.replace(old, new, 1))
    assert run(["judge", "a.csv", "-q"]) == 2
    shown = capsys.readouterr().err
    assert shown.startswith("error: markscheme.toml")
    assert said in shown
    assert run(["judge", "--help"]) == 0


def test_init_writes_a_file_that_says_nothing_until_it_is_edited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["init"]) == 0
    found = read_settings(Path("markscheme.toml"))
    assert (found.columns, found.values) == ({}, {})
    assert run(["init"]) == 2
    assert "--replace" in capsys.readouterr().err
    Path("a.csv").write_text("Frage,response,gold\nWho?,Emma,Emma\n")
    assert run(["init", "a.csv", "--replace"]) == 2  # no column is known for the question
    Path("a.csv").write_text("user_input,response,gold\nWho?,Emma,Emma\n")
    assert run(["init", "a.csv", "--replace"]) == 0
    assert read_settings(Path("markscheme.toml")).columns == {
        "question": "user_input",
        "references": "gold",
        "answer": "response",
    }


def test_init_writes_all_columns_that_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names = {
        "question": "user_query", "references": "gold", "answer": "bot_reply", "answer_id": "qid",
        "system": "build", "answer_error": "err", "reference_grades": "marks", "context": "ctx",
        "reference_kind": "sort", "annotator_labels": "raters", "label": "none",
    }  # fmt: skip
    head = ",".join([*(name for name in names.values() if name != "none"), "human"])
    row = 'Who?,"[""a"",""b""]",a,q1,x,,"[2,1]",c,text,"[1]",0'
    Path("a.csv").write_text(f"{head}\n{row}\n")
    typed = ",".join(f"{ours}={theirs}" for ours, theirs in names.items())
    assert run(["init", "a.csv", "--columns", typed]) == 0
    assert read_settings(Path("markscheme.toml")).columns == names
    assert run(["judge", "a.csv", "-j", "exact_match", "-q", "-o", "run"]) == 0
    answers = pl.read_parquet("run/answers.parquet").row(0, named=True)
    assert (answers["answer_id"], answers["reference_grades"]) == ("q1", [2, 1])
    assert (answers["label"], answers["context"]) == (None, "c")


def test_init_writes_labels_of_systems_and_leaves_further_references_to_reading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text("id,question,gold,aliases,gpt-4o,claude,U: 1,U2\n1,q,g,h,h,x,1,0\n")
    labels = "label:gpt-4o=U: 1,label:claude=U2"
    assert run(["init", "a.csv", "--columns", labels]) == 0
    found = read_settings(Path("markscheme.toml"))
    assert found.columns == {"label:gpt-4o": "U: 1", "label:claude": "U2"}
    assert run(["judge", "a.csv", "-j", "exact_match", "-q", "-o", "run"]) == 0
    answers = pl.read_parquet("run/answers.parquet")
    assert answers["label"].to_list() == [1, 0]
    assert answers["references"].to_list() == [["g", "h"]] * 2


@pytest.mark.parametrize("label", ["label_{}", "{} Karl"])
def test_init_and_columns_read_systems_as_judge_does(
    label: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names = [label.format(name) for name in "ab"]
    typed = {} if label == "label_{}" else {f"label:{name[0]}": name for name in names}
    head = ",".join(["id,question,gold,answer_a,answer_b", *names])
    Path("wide.csv").write_text(f"{head}\n1,q,g,g,h,1,0\n2,r,g,h,g,0,1\n")
    expected = read_answers("wide.csv", ReadOptions(columns=typed))
    assert expected["system"].unique(maintain_order=True).to_list() == ["a", "b"]
    assert expected["label"].null_count() == 0
    options = [f"--columns={','.join(f'{ours}={name}' for ours, name in typed.items())}"]
    options = options if typed else []
    assert run(["columns", "wide.csv", *options]) == 0
    shown = capsys.readouterr().out
    command = shown.partition("to read it otherwise: markscheme ")[2].partition("\n\n")[0]
    assert run([*shlex.split(command), "-j", "exact_match", "-q", "-o", "pasted"]) == 0
    assert run(["init", "wide.csv", *options]) == 0
    assert run(["judge", "wide.csv", "-j", "exact_match", "-q", "-o", "settled"]) == 0
    for folder in ("pasted", "settled"):
        answers = pl.read_parquet(f"{folder}/answers.parquet")
        assert answers.select("answer_id", "system", "label").equals(
            expected.select("answer_id", "system", "label")
        )


def test_every_line_of_the_template_is_a_setting_that_there_is(tmp_path: Path) -> None:
    file = tmp_path / "markscheme.toml"
    file.write_text(re.sub(r"(?m)^# (?=\w+ = )", "", TEMPLATE))
    found = read_settings(file)
    assert all(not keys or set(keys) & set(found.values) for keys in SECTIONS.values())
    assert len(found.columns) + len(found.values) == TEMPLATE.count(" = ")


@pytest.mark.parametrize("settings", [SETTINGS, "judges = ["])
def test_completing_a_command_line_prints_nothing_but_the_words(
    project: Path,
    settings: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("markscheme.toml").write_text(settings)
    monkeypatch.setenv("_MARKSCHEME_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "markscheme judge --gate")
    monkeypatch.setenv("COMP_CWORD", "2")
    with pytest.raises(SystemExit):
        run([])
    shown = capsys.readouterr()
    assert (shown.out.split(), shown.err) == (["--gate-slices"], "")


def test_a_byte_order_mark_before_the_settings_is_none_of_them(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("markscheme.toml").write_text(SETTINGS, encoding="utf-8-sig")
    assert run(["judge", "a.csv", "-q", "-o", "run"]) == 0
    assert "judges = contains" in capsys.readouterr().err
    Path("markscheme.toml").write_text("jugdes = 1", encoding="utf-8-sig")
    assert run(["judge", "a.csv", "-q"]) == 2
    assert "markscheme.toml, line 1: no key 'jugdes'" in capsys.readouterr().err


def test_a_byte_order_mark_is_no_part_of_a_text_that_people_write(tmp_path: Path) -> None:
    file = tmp_path / "text"
    file.write_text("sixteen-letters-or-more\n", encoding="utf-8-sig")
    assert read_keys(file, None).owner("Bearer sixteen-letters-or-more")
    file.write_text("# Heading\n", encoding="utf-8-sig")
    assert read_guidelines(str(file)) == "# Heading\n"
    file.write_text('["my-model"]\ninput = 1.0\noutput = 2.0\n', encoding="utf-8-sig")
    assert list(read_models(file)) == ["my-model"]


def test_init_writes_what_is_typed_without_a_file_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["init", "--columns", "question=frage", "--on-bad-row", "skip"]) == 0
    found = read_settings(Path("markscheme.toml"))
    assert (found.columns, found.values) == ({"question": "frage"}, {"on_bad_row": "skip"})


@pytest.mark.parametrize("named", ["none", "other.toml"])
def test_init_does_not_promise_what_the_variable_prevents(
    named: str, project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("other.toml").write_text('judges = ["contains"]\n')
    monkeypatch.setenv("MARKSCHEME_CONFIG", named)
    assert run(["init", "--replace"]) == 0
    shown = capsys.readouterr()
    said = " ".join((shown.out + shown.err).split())
    assert f"commands do not read it while MARKSCHEME_CONFIG is {named}" in said
    assert "no longer counts" not in said


def test_init_leaves_names_with_commas_to_reading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("wide.csv").write_text('question,gold,"GPT-4, turbo","Claude, v2"\nq,a,a,b\nr,b,c,b\n')
    assert run(["judge", "wide.csv", "-j", "exact_match", "-q", "-o", "before"]) == 0
    assert run(["init", "wide.csv"]) == 0
    assert run(["judge", "wide.csv", "-j", "exact_match", "-q", "-o", "after"]) == 0
    before, after = (pl.read_parquet(f"{one}/answers.parquet") for one in ("before", "after"))
    assert before.equals(after)
