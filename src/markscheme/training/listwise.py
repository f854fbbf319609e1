"""How the shipped listwise examiner is made: drawn lists, features, ranking trees, calibration."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson
import polars as pl

from markscheme.agreement.per_question import per_question
from markscheme.agreement.reference_lists import Draw, draw_references
from markscheme.errors import MissingExtraError
from markscheme.metrics.nonfactoid.features import vector_features, word_features
from markscheme.metrics.nonfactoid.rows import Rows
from markscheme.metrics.nonfactoid.words import Rarity
from markscheme.models.encoder import Encoder
from markscheme.training.splits import fold_of
from markscheme.training.trees import Forest, save_onnx

Array = npt.NDArray[Any]
Say = Callable[[str], None]

COMPOSITIONS = {"antique": "33221100", "trec-dl-nf": "3210"}
"""The paper's list for each set (section 4.2.2)."""


@dataclass(frozen=True, kw_only=True)
class ListwiseOptions:
    """How it is trained.

    Attributes:
        draws: draws of the paper's list a set, each a copy of the data with other references; half
            as many draws have one top reference, and one has none.
        seeds: ensembles averaged.
        rounds: trees of each.
        rate: learning rate.
        leaves: leaves of a tree.
        folds: parts for out-of-fold scores, by question.
        threads: cores used.
    """

    draws: int = 7
    seeds: int = 3
    rounds: int = 300
    rate: float = 0.05
    leaves: int = 15
    folds: int = 5
    threads: int = 2


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """Candidates with drawn references and their features.

    `rows` has `set`, `question`, `label`, `grade` (0 to 3), `mode` (many, one, none), `draw`;
    `words` and `vectors` are matrices with a row each.
    """

    rows: pl.DataFrame
    words: Array
    vectors: Array
    word_names: tuple[str, ...]
    vector_names: tuple[str, ...]
    rarity: Rarity


def draw_all(sets: Mapping[str, pl.DataFrame], encoder: Encoder, options: ListwiseOptions) -> Drawn:
    """Draw lists for every set and compute the features.

    Args:
        sets: by name, `question`, `passage`, `grade` as `datasets.passages` gives them.
        encoder: embeds every text once.
        options: how often to draw.
    """
    every = pl.concat([frame["passage"] for frame in sets.values()])
    rarity = Rarity.measure(every.unique(maintain_order=True))
    texts = pl.concat([every, *(frame["question"] for frame in sets.values())]).unique(
        maintain_order=True
    )
    vectors = encoder.encode(texts.to_list())
    place = {text: row for row, text in enumerate(texts)}
    kept: list[pl.DataFrame] = []
    words, meaning = [], []
    word_names: list[str] = []
    vector_names: list[str] = []
    for name, passages in sets.items():
        low = passages["grade"].min()
        for mode, composition, seed in _draws(name, options):
            drawn = draw_references(passages, Draw(composition=composition, seed=seed))
            rows = Rows.of(
                drawn["question"], drawn["answer"], drawn["references"], drawn["reference_grades"]
            )
            word_names, matrix = word_features(rows, rarity)
            chosen = vectors[[place[text] for text in rows.texts]]
            vector_names, more = vector_features(rows, chosen)
            words.append(matrix)
            meaning.append(more)
            kept.append(
                drawn.select(
                    "question", "label", set=pl.lit(name), mode=pl.lit(mode), draw=pl.lit(seed),
                    grade=(pl.col("label") - low).cast(pl.Int64),
                )
            )  # fmt: skip
    return Drawn(
        rows=pl.concat(kept), words=np.vstack(words), vectors=np.vstack(meaning),
        word_names=tuple(word_names), vector_names=tuple(vector_names), rarity=rarity,
    )  # fmt: skip


