"""The exported graph computes what BERT computes, written out here in NumPy."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file
from scipy.special import erf
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from markscheme.errors import ModelError
from markscheme.models.local.weights import in_batches, open_session, open_tokenizer
from markscheme_research.pair_classifiers import OnnxPairClassifier
from markscheme_research.training.export_onnx import export, quantise

WIDTH, HEADS, LAYERS, INNER = 64, 4, 2, 128
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "b", "c", "d"]
Tensors = dict[str, np.ndarray]


def checkpoint(folder: Path, *, labels: int = 0) -> Tensors:
    rng = np.random.default_rng(5)
    made: Tensors = {}

    def norm(name: str) -> None:
        made[f"{name}.weight"] = rng.normal(1, 0.1, WIDTH).astype(np.float32)
        made[f"{name}.bias"] = rng.normal(0, 0.1, WIDTH).astype(np.float32)

    def dense(name: str, outputs: int, inputs: int) -> None:
        made[f"{name}.weight"] = rng.normal(0, 0.2, (outputs, inputs)).astype(np.float32)
        made[f"{name}.bias"] = rng.normal(0, 0.2, outputs).astype(np.float32)

    for name, rows in (("word", len(WORDS)), ("position", 40), ("token_type", 2)):
        made[f"embeddings.{name}_embeddings.weight"] = rng.normal(size=(rows, WIDTH)).astype(
            np.float32
        )
    norm("embeddings.LayerNorm")
    for layer in range(LAYERS):
        name = f"encoder.layer.{layer}"
        for part in ("query", "key", "value"):
            dense(f"{name}.attention.self.{part}", WIDTH, WIDTH)
        dense(f"{name}.attention.output.dense", WIDTH, WIDTH)
        dense(f"{name}.intermediate.dense", INNER, WIDTH)
        dense(f"{name}.output.dense", WIDTH, INNER)
        norm(f"{name}.attention.output.LayerNorm")
        norm(f"{name}.output.LayerNorm")
    config = {
        "num_attention_heads": HEADS,
        "hidden_size": WIDTH,
        "num_hidden_layers": LAYERS,
        "layer_norm_eps": 1e-12,
    }
    stored = made
    if labels:
        dense("pooler.dense", WIDTH, WIDTH)
        dense("classifier", labels, WIDTH)
        config["id2label"] = {str(i): f"label {i}" for i in range(labels)}
        stored = {n if n.startswith("classifier") else f"bert.{n}": t for n, t in made.items()}
    folder.mkdir()
    save_file(stored, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(config))
    tokenizer = Tokenizer(models.WordLevel({w: i for i, w in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    tokenizer.save(str(folder / "tokenizer.json"))
    return made


def bert(t: Tensors, ids: list[int], types: list[int]) -> np.ndarray:
    def norm(x: np.ndarray, name: str) -> np.ndarray:
        centred = x - x.mean(-1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-12)
        return scaled * t[f"{name}.weight"] + t[f"{name}.bias"]

    def dense(x: np.ndarray, name: str) -> np.ndarray:
        return x @ t[f"{name}.weight"].T + t[f"{name}.bias"]

    e = "embeddings."
    x = t[f"{e}word_embeddings.weight"][ids] + t[f"{e}token_type_embeddings.weight"][types]
    x = norm(x + t[f"{e}position_embeddings.weight"][: len(ids)], f"{e}LayerNorm")
    for layer in range(LAYERS):
        name = f"encoder.layer.{layer}"
        heads = [
            dense(x, f"{name}.attention.self.{part}").reshape(len(ids), HEADS, -1).swapaxes(0, 1)
            for part in ("query", "key", "value")
        ]
        logits = heads[0] @ heads[1].swapaxes(1, 2) / np.sqrt(WIDTH // HEADS)
        weights = np.exp(logits - logits.max(-1, keepdims=True))
        weights /= weights.sum(-1, keepdims=True)
        joined = (weights @ heads[2]).swapaxes(0, 1).reshape(len(ids), WIDTH)
        out = dense(joined, f"{name}.attention.output.dense")
        x = norm(x + out, f"{name}.attention.output.LayerNorm")
        inner = dense(x, f"{name}.intermediate.dense")
        inner = inner * 0.5 * (1 + erf(inner / np.sqrt(2)))
        x = norm(x + dense(inner, f"{name}.output.dense"), f"{name}.output.LayerNorm")
    return x


def test_a_sentence_encoder_gives_the_mean_token_at_length_one(tmp_path: Path) -> None:
    tensors = checkpoint(tmp_path / "in")
    export(tmp_path / "in", tmp_path / "out", positions=20)
    session = open_session(tmp_path / "out" / "model.onnx")
    vectors = in_batches(
        open_tokenizer(tmp_path / "out", 20),
        ["a b c", "d"],
        lambda feeds: session.run(["embedding"], feeds)[0],
        max_tokens=20,
    )
    for vector, ids in zip(vectors, ([2, 4, 5, 6, 3], [2, 7, 3]), strict=True):
        mean = bert(tensors, ids, [0] * len(ids)).mean(0)
        assert vector @ (mean / np.linalg.norm(mean)) > 0.999


def test_a_checkpoint_with_a_classifier_becomes_a_pair_classifier(tmp_path: Path) -> None:
    tensors = checkpoint(tmp_path / "in", labels=3)
    export(tmp_path / "in", tmp_path / "out", positions=20)
    classifier = OnnxPairClassifier(folder=tmp_path / "out", max_tokens=20)
    assert classifier.labels == ("label 0", "label 1", "label 2")
    first = bert(tensors, [2, 4, 5, 3, 6, 3], [0, 0, 0, 0, 1, 1])[0]
    pooled = np.tanh(first @ tensors["pooler.dense.weight"].T + tensors["pooler.dense.bias"])
    logits = pooled @ tensors["classifier.weight"].T + tensors["classifier.bias"]
    expected = np.exp(logits) / np.exp(logits).sum()
    np.testing.assert_allclose(classifier.scores([("a b", "c")])[0], expected, atol=0.03)


def test_exporting_twice_gives_the_same_bytes_and_the_manifest_describes_them(
    tmp_path: Path,
) -> None:
    checkpoint(tmp_path / "in")
    manifest = export(tmp_path / "in", tmp_path / "one")
    assert export(tmp_path / "in", tmp_path / "two") == manifest
    assert json.loads((tmp_path / "one" / "manifest.json").read_text()) == manifest
    for name, entry in manifest["files"].items():
        assert (tmp_path / "one" / name).stat().st_size == entry["bytes"]


def test_rounding_is_within_half_a_step_and_zeros_stay_zero() -> None:
    weights = np.random.default_rng(0).normal(size=(6, 128)).astype(np.float32)
    weights[2] = 0
    levels, scales = quantise(weights, run=64)
    assert levels.dtype == np.int8
    assert levels.shape == (6, 2, 64)
    back = (levels * scales.astype(np.float32)).reshape(6, 128)
    steps = np.repeat(scales[..., 0].astype(np.float32), 64, axis=1)
    assert (np.abs(back - weights) <= 0.57 * steps).all()
    assert (back[2] == 0).all()


def test_what_cannot_be_exported_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"no model\.safetensors, config\.json, tokenizer\.json"):
        export(tmp_path, tmp_path / "out")
    with pytest.raises(ModelError, match="runs of 64"):
        quantise(np.ones((2, 100), np.float32), run=64)
