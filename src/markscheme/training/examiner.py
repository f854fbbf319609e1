"""How the shipped examiner is made: columns, cross-fitted trees, calibration, files.

`train_examiner` takes labelled answers and gives a folder of weights; every step is seeded, so the
same answers give the same files on the same versions of the libraries.

The trees are cross-fitted: one forest for each fold of the questions, grown on the others. Together
they are what is saved; each one's predictions for its own fold, which it has not seen, calibrate.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson
import polars as pl

from markscheme.errors import DataError
from markscheme.features.alignment import COSINES, Rarity, reworded
from markscheme.judges import save_rarity
from markscheme.judges.examiner import COLUMNS, Examiner, Reading, cosines, platt, read_columns
from markscheme.models import Models
from markscheme.models.local import MiniLM
from markscheme.text import Lexicon, encode
from markscheme.training.augment import augment
from markscheme.training.splits import fold_of
from markscheme.training.trees import Forest, TreeOptions, fit, need_trainers, save_onnx


def paraphrases() -> pl.DataFrame:
    """Labelled answers of `paraphrases.jsonl`: question, references, answer, label.

    Each reference is also there as a right answer to its question.
    """
    text = files("markscheme.training").joinpath("paraphrases.jsonl").read_text(encoding="utf-8")
    rows = [
        (one["question"], [one["reference"]], answer, label)
        for one in map(orjson.loads, text.splitlines())
        for label, answers in ((1.0, [one["reference"], *one["right"]]), (0.0, one["wrong"]))
        for answer in answers
    ]
    return pl.DataFrame(
        rows,
        schema={
            "question": pl.String, "references": pl.List(pl.String), "answer": pl.String,
            "label": pl.Float64,
        },
        orient="row",
    )  # fmt: skip


Array = npt.NDArray[Any]
Say = Callable[[str], None]

MEANING = (*COLUMNS, *COSINES)
"""Features of the trees that see meaning besides words."""


TREES = TreeOptions(rounds=600, seeds=1, leaves=31, least=30, columns=0.3, random_thresholds=False)
"""How the examiner's trees are grown, for each fold."""


@dataclass(frozen=True, kw_only=True)
class TrainOptions:
    """How an examiner is trained.

    Attributes:
        trees: of both stages, for each fold.
        folds: parts by question; the forests of all folds are averaged.
        unsure_from: score from which the second stage is asked.
        unsure_to: score up to which it is asked.
        made_up: what made-up answers (`augment`) weigh, each; 0 for none.
        paraphrase: what hand-written paraphrases weigh, each.
    """

    trees: TreeOptions = TREES
    folds: int = 4
    unsure_from: float = 0.08
    unsure_to: float = 0.92
    made_up: float = 0.2
    paraphrase: float = 0.5


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """How scores agree with labels, at threshold 0.5; all figures from 0 to 1 but kappa."""

    accuracy: float
    f1: float
    kappa: float
    auroc: float

    @classmethod
    def of(cls, labels: Array, scores: Array) -> Agreement:
        """By scikit-learn's definitions; F1 is of the accepted."""
        from sklearn.metrics import accuracy_score, cohen_kappa_score, f1_score, roc_auc_score

        accepted, verdicts = labels > 0.5, scores >= 0.5
        return cls(
            accuracy=float(accuracy_score(accepted, verdicts)),
            f1=float(f1_score(accepted, verdicts)),
            kappa=float(cohen_kappa_score(accepted, verdicts)),
            auroc=float(roc_auc_score(accepted, scores)),
        )


@dataclass(frozen=True, kw_only=True)
class HeldOut:
    """Agreement on held-out questions, and the shipped examiner's on the same answers."""

    rows: int
    trained: Agreement
    shipped: Agreement


@dataclass(frozen=True, kw_only=True)
class Trained:
    """What came out: out-of-fold probabilities of the training rows and what was saved."""

    folder: Path
    held_out: Array
    labels: Array
    gains: dict[str, float]


@dataclass(frozen=True, kw_only=True)
class Rows:
    """Rows to learn from: columns, labels, weights, folds, and embeddings of some.

    Attributes:
        matrix: shape (rows, len(COLUMNS)).
        labels: 1 accepted, 0 not; shape (rows,).
        weights: how much each row counts in the trees, shape (rows,).
        people: rows that people or writers labelled, which calibrate; made-up ones do not.
        fold: the fold of each row's question.
        embedded: rows that have cosines.
        likeness: their cosines, shape (embedded.sum(), len(COSINES)).
    """

    matrix: Array
    labels: Array
    weights: Array
    people: Array
    fold: Array
    embedded: Array
    likeness: Array


@dataclass(frozen=True, kw_only=True)
class Grown:
    """Two forests, their Platt maps, and probabilities of rows by forests that never saw them."""

    words: Forest
    meaning: Forest
    words_map: tuple[float, float]
    meaning_map: tuple[float, float]
    words_scores: Array
    held_out: Array


