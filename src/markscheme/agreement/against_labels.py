"""The main table: each judge, over all answers and by system, against labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from markscheme.agreement.options import AgreeOptions, Unjudged
from markscheme.agreement.verdicts import (
    CELLS,
    by_variance,
    cell_table,
    clustered_statistics,
    four_cells,
    numbers_of,
)
from markscheme.results import Figure
from markscheme.stats import (
    LEAST_OF_A_LABEL,
    LEAST_RANKED,
    auroc_influences,
    freedom_of,
    kish,
    precision_influences,
    variance_of_sum,
)
from markscheme.tables import Joined, as_binary

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """How one judge agrees with labels on one set of answers.

    Attributes:
        judge: its name.
        system: whose answers; None for everybody's.
        answers: how many have a label.
        questions: questions, by which intervals are clustered.
        counts: number of answers in each of `verdicts.CELLS`.
        not_judged: answers that were not judged, by status.
        left_out: figures with answers that were not judged left out; also AUROC and average
            precision, over the answers with a score.
        as_errors: figures with answers that were not judged counted as errors.
        human: share of answers that the labels accept, over all answers.
        judged: share of answers that the judge accepts, over those it judged.
    """

    judge: str
    system: str | None
    answers: int
    questions: int
    counts: Mapping[str, int]
    not_judged: Mapping[str, int]
    left_out: Mapping[str, Figure]
    as_errors: Mapping[str, Figure]
    human: float
    judged: Figure

    def figures(self, unjudged: Unjudged) -> Mapping[str, Figure]:
        """The figures under one policy for answers that were not judged."""
        return self.left_out if unjudged == "left_out" else self.as_errors


def agreement(joined: Joined, options: AgreeOptions | None = None) -> list[Agreement]:
    """Agreement of every judge with the labels, over all answers and, on request, by system.

    Judges come in order of first appearance; within a judge the row over all answers is first.

    Raises:
        AgreementError: the labels are grades and no `positive_from` was given.
    """
    options = options or AgreeOptions()
    rows = joined.rows.with_columns(
        as_binary(joined.rows["label"], positive_from=options.positive_from)
    )
    found = []
    for (judge,), mine in rows.group_by("judge", maintain_order=True):
        found.append(_one(mine, str(judge), None, options))
        if options.by == "system" and "system" in mine.columns:
            parts = mine.filter(pl.col("system").is_not_null())
            for (system,), part in parts.group_by("system", maintain_order=True):
                found.append(_one(part, str(judge), str(system), options))
    return found


def closest_judges(found: Sequence[Agreement]) -> list[Agreement]:
    """Judges over all systems' answers, the closest to the labels first, of equal ones the first.

    By Cohen's kappa: where nearly all answers are right, accuracy would put a judge first that
    accepts everything, and by which no wrong answer is found. Answers that were not judged count as
    errors, or a judge that leaves most out would be the best. Accuracy decides where labels of one
    class give no judge a kappa.
    """

    def closeness(one: Agreement) -> tuple[float, float]:
        kappa, accuracy = (one.as_errors[name].value or 0.0 for name in ("kappa", "accuracy"))
        return kappa, accuracy

    return sorted((one for one in found if one.system is None), key=closeness, reverse=True)


def _one(rows: pl.DataFrame, judge: str, system: str | None, options: AgreeOptions) -> Agreement:
    labels = rows["accepted"].to_numpy()
    judged = rows["verdict"].is_not_null().to_numpy()
    table = cell_table(rows)
    counts = table.sum(axis=0)
    left_out = clustered_statistics(four_cells(table, "left_out"), options.confidence)
    left_out |= _ranked(rows, labels, options.confidence)
    as_errors = clustered_statistics(four_cells(table, "errors"), options.confidence)
    accepted = int(counts[0] + counts[1])
    number = int(judged.sum())
    return Agreement(
        judge=judge,
        system=system,
        answers=rows.height,
        questions=len(table),
        counts={name: int(count) for name, count in zip(CELLS, counts, strict=True)},
        not_judged={
            str(status): count
            for status, count in rows.filter(~pl.Series(judged))
            .group_by("status")
            .len()
            .sort("status")
            .iter_rows()
        },
        left_out=left_out,
        as_errors=as_errors,
        human=float(labels.mean()),
        judged=Figure(value=accepted / number) if number else Figure(reason="nothing was judged"),
    )


def _ranked(
    rows: pl.DataFrame,
    labels: npt.NDArray[np.bool_],
    confidence: float,
) -> dict[str, Figure]:
    scored = rows["score"].is_not_null().to_numpy()
    labels = labels[scored]
    rarer = min(int(labels.sum()), int((~labels).sum()))
    if not rarer:
        single = "the labels have only one class"
        none = Figure(reason=single if scored.any() else "the judge gives no score")
        return {"auroc": none, "average_precision": none}
    # Both figures depend on the scores' order alone, so that infinite ones count too.
    places = np.unique(rows["score"].to_numpy()[scored], return_inverse=True)[1]
    scores = places.astype(np.float64)
    clusters = numbers_of(rows["cluster"].filter(scored))
    answers = np.bincount(clusters)
    freedom = freedom_of(kish(answers))
    found = {}
    for name, (influences, least) in {
        "auroc": (auroc_influences, 0),
        "average_precision": (precision_influences, LEAST_RANKED),
    }.items():
        value, influence = influences(labels, scores)
        found[name] = Figure(value=value)
        if rarer >= LEAST_OF_A_LABEL and len(answers) >= least:
            pulls = np.bincount(clusters, influence).astype(np.float64)
            # Of a good judge few answers decide: as one more question like the most decisive one.
            moved = variance_of_sum(len(scores) * pulls, answers) + float((pulls**2).max())
            found[name] = by_variance(value, moved, freedom, confidence)
    return found
