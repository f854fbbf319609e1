"""`--format json` of a research command is the Python call's `to_json`, to the byte."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl
import pytest
from scripts.make_cli_reference import commands

import markscheme_research
from markscheme.cli import run
from markscheme.models import ModelOptions, Models
from markscheme.testing import ScriptedChat
from markscheme_research.datasets import check_dataset, describe_dataset, list_datasets
from markscheme_research.lists import (
    Setup,
    StudyResult,
    open_study,
    study_cost,
    study_lists,
    study_order,
    study_seeds,
    study_shots,
)
from markscheme_research.papers import reproduce_tables
from markscheme_research.studies import make_statements, mark_claims


def test_probe(example: Path, cli: Callable[..., str]) -> None:
    words = ("probe", "contains", example, "-q", "--limit", "50", "--probes", "capitals,injection")
    found = markscheme_research.probe(
        "contains", example, limit=50, probes=("capitals", "injection")
    )
    assert cli(*words, "--format", "json") == found.to_json()
    assert found.frame["probe"].to_list() == ["capitals", "injection"]
    assert found.frame["answers"].to_list() == [50, 50]


def test_claims(cli: Callable[..., str]) -> None:
    said = "It was Jane Austen. She wrote it in 1815."
    words = ("claims", "-q", "Who wrote Emma?", "-r", "Jane Austen wrote it.", "-a", said)
    found = mark_claims("Who wrote Emma?", ["Jane Austen wrote it."], said, models=Models())
    assert cli(*words, "--format", "json") == found.to_json()
    assert found.frame.height == 2


def test_statements_from_python(tmp_path: Path) -> None:
    file = tmp_path / "pairs.jsonl"
    file.write_text('{"question": "who wrote emma", "answer": "Jane Austen"}\n')
    found = make_statements(str(file), models=Models())
    assert found.frame["statement"].to_list() == ["Jane Austen wrote emma."]
    assert found.counts == {"rules": {"judged": 1}}
    assert found.tables == ()


def test_statements(tmp_path: Path, cli: Callable[..., str]) -> None:
    file = tmp_path / "pairs.jsonl"
    file.write_text(
        '{"question": "who wrote emma", "answer": "Jane Austen", "statement": "Austen wrote it."}\n'
        '{"question": "when was emma written", "answer": "1815", "statement": "In 1815."}\n'
    )
    found = make_statements(str(file))
    assert cli("statements", file, "--format", "json") == found.to_json()
    assert len(json.loads(found.to_json())["statements"]) == found.frame.height == 2


def graded(folder: Path) -> str:
    rows = [
        {"question": f"Why is thing {number} so?", "label": grade,
         "answer": f"because of {number}, " + "which matters, " * grade + copy}
        for number in range(6) for grade in (3, 2, 1, 0) for copy in "ab"
    ]  # fmt: skip
    file = folder / "graded.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(file)


STUDIES: dict[str, Callable[[Setup], StudyResult]] = {
    "lists": study_lists,
    "seeds": study_seeds,
    "order": study_order,
    "cost": study_cost,
}


@pytest.mark.parametrize("name", STUDIES)
def test_study(name: str, tmp_path: Path, cli: Callable[..., str]) -> None:
    file, judges = graded(tmp_path), ["token_f1", "rougeL"]
    setup = open_study(file, judges, draws=2, models=Models())
    found = STUDIES[name](setup)
    words = ("study", name, file, "-j", ",".join(judges), "--draws", "2")
    made, python = json.loads(cli(*words, "--format", "json")), json.loads(found.to_json())
    if name == "cost":
        # The only figure that is measured anew by each call.
        assert all(row.pop("ms_per_answer") > 0 for row in made["rows"] + python["rows"])
    assert made == python
    assert len(made["rows"]) == found.frame.height
    text = {"judge", "composition", "layout"}
    kinds = {column: kind for column, kind in found.frame.schema.items() if column not in text}
    assert all(kind.is_numeric() or kind == pl.Null for kind in kinds.values()), kinds
    figure = {"seeds": "mean"}.get(name, "spearman")
    shown = f"{found.frame[figure][0]:.3f}"
    assert any(cell.startswith(shown) for cell in found.tables[0].rows[0])


def test_study_of_shots(
    tmp_path: Path, cli: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    models = Models(chat=ScriptedChat(replies=lambda text: f"[[{1 + len(text) % 3}]]"))

    @contextmanager
    def opened(_options: ModelOptions) -> Iterator[Models]:
        yield models

    monkeypatch.setattr("markscheme_research.cli.study.opened", opened)
    file = graded(tmp_path)
    found = study_shots(open_study(file, ["listwise"], models=models), shots=(0, 1))
    words = ("study", "shots", file, "--shots", "0", "--shots", "1")
    assert cli(*words, "--format", "json") == found.to_json()
    assert found.frame["shots"].to_list() == [0, 1]


def test_reproduce(data_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    what = "kamalloo-2023/table-1"
    found = reproduce_tables(what, data_dir=data_dir)
    run(["reproduce", what, "--data-dir", str(data_dir), "--format", "json"])
    assert capsys.readouterr().out == found.to_json()
    assert found.frame.height == sum(len(one["cells"]) for one in json.loads(found.to_json()))


def test_datasets(data_dir: Path, cli: Callable[..., str]) -> None:
    where = ("--data-dir", data_dir)
    assert cli("datasets", *where, "--format", "json") == list_datasets(data_dir).to_json()
    shown = describe_dataset("curatedtrec", data_dir)
    assert cli("datasets", "curatedtrec", *where, "--format", "json") == shown.to_json()
    assert shown.folder is not None
    checked = check_dataset("curatedtrec", data_dir)
    assert cli("datasets", "check", "curatedtrec", *where, "--format", "json") == checked.to_json()
    assert checked.frame["same"].any()


ELSEWHERE = {
    "test_bench.py": {"bench"},
    "test_cascades.py": {"cascade"},
    "test_entailed_pairs.py": {"entail"},
    "test_hand_tags.py": {"tags"},
    "test_juries.py": {"jury"},
    "test_may_replace.py": {"may-replace"},
    "test_pattern_expansion.py": {"references expand"},
    "test_public_studies.py": {"amend", "hierarchy", "reliability"},
    "test_tuning.py": {"tune-judge"},
}
"""Where the same is proved for the commands that are not in this file."""


def test_every_research_command_with_json_is_proved_equal() -> None:
    every = {
        name.removeprefix("research "): one
        for name, one in commands().items()
        if name.startswith("research ")
    }
    with_json = {name for name, one in every.items() if any(f.name == "format" for f in one.params)}
    here = Path(__file__).read_text()
    named = {name for name in with_json if f"def test_{name.replace('-', '_')}(" in here}
    named |= {f"study {name}" for name in STUDIES} | {"study shots", "datasets show"}
    named |= {"datasets check"}
    for file, names in ELSEWHERE.items():
        text = (Path(__file__).parent / file).read_text()
        assert "to_json()" in text, file
        assert all(f'"{name.split()[0]}"' in text for name in names), file
        named |= names
    assert named >= with_json
    assert set(every) - with_json == {
        # These download, or write the files that they name; they have no figures.
        "datasets export", "datasets fetch", "examples", "references apply", "references build",
        "references draw", "references shots", "train entailment", "train learned",
        "train listwise", "train question-kind",
    }  # fmt: skip
