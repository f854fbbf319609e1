"""The two models of the listwise examiner: trees over features, and a linear model of style."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from markscheme_research.training import Forest, Growth, grow_side_by_side

Array = npt.NDArray[Any]

_SET_WEIGHT = {"trec-dl-nf": 0.6}
"""TREC-DL-NF has five times as many passages a question as ANTIQUE; its lists count less."""


@dataclass(frozen=True, kw_only=True)
class ListwiseOptions:
    """How it is trained.

    Attributes:
        draws: draws of the paper's list (`listwise_draws.draw_all`).
        seed: of draws and trees.
        ranking: ensembles grown by XE-NDCG (Bruch 2021), averaged.
        regression: ensembles grown on grades less their list's mean, averaged.
        regression_share: weight of those alongside the ranking ones, both scaled to unit spread.
        rounds: trees of each ensemble.
        rate: learning rate.
        leaves: leaves of a tree.
        style_share: weight of the style model alongside the ranking trees.
        style_ridge: its penalty.
        folds: parts for out-of-fold scores, by question.
        threads: ensembles grown side by side, one thread each.
    """

    draws: int = 7
    seed: int = 0
    ranking: int = 2
    regression: int = 1
    regression_share: float = 0.5
    rounds: int = 300
    rate: float = 0.05
    leaves: int = 15
    style_share: float = 0.35
    style_ridge: float = 3000.0
    folds: int = 5
    threads: int = 2

    def trees(self, objective: str, seed: int) -> dict[str, Any]:
        """LightGBM's parameters."""
        return {
            "objective": objective, "learning_rate": self.rate, "num_leaves": self.leaves,
            "min_child_samples": 60, "feature_fraction": 0.4, "bagging_fraction": 0.5,
            "bagging_freq": 1, "lambda_l2": 10.0, "extra_trees": True, "max_bin": 127,
            "seed": seed,
        }  # fmt: skip


@dataclass(frozen=True)
class Scaled:
    """A LightGBM booster whose every leaf is multiplied by a factor."""

    booster: Any
    factor: float

    def predict(self, features: Array, *, raw_score: bool = True) -> Array:
        """Scaled sums, shape (rows,)."""
        return np.asarray(self.booster.predict(features, raw_score=raw_score)) * self.factor

    def dump_model(self) -> dict[str, Any]:
        """LightGBM's description with scaled leaves."""
        trees = self.booster.dump_model()["tree_info"]
        return {
            "tree_info": [{"tree_structure": self._scaled(one["tree_structure"])} for one in trees]
        }

    def _scaled(self, node: Mapping[str, Any]) -> dict[str, Any]:
        if "split_feature" not in node:
            return {"leaf_value": node["leaf_value"] * self.factor}
        return {
            **node,
            "left_child": self._scaled(node["left_child"]),
            "right_child": self._scaled(node["right_child"]),
        }


def weights_of(rows: pl.DataFrame) -> Array:
    """How much each row counts."""
    return rows["set"].replace_strict(_SET_WEIGHT, default=1.0, return_dtype=pl.Float64).to_numpy()


def centred(values: Array, group: Array) -> Array:
    """Values, shape (rows,) or (rows, columns), less their group's mean."""
    _, inverse = np.unique(group, return_inverse=True)
    order = np.argsort(inverse, kind="stable")
    starts = np.searchsorted(inverse[order], np.arange(inverse.max() + 1))
    count = np.bincount(inverse).reshape(-1, *([1] * (values.ndim - 1)))
    return np.asarray(values - (np.add.reduceat(values[order], starts) / count)[inverse])


def grow(
    matrix: Array, rows: pl.DataFrame, group: Array, names: Sequence[str], options: ListwiseOptions
) -> Forest:
    """Grow ranking and regression trees, each scaled to unit spread within lists, and add them.

    Returns:
        The forest, whose mean over boosters is the weighted sum.

    Raises:
        MissingExtraError: LightGBM is not installed.
    """
    grade = rows["grade"].to_numpy()
    sizes = np.unique(group, return_counts=True)[1]
    least = centred(grade.astype(np.float64), group)
    weights = weights_of(rows)
    jobs = [("rank_xendcg", number, 1.0 / options.ranking) for number in range(options.ranking)]
    jobs += [
        ("regression", 50 + number, options.regression_share / options.regression)
        for number in range(options.regression)
    ]
    growths = [
        Growth(
            parameters=options.trees(objective, options.seed + number),
            labels=grade if objective == "rank_xendcg" else least,
            weights=weights,
            group=sizes if objective == "rank_xendcg" else None,
        )
        for objective, number, _ in jobs
    ]
    grown = grow_side_by_side(
        matrix, names, growths, rounds=options.rounds, threads=options.threads
    )
    spreads = [float(centred(np.asarray(one.predict(matrix)), group).std()) for one in grown]
    return Forest(
        [
            Scaled(booster, share * len(jobs) / max(spread, 1e-9))
            for booster, spread, (_, _, share) in zip(grown, spreads, jobs, strict=True)
        ]
    )


def fit_style(
    inputs: Array, rows: pl.DataFrame, group: Array, text: Array, options: ListwiseOptions
) -> Array:
    """Ridge regression of grades, less their list's mean, on what is read of the answer alone.

    Args:
        inputs: one row per text.
        rows, group, text: of the candidates, each once; `text` is a candidate's row in `inputs`.
        options: penalty and weight.

    Returns:
        Weights of the inputs, scaled so that the score spreads by `style_share` within lists.
    """
    from sklearn.linear_model import Ridge

    chosen = inputs[text].astype(np.float64)
    scale = chosen.std(axis=0) + 1e-6
    matrix = centred(chosen / scale, group)
    target = centred(rows["grade"].to_numpy().astype(np.float64), group)
    model = Ridge(alpha=options.style_ridge, fit_intercept=False, solver="cholesky")
    model.fit(matrix, target, sample_weight=weights_of(rows))
    spread = float((matrix @ model.coef_).std())
    return np.asarray(model.coef_ / scale * options.style_share / max(spread, 1e-9))
