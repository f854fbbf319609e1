"""Entailment models: which output is entailment is read from the configuration, in any order."""

from __future__ import annotations

import importlib
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from test_pair_classifier import write_model

from markscheme.errors import MissingExtraError, ModelError
from markscheme.judges.entailment.tests import NliEntailment, entailment_test
from markscheme.models.local import transformers_models
from markscheme.models.local.nli import TransformersPairClassifier, entailment_column, open_nli
from markscheme.models.sources import Models

ORDERS = {
    "mnli": {"0": "contradiction", "1": "entailment", "2": "neutral"},
    "deberta": {"0": "CONTRADICTION", "1": "NEUTRAL", "2": "ENTAILMENT"},
    "first": {"0": "entailment", "1": "neutral", "2": "contradiction"},
}
PAIRS = pl.DataFrame(
    {"premise": ["paris yes", "rome", "paris yes", None], "hypothesis": ["rome no", "maybe"] * 2}
)


@pytest.mark.parametrize("order", ORDERS)
def test_onnx_scores_are_those_of_the_output_called_entailment(tmp_path: Path, order: str) -> None:
    labels = ORDERS[order]
    folder = write_model(tmp_path, labels=labels)
    place = next(int(key) for key, name in labels.items() if name.lower() == "entailment")
    model = open_nli(str(folder))
    every = model.scores([("paris yes", "rome no"), ("rome", "maybe")])
    found = entailment_test(f"nli:{folder}").test(PAIRS, None)
    assert found.columns[:2] == PAIRS.columns
    assert found["score"].to_list()[:2] == pytest.approx(every[:, place].tolist())
    assert found["score"][2] == found["score"][0]
    assert found["entailed"].to_list()[:2] == (every.argmax(axis=1) == place).tolist()
    named = [labels[str(one)].lower() for one in every.argmax(axis=1)]
    assert found["label"].to_list()[:2] == named
    assert found["status"].to_list() == ["judged"] * 3 + ["skipped"]
    assert found["score"][3] is None


def test_the_order_changes_nothing_but_the_names(tmp_path: Path) -> None:
    """Two configurations of the same weights: each score is found under its own name."""
    one, other = tmp_path / "one", tmp_path / "other"
    one.mkdir()
    write_model(one, labels=ORDERS["mnli"])
    shutil.copytree(one, other)
    config = json.loads((other / "config.json").read_text())
    (other / "config.json").write_text(json.dumps(config | {"id2label": ORDERS["first"]}))
    pair = [("paris", "rome no")]
    first, second = (open_nli(str(folder)) for folder in (one, other))
    assert np.array_equal(first.scores(pair), second.scores(pair))
    assert entailment_column(first.labels, "one") == 1
    assert entailment_column(second.labels, "other") == 0


@pytest.mark.parametrize(
    "labels",
    [
        {"0": "LABEL_0", "1": "LABEL_1", "2": "LABEL_2"},
        {"0": "entailment", "1": "entails", "2": "neutral"},
        {"0": "not_entailment", "1": "contradiction", "2": "neutral"},
    ],
)
def test_a_model_that_does_not_name_entailment_is_refused(
    tmp_path: Path, labels: dict[str, str]
) -> None:
    folder = write_model(tmp_path, labels=labels)
    with pytest.raises(ModelError, match="which of them is entailment") as caught:
        entailment_test(f"nli:{folder}").test(PAIRS, None)
    assert "id2label" in str(caught.value)
    assert all(repr(name) in str(caught.value) for name in labels.values())


def test_a_threshold_takes_the_place_of_the_likeliest_label() -> None:
    class Fake:
        labels = ("neutral", "Entailment")
        revision = "r1"

        def scores(self, pairs: Any) -> Any:
            return np.array([[0.7, 0.3]] * len(pairs), np.float32)

    models = Models(classifiers={"fake": Fake()})
    usual = NliEntailment(name="fake").test(PAIRS, models)
    low = NliEntailment(name="fake", threshold=0.25).test(PAIRS, models)
    assert usual["entailed"].to_list() == [False] * 3 + [None]
    assert low["entailed"].to_list() == [True] * 3 + [None]
    assert NliEntailment(name="fake").identity(models) == {"nli": "fake", "nli_revision": "r1"}


def test_without_transformers_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> Any:
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
