"""How the shipped entailment test is made: pairs, features, trees, calibration, files.

Every step is seeded, so the same answers give the same files on the same versions of the
libraries.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson
import polars as pl
import zstandard

from markscheme.contract import Lineage
from markscheme.features.alignment import Rarity
from markscheme.features.entailment import NAMES, entailment_features
from markscheme.judges.examiner import platt
from markscheme.manifests import write_manifest
from markscheme.tables import whole_folder
from markscheme_research.training import (
    Forest,
    TreeOptions,
    fit_forest,
    fold_of,
    need_trainers,
    platt_map,
    rarity_of,
    save_onnx,
    save_rarity,
    usable,
)
from markscheme_research.training.entailment_pairs import made_pairs
from markscheme_research.training.entailment_weak import WeakPairs

Array = npt.NDArray[Any]
Say = Callable[[str], None]

EITHER_WAY = "people's verdicts, entailed either way"
"""The line of the report that compares verdicts with the likelier way of each answer."""


@dataclass(frozen=True, kw_only=True)
class EntailmentOptions:
    """How an entailment test is trained.

    Attributes:
        trees: how they grow.
        made: made-up pairs for each question.
        made_weight: what one of them weighs alongside an answer that people judged.
        given_weight: what a pair of the user's own weighs.
        rounds: times that the trees guess what verdicts leave open.
        share: of the examiner in the log-odds that two answers agree at all.
        folds: parts for the held-out report, by question.
        seed: of the made-up pairs.
    """

    trees: TreeOptions = field(
        default_factory=lambda: TreeOptions(rounds=200, seeds=1, leaves=15, least=20)
    )
    made: int = 8
    made_weight: float = 0.5
    given_weight: float = 1.0
    rounds: int = 2
    share: float = 0.8
    folds: int = 5
    seed: int = 0

    def with_rounds(self, rounds: int | None) -> EntailmentOptions:
        """The same with so many trees in each ensemble; None changes nothing."""
        if rounds is None:
            return self
        return replace(self, trees=replace(self.trees, rounds=rounds))


@dataclass(frozen=True, kw_only=True)
class Quality:
    """How scores agree with labels on held-out pairs of one kind, at threshold 0.5.

    All figures from 0 to 1; `auroc` is None where all labels are the same.
    """

    kind: str
    pairs: int
    entailed: float
    accuracy: float
    auroc: float | None

    @classmethod
    def of(cls, kind: str, labels: Array, scores: Array) -> Quality:
        """By scikit-learn's definitions."""
        from sklearn.metrics import roc_auc_score

        return cls(
            kind=kind,
            pairs=len(labels),
            entailed=float(labels.mean()),
            accuracy=float(((scores >= 0.5) == (labels >= 0.5)).mean()),
            auroc=float(roc_auc_score(labels, scores)) if 0 < labels.mean() < 1 else None,
        )


@dataclass(frozen=True, kw_only=True)
class Trained:
    """Where the weights lie, and the quality on held-out questions by kind of pair."""

    folder: Path
    held_out: tuple[Quality, ...]


