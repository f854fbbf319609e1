"""How the question classifier is made: logistic regression on the words that make a question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import orjson

from markscheme.judges.question_kind import features
from markscheme.training.splits import fold_of


@dataclass(frozen=True, kw_only=True)
class Fitted:
    """Weights by feature, and the cross-validated share of right calls by kind."""

    weights: dict[str, float]
    factoid_right: float
    other_right: float


def fit(factoid: Sequence[str], other: Sequence[str], *, folds: int = 5) -> Fitted:
    """Fit on questions of both kinds, each kind counting the same, whatever its number."""
    from sklearn.feature_extraction import DictVectorizer
    from sklearn.linear_model import LogisticRegression

    questions = [*factoid, *other]
    labels = np.array([1] * len(factoid) + [0] * len(other))
    rows = [features(question) for question in questions]
    fold = np.array([fold_of(question, folds) for question in questions])
    right = np.zeros(len(questions), dtype=bool)
    for held in [*range(folds), folds]:  # The last round holds nothing out: it is what ships.
        kept = np.flatnonzero(fold != held)
        names = DictVectorizer()
        matrix = names.fit_transform([rows[place] for place in kept])
        model = LogisticRegression(C=0.5, class_weight="balanced", max_iter=2000)
        model.fit(matrix, labels[kept])
        out = np.flatnonzero(fold == held)
        if len(out):
            said = model.predict(names.transform([rows[place] for place in out]))
            right[out] = said == labels[out]
    values = zip(names.get_feature_names_out(), model.coef_[0], strict=True)
    weights = {str(name): round(float(value), 4) for name, value in values if abs(value) > 0.01}
    weights["bias"] = round(float(model.intercept_[0]), 4)
    return Fitted(
        weights=weights,
        factoid_right=float(right[labels == 1].mean()),
        other_right=float(right[labels == 0].mean()),
    )


def save(fitted: Fitted, path: Path) -> None:
    """Write the weights as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(orjson.dumps(fitted.weights, option=orjson.OPT_INDENT_2))
