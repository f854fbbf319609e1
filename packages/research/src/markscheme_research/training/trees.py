"""Fitting gradient-boosted trees with LightGBM, and writing them as one ONNX ensemble."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import zstandard

from markscheme.errors import MissingExtraError

Array = npt.NDArray[Any]

_ONE_THREAD = {"num_threads": 1}
_REPEATABLE = {**_ONE_THREAD, "deterministic": True, "force_row_wise": True, "verbose": -1}


@dataclass(frozen=True, kw_only=True)
class TreeOptions:
    """How trees are grown: small, many, strongly regularised, averaged over seeds.

    Attributes:
        rounds: trees of each seed.
        seeds: ensembles averaged (in log-odds).
        leaves: leaves of a tree.
        rate: learning rate.
        least: fewest rows in a leaf.
        columns: share of the features each tree may use.
        rows: share of the rows each tree sees.
        ridge: L2 penalty on leaf values.
        random_thresholds: split at random places (extremely randomised trees): the trees differ
            more, and their mean is better where rows are few.
        threads: seeds grown side by side.
    """

    rounds: int = 400
    seeds: int = 4
    leaves: int = 15
    rate: float = 0.05
    least: int = 40
    columns: float = 0.6
    rows: float = 0.8
    ridge: float = 10.0
    random_thresholds: bool = True
    threads: int = 2

    def parameters(self, seed: int) -> dict[str, Any]:
        """LightGBM's parameters for one seed."""
        return {
            "objective": "binary",
            "learning_rate": self.rate,
            "num_leaves": self.leaves,
            "min_child_samples": self.least,
            "feature_fraction": self.columns,
            "bagging_fraction": self.rows,
            "bagging_freq": 1,
            "lambda_l2": self.ridge,
            "extra_trees": self.random_thresholds,
            "extra_seed": seed + 300,
            "max_bin": 127,
            "seed": seed,
            "bagging_seed": seed + 100,
            "feature_fraction_seed": seed + 200,
        }


class Forest:
    """Boosters of several seeds, averaged in log-odds."""

    def __init__(self, boosters: Sequence[Any]) -> None:
        self.boosters = list(boosters)

    def __call__(self, features: Array) -> Array:
        """Log-odds, shape (rows,)."""
        return np.asarray(
            np.mean([one.predict(features, raw_score=True) for one in self.boosters], axis=0)
        )

    def gains(self) -> Array:
        """Each feature's share of the loss saved."""
        total = sum(one.feature_importance("gain") for one in self.boosters)
        return np.asarray(total / max(total.sum(), 1e-12))


@dataclass(frozen=True, kw_only=True)
class Growth:
    """What one booster is grown on, alongside the features.

    Attributes:
        parameters: LightGBM's, less those that make it repeatable.
        labels: shape (rows,).
        weights: how much each row counts, shape (rows,), or None for all alike.
        group: rows of each list, in order, for ranking.
    """

    parameters: Mapping[str, Any]
    labels: Array
    weights: Array | None = None
    group: Array | None = None


def need_trainers() -> None:
    """Say what is missing before the long work on features, not after it.

    Raises:
        MissingExtraError: LightGBM or onnx is not installed.
    """
    if any(find_spec(name) is None for name in ("lightgbm", "onnx")):
        raise MissingExtraError("training", "train")


def grow_side_by_side(
    features: Array, names: Sequence[str], growths: Sequence[Growth], *, rounds: int, threads: int
) -> list[Any]:
    """Grow boosters of `rounds` trees, `threads` of them at a time, one thread each.

    Threads that share a tree wait for each other, long on a busy machine. Each call says that it
    takes one thread, for LightGBM keeps that number for the whole process: a call that does not,
    alongside another that bins its rows, makes the other write out of bounds (seen as SIGSEGV).
    Predict afterwards, or with `num_threads=1`.

    Raises:
        MissingExtraError: LightGBM is not installed.
    """
    try:
        import lightgbm
    except ImportError as error:
        raise MissingExtraError("training", "train") from error

    def grow(growth: Growth) -> Any:
        data = lightgbm.Dataset(
            features, growth.labels, weight=growth.weights, group=growth.group,
            feature_name=list(names), params=dict(_ONE_THREAD),
        )  # fmt: skip
        return lightgbm.train({**_REPEATABLE, **growth.parameters}, data, num_boost_round=rounds)

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(grow, growths))


