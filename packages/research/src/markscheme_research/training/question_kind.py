"""How the question classifier is made: logistic regression on the words that make a question.

The factoid questions are those of EVOUNA-NQ and CuratedTREC, the others those of ANTIQUE,
TREC-DL-NF and WebGLM.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import orjson
import polars as pl

from markscheme.judges.listwise import asks_opinion, features
from markscheme.tables import replace_file
from markscheme_research.datasets import load, passages
from markscheme_research.training import fold_of

if TYPE_CHECKING:
    from markscheme_research.training import TrainingReport

SMALLEST = 0.01
"""Weights nearer to zero than this are left out."""


@dataclass(frozen=True, kw_only=True)
class Fitted:
    """What training gives.

    Attributes:
        weights: by feature, with `bias`.
        sources: each source: `source`, `kind`, `questions`, `right`, the cross-validated share
            of them classified right.
    """

    weights: dict[str, float]
    sources: pl.DataFrame


def fit(
    factoid: Mapping[str, Sequence[str]], other: Mapping[str, Sequence[str]], *, folds: int = 5
) -> Fitted:
    """Fit on questions of both kinds, each kind counting the same, whatever its number.

    Args:
        factoid, other: questions by source. One that occurs in several counts for the first.
        folds: parts of the cross-validation, by question.
    """
    table = pl.concat(
        pl.DataFrame({"source": name, "kind": kind, "question": list(questions)})
        for kind, sources in (("factoid", factoid), ("non-factoid", other))
        for name, questions in sources.items()
    ).unique("question", keep="first", maintain_order=True)
    labels = (table["kind"] == "factoid").to_numpy()
    rows = [features(question) for question in table["question"]]
    fold = np.array([fold_of(question, folds) for question in table["question"]])
    opinion = np.array([asks_opinion(question) for question in table["question"]])
    right = np.zeros(len(rows), dtype=bool)
    for held in range(folds):
        names, model = _model(rows, labels, fold != held)
        out = np.flatnonzero(fold == held)
        if len(out):
            predicted = model.predict(names.transform([rows[place] for place in out]))
            right[out] = (predicted & ~opinion[out]) == labels[out]
    names, model = _model(rows, labels, np.ones(len(rows), dtype=bool))
    values = zip(names.get_feature_names_out(), model.coef_[0], strict=True)
    weights = {str(name): round(float(value), 3) for name, value in values if abs(value) > SMALLEST}
    weights["bias"] = round(float(model.intercept_[0]), 3)
    sources = (
        table.with_columns(right=pl.Series(right))
        .group_by("source", "kind", maintain_order=True)
        .agg(questions=pl.len(), right=pl.col("right").mean())
    )
    return Fitted(weights=weights, sources=sources)


def train_question_kind(
    path: Path,
    *,
    data_dir: Path | None = None,
    report: Callable[[TrainingReport], None] | None = None,
) -> Fitted:
    """Fit on the public sets' questions and write the weights: what makes the shipped classifier.

    EVOUNA-NQ and CuratedTREC are factoid; ANTIQUE (dev), TREC-DL-NF and WebGLM are not.

    Args:
        path: the JSON file to write.
        data_dir: folder with the datasets.
        report: receives the figures on held-out questions, before anything is saved.

    Raises:
        DataError: one of the datasets is not here.
    """
    from markscheme_research.training.reports import question_kind_report

    def questions(table: pl.DataFrame) -> list[str]:
        return table["question"].unique(maintain_order=True).to_list()

    fitted = fit(
        {
            "evouna-nq": questions(load("evouna-nq", data_dir=data_dir)),
            "curatedtrec": questions(load("curatedtrec", data_dir=data_dir, split="full")),
        },
        {
            "antique": questions(passages("antique", data_dir=data_dir, part="dev")),
            "trec-dl-nf": questions(passages("trec-dl-nf", data_dir=data_dir)),
            "webglm": questions(load("webglm", data_dir=data_dir)),
        },
    )
    if report is not None:
        report(question_kind_report(fitted))
    save_question_kind(fitted, path)
    return fitted


def save_question_kind(fitted: Fitted, path: Path) -> None:
    """Write the weights as JSON, whole or not at all."""
    replace_file(path, orjson.dumps(fitted.weights, option=orjson.OPT_INDENT_2))


def _model(
    rows: list[dict[str, float]], labels: npt.NDArray[Any], retained: npt.NDArray[Any]
) -> tuple[Any, Any]:
    from sklearn.feature_extraction import DictVectorizer
    from sklearn.linear_model import LogisticRegression

    names = DictVectorizer()
    matrix = names.fit_transform([rows[place] for place in np.flatnonzero(retained)])
    model = LogisticRegression(C=0.5, class_weight="balanced", max_iter=2000)
    return names, model.fit(matrix, labels[retained])