def train_examiner(
    answers: pl.DataFrame,
    folder: Path,
    options: TrainOptions | None = None,
    *,
    mixed: pl.DataFrame | None = None,
    say: Say = print,
    report: Callable[[HeldOut], None] | None = None,
) -> Trained:
    """Train on labelled answers and write the weights to `folder`.

    Args:
        answers: an answers table; rows without label or answer are left out; a label of 0.5 and
            more counts as accepted.
        folder: where the weights go; made if it is not there.
        options: how to train.
        mixed: more labelled answers to learn from, such as the rows in `training-data/`, which the
            report leaves out; a column `weight` says how much each row of either table counts.
        say: told of each step.
        report: told of the agreement on held-out questions, before anything is saved.

    Raises:
        DataError: fewer than 100 usable rows, or only one verdict among them.
        MissingExtraError: LightGBM or onnx is not installed.
    """
    need_trainers()
    options = options or TrainOptions()
    answers = usable(answers)
    own = len(answers)
    rarity = rarity_of(answers)
    made, told = augment(answers), paraphrases()
    tables = [answers, *([] if mixed is None else [usable(mixed)])]
    people = pl.concat([_plain(one) for one in tables])
    say(f"columns of {len(people):,} answers to {people['question'].n_unique():,} questions")
    rows = _rows(people, told, made, rarity, options)
    say(f"cross-fitted trees, {options.folds} folds by question")
    grown = grow(rows, options)
    labels, scores = rows.labels[:own], grown.held_out[:own]
    if report is not None:
        shipped = Examiner().judge(answers, Models())["score"].to_numpy()
        report(
            HeldOut(
                rows=own,
                trained=Agreement.of(labels, scores),
                shipped=Agreement.of(labels, shipped),
            )
        )
    save(
        folder, grown, rows, rarity, options,
        trained={
            "rows": len(people),
            "questions": people["question"].n_unique(),
            "made_up_rows": len(made),
            "paraphrases": len(told),
        },
    )  # fmt: skip
    return Trained(
        folder=folder,
        held_out=scores,
        labels=labels,
        gains=dict(zip(MEANING, grown.meaning.gains().tolist(), strict=True)),
    )


def grow(rows: Rows, options: TrainOptions) -> Grown:
    """Cross-fit both stages and calibrate each on the rows that its forests did not see."""
    everything = np.ones(len(rows.labels), bool)
    words, words_odds = _cross_fit(rows, rows.matrix, everything, list(COLUMNS), options)
    both = np.hstack([rows.matrix[rows.embedded], rows.likeness])
    meaning, meaning_odds = _cross_fit(rows, both, rows.embedded, list(MEANING), options)
    people = rows.people
    words_map = platt_map(words_odds[people], rows.labels[people], rows.weights[people])
    scores = platt(words_odds, words_map)
    inside = people[rows.embedded]
    asked = (scores > options.unsure_from) & (scores < options.unsure_to) | reworded(rows.matrix)
    asked &= rows.embedded
    fitted = inside & asked[rows.embedded] if (inside & asked[rows.embedded]).any() else inside
    meaning_map = platt_map(
        meaning_odds[fitted],
        rows.labels[rows.embedded][fitted],
        rows.weights[rows.embedded][fitted],
    )
    held_out = scores.copy()
    held_out[asked] = platt(meaning_odds[asked[rows.embedded]], meaning_map)
    return Grown(
        words=words, meaning=meaning, words_map=words_map, meaning_map=meaning_map,
        words_scores=scores, held_out=held_out,
    )  # fmt: skip


def _cross_fit(
    rows: Rows, features: Array, chosen: Array, names: list[str], options: TrainOptions
) -> tuple[Forest, Array]:
    """The forests of all folds as one, and each row's log-odds by the one that has not seen it."""
    labels, weights, fold = (one[chosen] for one in (rows.labels, rows.weights, rows.fold))
    numbers = [number for number in range(options.folds) if (fold == number).any()]

    def one(number: int) -> Forest:
        seen = (fold != number) & (weights > 0)
        trees = replace(options.trees, threads=1)
        return fit(features[seen], labels[seen], names, trees, weights[seen])

    with ThreadPoolExecutor(options.trees.threads) as pool:
        forests = list(pool.map(one, numbers))
    odds = np.zeros(len(labels))
    for number, forest in zip(numbers, forests, strict=True):
        odds[fold == number] = forest(features[fold == number])
    return Forest([one for forest in forests for one in forest.boosters]), odds


