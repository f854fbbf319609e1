"""Turn a BERT-shaped checkpoint into the small ONNX graph that markscheme ships and runs.

    python -m markscheme_research.training.export_onnx CHECKPOINT OUTPUT

CHECKPOINT is a folder with `model.safetensors`, `config.json` and `tokenizer.json`. A checkpoint
with a `classifier` becomes a cross-encoder (output `logits`); any other a sentence encoder (output
`embedding`: the mean over tokens, scaled to length one).

The graph is written operator by operator instead of traced, which needs no torch and decides three
things that matter here:

* **Weights are 8-bit, activations are 32-bit floats.** A dynamically quantised graph takes one
  activation scale per batch, so a text's vector depends on the texts it shares a batch with (up to
  0.04 in a coordinate, measured), and a resumed run would differ from an unbroken one. Here the
  onnxruntime folds `Cast(int8) * scale` once, when it loads the file, and multiplies floats.
* **There is no attention mask.** Every batch must hold texts of exactly equal token count; short
  texts have few distinct lengths, so nothing is padded and no padding can leak.
* **Only standard operators of opset 20**, so that any ONNX runtime can execute the file.

Weight matrices carry one float16 scale for each run of 64 input weights of an output unit, the word
table one for each word. Needs `onnx` and `safetensors` (extra `train`).
"""

from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from markscheme.errors import MissingExtraError, ModelError
from markscheme.manifests import signed

Array = npt.NDArray[Any]
RUN = 64
OPSET = 20
IR_VERSION = 9


def quantise(weights: Array, *, run: int) -> tuple[Array, Array]:
    """Round each run of `run` weights along the last axis to signed 8 bits.

    Returns int8 of shape (..., n / run, run) and the float16 scales of shape (..., n / run, 1),
    whose product is the approximation. The scale is rounded first, so that its own rounding costs
    no accuracy. Raises ModelError where `run` does not divide n.
    """
    if weights.shape[-1] % run:
        raise ModelError(
            f"a weight matrix with {weights.shape[-1]} inputs cannot be cut into runs of {run}; "
            "export checkpoints whose hidden size is a multiple of that."
        )
    blocks = weights.reshape(*weights.shape[:-1], -1, run).astype(np.float32)
    peak = np.abs(blocks).max(axis=-1, keepdims=True)
    scales = np.maximum(peak / 127, np.finfo(np.float16).tiny).astype(np.float16)
    levels = np.rint(blocks / scales.astype(np.float32))
    return np.clip(levels, -127, 127).astype(np.int8), scales


class Graph:
    """Collects nodes and constants; every method returns the name of the value it made."""

    def __init__(self) -> None:
        try:
            import onnx
        except ImportError as error:
            raise MissingExtraError("exporting a model to ONNX", "train") from error
        self._onnx = onnx
        self._nodes: list[Any] = []
        self._constants: dict[str, Any] = {}

    def constant(self, name: str, value: Array) -> str:
        if name not in self._constants:
            tensor = self._onnx.numpy_helper.from_array(np.asarray(value, order="C"), name)
            self._constants[name] = tensor
        return name

    def ints(self, *values: int) -> str:
        name = "ints_" + "_".join(str(value).replace("-", "m") for value in values)
        return self.constant(name, np.array(values, np.int64))

    def many(self, kind: str, inputs: list[str], count: int, **attributes: Any) -> list[str]:
        name = f"{kind}_{len(self._nodes)}"
        outputs = [f"{name}_{i}" for i in range(count)] if count > 1 else [name]
        node = self._onnx.helper.make_node(kind, inputs, outputs, name=name, **attributes)
        self._nodes.append(node)
        return outputs

    def add(self, kind: str, *inputs: str, **attributes: Any) -> str:
        return self.many(kind, list(inputs), 1, **attributes)[0]

    def floats(self, value: str) -> str:
        return self.add("Cast", value, to=self._onnx.TensorProto.FLOAT)

    def rename(self, value: str, name: str) -> None:
        self._nodes.append(self._onnx.helper.make_node("Identity", [value], [name], name=name))

    def save(self, path: Path, *, inputs: list[str], output: str, width: int) -> None:
        helper, types = self._onnx.helper, self._onnx.TensorProto
        ins = [helper.make_tensor_value_info(n, types.INT64, ["batch", "length"]) for n in inputs]
        out = helper.make_tensor_value_info(output, types.FLOAT, ["batch", width])
        graph = helper.make_graph(self._nodes, "bert", ins, [out], list(self._constants.values()))
        model = helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", OPSET)],
            ir_version=IR_VERSION,
            producer_name="markscheme",
        )
        self._onnx.checker.check_model(model)
        self._onnx.save(model, str(path))


