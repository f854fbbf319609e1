"""The recipes of Yao & Barbosa's trained judges have the settings of their repository."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from markscheme import training
from markscheme.cli import run
from markscheme.training import RECIPES, LearnOptions


def test_recipes_have_the_authors_settings() -> None:
    for name, epochs in (("yao2024-sft", 5), ("yao2024-sft-nli", 5), ("yao2024-cvi", 1)):
        lora = RECIPES[name].lora
        assert (lora.rank, lora.scale, lora.dropout, lora.epochs) == (8, 16, 0.1, epochs)
        assert (lora.batch, lora.accumulate, lora.rate) == (2, 2, 2e-4)
    assert [one.variant for one in RECIPES.values()] == ["plain", "nli", "cvi"]


def test_the_command_trains_by_the_recipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[LearnOptions] = []

    class Stop(Exception):
        pass

    def stop(_answers: Any, _out: Path, _model: str, options: LearnOptions, **_more: Any) -> None:
        seen.append(options)
        raise Stop

    monkeypatch.setattr(training, "train_finetuned", stop, raising=False)
    data = tmp_path / "rows.jsonl"
    data.write_text('{"question": "q", "references": ["a"], "answer": "a", "label": 1}\n')
    with pytest.raises(Stop):
        run(
            ["--debug", "train", "learned", "--data", str(data), "--base-model", "made-up",
             "--recipe", "yao2024-sft-nli", "--seed", "3", "--out", str(tmp_path / "out")]
        )  # fmt: skip
    (options,) = seen
    assert (options.variant, options.lora.rank, options.lora.seed) == ("nli", 8, 3)
