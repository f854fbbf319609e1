"""`calibrate`: does a score of 0.8 mean right in eight of ten? Thresholds, reliability, maps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt
import polars as pl

from markscheme.agreement.options import CalibrateOptions
from markscheme.agreement.sources import JudgmentsSource, TableSource, judged_and_labelled
from markscheme.agreement.thresholds import Chosen, choose_threshold, sensitivity, split_questions
from markscheme.agreement.verdicts import STATISTICS
from markscheme.errors import AgreementError
from markscheme.flags import with_keywords
from markscheme.judges import CalibrationMap
from markscheme.results import (
    Column,
    Figure,
    Table,
    TableResult,
    cell,
    columns,
    interval_note,
    population,
)
from markscheme.stats import LEAST_FOR_JUDGES
from markscheme.tables import as_binary, join_labels, one_judge
from markscheme.text import counted

Array = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Bins = Literal["uniform", "quantile"]
Method = Literal["platt", "isotonic"]


def fit_map(scores: Array, labels: Bools, *, method: Method, judge: str = "") -> CalibrationMap:
    """Fit a Platt or an isotonic map (scikit-learn).

    Platt's is a logistic regression on the score, without penalty; it keeps the order of scores
    and needs few answers. The isotonic map takes any non-decreasing shape and needs many.

    Raises:
        AgreementError: fewer than 20 answers, infinite scores, labels of one class, an unknown
            method, or a Platt map that would turn the order of scores round.
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


_NO_PROBABILITIES = "scores from {:g} to {:g} are not probabilities"