class Bert(Graph):
    """The layers of BERT (Devlin et al. 2019) over a checkpoint's tensors."""

    def __init__(self, tensors: dict[str, Array], config: dict[str, Any]) -> None:
        super().__init__()
        self._tensors = tensors
        self._heads = int(config["num_attention_heads"])
        self._width = int(config["hidden_size"])
        self._epsilon = float(config["layer_norm_eps"])

    def _vector(self, name: str) -> str:
        return self.constant(name, self._tensors[name].astype(np.float32))

    def _matrix(self, name: str, weights: Array) -> str:
        """Weights of shape (outputs, inputs) in 8 bits, transposed to multiply from the right."""
        outputs, inputs = weights.shape
        levels, scales = quantise(weights, run=RUN)
        stored = self.constant(f"{name}.levels", levels.transpose(1, 2, 0))
        scale = self.constant(f"{name}.scales", scales.transpose(1, 2, 0))
        product = self.add("Mul", self.floats(stored), self.floats(scale))
        return self.add("Reshape", product, self.ints(inputs, outputs))

    def dense(self, x: str, name: str) -> str:
        matrix = self._matrix(f"{name}.weight", self._tensors[f"{name}.weight"])
        return self.add("Add", self.add("MatMul", x, matrix), self._vector(f"{name}.bias"))

    def _norm(self, x: str, name: str) -> str:
        scale, shift = self._vector(f"{name}.weight"), self._vector(f"{name}.bias")
        return self.add("LayerNormalization", x, scale, shift, axis=-1, epsilon=self._epsilon)

    def embed(self, *, positions: int, token_types: bool) -> str:
        words = self._tensors["embeddings.word_embeddings.weight"]
        levels, scales = quantise(words, run=self._width)
        stored = self.constant("words.levels", levels[:, 0])
        scale = self.constant("words.scales", scales[:, 0])
        x = self.add(
            "Mul",
            self.floats(self.add("Gather", stored, "input_ids", axis=0)),
            self.floats(self.add("Gather", scale, "input_ids", axis=0)),
        )
        places = self._tensors["embeddings.position_embeddings.weight"][:positions]
        kinds = self._tensors["embeddings.token_type_embeddings.weight"].astype(np.float32)
        if token_types:
            table = self.constant("kinds", kinds)
            x = self.add("Add", x, self.add("Gather", table, "token_type_ids", axis=0))
        else:
            places = places + kinds[0]
        length = self.add("Shape", "input_ids", start=1, end=2)
        table = self.floats(self.constant("places", places.astype(np.float16)))
        place = self.add("Slice", table, self.ints(0), length, self.ints(0))
        return self._norm(self.add("Add", x, place), "embeddings.LayerNorm")

    def layer(self, x: str, index: int) -> str:
        name = f"encoder.layer.{index}"
        attended = self.dense(
            self._attend(x, f"{name}.attention.self"), f"{name}.attention.output.dense"
        )
        x = self._norm(self.add("Add", attended, x), f"{name}.attention.output.LayerNorm")
        inner = self.add("Gelu", self.dense(x, f"{name}.intermediate.dense"))
        outer = self.dense(inner, f"{name}.output.dense")
        return self._norm(self.add("Add", outer, x), f"{name}.output.LayerNorm")

    def _attend(self, x: str, name: str) -> str:
        # One multiplication for queries, keys and values is measurably faster than three.
        parts = [f"{name}.{part}" for part in ("query", "key", "value")]
        weights = np.concatenate([self._tensors[f"{part}.weight"] for part in parts])
        biases = np.concatenate([self._tensors[f"{part}.bias"] for part in parts])
        mixed = self.add("MatMul", x, self._matrix(f"{name}.mixed", weights))
        mixed = self.add("Add", mixed, self.constant(f"{name}.bias", biases.astype(np.float32)))
        size = self._width // self._heads
        split = self.ints(0, 0, self._heads, size)
        query, key, value = (
            self.add("Reshape", part, split)
            for part in self.many("Split", [mixed, self.ints(*[self._width] * 3)], 3, axis=-1)
        )
        query = self.add("Transpose", query, perm=[0, 2, 1, 3])
        key = self.add("Transpose", key, perm=[0, 2, 3, 1])
        value = self.add("Transpose", value, perm=[0, 2, 1, 3])
        scale = self.constant("attention_scale", np.array([size**-0.5], np.float32))
        weight = self.add(
            "Softmax", self.add("Mul", self.add("MatMul", query, key), scale), axis=-1
        )
        joined = self.add("Transpose", self.add("MatMul", weight, value), perm=[0, 2, 1, 3])
        return self.add("Reshape", joined, self.ints(0, 0, self._width))


