"""Entailment models that the transformers library opens."""

from __future__ import annotations

import importlib
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from markscheme.errors import MissingExtraError, ModelError
from markscheme.judges.entailment.tests import entailment_test
from markscheme.models.local import entailment_column, open_nli
from markscheme.models.sources import Models
from markscheme_research import transformers_models
from markscheme_research.transformers_models import TransformersPairClassifier

PAIRS = pl.DataFrame(
    {"premise": ["paris yes", "rome", "paris yes", None], "hypothesis": ["rome no", "maybe"] * 2}
)


def test_without_transformers_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.import_module

    def absent(name: str, package: str | None = None) -> Any:
        if name.startswith("markscheme"):
            return found(name, package)
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", absent)
    transformers_models._opened.cache_clear()
    with pytest.raises(MissingExtraError, match=r"markscheme\[hf\]"):
        open_nli("nobody/nowhere")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tiny BERT for three labels, random weights."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    folder = tmp_path_factory.mktemp("nli")
    letters = [chr(code) for code in range(ord("a"), ord("z") + 1)]
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ".", *letters,
              *(f"##{letter}" for letter in letters)]  # fmt: skip
    (folder / "vocab.txt").write_text("\n".join(pieces))
    tokenizer = BertTokenizerFast(vocab=str(folder / "vocab.txt"), model_max_length=64)
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(pieces), hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=32, max_position_embeddings=64, num_labels=3, initializer_range=0.8,
        id2label={0: "contradiction", 1: "neutral", 2: "entailment"},
    )  # fmt: skip
    BertForSequenceClassification(config).eval().save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.mark.proof(area="models")
def test_transformers_scores_equal_the_library_and_do_not_depend_on_neighbours(tiny: Path) -> None:
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    pairs = [("paris is big", "rome"), ("a", "b"), ("paris is big", "rome"), ("x " * 200, "y")]
    model = open_nli(str(tiny))
    assert isinstance(model, TransformersPairClassifier)
    assert model.labels == ("contradiction", "neutral", "entailment")
    scores = model.scores(pairs)
    tokenizer = AutoTokenizer.from_pretrained(tiny)
    plain = AutoModelForSequenceClassification.from_pretrained(tiny).eval()
    for row, (premise, hypothesis) in enumerate(pairs):
        fed = tokenizer(
            premise, hypothesis, truncation="longest_first", max_length=64, return_tensors="pt"
        )
        with torch.inference_mode():
            wanted = plain(**fed).logits.softmax(-1)[0].numpy()
        assert np.allclose(scores[row], wanted, atol=1e-5)
        assert np.allclose(model.scores([(premise, hypothesis)])[0], scores[row], atol=1e-6)
    found = entailment_test(f"nli:{tiny}").test(PAIRS, Models())
    column = model.scores([("paris yes", "rome no")])[0, 2].item()
    assert found["score"][0] == pytest.approx(column, abs=1e-5)


@pytest.mark.proof(area="models")
def test_transformers_labels_follow_the_configuration(tiny: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(tiny, other)
    config = json.loads((other / "config.json").read_text())
    swapped = {"0": "entailment", "1": "neutral", "2": "contradiction"}
    config |= {"id2label": swapped, "label2id": {name: int(key) for key, name in swapped.items()}}
    (other / "config.json").write_text(json.dumps(config))
    pair = [("paris", "rome")]
    one, two = open_nli(str(tiny)), open_nli(str(other))
    assert np.allclose(one.scores(pair), two.scores(pair))
    assert entailment_column(one.labels, "one") == 2
    assert entailment_column(two.labels, "two") == 0
    config |= {"id2label": {"0": "a", "1": "b", "2": "c"}, "label2id": {"a": 0, "b": 1, "c": 2}}
    nameless = tmp_path / "nameless"
    shutil.copytree(tiny, nameless)
    (nameless / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelError, match="entailment"):
        open_nli(str(nameless))
