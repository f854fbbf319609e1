"""How the shipped examiner is made: columns, trees, calibration, files.

`train_examiner` takes labelled answers and gives a folder of weights; every step is seeded, so the
same answers give the same files on the same versions of the libraries.

Trees grown on all questions are saved. What they give for questions that they did not see is known
from forests grown on the other folds of the questions: those predictions calibrate, and set how
much the trees and how much the encoder counts where both run.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson
import polars as pl
from scipy.special import expit

from markscheme.agreement import expected_calibration_error, reliability_diagram
from markscheme.contract import Lineage, plain_answers
from markscheme.engine import with_plain
from markscheme.errors import DataError
from markscheme.features.alignment import Rarity
from markscheme.judges.examiner import (
    COLUMNS,
    Blend,
    Examiner,
    open_weights,
    platt,
    read_columns,
    read_jointly,
    readers_of,
)
from markscheme.manifests import write_manifest
from markscheme.models import Models
from markscheme.tables import whole_folder
from markscheme.text import Lexicon, encode
from markscheme_research.training.rows import Rows, shipped_rows
from markscheme_research.training.splits import fold_key
from markscheme_research.training.trees import (
    Forest,
    TreeOptions,
    fit_forest,
    need_trainers,
    save_onnx,
)

Array = npt.NDArray[Any]
Say = Callable[[str], None]

TREES = (
    TreeOptions(
        rounds=600, seeds=1, leaves=63, least=15, columns=0.15, random_thresholds=False, threads=1
    ),
    TreeOptions(
        rounds=600, seeds=1, leaves=63, least=10, columns=0.3, random_thresholds=True, threads=1
    ),
)
"""How the examiner's trees are grown: best splits, and random ones; their mean is saved. On rows of
contrast writers the first are better, on people's labels the second."""

_ROWS_AT_ONCE = 16_384
_STRANGE = 0.0005
"""Share of the learned rows beyond either end of a column's range."""


@dataclass(frozen=True, kw_only=True)
class TrainOptions:
    """How an examiner is trained.

    Attributes:
        trees: kinds of trees; the mean of all kinds is taken.
        folds: parts by question for the predictions that calibrate.
        unsure_from: score of the trees from which the encoder reads.
        unsure_to: score of the trees up to which it reads.
        foreign_from, foreign_to: the same where texts are in another language than English.
        with_shipped_rows: learn from what the shipped examiner learned from as well; the package
            has its columns, not its texts.
    """

    trees: tuple[TreeOptions, ...] = TREES
    folds: int = 3
    unsure_from: float = 0.1
    unsure_to: float = 0.9
    foreign_from: float = 0.02
    foreign_to: float = 0.98
    with_shipped_rows: bool = False

    def with_rounds(self, rounds: int | None, seeds: int | None = None) -> TrainOptions:
        """With another number of trees of each kind, and of forests averaged, where given."""
        trees = tuple(
            replace(one, rounds=rounds or one.rounds, seeds=seeds or one.seeds)
            for one in self.trees
        )
        return replace(self, trees=trees)


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """How scores agree with labels at a threshold; all figures from 0 to 1 but kappa."""

    accuracy: float
    f1: float
    kappa: float
    auroc: float

    @classmethod
    def of(cls, labels: Array, scores: Array, *, threshold: float = 0.5) -> Agreement:
        """By scikit-learn's definitions; F1 is of the accepted."""
        from sklearn.metrics import accuracy_score, cohen_kappa_score, f1_score, roc_auc_score

        accepted, verdicts = labels > 0.5, scores >= threshold
        return cls(
            accuracy=float(accuracy_score(accepted, verdicts)),
            f1=float(f1_score(accepted, verdicts)),
            kappa=float(cohen_kappa_score(accepted, verdicts)),
            auroc=float(roc_auc_score(accepted, scores)),
        )


