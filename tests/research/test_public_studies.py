"""The studies as functions: what a command prints is what the function of its name returns."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import markscheme
import markscheme_research

NAMES = ("amend", "hierarchy", "reliability")


@pytest.fixture(scope="module")
def folder(example: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("studies") / "run"
    markscheme.judge(example, ["exact_match", "contains", "entailment"], out=place)
    return place


@pytest.fixture(scope="module")
def result(example: Path) -> markscheme.Result:
    return markscheme.judge(example, ["exact_match", "contains", "entailment"])


def test_hierarchy_prints_what_it_returns(
    cli: Callable[..., str], folder: Path, result: markscheme.Result
) -> None:
    given = ("hierarchy", folder, "--judge", "entailment", "--without", "parrot")
    out = cli(*given, "--format", "json")
    for source in (folder, result):
        found = markscheme_research.hierarchy(source, judges="entailment", without=["parrot"])
        assert found.to_json() == out


@pytest.mark.parametrize("name", NAMES)
def test_a_study_stands_at_its_own_door_and_still_at_the_old_one(name: str) -> None:
    study = getattr(markscheme_research, name)
    with pytest.warns(DeprecationWarning, match=f"markscheme_research.{name} now"):
        assert getattr(markscheme, name) is study
    assert "Raises:" in study.__doc__


def test_amend_prints_what_it_returns(
    cli: Callable[..., str], example: Path, tmp_path: Path, result: markscheme.Result
) -> None:
    out = cli("amend", example, "-o", tmp_path / "a.jsonl", "--format", "json")
    for given in (example, pl.read_ndjson(example), result):
        found = markscheme_research.amend(given)
        assert found.to_json() == out
    found.write(tmp_path / "b.jsonl")
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()
    assert found.frame["references"].list.len().sum() > 0


def test_reliability_prints_what_it_returns(
    cli: Callable[..., str], folder: Path, result: markscheme.Result
) -> None:
    given = ("reliability", folder, folder, "--judges", "contains", "--format", "json")
    found = markscheme_research.reliability([folder, folder], recorded="contains")
    assert cli(*given) == found.to_json()
    in_memory = markscheme_research.reliability([result, result], recorded="contains")
    assert in_memory.frame.drop("first", "second").equals(found.frame.drop("first", "second"))


def test_a_judge_is_repeated_in_memory_or_in_folders(example: Path, tmp_path: Path) -> None:
    answers = pl.read_ndjson(example).head(20)
    options: dict[str, Any] = {"judge": "entailment", "seeds": [0, 1]}
    kept = markscheme_research.reliability(answers, folder=tmp_path / "runs", **options)
    unkept = markscheme_research.reliability(answers, **options)
    assert sorted(one.name for one in (tmp_path / "runs").iterdir()) == ["seed-0", "seed-1"]
    assert unkept.frame.equals(kept.frame)
    assert {"verdicts", "relations", "entailment"} == set(kept.frame["what"])
    assert unkept.data["spread"].equals(kept.data["spread"])


def test_answers_without_a_system_stay_in_the_tests_where_a_system_is_left_out() -> None:
    relations = ("superior", "equivalent", "inferior", "incorrect")
    rows = [
        {"answer_id": f"a{n}", "question": f"q{n}", "judge": "j", "relation": relations[n % 4],
         "verdict": n % 4 < 3, "label": int(n % 5 > 0), "system": (None, "a", "b")[n % 3]}
        for n in range(120)
    ]  # fmt: skip
    found = markscheme_research.hierarchy(pl.DataFrame(rows), without=("a",)).found["j"]["order"]
    assert [(one.higher_answers, one.lower_answers) for one in found] == [(20, 20)] * 3
