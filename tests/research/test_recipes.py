"""The recipes of Yao & Barbosa's trained judges have the settings of their repository."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

from markscheme.cli import run
from markscheme.errors import DataError, MissingExtraError, ModelError
from markscheme.tables.answers import read_answers
from markscheme_research import training
from markscheme_research import transformers_models as loading
from markscheme_research.judges.finetuned import causal
from markscheme_research.judges.finetuned.templates import STATEMENTS, VARIANTS, material
from markscheme_research.training import RECIPES, LearnOptions
from markscheme_research.training.finetuned import split, tuned_threshold
from markscheme_research.training.splits import pandas_halves


def test_recipes_have_the_authors_settings() -> None:
    for name, epochs in (("yao2024-sft", 5), ("yao2024-sft-nli", 5), ("yao2024-cvi", 1)):
        lora = RECIPES[name].lora
        assert (lora.rank, lora.scale, lora.dropout, lora.epochs) == (8, 16, 0.1, epochs)
        assert (lora.batch, lora.accumulate, lora.rate) == (2, 2, 2e-4)
        assert (lora.schedule, lora.decay, lora.clip) == ("constant", 0.001, 0.3)
        assert (RECIPES[name].split, RECIPES[name].four_bits) == ("pandas", True)
    assert [one.variant for one in RECIPES.values()] == ["plain", "nli", "cvi-statements"]


@pytest.mark.parametrize("count", [1, 2, 3, 40, 41, 3020])
def test_halves_are_those_that_pandas_draws(count: int) -> None:
    pandas = pytest.importorskip("pandas")
    different = [f"question {number}" for number in range(count)]
    drawn = pandas.Series(different).sample(frac=0.5, random_state=42)
    asked = [question for question in different for _ in range(5)]
    part = pandas_halves(asked)
    learned = {one for one, word in zip(asked, part, strict=True) if word == "train"}
    assert learned == set(drawn)


def test_halves_without_pandas_are_the_same_ones() -> None:
    part = pandas_halves([str(number) for number in range(8)])
    assert [n for n, word in enumerate(part) if word == "train"] == [0, 1, 5, 7]
    rows = read_answers(
        [{"question": f"q {number}", "references": ["a"], "answer": "b", "label": label}
         for number in range(60) for label in (0, 1)]
    )  # fmt: skip
    found = split(rows, LearnOptions(split="pandas", report_on="test"))
    assert found.learn["question"].n_unique() == found.held["question"].n_unique() == 30
    assert not set(found.learn["question"]) & set(found.held["question"])
    with pytest.raises(DataError, match="no development part"):
        split(rows, LearnOptions(split="pandas"))


def test_authors_cvi_reads_statements_and_all_references_at_once() -> None:
    rows = read_answers(
        [{"question": "Who wrote Emma?", "references": ["Jane Austen", "Austen"],
          "answer": "Jane Austen"}]
    )  # fmt: skip
    found = material(rows, STATEMENTS)
    assert found["golden"].to_list() == ["Jane Austen or Austen"]
    assert found["statement"].to_list() == ["Jane Austen wrote Emma."]
    template = VARIANTS[STATEMENTS]["informed"]
    assert "Given the fact: {statement}," in template


def test_a_threshold_chosen_on_the_same_answers_flatters_and_the_other_does_not() -> None:
    # Scores by chance: on its own labels a threshold gains, on those of other questions not.
    rng = np.random.default_rng(1)
    gains = []
    for _ in range(30):
        rows = pl.DataFrame(
            {"question": [str(n) for n in rng.integers(10**9, size=60)],
             "score": rng.random(60), "label": rng.integers(2, size=60).astype(float)}
        )  # fmt: skip
        found = tuned_threshold(rows)
        assert found is not None
        gains.append((found.flattered.accuracy, found.honest.accuracy))
    flattered, honest = np.mean(gains, axis=0)
    assert flattered > 0.58
    assert abs(honest - 0.5) < 0.04
    assert tuned_threshold(rows.with_columns(label=pl.lit(1.0))) is None


def test_four_bits_without_a_gpu_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    class Cuda:
        @staticmethod
        def is_available() -> bool:
            return False

    class Torch:
        cuda = Cuda

    monkeypatch.setattr(causal, "lora_library", lambda _name: Torch)
    with pytest.raises(ModelError, match="--bits full"):
        causal.open_causal("made-up", four_bits=True)


def test_four_bits_are_loaded_as_the_authors_load_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """By stand-ins for the libraries, since 4 bits take a GPU: what transformers is asked for."""
    seen: dict[str, Any] = {}
    model = SimpleNamespace(config=SimpleNamespace(), eval=lambda: model)

    def opened(_name: str, **options: Any) -> Any:
        seen.update(options)
        return model

    torch = SimpleNamespace(
        cuda=SimpleNamespace(is_available=lambda: True), float16="float16", bfloat16="bfloat16"
    )
    transformers = SimpleNamespace(
        AutoTokenizer=SimpleNamespace(from_pretrained=lambda _name: "tokens"),
        AutoModelForCausalLM=SimpleNamespace(from_pretrained=opened),
        BitsAndBytesConfig=lambda **options: options,
    )
    libraries = {"torch": torch, "transformers": transformers}
    for module in (loading, causal):
        monkeypatch.setattr(module, "lora_library", libraries.__getitem__)
    monkeypatch.setitem(sys.modules, "bitsandbytes", None)
    with pytest.raises(MissingExtraError, match=r"markscheme\[four-bits\]"):
        causal.open_causal("made-up", four_bits=True)
    monkeypatch.setitem(sys.modules, "bitsandbytes", ModuleType("bitsandbytes"))
    assert causal.open_causal("made-up", four_bits=True).model is model
    assert seen["quantization_config"] == {
        "load_in_4bit": True, "bnb_4bit_quant_type": "nf4", "bnb_4bit_compute_dtype": "float16",
        "bnb_4bit_use_double_quant": False,
    }  # fmt: skip
    assert seen["device_map"] == {"": 0}


def test_the_command_trains_by_the_recipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[LearnOptions] = []

    class Stop(Exception):
        pass

    def stop(_answers: Any, _out: Path, _model: str, options: LearnOptions, **_more: Any) -> None:
        seen.append(options)
        raise Stop

    monkeypatch.setattr(training, "train_finetuned", stop)
    data = tmp_path / "rows.jsonl"
    data.write_text('{"question": "q", "references": ["a"], "answer": "a", "label": 1}\n')
    with pytest.raises(Stop):
        run(
            ["--debug", "train", "learned", "--data", str(data), "--base-model", "made-up",
             "--recipe", "yao2024-sft-nli", "--seed", "3", "--bits", "full",
             "--out", str(tmp_path / "out")]
        )  # fmt: skip
    (options,) = seen
    assert (options.variant, options.lora.rank, options.lora.seed) == ("nli", 8, 3)
    assert (options.split, options.four_bits) == ("pandas", False)
