"""Quantising an exported encoder: error bounds, and a graph that computes the rounded weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("onnx")

from onnx import TensorProto, helper, numpy_helper
from recipes.encoder.export import (
    BLOCK,
    quantise_matrix,
    quantise_words,
    quantised,
    without_traces,
)

WORDS, WIDTH, OUTPUTS = 9, 2 * BLOCK, 5


def rounded_matrix(weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What `quantise_matrix` makes of weights, of their shape, and each weight's scale."""
    pairs, scales = quantise_matrix(weights)
    levels = np.stack([pairs & 15, pairs >> 4], -1).reshape(weights.shape[1], -1)
    each = np.repeat(scales, BLOCK, axis=1)
    return ((levels.astype(np.float32) - 8) * each).T, each.T


def made_model(words: np.ndarray, weights: np.ndarray, lookups: int = 1) -> Any:
    """Words looked up as PyTorch's exporter writes it, times a matrix."""
    nodes = [helper.make_node("Unsqueeze", ["ids", "last"], ["index"], name="index")]
    for number in range(lookups):
        nodes.append(helper.make_node("GatherND", ["words", "index"], [f"x{number}"]))
    nodes.append(helper.make_node("MatMul", ["x0", "weights"], ["y"], name="product"))
    note = nodes[0].metadata_props.add()
    note.key, note.value = "stack_trace", "/home/somebody/network.py"
    constants = {"words": words, "weights": weights, "last": np.array([-1], np.int64)}
    graph = helper.make_graph(
        nodes,
        "made",
        [helper.make_tensor_value_info("ids", TensorProto.INT64, ["rows", "tokens"])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["rows", "tokens", OUTPUTS])],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)


def made_weights() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    words = rng.normal(size=(WORDS, WIDTH)).astype(np.float32)
    weights = rng.normal(size=(WIDTH, OUTPUTS)).astype(np.float32)
    words[3] = 0
    weights[:BLOCK, 2] = 0
    return words, weights


def test_four_bits_are_within_half_a_level_but_at_the_far_end() -> None:
    _, weights = made_weights()
    weights[:BLOCK, 0] = np.linspace(-7, 7.5, BLOCK)
    again, scales = rounded_matrix(weights)
    error, step = np.abs(again - weights), np.abs(scales)
    # Eight levels on the side of the largest weight, seven on the other.
    far = weights * np.sign(scales) > 7.5 * step
    assert (error[~far] <= 0.5001 * step[~far]).all()
    assert (error <= 1.0001 * step).all()
    assert (again[:BLOCK, 2] == 0).all()
    largest = np.abs(weights[:BLOCK]).argmax(0)
    columns = np.arange(OUTPUTS)
    assert np.allclose(again[largest, columns], weights[largest, columns])
    with pytest.raises(ValueError, match="40 inputs are not a multiple of 32"):
        quantise_matrix(np.ones((40, 3), np.float32))


def test_six_bits_of_a_word_are_within_half_a_level() -> None:
    words, _ = made_weights()
    words[1, 0] = 40  # a word with one large coordinate does not spoil the others
    levels, scales = quantise_words(words)
    assert (levels.dtype, levels.shape) == (np.int8, words.shape)
    assert np.abs(levels).max() == 31
    assert (np.abs(levels * scales - words) <= 0.5001 * scales).all()
    assert scales[1] == pytest.approx(40 / 31)
    assert scales.ravel()[[0, 2, 4]].max() < 0.2
    assert (levels[3] == 0).all()


def test_a_quantised_graph_computes_with_the_rounded_weights() -> None:
    from onnxruntime import InferenceSession

    words, weights = made_weights()
    model = quantised(without_traces(made_model(words, weights)))
    content = model.SerializeToString()
    assert b"somebody" not in content
    constants = {tensor.name: list(tensor.dims) for tensor in model.graph.initializer}
    assert constants == {
        "last": [1],
        "words.levels": [WORDS, WIDTH],
        "words.scales": [WORDS, 1],
        "words.runs": [4],
        "words.whole": [3],
        "words.last": [1],
        "weights.levels": [OUTPUTS, 2, BLOCK // 2],
        "weights.scales": [OUTPUTS, 2],
    }
    ids = np.array([[0, 3, 8], [5, 5, 1]])
    (y,) = InferenceSession(content).run(["y"], {"ids": ids})
    levels, scales = quantise_words(words)
    matrix, _ = rounded_matrix(weights)
    np.testing.assert_allclose(y, (levels * scales)[ids] @ matrix, atol=1e-4)


def test_eight_bits_have_a_scale_for_each_output() -> None:
    from onnxruntime import InferenceSession

    words, weights = made_weights()
    weights[:, 1], weights[7, 4] = 0, 50  # one large weight spoils no other output
    model = quantised(made_model(words, weights), bits=8)
    constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    levels, scales = constants["weights.levels"], constants["weights.scales"]
    assert (levels.dtype, levels.shape, scales.shape) == (np.int8, weights.shape, (1, OUTPUTS))
    assert (np.abs(levels * scales - weights) <= 0.5001 * scales).all()
    assert scales[0, 0] < 0.05
    assert scales[0, 4] == pytest.approx(50 / 127)
    ids = np.array([[0, 3, 8], [5, 5, 1]])
    (y,) = InferenceSession(model.SerializeToString()).run(["y"], {"ids": ids})
    vectors, size = quantise_words(words)
    np.testing.assert_allclose(y, (vectors * size)[ids] @ (levels * scales), atol=1e-3)


def test_words_may_have_a_scale_for_each_run_of_coordinates() -> None:
    from onnxruntime import InferenceSession

    words, weights = made_weights()
    rng = np.random.default_rng(1)
    levels = rng.integers(-8, 8, words.shape).astype(np.int8)
    scales = rng.uniform(0.1, 2, (WORDS, 2)).astype(np.float16)
    content = quantised(made_model(words, weights), (levels, scales)).SerializeToString()
    ids = np.array([[0, 3, 8], [5, 5, 1]])
    (y,) = InferenceSession(content).run(["y"], {"ids": ids})
    exact = levels * np.repeat(scales.astype(np.float32), BLOCK, axis=1)
    np.testing.assert_allclose(y, exact[ids] @ rounded_matrix(weights)[0], rtol=1e-4, atol=1e-3)


def test_a_graph_with_two_lookups_is_refused() -> None:
    with pytest.raises(ValueError, match="2 nodes GatherND"):
        quantised(made_model(*made_weights(), lookups=2))
