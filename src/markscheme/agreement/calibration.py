"""Does a score of 0.8 mean right in eight of ten? Reliability, and maps that make it so."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
import numpy.typing as npt
import polars as pl

from markscheme.errors import AgreementError
from markscheme.judges import CalibrationMap
from markscheme.results import Figure
from markscheme.stats import LEAST_FOR_JUDGES

__all__ = [
    "CalibrationMap",
    "calibration_figures",
    "expected_calibration_error",
    "fit_map",
    "reliability_diagram",
]

Array = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Bins = Literal["uniform", "quantile"]
Method = Literal["platt", "isotonic"]


def fit_map(scores: Array, labels: Bools, *, method: Method, judge: str = "") -> CalibrationMap:
    """Fit a Platt or an isotonic map (scikit-learn).

    Platt's is a logistic regression on the score, without penalty; it keeps the order of scores
    and needs few answers. The isotonic map takes any non-decreasing shape and needs many.

    Raises:
        AgreementError: fewer than 20 answers, labels of one class, an unknown method, or a Platt
            map that would turn the order of scores round.
    """
    _check(scores, labels)
    if method == "platt":
        from sklearn.linear_model import LogisticRegression

        fitted = LogisticRegression(C=np.inf).fit(scores[:, None], labels)
        slope, intercept = float(fitted.coef_[0, 0]), float(fitted.intercept_[0])
        if slope <= 0:
            raise AgreementError(
                f"higher scores of {judge or 'this judge'} do not go with accepted answers "
                f"(slope {slope:.3g}); such scores cannot be calibrated"
            )
        return CalibrationMap(
            kind="platt", judge=judge, answers=len(scores), slope=slope, intercept=intercept
        )
    if method == "isotonic":
        from sklearn.isotonic import IsotonicRegression

        curve = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip").fit(scores, labels)
        return CalibrationMap(
            kind="isotonic",
            judge=judge,
            answers=len(scores),
            scores=tuple(curve.X_thresholds_.tolist()),
            probabilities=tuple(curve.y_thresholds_.tolist()),
        )
    raise AgreementError(f"no map {method!r}; there are {', '.join(get_args(Method))}")


def reliability_diagram(
    scores: Array, labels: Bools, *, bins: int = 10, by: Bins = "uniform"
) -> pl.DataFrame:
    """The reliability diagram: one row per bin that holds answers.

    Args:
        scores: from 0 to 1.
        labels: accepted or not.
        bins: how many at the most.
        by: bins of equal width (`uniform`) or with equally many answers (`quantile`).

    Returns:
        `low`, `high` (score bounds; the bin holds low < score <= high, the first also its low),
        `answers`, `mean_score`, `accepted` (share).

    Raises:
        AgreementError: no scores, or scores outside 0 to 1.
    """
    if not len(scores):
        raise AgreementError("no answer has a score")
    if scores.min() < 0 or scores.max() > 1:
        raise AgreementError(
            f"scores from {scores.min():g} to {scores.max():g} are not probabilities; "
            "map them first"
        )
    if by == "quantile":
        edges = np.unique(np.quantile(scores, np.linspace(0, 1, bins + 1)))
        edges = edges if len(edges) > 1 else np.array([edges[0], edges[0]])
    else:
        edges = np.linspace(0, 1, bins + 1)
    place = np.searchsorted(edges[1:-1], scores, side="left")
    table = pl.DataFrame(
        {
            "low": edges[:-1][place],
            "high": edges[1:][place],
            "mean_score": scores,
            "accepted": labels,
        }
    )
    return (
        table.group_by("low", "high")
        .agg(pl.len().cast(pl.Int64).alias("answers"), pl.col("mean_score", "accepted").mean())
        .sort("low")
    )


def expected_calibration_error(diagram: pl.DataFrame) -> float:
    """Mean distance between score and share accepted over a diagram's bins, weighted by answers."""
    gap = (diagram["mean_score"] - diagram["accepted"]).abs().to_numpy()
    weight = diagram["answers"].to_numpy()
    return float((gap * weight).sum() / weight.sum())


def calibration_figures(scores: Array, labels: Bools, *, bins: int = 10) -> dict[str, Figure]:
    """Expected calibration error (equal width, equal count) and Brier score (scikit-learn)."""
    from sklearn.metrics import brier_score_loss

    ways: tuple[Bins, ...] = ("uniform", "quantile")
    errors = {
        f"ece_{by}": Figure(
            value=expected_calibration_error(reliability_diagram(scores, labels, bins=bins, by=by))
        )
        for by in ways
    }
    brier = brier_score_loss(labels, scores, pos_label=True)
    return errors | {"brier": Figure(value=float(brier))}


def _check(scores: Array, labels: Bools) -> None:
    if len(scores) < LEAST_FOR_JUDGES:
        raise AgreementError(
            f"{len(scores)} labelled answers with a score are too few to fit a map; "
            f"{LEAST_FOR_JUDGES} are needed"
        )
    if labels.all() or not labels.any():
        raise AgreementError("the labels have only one class, so no map can be fitted")