def train_entailment(
    answers: pl.DataFrame,
    folder: Path,
    options: EntailmentOptions | None = None,
    *,
    given: pl.DataFrame | None = None,
    say: Say = print,
    report: Callable[[Sequence[Quality]], None] | None = None,
) -> Trained:
    """Train on labelled answers and write the weights to `folder`.

    Args:
        answers: an answers table; rows without label or answer are left out.
        folder: where the weights go; made if it is not there.
        options: how to train.
        given: pairs of the user's own: `question` (may be blank), `premise`, `hypothesis`,
            `label` (1 where the premise entails the hypothesis).
        say: called with each step.
        report: called with the quality on held-out questions, before anything is saved.

    Raises:
        DataError: fewer than 100 usable answers, or only one verdict among them.
        MissingExtraError: LightGBM or onnx is not installed.
    """
    need_trainers()
    options = options or EntailmentOptions()
    answers = usable(answers)
    rarity = rarity_of(answers)
    made = made_pairs(answers, seed=options.seed, each=options.made)
    say(f"{len(answers):,} answers to {answers['question'].n_unique():,} questions")
    say(f"{len(made):,} made-up pairs" + (f", {len(given):,} given" if given is not None else ""))
    weak = WeakPairs.of(answers, rarity)
    table = _Table.of(made, weight=options.made_weight, rarity=rarity)
    if given is not None:
        table = table + _Table.of(given, weight=options.given_weight, rarity=rarity)

    def grow(rows: _Table) -> Forest:
        return fit_forest(rows.features, rows.labels, list(NAMES), options.trees, rows.weights)

    guess = weak.certain()
    questions = answers["question"].to_list()
    for number in range(options.rounds):
        say(f"which way accepted answers entail, round {number + 1} of {options.rounds}")
        guess = weak.guessed(grow(_Table.weak(weak, guess, questions) + table))
    rows = _Table.weak(weak, guess, questions) + table
    say(f"held-out predictions, {options.folds} folds by question")
    odds = np.zeros(len(rows.labels))
    by_verdict = np.zeros(len(weak.row))
    fold = np.array([fold_of(question, options.folds) for question in rows.questions])
    weak_fold = np.array([fold_of(questions[row], options.folds) for row in weak.row])
    for number in range(options.folds):
        outside, judged = fold == number, weak_fold == number
        if not outside.any():
            continue
        forest = grow(rows.only(~outside))
        odds[outside] = forest(rows.features[outside])
        by_verdict[judged] = np.maximum(forest(weak.entails[judged]), forest(weak.entailed[judged]))
    calibration = platt_map(odds, rows.labels)
    scores = platt(odds, calibration)
    found = _held_out(rows, scores, weak, platt(by_verdict, calibration))
    if report is not None:
        report(found)
    say("the final trees")
    forest = grow(rows)
    asked = [] if given is None else given["question"].to_list()
    settings = {
        "features": list(NAMES),
        "platt": calibration,
        "share": options.share,
        "trained": {
            "answers": len(answers),
            "questions": answers["question"].n_unique(),
            "made_up_pairs": len(made),
            "given_pairs": 0 if given is None else len(given),
            "held_out": [asdict(one) for one in found],
            "seeds": options.trees.seeds,
            "rounds": options.trees.rounds,
        },
    }
    with whole_folder(folder) as place:
        path = place / "trees.onnx"
        save_onnx(forest, path, features=len(NAMES))
        (place / "trees.onnx.zst").write_bytes(zstandard.compress(path.read_bytes(), 19))
        path.unlink()
        save_rarity(rarity, place / "rarity.npz")
        Lineage.of([*answers["question"].unique().to_list(), *asked]).save(place)
        content = orjson.dumps(settings, option=orjson.OPT_INDENT_2)
        (place / "entailment.json").write_bytes(content)
        write_manifest(place)
    return Trained(folder=folder, held_out=found)


@dataclass(frozen=True, kw_only=True)
class _Table:
    """Directed pairs as features, with what they are labelled, weigh, belong to and are."""

    features: Array
    labels: Array
    weights: Array
    questions: list[str]
    kinds: list[str]

    @classmethod
    def of(cls, pairs: pl.DataFrame, *, weight: float, rarity: Rarity) -> _Table:
        """Of a table of pairs."""
        q, p, h = (pairs[name].to_list() for name in ("question", "premise", "hypothesis"))
        return cls(
            features=entailment_features(q, p, h, rarity),
            labels=pairs["label"].to_numpy().astype(float),
            weights=np.full(len(pairs), weight),
            questions=[one or other for one, other in zip(q, p, strict=True)],
            kinds=pairs.select(pl.format("{}, {}", "kind", "direction")).to_series().to_list(),
        )

    @classmethod
    def weak(cls, weak: WeakPairs, guess: tuple[Array, Array], questions: list[str]) -> _Table:
        """Of people's verdicts, with labels of both ways."""
        tables = []
        for features, labels, way in (
            (weak.entails, guess[0], "answer entails reference"),
            (weak.entailed, guess[1], "reference entails answer"),
        ):
            known = np.flatnonzero(~np.isnan(labels))
            tables.append(
                cls(
                    features=features[known],
                    labels=labels[known],
                    weights=weak.weight[known],
                    questions=[questions[row] for row in weak.row[known]],
                    kinds=[f"people's verdicts, {way}"] * len(known),
                )
            )
        return tables[0] + tables[1]

    def __add__(self, other: _Table) -> _Table:
        return _Table(
            features=np.concatenate([self.features, other.features]),
            labels=np.concatenate([self.labels, other.labels]),
            weights=np.concatenate([self.weights, other.weights]),
            questions=self.questions + other.questions,
            kinds=self.kinds + other.kinds,
        )

    def only(self, keep: npt.NDArray[np.bool_]) -> _Table:
        """Some of the pairs."""
        places = np.flatnonzero(keep)
        return _Table(
            features=self.features[places],
            labels=self.labels[places],
            weights=self.weights[places],
            questions=[self.questions[place] for place in places],
            kinds=[self.kinds[place] for place in places],
        )


def _held_out(
    rows: _Table, scores: Array, weak: WeakPairs, by_verdict: Array
) -> tuple[Quality, ...]:
    """Quality by kind, and of the likelier way against people's verdicts."""
    kinds = np.array(rows.kinds)
    found = [
        Quality.of(kind, rows.labels[kinds == kind], scores[kinds == kind])
        for kind in sorted(set(rows.kinds))
    ]
    answers = len(np.unique(weak.row))
    best = np.zeros(answers)
    np.maximum.at(best, weak.row, by_verdict)
    accepted = np.zeros(answers)
    np.maximum.at(accepted, weak.row, weak.accepted.astype(float))
    return (*found, Quality.of(EITHER_WAY, accepted, best))
