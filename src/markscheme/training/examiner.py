"""How the shipped examiner is made: features, ensembles of trees, calibration, files.

`train` takes labelled answers and gives a folder of weights; every step is seeded, so the same
answers give the same files on the same versions of the libraries.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson
import polars as pl

from markscheme.errors import DataError
from markscheme.features.alignment import (
    COSINES,
    EXAMINED,
    FeatureView,
    Rarity,
    compute_features,
    is_contested,
    reworded,
)
from markscheme.judges import save_rarity
from markscheme.judges.examiner import Examiner, blend_log_odds, cosines, platt
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

MEANING = (*EXAMINED, *COSINES)
"""Features of the trees that see meaning besides words."""


@dataclass(frozen=True, kw_only=True)
class TrainOptions:
    """How an examiner is trained.

    Attributes:
        trees: of both stages.
        folds: parts for out-of-fold predictions, by question.
        unsure_from: score from which the second stage is asked.
        unsure_to: score up to which it is asked.
        drill: what made-up answers (`augment`) weigh beside people's, each; 0 for none.
        paraphrase: what hand-written paraphrases weigh in the trees that see made-up answers.
        blend: share of the trees that saw made-up answers in the log-odds of ordinary ones.
        sure: log-odds beyond which those trees decide alone.
    """

    trees: TreeOptions = field(default_factory=TreeOptions)
    folds: int = 5
    unsure_from: float = 0.08
    unsure_to: float = 0.92
    drill: float = 0.4
    paraphrase: float = 0.5
    blend: float = 0.2
    sure: float = 1.5


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


def train_examiner(
    answers: pl.DataFrame,
    folder: Path,
    options: TrainOptions | None = None,
    *,
    say: Say = print,
    report: Callable[[HeldOut], None] | None = None,
) -> Trained:
    """Train on labelled answers and write the weights to `folder`.

    Args:
        answers: an answers table; rows without label or answer are left out; a label of 0.5 and
            more counts as accepted.
        folder: where the weights go; made if it is not there.
        options: how to train.
        say: told of each step.
        report: told of the agreement on held-out questions, before anything is saved.

    Raises:
        DataError: fewer than 100 usable rows, or only one verdict among them.
        MissingExtraError: LightGBM or onnx is not installed.
    """
    need_trainers()
    options = options or TrainOptions()
    answers = usable(answers)
    labels = (answers["label"] >= 0.5).to_numpy().astype(float)
    rarity = rarity_of(answers)
    say(f"features of {len(answers):,} answers to {answers['question'].n_unique():,} questions")
    matrix, view = _seen(answers, rarity)
    both = np.hstack([matrix, cosines(view, np.arange(len(answers)), MiniLM())])
    made, told = augment(answers), paraphrases()
    drilled, drill_labels = _seen(made, rarity)[0], made["label"].to_numpy()
    said, told_view = _seen(told, rarity)
    said_both = np.hstack([said, cosines(told_view, np.arange(len(told)), MiniLM())])
    said_labels = told["label"].to_numpy()
    strict = is_contested(matrix)

    def grow(people: Array, made_up: Array, told_rows: Array) -> tuple[Forest, Forest, Forest]:
        """Trees on words, on words and meaning with paraphrases, on words with made-up answers."""
        words = fit(matrix[people], labels[people], list(EXAMINED), options.trees)
        meaning = fit(
            np.concatenate([both[people], said_both[told_rows]]),
            np.concatenate([labels[people], said_labels[told_rows]]),
            list(MEANING),
            options.trees,
        )
        drill = fit(
            np.concatenate([matrix[people], drilled[made_up], said[told_rows]]),
            np.concatenate([labels[people], drill_labels[made_up], said_labels[told_rows]]),
            list(EXAMINED),
            replace(options.trees, leaves=2 * options.trees.leaves + 1),
            np.repeat(
                [1.0, options.drill, options.paraphrase],
                [people.sum(), made_up.sum(), told_rows.sum()],
            ),
        )
        return words, meaning, drill

    fold, made_fold, said_fold = (
        np.array([fold_of(question, options.folds) for question in table["question"]])
        for table in (answers, made, told)
    )
    say(f"out-of-fold predictions, {options.folds} folds by question")
    odds = np.zeros((3, len(labels)))
    made_odds, said_odds = np.zeros(len(drill_labels)), np.zeros(len(said_labels))
    for number in range(options.folds):
        outside = fold == number
        if not outside.any():
            continue
        forests = grow(~outside, made_fold != number, said_fold != number)
        odds[0, outside], odds[2, outside] = (one(matrix[outside]) for one in forests[::2])
        odds[1, outside] = forests[1](both[outside])
        made_odds[made_fold == number] = forests[2](drilled[made_fold == number])
        said_odds[said_fold == number] = forests[1](said_both[said_fold == number])
    words_odds, meaning_odds = (
        blend_log_odds(people, odds[2], strict, blend=options.blend, sure=options.sure)
        for people in odds[:2]
    )
    words_map, meaning_map = platt_map(words_odds, labels), platt_map(meaning_odds, labels)
    scores = platt(words_odds, words_map)
    unsure = (scores > options.unsure_from) & (scores < options.unsure_to) | reworded(matrix)
    unsure &= ~strict
    scores[unsure] = platt(meaning_odds[unsure], meaning_map)

    if report is not None:
        shipped = Examiner().judge(answers, Models())["score"].to_numpy()
        report(
            HeldOut(
                rows=len(labels),
                trained=Agreement.of(labels, scores),
                shipped=Agreement.of(labels, shipped),
            )
        )
    say("the final trees")
    folder.mkdir(parents=True, exist_ok=True)
    words, meaning, drill = grow(*(np.ones(len(f), bool) for f in (fold, made_fold, said_fold)))
    save_onnx(words, folder / "words.onnx.zst", features=len(EXAMINED))
    save_onnx(meaning, folder / "meaning.onnx.zst", features=len(MEANING))
    save_onnx(drill, folder / "drill.onnx.zst", features=len(EXAMINED))
    save_rarity(rarity, folder / "rarity.npz")
    settings = {
        "features": list(EXAMINED),
        "cosines": list(COSINES),
        "words": words_map,
        "meaning": meaning_map,
        "unsure_from": options.unsure_from,
        "unsure_to": options.unsure_to,
        "blend": options.blend,
        "sure": options.sure,
        "neutral": [float(x) for x in np.median(both, axis=0)],
        "trained": {
            "rows": len(answers),
            "questions": answers["question"].n_unique(),
            "accepted": float(labels.mean()),
            "out_of_fold_accuracy": float(((scores >= 0.5) == (labels > 0.5)).mean()),
            "made_up_rows": len(made),
            "paraphrases": len(told),
            "paraphrases_out_of_fold_accuracy": float(
                ((said_odds > 0) == (said_labels > 0)).mean()
            ),
            "made_up_out_of_fold_accuracy": float(((made_odds > 0) == (drill_labels > 0)).mean()),
            "seeds": options.trees.seeds,
            "rounds": options.trees.rounds,
        },
    }
    (folder / "examiner.json").write_bytes(orjson.dumps(settings, option=orjson.OPT_INDENT_2))
    return Trained(
        folder=folder,
        held_out=scores,
        labels=labels,
        gains=dict(zip(MEANING, meaning.gains().tolist(), strict=True)),
    )


def _seen(table: pl.DataFrame, rarity: Rarity) -> tuple[npt.NDArray[np.float32], FeatureView]:
    return compute_features(table["question"], table["references"], table["answer"], rarity)


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


def platt_map(log_odds: Array, labels: Array) -> tuple[float, float]:
    """Slope and intercept that make log-odds probabilities (Platt 1999)."""
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=1e6).fit(log_odds[:, None], labels > 0.5)
    return float(model.coef_[0, 0]), float(model.intercept_[0])
