"""Every public function that computes gives one object, with its frame, JSON, LaTeX and HTML."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import markscheme
from markscheme.cli import run

FUNCTIONS: dict[str, Callable[[Path, Path], Any]] = {
    "judge": lambda run, _: markscheme.judge(run.parent / "few.jsonl", ["contains"]),
    "agree": lambda run, _: markscheme.agree(run, judges=["contains"]),
    "compare": lambda run, _: markscheme.compare(run, judges=["contains", "token_f1"]),
    "rank": lambda run, _: markscheme.rank(run, judges=["contains"]),
    "estimate": lambda run, _: markscheme.estimate(run, run.parent / "few.jsonl", judge="contains"),
    "plan_labels": lambda run, _: markscheme.plan_labels(run, judge="token_f1", count=20),
    "calibrate": lambda run, _: markscheme.calibrate(run, judge="token_f1"),
    "diff": lambda run, _: markscheme.diff(run, run, judge="contains"),
    "explain": lambda *_: markscheme.explain("Who wrote Emma?", ["Jane Austen"], "Miss Austen"),
    "failures": lambda run, _: markscheme.failures(run),
    "report": lambda run, folder: markscheme.report(run, folder / "report.html"),
    "verify": lambda run, _: markscheme.verify(run),
    "list_judges": lambda *_: markscheme.list_judges(),
}
WITHOUT_A_TABLE = {"report": "writes a page and names it", "mark": "judges one answer"}


@pytest.fixture(scope="module")
def judged(example: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("forms")
    (folder / "few.jsonl").write_bytes(b"".join(example.open("rb").readlines()[:120]))
    markscheme.judge(
        folder / "few.jsonl", ["contains", "token_f1", "entailment"], out=folder / "run"
    )
    return folder / "run"


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_a_result_has_every_form(name: str, judged: Path, tmp_path: Path) -> None:
    found = FUNCTIONS[name](judged, tmp_path)
    assert str(found).strip()
    if name in WITHOUT_A_TABLE:
        return
    assert isinstance(found.frame, pl.DataFrame)
    assert len(found.to_pandas()) == found.frame.height
    json.loads(found.to_json())
    assert "tabular" in found.to_latex()
    assert "<table" in found._repr_html_()


def test_every_computing_function_is_tried() -> None:
    others = {
        "Judge", "Judgment", "Result", "Run", "MarkschemeError", "parse_judge", "open_run",
        "register", "signature", "read_answers", "mark",
    }  # fmt: skip
    public = {name for name in markscheme.__all__ if not name.startswith("__")}
    assert public - others == set(FUNCTIONS)


@pytest.mark.parametrize("words", [["verify"], ["diff"]], ids=lambda words: words[0])
def test_json_of_the_command_is_the_result_s(
    words: list[str], judged: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if words == ["verify"]:
        assert run(["verify", str(judged), "--format", "json"]) == 0
        expected = markscheme.verify(judged).to_json()
    else:
        given = [str(judged), str(judged), "--judge", "contains"]
        assert run(["diff", *given, "--format", "json"]) == 0
        expected = markscheme.diff(judged, judged, judge="contains").to_json()
    assert capsys.readouterr().out == expected