def _tensors(folder: Path) -> dict[str, Array]:
    try:
        from safetensors.numpy import load_file
    except ImportError as error:
        raise MissingExtraError("reading a safetensors checkpoint", "train") from error
    return {
        name.removeprefix("bert."): t for name, t in load_file(folder / "model.safetensors").items()
    }


def _tokenizer(source: Path, target: Path) -> None:
    """Copy the tokenizer without its padding and truncation, which the caller decides."""
    settings = json.loads(source.read_text(encoding="utf-8"))
    settings["padding"] = settings["truncation"] = None
    target.write_text(
        json.dumps(settings, ensure_ascii=False, separators=(",", ":")), encoding="utf-8"
    )


def export(checkpoint: Path, output: Path, *, positions: int = 256) -> dict[str, Any]:
    """Write `model.onnx`, `tokenizer.json`, `config.json` and `manifest.json` into `output`.

    `positions` is the longest input in tokens that the graph will accept. Returns the manifest:
    the size and SHA-256 of every file, and of the checkpoint they were made from.
    """
    missing = [
        name
        for name in ("model.safetensors", "config.json", "tokenizer.json")
        if not (checkpoint / name).is_file()
    ]
    if missing:
        raise ModelError(
            f"{checkpoint} is not a checkpoint: it has no {', '.join(missing)}. "
            "Pass the folder that a training run or a model package wrote."
        )
    config = json.loads((checkpoint / "config.json").read_text(encoding="utf-8"))
    tensors = _tensors(checkpoint)
    classifies = "classifier.weight" in tensors
    graph = Bert(tensors, config)
    x = graph.embed(positions=positions, token_types=classifies)
    for index in range(int(config["num_hidden_layers"])):
        x = graph.layer(x, index)
    if classifies:
        first = graph.add("Gather", x, graph.constant("first", np.array(0, np.int64)), axis=1)
        pooled = graph.add("Tanh", graph.dense(first, "pooler.dense"))
        result, name = graph.dense(pooled, "classifier"), "logits"
        width, inputs = len(tensors["classifier.weight"]), ["input_ids", "token_type_ids"]
    else:
        mean = graph.add("ReduceMean", x, graph.ints(1), keepdims=0)
        result, name = graph.add("LpNormalization", mean, axis=-1, p=2), "embedding"
        width, inputs = int(config["hidden_size"]), ["input_ids"]
    graph.rename(result, name)
    output.mkdir(parents=True, exist_ok=True)
    graph.save(output / "model.onnx", inputs=inputs, output=name, width=width)
    _tokenizer(checkpoint / "tokenizer.json", output / "tokenizer.json")
    retained = ("hidden_size", "num_hidden_layers", "vocab_size", "id2label", "label2id")
    described = {key: config[key] for key in retained if key in config}
    described["max_position_embeddings"] = positions
    (output / "config.json").write_text(json.dumps(described, indent=1) + "\n", encoding="utf-8")
    return _manifest(checkpoint, output)


def _manifest(checkpoint: Path, output: Path) -> dict[str, Any]:
    def entry(path: Path) -> dict[str, Any]:
        data = path.read_bytes()
        return {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}

    manifest = signed(
        {
            "source": {"model.safetensors": entry(checkpoint / "model.safetensors")},
            "files": {
                name: entry(output / name)
                for name in ("config.json", "model.onnx", "tokenizer.json")
            },
        }
    )
    (output / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
    return manifest


def main() -> None:
    parser = argparse.ArgumentParser(description="Export a BERT-shaped checkpoint to 8-bit ONNX.")
    parser.add_argument("checkpoint", type=Path, help="folder with model.safetensors")
    parser.add_argument("output", type=Path, help="folder to write")
    parser.add_argument("--positions", type=int, default=256, help="longest input in tokens")
    options = parser.parse_args()
    manifest = export(options.checkpoint, options.output, positions=options.positions)
    for name, entry in manifest["files"].items():
        print(f"{name:16} {entry['bytes']:>12,} bytes  sha256 {entry['sha256']}")


if __name__ == "__main__":
    main()