def save(
    folder: Path,
    grown: Grown,
    rows: Rows,
    rarity: Rarity,
    options: TrainOptions,
    *,
    trained: dict[str, Any],
) -> None:
    """Write the weights of an examiner to a folder, which is made if it is not there."""
    folder.mkdir(parents=True, exist_ok=True)
    save_onnx(grown.words, folder / "words.onnx.zst", features=len(COLUMNS))
    save_onnx(grown.meaning, folder / "meaning.onnx.zst", features=len(MEANING))
    save_rarity(rarity, folder / "rarity.npz")
    right = (grown.held_out >= 0.5) == (rows.labels > 0.5)
    settings = {
        "features": list(COLUMNS),
        "cosines": list(COSINES),
        "words": grown.words_map,
        "meaning": grown.meaning_map,
        "unsure_from": options.unsure_from,
        "unsure_to": options.unsure_to,
        "neutral": [float(x) for x in np.median(rows.matrix[rows.people], axis=0)],
        "trained": {
            **trained,
            "accepted": float(rows.labels[rows.people].mean()),
            "out_of_fold_accuracy": float(right[rows.people].mean()),
            "folds": options.folds,
            "seeds": options.trees.seeds,
            "rounds": options.trees.rounds,
        },
    }
    (folder / "examiner.json").write_bytes(orjson.dumps(settings, option=orjson.OPT_INDENT_2))


def _plain(table: pl.DataFrame) -> pl.DataFrame:
    """Question, references, answer, label and weight of a table."""
    weight = pl.col("weight") if "weight" in table.columns else pl.lit(1.0)
    return table.select(
        "question", "references", "answer", pl.col("label").cast(pl.Float64), weight=weight
    )


def _rows(
    people: pl.DataFrame,
    told: pl.DataFrame,
    made: pl.DataFrame,
    rarity: Rarity,
    options: TrainOptions,
) -> Rows:
    """People's answers first, then paraphrases, then made-up answers, which have no embeddings."""
    tables = [people, told, made]
    readings = [_read(table, rarity) for table in tables]
    likeness = [
        cosines(reading.view, np.arange(len(table)), MiniLM())
        for table, reading in zip(tables[:2], readings[:2], strict=True)
    ]
    sizes = [len(table) for table in tables]
    questions = [question for table in tables for question in table["question"]]
    return Rows(
        matrix=np.concatenate([reading.matrix for reading in readings]),
        labels=np.concatenate([(one["label"] >= 0.5).to_numpy() for one in tables]).astype(float),
        weights=np.concatenate(
            [
                people["weight"].to_numpy(),
                np.full(sizes[1], options.paraphrase),
                np.full(sizes[2], options.made_up),
            ]
        ),
        people=np.repeat([True, False, False], sizes),
        fold=np.array([fold_of(question, options.folds) for question in questions]),
        embedded=np.repeat([True, True, False], sizes),
        likeness=np.concatenate(likeness),
    )


def _read(table: pl.DataFrame, rarity: Rarity) -> Reading:
    return read_columns(table["question"], table["references"], table["answer"], rarity)


def usable(answers: pl.DataFrame) -> pl.DataFrame:
    """Rows with an answer, a label and references in words.

    Raises:
        DataError: fewer than 100 of them, or only one verdict.
    """
    kept = answers.filter(
        pl.col("label").is_not_null()
        & pl.col("answer").is_not_null()
        & (pl.col("references").list.len() > 0)
        & (pl.col("reference_kind").fill_null("text") == "text")
    )
    accepted = int((kept["label"] >= 0.5).sum())
    if kept.height < 100 or accepted in (0, kept.height):
        raise DataError(
            f"{kept.height} labelled answers, {accepted} of them accepted, are not enough to learn "
            "from; give 100 at least (some thousands are better), with both verdicts among them"
        )
    return kept


def rarity_of(answers: pl.DataFrame) -> Rarity:
    """Word rarities from the questions, references and answers of a table; labels are not used."""
    texts = [
        *answers["question"].unique(maintain_order=True).to_list(),
        *answers["answer"].to_list(),
        *answers["references"].explode().to_list(),
    ]
    lexicon = Lexicon()
    encoded = encode(texts, lexicon)
    canon = lexicon.known().canon[encoded.word].astype(np.int64)
    size = len(lexicon.canon_words)
    owner = np.repeat(np.arange(len(texts)), encoded.count)
    document_frequency = np.bincount(np.unique(owner * size + canon) % size, minlength=size)
    idf = np.log((len(texts) + 1) / (document_frequency + 1))
    common = np.flatnonzero(document_frequency >= 2)
    return Rarity(
        [lexicon.canon_words[i] for i in common],
        idf[common].astype(np.float16).astype(np.float32),
        float(np.float32(np.log((len(texts) + 1) / 2))),
    )


def platt_map(log_odds: Array, labels: Array, weights: Array | None = None) -> tuple[float, float]:
    """Slope and intercept that make log-odds probabilities (Platt 1999)."""
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=1e6).fit(log_odds[:, None], labels > 0.5, weights)
    return float(model.coef_[0, 0]), float(model.intercept_[0])