def _draws(name: str, options: ListwiseOptions) -> list[tuple[str, str, int]]:
    many = [("many", COMPOSITIONS.get(name, "3210"), seed) for seed in range(options.draws)]
    one = [("one", "top", 100 + seed) for seed in range(max(1, options.draws // 2))]
    return [*many, *one, ("none", "none", 200)]


def grow(matrix: Array, rows: pl.DataFrame, names: Sequence[str], options: ListwiseOptions) -> Any:
    """Ranking trees (XE-NDCG, Bruch 2021; extremely randomised splits), averaged over seeds.

    Rows of one question and draw must stand together.

    Raises:
        MissingExtraError: LightGBM is not installed.
    """
    try:
        import lightgbm
    except ImportError as error:
        raise MissingExtraError("training", "train") from error
    groups = rows.select("set", "mode", "draw", "question").to_struct().rle()
    sizes = groups.struct.field("len").to_numpy()
    weight = np.where(rows["set"] == "trec-dl-nf", 0.6, 1.0)
    boosters = []
    for seed in range(options.seeds):
        data = lightgbm.Dataset(
            matrix, rows["grade"].to_numpy(), weight=weight, group=sizes, feature_name=list(names)
        )
        parameters = {
            "objective": "rank_xendcg", "learning_rate": options.rate,
            "num_leaves": options.leaves, "min_child_samples": 60, "feature_fraction": 0.4,
            "bagging_fraction": 0.5, "bagging_freq": 1, "lambda_l2": 10.0, "extra_trees": True,
            "max_bin": 127, "verbose": -1, "num_threads": options.threads, "deterministic": True,
            "force_row_wise": True, "seed": seed,
        }  # fmt: skip
        boosters.append(lightgbm.train(parameters, data, num_boost_round=options.rounds))
    return Forest(boosters)


def out_of_fold(
    drawn: Drawn, options: ListwiseOptions, *, encoded: bool, say: Say = print
) -> Array:
    """Scores of every row by trees that have not seen its question."""
    matrix, names = _inputs(drawn, encoded=encoded)
    fold = np.array([fold_of(question, options.folds) for question in drawn.rows["question"]])
    scores = np.zeros(len(matrix))
    for held in range(options.folds):
        kept = fold != held
        forest = grow(matrix[kept], drawn.rows.filter(kept), names, options)
        scores[~kept] = forest(matrix[~kept])
        say(f"fold {held + 1} of {options.folds}")
    return scores


def correlations(drawn: Drawn, scores: Array, *, draws: int = 3) -> pl.DataFrame:
    """Kendall, Spearman and Pearson a set and mode, averaged over questions and the first draws."""
    table = drawn.rows.with_columns(score=pl.Series(scores))
    found = []
    for (name, mode), part in table.group_by("set", "mode", maintain_order=True):
        first = part["draw"].unique().sort()[:draws]
        chosen = part.filter(pl.col("draw").is_in(first.implode())).rename({"grade": "_"})
        figures = per_question(chosen.rename({"label": "grade"}), seed="draw")
        found.append(
            {"set": name, "mode": mode, "questions": figures.questions, "draws": len(first)}
            | {key: figure.value for key, figure in figures.means.items()}
            | {f"{key}_spread": figure.value for key, figure in figures.spreads.items()}
        )
    return pl.DataFrame(found)


def train(
    drawn: Drawn, folder: Path, options: ListwiseOptions, say: Say = print
) -> dict[bool, pl.DataFrame]:
    """Cross-validate, train on everything and write the weights.

    Returns:
        Cross-validated correlations of the judge with (True) and without (False) embeddings.
    """
    folder.mkdir(parents=True, exist_ok=True)
    settings: dict[str, Any] = {}
    found = {}
    for encoded, key, file in ((True, "encoded", "trees"), (False, "words", "words")):
        scores = out_of_fold(drawn, options, encoded=encoded, say=say)
        found[encoded] = correlations(drawn, scores)
        matrix, names = _inputs(drawn, encoded=encoded)
        save_onnx(
            grow(matrix, drawn.rows, names, options),
            folder / f"listwise_{file}.onnx",
            features=len(names),
        )
        settings |= {key: list(names), f"{key}_platt": _platt(scores, drawn.rows)}
        say(f"{key}: {found[encoded]}")
    np.savez_compressed(folder / "listwise_rarity.npz", table=drawn.rarity.table.astype(np.float16))
    (folder / "listwise.json").write_bytes(orjson.dumps(settings, option=orjson.OPT_INDENT_2))
    return found


def _inputs(drawn: Drawn, *, encoded: bool) -> tuple[Array, tuple[str, ...]]:
    if not encoded:
        return drawn.words, drawn.word_names
    return np.hstack([drawn.words, drawn.vectors]), drawn.word_names + drawn.vector_names


def _platt(scores: Array, rows: pl.DataFrame) -> list[float]:
    """Slope and intercept for the chance of a grade in the upper half of the scale."""
    from sklearn.linear_model import LogisticRegression

    upper = (rows["grade"] >= 2).to_numpy()
    fitted = LogisticRegression(C=1e6).fit(scores[:, None], upper)
    return [float(fitted.coef_[0, 0]), float(fitted.intercept_[0])]