def fit_forest(
    features: Array,
    labels: Array,
    names: Sequence[str],
    options: TreeOptions,
    weights: Array | None = None,
) -> Forest:
    """Grow the trees.

    Raises:
        MissingExtraError: LightGBM is not installed.
    """
    growths = [
        Growth(parameters=options.parameters(seed), labels=labels, weights=weights)
        for seed in range(options.seeds)
    ]
    return Forest(
        grow_side_by_side(features, names, growths, rounds=options.rounds, threads=options.threads)
    )


def save_onnx(forest: Forest, path: Path, *, features: int) -> None:
    """Write a forest as one ONNX tree ensemble with input `features` (float32, rows by features).

    Thresholds are rounded down to float32, so that float32 features take the same branches as in
    LightGBM; features must not be missing. A path that ends in `.zst` is compressed.

    Raises:
        MissingExtraError: the package onnx is not installed.
    """
    try:
        from onnx import TensorProto, helper
    except ImportError as error:
        raise MissingExtraError("writing the trained examiner", "train") from error
    columns: dict[str, list[Any]] = {
        name: []
        for name in [
            "nodes_treeids",
            "nodes_nodeids",
            "nodes_featureids",
            "nodes_values",
            "nodes_modes",
            "nodes_truenodeids",
            "nodes_falsenodeids",
            "target_treeids",
            "target_nodeids",
            "target_weights",
        ]
    }
    share = 1.0 / len(forest.boosters)
    tree = 0
    for booster in forest.boosters:
        for described in booster.dump_model()["tree_info"]:
            _add_tree(columns, tree, described["tree_structure"], share)
            tree += 1
    node = helper.make_node(
        "TreeEnsembleRegressor",
        ["features"],
        ["log_odds"],
        domain="ai.onnx.ml",
        n_targets=1,
        target_ids=[0] * len(columns["target_treeids"]),
        aggregate_function="SUM",
        post_transform="NONE",
    )
    node.attribute.extend(helper.make_attribute(name, values) for name, values in columns.items())
    graph = helper.make_graph(
        [node],
        "trees",
        [helper.make_tensor_value_info("features", TensorProto.FLOAT, [None, features])],
        [helper.make_tensor_value_info("log_odds", TensorProto.FLOAT, [None, 1])],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    model = helper.make_model(graph, opset_imports=opsets, producer_name="markscheme")
    model.ir_version = 8
    content = model.SerializeToString()
    if path.suffix == ".zst":
        content = zstandard.ZstdCompressor(level=19).compress(content)
    path.write_bytes(content)


def _add_tree(
    columns: dict[str, list[Any]], tree: int, root: Mapping[str, Any], share: float
) -> None:
    """Append one tree, breadth first; node 0 is the root."""
    waiting: list[Mapping[str, Any]] = [root]
    place = 0
    while place < len(waiting):
        node = waiting[place]
        leaf = "split_feature" not in node
        columns["nodes_treeids"].append(tree)
        columns["nodes_nodeids"].append(place)
        columns["nodes_featureids"].append(0 if leaf else node["split_feature"])
        columns["nodes_values"].append(0.0 if leaf else _floor(node["threshold"]))
        columns["nodes_modes"].append("LEAF" if leaf else "BRANCH_LEQ")
        columns["nodes_truenodeids"].append(0 if leaf else len(waiting))
        columns["nodes_falsenodeids"].append(0 if leaf else len(waiting) + 1)
        if leaf:
            columns["target_treeids"].append(tree)
            columns["target_nodeids"].append(place)
            columns["target_weights"].append(float(node["leaf_value"]) * share)
        else:
            waiting += [node["left_child"], node["right_child"]]
        place += 1


def _floor(threshold: float) -> float:
    """The largest float32 that is not above `threshold`."""
    near = np.float32(threshold)
    return float(near if near <= threshold else np.nextafter(near, np.float32(-np.inf)))