@dataclass(frozen=True, kw_only=True)
class SetAgreement:
    """Agreement on one set's held-out questions, of the new examiner and the one that ships.

    Attributes:
        name: the file.
        rows, questions: how many answers to how many questions.
        accuracy, shipped_accuracy: at threshold 0.5, from 0 to 1.
        kappa, shipped_kappa: Cohen's; None where all labels, or all verdicts, are the same.
        auroc, shipped_auroc: None where all labels are the same.
        calibration_error, shipped_calibration_error: expected, over ten bins of equal width.
    """

    name: str
    rows: int
    questions: int
    accuracy: float
    kappa: float | None
    auroc: float | None
    calibration_error: float
    shipped_accuracy: float
    shipped_kappa: float | None
    shipped_auroc: float | None
    shipped_calibration_error: float

    @classmethod
    def of(
        cls, name: str, questions: pl.Series, labels: Array, *, trained: Array, shipped: Array
    ) -> SetAgreement:
        """By scikit-learn's definitions."""
        new, old = (_figures_of(labels, scores) for scores in (trained, shipped))
        return cls(
            name=name,
            rows=len(labels),
            questions=questions.n_unique(),
            accuracy=new[0], kappa=new[1], auroc=new[2], calibration_error=new[3],
            shipped_accuracy=old[0], shipped_kappa=old[1], shipped_auroc=old[2],
            shipped_calibration_error=old[3],
        )  # fmt: skip


def _figures_of(labels: Array, scores: Array) -> tuple[float, float | None, float | None, float]:
    """Accuracy, kappa, AUROC and calibration error."""
    from sklearn.metrics import cohen_kappa_score, roc_auc_score

    accepted, verdicts = labels > 0.5, scores >= 0.5
    varied = _has_both(accepted)
    kappa = float(cohen_kappa_score(accepted, verdicts)) if varied else None
    auroc = float(roc_auc_score(accepted, scores)) if varied else None
    diagram = reliability_diagram(scores, accepted.astype(float), bins=10, by="uniform")
    return float((accepted == verdicts).mean()), kappa, auroc, expected_calibration_error(diagram)


