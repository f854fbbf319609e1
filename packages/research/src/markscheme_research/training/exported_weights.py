"""Read back the tensors of a graph that `export_onnx` wrote, to train the model further.

Weights come back as the 8-bit graph has them, which is what runs; training then moves them again in
32 bits. What the graph does not hold, such as positions past the longest input it accepts, is not
there either. Needs `onnx` (extra `train`).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from markscheme.errors import MissingExtraError, ModelError

Array = npt.NDArray[Any]

_MIXED = ("query", "key", "value")


@dataclass(frozen=True)
class ExportedWeights:
    """What a graph holds of a BERT-shaped model.

    Attributes:
        shape: the sizes that a BERT configuration is made of.
        tensors: by the name that the layer has in a checkpoint, without the leading `bert.`.
    """

    shape: dict[str, int]
    tensors: dict[str, Array]


def read_exported(folder: Path) -> ExportedWeights:
    """Sizes and 32-bit tensors of `folder/model.onnx`.

    Raises:
        MissingExtraError: the package onnx is not installed.
        ModelError: the file is missing, or is not one that `export_onnx` wrote.
    """
    try:
        import onnx
    except ImportError as error:
        raise MissingExtraError("training an exported model further", "train") from error
    path = folder / "model.onnx"
    try:
        graph = onnx.load(str(path)).graph
        held = {one.name: onnx.numpy_helper.to_array(one) for one in graph.initializer}
        return _exported(held)
    except (OSError, KeyError, ValueError, StopIteration) as error:
        raise ModelError(f"{path} is not a graph that export_onnx wrote ({error})") from None


def _exported(held: dict[str, Array]) -> ExportedWeights:
    words = held["words.levels"].astype(np.float32) * held["words.scales"].astype(np.float32)
    tensors: dict[str, Array] = {
        "embeddings.word_embeddings.weight": words,
        # The only kind of token was added to the places when they were written.
        "embeddings.position_embeddings.weight": held["places"].astype(np.float32),
        "embeddings.token_type_embeddings.weight": np.zeros((2, words.shape[1]), np.float32),
    }
    for name, value in held.items():
        if name.endswith(".weight.levels"):
            tensors[name.removesuffix(".levels")] = _matrix(held, name.removesuffix(".levels"))
        elif name.endswith(".mixed.levels"):
            layer = name.removesuffix(".mixed.levels")
            weights = np.split(_matrix(held, f"{layer}.mixed"), len(_MIXED))
            biases = np.split(held[f"{layer}.bias"].astype(np.float32), len(_MIXED))
            for part, weight, bias in zip(_MIXED, weights, biases, strict=True):
                tensors[f"{layer}.{part}.weight"] = weight
                tensors[f"{layer}.{part}.bias"] = bias
        elif name.endswith(".half"):
            tensors[f"{name.removesuffix('.half')}.weight"] = value.T.astype(np.float32)
        elif name.endswith((".weight", ".bias")) and not name.endswith(".self.bias"):
            tensors[name] = value.astype(np.float32)
    layers = sum(name.endswith(".self.query.weight") for name in tensors)
    # A head's width is told by what its products are divided by: its root.
    head = round(float(held["attention_scale"].item()) ** -2)
    return ExportedWeights(
        shape={
            "vocab_size": words.shape[0],
            "hidden_size": words.shape[1],
            "num_hidden_layers": layers,
            "num_attention_heads": words.shape[1] // head,
            "intermediate_size": len(tensors["encoder.layer.0.intermediate.dense.bias"]),
            "max_position_embeddings": len(held["places"]),
        },
        tensors=tensors,
    )


def _matrix(held: dict[str, Array], name: str) -> Array:
    """Weights of shape (outputs, inputs)."""
    levels, scales = (held[f"{name}.{part}"].astype(np.float32) for part in ("levels", "scales"))
    return np.ascontiguousarray((levels * scales).reshape(-1, levels.shape[-1]).T)
