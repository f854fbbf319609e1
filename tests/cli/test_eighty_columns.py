"""What a terminal of 80 columns shows has the words and intervals of a wide one, none broken."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from markscheme.cli import run
from markscheme.cli.app import console

INTERVALS = re.compile(r"-?\d[\d.]* to -?\d[\d.]*|\[-?\d[\d.]*, -?\d[\d.]*\]")


@pytest.fixture(scope="module")
def folder(example: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("wide") / "run"
    judges = ["-j", "exact_match", "-j", "contains", "-j", "token_f1"]
    assert run(["judge", str(example), *judges, "-q", "-o", str(place)]) == 0
    return place


@pytest.mark.parametrize(
    "words",
    [
        ("agree",),
        ("failures",),
        ("failures", "--rejected", "--examples", "3"),
        ("compare", "--systems", "--judge", "token_f1"),
        ("estimate", "--judge", "contains", "--labels"),
    ],
    ids=" ".join,
)
def test_no_word_and_no_interval_is_broken(
    words: tuple[str, ...], folder: Path, example: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    command = [words[0], str(folder), *words[1:]]
    if command[-1] == "--labels":
        command.append(str(example))
    shown = {}
    for width in (200, 80):
        monkeypatch.setattr(console, "width", width)
        capsys.readouterr()
        assert run(command) == 0
        shown[width] = re.sub("─+", "──", capsys.readouterr().out)
    assert set(shown[80].split()) <= set(shown[200].split())
    lost = Counter(INTERVALS.findall(shown[200])) - Counter(INTERVALS.findall(shown[80]))
    assert not lost


def test_the_same_file_with_other_columns_has_a_run_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text("question,gold,one,other\nWho?,Ann,Ann,Ben\n")
    for column in ("one", "other", "one"):
        command = ["judge", "a.csv", "-j", "exact_match", "--columns", f"answer={column}"]
        assert run(command) == 0
    assert len(list(Path("runs").iterdir())) == 2
    assert "1 judgments were reused from an earlier run" in capsys.readouterr().err


def test_two_runs_without_labels_lead_from_compare_to_diff(
    folder: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    rows = tmp_path / "a.csv"
    rows.write_text("question,gold,answer\nWho?,Ann,Ann\n")
    assert run(["judge", str(rows), "-j", "exact_match", "-q", "-o", str(tmp_path / "run")]) == 0
    capsys.readouterr()
    assert run(["compare", str(tmp_path / "run"), str(folder)]) == 2
    assert "markscheme diff" in capsys.readouterr().err
    assert run(["diff", str(tmp_path / "run"), str(tmp_path / "run")]) == 0
    assert "No verdict changed" in capsys.readouterr().out