@dataclass(frozen=True, kw_only=True)
class HeldOut:
    """Agreement on held-out questions, and the shipped examiner's on the same answers.

    `sets` has a line for each file, where the answers say which they come from (`set`).
    """

    rows: int
    trained: Agreement
    shipped: Agreement
    sets: tuple[SetAgreement, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Trained:
    """What came out: out-of-fold probabilities of the training rows and what was saved."""

    folder: Path
    held_out: Array
    labels: Array
    gains: dict[str, float]


@dataclass(frozen=True, kw_only=True)
class Grown:
    """A forest, its maps, and probabilities of rows by forests that never saw their questions."""

    trees: Forest
    trees_map: tuple[float, float]
    english: Blend
    languages: Blend
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
        folder: where the weights go; a new one.
        options: how to train.
        mixed: more labelled answers to learn from, such as the rows in `recipes/training-data/`,
            which the report leaves out. In either table a column `weight` says how much each row
            counts, and `unseen` whether the encoder has not learned from it; without that column
            the lineage of the shipped examiner says. In both tables, a column `read` holds the
            encoder's log-odds of unseen rows, if they are known.
        say: called with each step.
        report: called with the agreement on held-out questions, before the examiner is saved.

    Raises:
        DataError: fewer than 100 usable rows, only one verdict among them, or too few questions.
        MissingExtraError: LightGBM or onnx is missing.
        ModelError: the encoder cannot be used.
    """
    need_trainers()
    options = options or TrainOptions()
    answers = usable(answers)
    own = len(answers)
    shipped = shipped_rows(COLUMNS) if options.with_shipped_rows else None
    rarity = rarity_of(answers) if shipped is None else open_weights().rarity
    learned = _together(answers, None if mixed is None else usable(mixed))
    say(_what_is_read(learned))
    rows = _rows(learned, rarity)
    if shipped is not None:
        say(f"{len(shipped.labels):,} answers that the shipped examiner learned from too")
        rows += shipped
    say(f"trees for each of {options.folds} folds by question, and for all")
    grown = grow(rows, options)
    labels, scores = rows.labels[:own], grown.held_out[:own]
    if report is not None:
        as_shipped = Examiner().judge(answers, Models())["score"].to_numpy()
        apart = [
            SetAgreement.of(
                str(name), answers["question"].gather(rows_of_set),
                labels[rows_of_set], trained=scores[rows_of_set], shipped=as_shipped[rows_of_set],
            )
            for name, rows_of_set in _places(answers)
        ]  # fmt: skip
        report(
            HeldOut(
                rows=own,
                trained=Agreement.of(labels, scores),
                shipped=Agreement.of(labels, as_shipped),
                sets=tuple(apart),
            )
        )
    save(
        folder, grown, rows, rarity, options,
        questions=learned["question"],
        trained={
            "rows": len(learned),
            "questions": learned["question"].n_unique(),
            "shipped_rows": 0 if shipped is None else len(shipped.labels),
        },
    )  # fmt: skip
    return Trained(
        folder=folder,
        held_out=scores,
        labels=labels,
        gains=dict(zip(COLUMNS, grown.trees.gains().tolist(), strict=True)),
    )


def record_rows(
    answers: pl.DataFrame, path: Path, *, mixed: pl.DataFrame, say: Say = print
) -> Rows:
    """Write what `train_examiner` learns from with the same tables, as numbers without texts.

    Args:
        answers: as for `train_examiner`.
        path: the file; the one in the package is `shipped-rows.npz.zst` in this package.
        mixed: more labelled answers, as for `train_examiner`.
        say: called with each step.

    Returns:
        The rows.
    """
    learned = _together(usable(answers), usable(mixed))
    say(_what_is_read(learned))
    rows = _rows(learned, open_weights().rarity)
    rows.save(path, COLUMNS)
    return rows


def _places(answers: pl.DataFrame) -> list[tuple[str, Array]]:
    """The rows of each set, in order of first appearance; none where no column `set` names them."""
    if "set" not in answers.columns:
        return []
    names = answers["set"].unique(maintain_order=True).to_list()
    return [(name, (answers["set"] == name).arg_true().to_numpy()) for name in names]


def grow(rows: Rows, options: TrainOptions) -> Grown:
    """Grow the trees, and calibrate them and the blend on rows that they did not see.

    Raises:
        DataError: all questions are in one fold.
    """
    fold = rows.fold(options.folds)
    numbers = [number for number in range(options.folds) if (fold == number).any()]
    if len(numbers) < 2:
        raise DataError(
            f"all questions are in the same one of {options.folds} folds, so that none is left to "
            "learn from; give answers to more questions, or another number with --folds"
        )

    def forest(number: int) -> Forest:
        chosen = (fold != number) & (rows.weights > 0)
        grown = [
            fit_forest(
                rows.matrix[chosen], rows.labels[chosen], list(COLUMNS), kind, rows.weights[chosen]
            )
            for kind in options.trees
        ]
        return Forest([one for kind in grown for one in kind.boosters])

    with ThreadPoolExecutor(2) as pool:
        *folds, everything = pool.map(forest, [*numbers, _NO_FOLD])
    odds = np.zeros(len(rows.labels))
    for number, one in zip(numbers, folds, strict=True):
        odds[fold == number] = one(rows.matrix[fold == number])
    unseen = rows.unseen
    trees_map = platt_map(odds, rows.labels, rows.weights)
    scores = platt(odds, trees_map)
    shipped = open_weights().blends
    held_out, blends = scores.copy(), []
    for foreign, before, low, high in (
        (False, shipped[0], options.unsure_from, options.unsure_to),
        (True, shipped[1], options.foreign_from, options.foreign_to),
    ):
        mine = np.isfinite(rows.read) & (rows.foreign == foreign)
        places = np.flatnonzero(unseen)[mine]
        blend = _blend(odds[places], rows.read[mine], rows.labels[places], rows.weights[places])
        # The encoder has learned from all of it: what it counts elsewhere it counts here.
        blend = replace(blend or before, unsure_from=low, unsure_to=high)
        read = blend.unsure(scores[places])
        held_out[places[read]] = expit(blend.log_odds(odds[places], rows.read[mine]))[read]
        blends.append(blend)
    english, languages = blends
    return Grown(
        trees=everything,
        trees_map=trees_map,
        english=english,
        languages=languages,
        held_out=held_out,
    )


def _blend(trees: Array, encoder: Array, labels: Array, weights: Array) -> Blend | None:
    """Trees and an encoder by a logistic regression; None where the labels are all the same."""
    if not _has_both(labels):
        return None
    model = _logistic(np.column_stack([trees, encoder]), labels, weights)
    first, second = model.coef_[0].tolist()
    return Blend(
        trees=first,
        encoder=second,
        intercept=float(model.intercept_[0]),
        unsure_from=0,
        unsure_to=1,
    )


_NO_FOLD = -1
"""The forest that leaves no fold out."""


def _has_both(labels: Array) -> bool:
    return 0 < int(labels.sum()) < len(labels)


def save(
    folder: Path,
    grown: Grown,
    rows: Rows,
    rarity: Rarity,
    options: TrainOptions,
    *,
    questions: pl.Series,
    trained: dict[str, Any],
) -> None:
    """Write the weights of an examiner to a new folder, whole or not at all."""
    low, high = np.quantile(rows.matrix, [_STRANGE, 1 - _STRANGE], axis=0)
    right = (grown.held_out >= 0.5) == (rows.labels > 0.5)
    settings = {
        "features": list(COLUMNS),
        "trees": grown.trees_map,
        **_as_json(grown.english),
        "languages": _as_json(grown.languages),
        "neutral": [float(x) for x in np.median(rows.matrix, axis=0)],
        "low": [float(x) for x in low],
        "high": [float(x) for x in high],
        "trained": {
            **trained,
            "accepted": float(rows.labels.mean()),
            "out_of_fold_accuracy": float(right.mean()),
            "folds": options.folds,
            "seeds": options.trees[0].seeds,
            "rounds": sum(one.rounds for one in options.trees),
        },
    }
    lineage = _lineage(questions)
    with whole_folder(folder) as place:
        save_onnx(grown.trees, place / "trees.onnx.zst", features=len(COLUMNS))
        save_rarity(rarity, place / "rarity.npz")
        if lineage.known:
            lineage.save(place)
        content = orjson.dumps(settings, option=orjson.OPT_INDENT_2)
        (place / "examiner.json").write_bytes(content)
        write_manifest(place)


def _as_json(blend: Blend) -> dict[str, Any]:
    return {
        "blend": [blend.trees, blend.encoder, blend.intercept],
        "unsure_from": blend.unsure_from,
        "unsure_to": blend.unsure_to,
    }


def _lineage(questions: pl.Series) -> Lineage:
    """What an examiner learned from, the encoder included."""
    return Lineage.of(questions.unique().to_list()) | open_weights().lineage


def _plain(table: pl.DataFrame) -> pl.DataFrame:
    """Question, references, answer, label, weight and whether the encoder has not seen the row."""
    weight = pl.col("weight") if "weight" in table.columns else pl.lit(1.0)
    unseen = (
        pl.col("unseen")
        if "unseen" in table.columns
        else pl.Series(~np.array(open_weights().lineage.has(table["question"].to_list()), bool))
    )
    return table.select(
        "question", "references", "answer", pl.col("label").cast(pl.Float64),
        *(name for name in ("read",) if name in table.columns), weight=weight, unseen=unseen,
    )  # fmt: skip


def _together(answers: pl.DataFrame, mixed: pl.DataFrame | None) -> pl.DataFrame:
    """Both tables as one, of the columns that training reads."""
    return pl.concat([_plain(one) for one in (answers, mixed) if one is not None])


def _what_is_read(learned: pl.DataFrame) -> str:
    questions = learned["question"].n_unique()
    return f"columns of {len(learned):,} answers to {questions:,} questions"


def _rows(learned: pl.DataFrame, rarity: Rarity) -> Rows:
    """A table as numbers, in its order."""
    unseen = learned.filter("unseen")
    readers = readers_of(unseen.select("question", "references", "answer").rows())
    if unseen.is_empty():  # as of the data that the shipped examiner learned from
        read = np.zeros(0)
    elif "read" in unseen.columns:
        read = unseen["read"].to_numpy()
    else:
        read = read_jointly(read_columns(unseen, rarity).texts.rows(), readers).log_odds
    parts = learned.iter_slices(_ROWS_AT_ONCE)
    return Rows(
        matrix=np.concatenate([read_columns(part, rarity).matrix for part in parts]),
        labels=(learned["label"] >= 0.5).to_numpy().astype(float),
        weights=learned["weight"].to_numpy(),
        unseen=learned["unseen"].to_numpy(),
        key=np.array([fold_key(question) for question in learned["question"]], np.uint64),
        read=read,
        foreign=readers == "languages",
    )


def usable(answers: pl.DataFrame) -> pl.DataFrame:
    """Rows with an answer, a label and references in words; answers as judges read them.

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
    return plain_answers(with_plain(kept))


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


def save_rarity(rarity: Rarity, path: Path) -> None:
    """Write word rarities without pickle."""
    np.savez_compressed(
        path,
        words=np.frombuffer("\n".join(rarity.words).encode(), dtype=np.uint8),
        idf=rarity.idf.astype(np.float16),
        unknown=np.float32(rarity.unknown),
    )


def platt_map(log_odds: Array, labels: Array, weights: Array | None = None) -> tuple[float, float]:
    """Slope and intercept that make log-odds probabilities (Platt 1999)."""
    model = _logistic(log_odds[:, None], labels, weights)
    return float(model.coef_[0, 0]), float(model.intercept_[0])


def _logistic(columns: Array, labels: Array, weights: Array | None) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=1e6).fit(columns, labels > 0.5, weights)
