"""`markscheme.toml`: found, read by every command, checked, and weaker than what is typed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from markscheme.cli import run
from markscheme.cli.settings import SECTIONS, TEMPLATE, read_settings, settings_file
from markscheme.errors import MarkschemeError

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
    assert run(["judge", "a.csv", "-q", "-o", "run"]) == 1
    shown = capsys.readouterr()
    assert "contains" in shown.out
    assert "by judge and topic" in shown.out
    assert "topic=y: accuracy 0.0; wanted 30" in shown.err
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
    assert "columns" not in capsys.readouterr().err


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


def test_every_line_of_the_template_is_a_setting_that_there_is(tmp_path: Path) -> None:
    file = tmp_path / "markscheme.toml"
    file.write_text(re.sub(r"(?m)^# (?=\w+ = )", "", TEMPLATE))
    found = read_settings(file)
    assert all(not keys or set(keys) & set(found.values) for keys in SECTIONS.values())
    assert len(found.columns) + len(found.values) == TEMPLATE.count(" = ")
