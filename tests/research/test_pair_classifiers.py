"""Pair classifiers read from a folder, with a tiny model made here."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from markscheme.errors import ModelError
from markscheme_research.pair_classifiers import OnnxPairClassifier

WORDS = ["[UNK]", "[CLS]", "[SEP]", "yes", "no", "maybe", "paris", "rome"]


def write_model(
    folder: Path, *, labels: dict[str, str] | None, outputs: int = 3, extra: str | None = None
) -> Path:
    """A model whose logit `i` is the mean over tokens of table[token, i] + type."""
    table = np.random.default_rng(3).normal(size=(len(WORDS), outputs)).astype(np.float32)
    names = ["input_ids", "token_type_ids", *([extra] if extra else [])]
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["rows"]),
        helper.make_node("Cast", ["token_type_ids"], ["types"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["types", "last"], ["wide"]),
        helper.make_node("Mul", ["rows", "wide"], ["second"]),
        helper.make_node("Sub", ["rows", "second"], ["difference"]),
        helper.make_node("Add", ["difference", "rows"], ["mixed"]),
        helper.make_node("ReduceMean", ["mixed", "middle"], ["logits"], keepdims=0),
    ]
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info(n, TensorProto.INT64, ["b", "l"]) for n in names],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["b", outputs])],
        [
            numpy_helper.from_array(table, "table"),
            numpy_helper.from_array(np.array([2]), "last"),
            numpy_helper.from_array(np.array([1]), "middle"),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    onnx.save(model, str(folder / "model.onnx"))
    tokenizer = Tokenizer(
        models.WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="[UNK]")
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 1), ("[SEP]", 2)],
    )
    tokenizer.enable_padding(length=50)
    tokenizer.save(str(folder / "tokenizer.json"))
    config = {"max_position_embeddings": 256} | ({"id2label": labels} if labels else {})
    (folder / "config.json").write_text(json.dumps(config))
    return folder


NLI = {"2": "Contradiction", "0": "ENTAILMENT", "1": "neutral"}


def expected(left: str, right: str) -> np.ndarray:
    table = np.random.default_rng(3).normal(size=(len(WORDS), 3)).astype(np.float32)
    first = [1, *[WORDS.index(w) for w in left.split()], 2]
    second = [*[WORDS.index(w) for w in right.split()], 2]
    total = 2 * table[first].sum(0) + table[second].sum(0)
    powers = np.exp(total / (len(first) + len(second)))
    return powers / powers.sum()


def test_scores_are_the_models_probabilities_in_order(tmp_path: Path) -> None:
    classifier = OnnxPairClassifier(folder=write_model(tmp_path, labels=NLI))
    pairs = [("paris", "yes"), ("rome paris maybe", "no"), ("yes", "paris"), ("paris", "yes")]
    scores = classifier.scores(pairs)
    assert scores.dtype == np.float32
    np.testing.assert_allclose(scores, [expected(*pair) for pair in pairs], atol=1e-6)


def test_labels_come_from_the_configuration_in_any_case(tmp_path: Path) -> None:
    classifier = OnnxPairClassifier(folder=write_model(tmp_path, labels=NLI))
    assert classifier.labels == ("ENTAILMENT", "neutral", "Contradiction")


def test_one_label_is_a_sigmoid(tmp_path: Path) -> None:
    folder = write_model(tmp_path, labels={"0": "correct"}, outputs=1)
    scores = OnnxPairClassifier(folder=folder).scores([("paris", "rome"), ("", "")])
    assert scores.shape == (2, 1)
    assert ((scores > 0) & (scores < 1)).all()


def test_weights_that_are_exported_again_are_opened_again(tmp_path: Path) -> None:
    folder = write_model(tmp_path, labels=NLI)
    assert OnnxPairClassifier(folder=folder).scores([("paris", "rome")]).shape == (1, 3)
    write_model(folder, labels={"0": "correct"}, outputs=1)
    again = OnnxPairClassifier(folder=folder)
    assert again.labels == ("correct",)
    assert again.scores([("paris", "rome")]).shape == (1, 1)


def test_a_pair_has_the_same_scores_in_any_company(tmp_path: Path) -> None:
    folder = write_model(tmp_path, labels=NLI)
    rng = random.Random(0)
    pairs = [
        (" ".join(rng.choices(WORDS[3:], k=rng.randint(0, 40))), rng.choice(WORDS[3:]))
        for _ in range(200)
    ]
    together = OnnxPairClassifier(folder=folder).scores(pairs)
    alone = [OnnxPairClassifier(folder=folder).scores([pair])[0] for pair in pairs]
    np.testing.assert_allclose(together, alone, atol=1e-6)


def test_no_pairs_long_pairs_and_odd_pairs(tmp_path: Path) -> None:
    classifier = OnnxPairClassifier(folder=write_model(tmp_path, labels=NLI), max_tokens=32)
    assert classifier.scores([]).shape == (0, 3)
    scores = classifier.scores([("paris " * 200_000, "yes"), ("\x00", "東京 🗼"), ("", "")])
    np.testing.assert_allclose(scores.sum(1), 1, atol=1e-6)


def test_the_hubs_layout_is_found(tmp_path: Path) -> None:
    folder = write_model(tmp_path, labels=NLI)
    flat = OnnxPairClassifier(folder=folder).scores([("paris", "rome")])
    moved = tmp_path / "hub"
    (moved / "onnx").mkdir(parents=True)
    (folder / "model.onnx").rename(moved / "onnx" / "model.onnx")
    for name in ("tokenizer.json", "config.json"):
        (folder / name).rename(moved / name)
    assert (OnnxPairClassifier(folder=moved).scores([("paris", "rome")]) == flat).all()
    assert len(OnnxPairClassifier(folder=moved).revision) == 12


@pytest.mark.parametrize("labels", [None, {"0": "a", "2": "b"}, {"entailment": "0"}])
def test_unusable_labels_are_refused(tmp_path: Path, labels: dict[str, str] | None) -> None:
    classifier = OnnxPairClassifier(folder=write_model(tmp_path, labels=labels))
    with pytest.raises(ModelError, match="no usable `id2label`"):
        classifier.scores([("a", "b")])


def test_labels_that_do_not_fit_the_output_are_refused(tmp_path: Path) -> None:
    classifier = OnnxPairClassifier(folder=write_model(tmp_path, labels={"0": "a", "1": "b"}))
    with pytest.raises(ModelError, match="names 2 labels"):
        classifier.scores([("a", "b")])


def test_strange_inputs_and_limits_are_refused(tmp_path: Path) -> None:
    folder = write_model(tmp_path, labels=NLI, extra="pixel_values")
    with pytest.raises(ModelError, match="pixel_values"):
        OnnxPairClassifier(folder=folder).scores([("a", "b")])
    (tmp_path / "other").mkdir()
    folder = write_model(tmp_path / "other", labels=NLI)
    with pytest.raises(ModelError, match="choose from 8 to 256"):
        OnnxPairClassifier(folder=folder, max_tokens=257).scores([("a", "b")])
