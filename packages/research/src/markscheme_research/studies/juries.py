"""`jury`: how much each judge's vote is worth, measured on labels, for the judge `jury`.

Weights are those of a logistic regression of people's verdicts on the judges' scores, with a ridge
and none below 0: judges that err alike share a weight, and one that is no better than chance has
none, which plain reliability would not see. Fitted on some questions, reported on the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from markscheme.agreement import (
    JudgmentsSource,
    TableSource,
    calibration_figures,
    judged_and_labelled,
    split_questions,
)
from markscheme.errors import AgreementError
from markscheme.flags import with_keywords
from markscheme.results import (
    Figure,
    Table,
    TableResult,
    by_labels,
    interval,
    interval_note,
    population,
    share_figure,
    share_text,
)
from markscheme.stats import LEAST_FOR_JUDGES
from markscheme.tables import as_binary, join_labels
from markscheme_research.judges import JuryWeights
from markscheme_research.studies.options import JuryOptions

__all__ = ["JuryResult", "JuryWeights", "clustered_share", "fit_weights", "jury"]

Array = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]
RIDGE = 1.0


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class JuryResult(TableResult):
    """What `jury` gives: the frame has one row per judge, and rows for majority and jury.

    Columns: `judge`, `weight`, `agreement` (share of held-out answers judged as people do),
    `low`, `high` (95%, clustered by question, made by `method`), `auroc`, `ece`, `judged`.

    Attributes:
        weights: fitted on the other questions.
    """

    weights: JuryWeights

    def save_weights(self, path: str | Path) -> Path:
        """Write the weights, for `jury(judges=[...], weights="FILE")`."""
        return self.weights.save(path)


def jury(
    judgments: JudgmentsSource,
    labels: JudgmentsSource | None = None,
    options: JuryOptions | None = None,
    *,
    answers: TableSource | None = None,
    **keywords: Any,
) -> JuryResult:
    """Measure judges on labels and weigh their votes; report on questions held out.

    Args:
        judgments: a file, the folder of a run, a frame, rows, or what `markscheme.judge` returned.
        labels: people's labels, likewise; None for those that came with the judged answers.
        options: which judges, split; the defaults if None.
        answers: the judged answers, where judgments lack question, answer or system.
        keywords: fields of `JuryOptions`, in place of or on top of `options`.

    Raises:
        DataError: a table cannot be read.
        AgreementError: fewer than two judges, too few labels, or labels of one class.
    """
    wanted = with_keywords(JuryOptions, options, keywords)
    joined = join_labels(
        *judged_and_labelled(judgments, labels, wanted, judges=wanted.judges, answers=answers)
    )
    names = joined.rows["judge"].unique(maintain_order=True).to_list()
    if len(names) < 2:
        raise AgreementError(f"a jury needs two judges or more; there is {', '.join(names)}")
    votes, own, truth, clusters = _votes(joined.rows, names, joined.key, wanted.positive_from)
    part = split_questions(clusters, share=wanted.share, seed=wanted.seed)
    fitted = fit_weights(votes[part], truth[part], names)
    rest, known, where = votes[~part], truth[~part], clusters[~part]
    voted: Bools = np.asarray(~np.isnan(rest), dtype=np.bool_)
    accepted = own[~part] == 1
    rows = [
        _row(name, fitted.weights[name], (rest[:, place] + 1) / 2, voted[:, place],
             (known, where), accepted=accepted[:, place])
        for place, name in enumerate(names)
    ]  # fmt: skip
    filled = np.nan_to_num(rest)
    asked: Bools = np.asarray(voted.any(axis=1), dtype=np.bool_)
    mean = filled.sum(axis=1) / np.maximum(1, voted.sum(axis=1))
    for name, scores in (
        ("(mean of all)", (mean + 1) / 2),
        ("(jury)", fitted.probabilities(filled)),
    ):
        rows.append(_row(name, None, scores, asked, (known, where), accepted=scores >= 0.5))
    asked_of = len(np.unique(where)) if joined.clustered else None
    by = by_labels(len(where), joined.answers)
    about = population(by, questions=asked_of, answers=len(where))
    said = [
        *joined.notes(),
        f"weights from {int(part.sum()):,} answers, figures of the {int((~part).sum()):,} to other "
        f"questions; seed {wanted.seed}",
        "agreement: share judged as people do, each judge by its own verdicts, what was not judged "
        "left out",
        *interval_note(
            (
                ("", Figure(value=row["agreement"], low=row["low"], method=row["method"]))
                for row in rows
                if row["agreement"] is not None
            ),
            about,
        ),
        f'judge: jury(judges=[{", ".join(names)}], weights="FILE"), FILE by --save-weights',
    ]
    return JuryResult(
        frame=pl.DataFrame(rows),
        tables=(_table(rows, said),),
        data={"command": "jury", "judges": rows, "weights": fitted, "matched": said,
              "seed": wanted.seed},
        weights=fitted,
    )  # fmt: skip


def fit_weights(votes: Array, labels: Bools, judges: Sequence[str]) -> JuryWeights:
    """Weights of votes, none below 0, by ridge-penalised likelihood.

    Args:
        votes: (answers, judges), from -1 to 1; NaN for none.
        labels: accepted or not.
        judges: names of the columns.

    Raises:
        AgreementError: too few labels, or labels of one class.
    """
    from scipy.optimize import minimize
    from scipy.special import expit, log_expit

    if len(labels) < LEAST_FOR_JUDGES:
        raise AgreementError(
            f"{len(labels)} labelled answers are too few to weigh judges; {LEAST_FOR_JUDGES} are "
            "needed in the part that is fitted on"
        )
    if labels.all() or not labels.any():
        raise AgreementError("the labels have only one class, so no judge can be weighed")
    known = np.nan_to_num(votes)
    signs = np.where(labels, 1.0, -1.0)

    def loss(values: Array) -> tuple[float, Array]:
        margin = signs * (known @ values[:-1] + values[-1])
        slope = -signs * expit(-margin)
        penalty = RIDGE * values[:-1]
        gradient = np.r_[known.T @ slope + penalty, slope.sum()]
        return float(-log_expit(margin).sum() + 0.5 * values[:-1] @ penalty), gradient

    bounds = [(0.0, None)] * len(judges) + [(None, None)]
    found = minimize(loss, np.zeros(len(judges) + 1), jac=True, method="L-BFGS-B", bounds=bounds)
    return JuryWeights(
        weights={name: float(found.x[place]) for place, name in enumerate(judges)},
        intercept=float(found.x[-1]),
        answers=len(labels),
    )


def _votes(
    rows: pl.DataFrame, names: Sequence[str], key: Sequence[str], positive_from: float | None
) -> tuple[Array, Array, Bools, Ints]:
    """Votes and verdicts of shape (answers, judges), labels, and the question of each answer."""
    keys = list(key)
    verdict = pl.col("verdict").cast(pl.Float64)
    vote = pl.coalesce("score", verdict) * 2 - 1
    values = ["vote", "verdict"]
    wide = (
        rows.select(*keys, "judge", "label", "cluster", verdict, vote.alias("vote"))
        .group_by([*keys, "judge"], maintain_order=True)
        .agg(pl.first(*values, "label", "cluster"))
        .pivot(on="judge", on_columns=list(names), index=[*keys, "label", "cluster"],
               values=values, maintain_order=True)
    )  # fmt: skip
    votes, verdicts = (
        wide.select(pl.col(f"{value}_{name}") for name in names).fill_null(np.nan).to_numpy()
        for value in values
    )
    return (
        votes.astype(np.float64),
        verdicts.astype(np.float64),
        as_binary(wide["label"], positive_from=positive_from).to_numpy(),
        wide["cluster"].to_numpy(),
    )


def clustered_share(right: Array, clusters: Ints, *, confidence: float = 0.95) -> Figure:
    """A share with its interval, clustered by question (`results.share_figure`)."""
    _, places, answers = np.unique(clusters, return_inverse=True, return_counts=True)
    return share_figure(np.bincount(places, right), answers, confidence=confidence)


def _row(
    name: str,
    weight: float | None,
    scores: Array,
    judged: Bools,
    known: tuple[Bools, Ints],
    *,
    accepted: Bools,
) -> dict[str, Any]:
    from sklearn.metrics import roc_auc_score

    scores, labels, clusters = scores[judged], known[0][judged], known[1][judged]
    row: dict[str, Any] = {"judge": name, "weight": weight, "judged": len(labels)}
    figures = ("agreement", "low", "high", "method", "auroc", "ece")
    if not len(labels):
        return row | dict.fromkeys(figures)
    right = (accepted[judged] == labels).astype(np.float64)
    share = clustered_share(right, clusters)
    both = labels.any() and not labels.all()
    return row | {
        "agreement": share.value, "low": share.low, "high": share.high, "method": share.method,
        "auroc": float(roc_auc_score(labels, scores)) if both else None,
        "ece": calibration_figures(scores, labels)["ece_quantile"].value,
    }  # fmt: skip


def _table(rows: Sequence[Mapping[str, Any]], said: Sequence[str]) -> Table:
    header = ("judge", "weight", "agreement %", "95% interval", "AUROC", "calibration error")
    shown = tuple(
        (
            row["judge"],
            "" if row["weight"] is None else f"{row['weight']:.2f}",
            share_text(row["agreement"], missing="n/a"), interval(row["low"], row["high"]),
            "n/a" if row["auroc"] is None else f"{row['auroc']:.3f}",
            "n/a" if row["ece"] is None else f"{row['ece']:.3f}",
        )
        for row in rows
    )  # fmt: skip
    return Table(
        title="Judges and their jury on held-out questions", header=header, rows=shown,
        numeric=frozenset(header[1:]), notes=tuple(said),
    )  # fmt: skip