def _in_range(scores: Array) -> bool:
    return bool(scores.min() >= 0 and scores.max() <= 1)


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
    if not _in_range(scores):
        raise AgreementError(
            _NO_PROBABILITIES.format(scores.min(), scores.max()) + "; map them first"
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
    """Expected calibration error (equal width, equal count) and Brier score (scikit-learn).

    They are without a value, and say why, where scores lie outside 0 to 1.
    """
    from sklearn.metrics import brier_score_loss

    ways: tuple[Bins, ...] = ("uniform", "quantile")
    if len(scores) and not _in_range(scores):
        none = Figure(reason=_NO_PROBABILITIES.format(scores.min(), scores.max()))
        return dict.fromkeys((*(f"ece_{by}" for by in ways), "brier"), none)
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
    if infinite := int(np.isinf(scores).sum()):
        raise AgreementError(
            f"{infinite:,} of the scores to fit a map on are infinite; leave these answers out, or "
            "replace their scores by the lowest or highest finite one"
        )
    if labels.all() or not labels.any():
        raise AgreementError("the labels have only one class, so no map can be fitted")


def _check_part(labels: Bools, part: Bools, share: float) -> None:
    """Raises AgreementError where the part to fit on lacks what all labelled answers have."""
    few = part.sum() < LEAST_FOR_JUDGES <= len(part)
    one_class = len(np.unique(labels[part])) < len(np.unique(labels))
    if few or one_class:
        lacks = f"too few; {LEAST_FOR_JUDGES} are needed" if few else "all labelled alike"
        raise AgreementError(
            f"of {len(part):,} labelled answers with a score, the {part.sum():,} to choose and fit "
            f"on ({100 * share:g}% of the questions) are {lacks}: give a larger --share"
        )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CalibrateResult(TableResult):
    """What `calibrate` gives: the frame is the reliability diagram on held-out answers.

    Columns: `map` (`before`, where all scores lie in 0 to 1, and `after`), `low`, `high` (of the
    score's range), `answers`, `mean_score`, `accepted` (share that people accept, 0 to 1).

    Attributes:
        threshold: the chosen threshold, with its figures on held-out answers.
        map: from scores to probabilities, fitted on the development questions only.
    """

    threshold: Chosen
    map: CalibrationMap

    def save_map(self, path: str | Path) -> Path:
        """Write the map, for the judge `calibrated(base=..., map="FILE")`."""
        self.map.save(Path(path))
        return Path(path)


def calibrate(
    judgments: JudgmentsSource,
    labels: JudgmentsSource | None = None,
    options: CalibrateOptions | None = None,
    *,
    answers: TableSource | None = None,
    **keywords: Any,
) -> CalibrateResult:
    """Choose a threshold and fit a calibration map on some questions; report on the others.

    Args:
        judgments: a file, the folder of a run, a frame, rows, or what `markscheme.judge` returned.
        labels: people's labels, likewise; None for those that came with the judged answers.
        options: criterion, shape of the map, split; the defaults if None.
        answers: the judged answers, where judgments lack question, answer or system.
        keywords: fields of `CalibrateOptions`, in place of or on top of `options`.

    Raises:
        DataError: a table cannot be read.
        AgreementError: nothing matches, several judges and none named, or no scores.
    """
    wanted = with_keywords(CalibrateOptions, options, keywords)
    joined = join_labels(
        *judged_and_labelled(judgments, labels, wanted, judges=wanted.judge or "", answers=answers)
    )
    rows = one_judge(joined.rows)
    judge = rows["judge"][0]
    scored = rows.drop_nulls("score")
    if scored.is_empty():
        raise AgreementError(f"{judge!r} gives no scores, so there is nothing to calibrate")
    scored = scored.with_columns(as_binary(scored["label"], positive_from=wanted.positive_from))
    scores, truth = (scored[name].to_numpy() for name in ("score", "accepted"))
    split: dict[str, Any] = {"share": wanted.share, "seed": wanted.seed}
    part = split_questions(scored["cluster"].to_numpy(), **split)
    _check_part(truth, part, wanted.share)
    chosen = choose_threshold(scored, by=wanted.criterion, **split)
    fitted = fit_map(scores[part], truth[part], method=wanted.method, judge=judge)
    rest, accepted = scores[~part], truth[~part]
    sides = {"before": rest, "after": fitted(rest)}
    figures = {
        name: calibration_figures(side, accepted, bins=wanted.bins) for name, side in sides.items()
    }
    diagrams = {
        name: reliability_diagram(side, accepted, bins=wanted.bins)
        for name, side in sides.items()
        if figures[name]["brier"].value is not None
    }
    said = joined.notes()
    if without := rows.height - scored.height:
        said.append(f"{counted(without, 'answer has', 'answers have')} no score")
    if why := figures["before"]["brier"].reason:
        said.append(f"{why}, so their calibration is shown after the map alone")
    said.append(
        f"{100 * wanted.share:g}% of the questions to choose and fit on, the others to report on; "
        f"seed {wanted.seed}"
    )
    frame = pl.concat(
        diagram.select(pl.lit(name).alias("map"), pl.all()) for name, diagram in diagrams.items()
    )
    return CalibrateResult(
        frame=frame,
        tables=(
            _threshold_table(chosen, said, clustered=joined.clustered),
            _calibration_table(fitted.kind, figures),
            _diagram(frame),
        ),
        data={
            "command": "calibrate",
            "judge": judge,
            "matched": said,
            "threshold": chosen,
            "sensitivity": sensitivity(scores, truth),
            "map": fitted,
            "calibration": figures,
            "reliability": diagrams,
            "seed": wanted.seed,
        },
        threshold=chosen,
        map=fitted,
    )


def _threshold_table(chosen: Chosen, said: list[str], *, clustered: bool) -> Table:
    def written(name: str, figure: Figure) -> str:
        return cell(3 if STATISTICS[name].lowest else "share", figure)

    own = Column("judge's verdicts", format="right")
    tuned = Column(f"from {chosen.threshold:.4g}", format="right")
    about = population(
        "according to the labels of held-out answers",
        questions=chosen.held_out_questions if clustered else None,
        answers=chosen.held_out_answers,
    )
    return Table.of(
        f"Accept from {chosen.threshold:.4g}: {chosen.held_out_answers:,} held-out answers",
        ("statistic", own, tuned),
        [
            (name, written(name, chosen.own[name]), written(name, figure))
            for name, figure in chosen.held_out.items()
        ],
        (
            *said,
            f"chosen by {chosen.criterion} on {chosen.development_answers:,} answers, where it is "
            f"{written(chosen.criterion, chosen.development)}",
            *interval_note(chosen.held_out.items(), about),
        ),
    )


def _calibration_table(kind: str, figures: Mapping[str, Mapping[str, Figure]]) -> Table:
    names = {
        "ece_uniform": "expected calibration error (equal widths)",
        "ece_quantile": "expected calibration error (equal counts)",
        "brier": "Brier score",
    }
    return Table.of(
        "Calibration",
        (Column(f"{kind} map, held-out answers"), *columns(4, "before", "after")),
        [(label, figures["before"][name], figures["after"][name]) for name, label in names.items()],
    )


def _diagram(reliability: pl.DataFrame) -> Table:
    return Table.of(
        "Reliability on held-out answers",
        (
            "map",
            Column("score", "{low:.2f} to {high:.2f}".format_map),
            Column("answers", format="count"),
            Column("mean score", format=3),
            Column("accepted by people, per cent", "accepted", "share"),
        ),
        reliability,
    )
